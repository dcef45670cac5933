"""The real marker 2.x against a stand-in for its servers, with Tesseract behind it."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from regcomments.ocr import store
from regcomments.ocr.engines import engine_key
from regcomments.ocr.engines import make as make_engine
from regcomments.ocr.queue import Row
from regcomments.ocr.run import RunSettings, ShardReport, read_shard
from regcomments.ocr.store import FileResult

from tests.needs import absent

HERE = Path(__file__).parent
PYTHON = Path(
    os.environ.get("REGCOMMENTS_MARKER_PYTHON")
    or HERE.parents[1] / ".venv-marker" / "bin" / "python"
)
START_SECONDS = 60  # for the stand-in; two on an idle machine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests here."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.marker_env)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def marker_environment() -> None:
    """No test here runs without the marker environment."""
    if not PYTHON.exists():
        absent("marker", "no .venv-marker: run `make setup-marker`")


@dataclass
class Standin:
    """A stand-in process; it can be killed and started again at the same port."""

    port: int
    model: str | None = None
    pace: float | None = None
    process: subprocess.Popen | None = field(default=None)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, str(HERE / "standin.py"), "--port", str(self.port)]
        command += ["--model", self.model] if self.model else []
        command += ["--pace", str(self.pace)] if self.pace is not None else []
        environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        self.process = subprocess.Popen(command, env=environment)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                self.get("/health")
                return
            time.sleep(0.1)
        raise RuntimeError("the stand-in doesn't start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        self.process = None

    def get(self, path: str) -> object:
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:
            return json.load(answer)

    def post(self, path: str, **content: object) -> None:
        data = json.dumps(content).encode()
        urllib.request.urlopen(urllib.request.Request(self.url + path, data), timeout=5).close()

    def fault(self, mode: str, kind: str = "vlm", times: int = -1, seconds: float = 5.0) -> None:
        self.post("/_fault", mode=mode, kind=kind, times=times, seconds=seconds)

    def requests(self, kind: str | None = None) -> list[dict]:
        return [r for r in self.get("/_log") if "kind" in r and kind in (None, r["kind"])]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def shared() -> Iterator[Standin]:
    running = Standin(free_port())
    running.start()
    yield running
    running.stop()


@pytest.fixture
def standin(shared: Standin) -> Standin:
    """The stand-in without faults and with an empty log."""
    shared.post("/_reset")
    return shared


@pytest.fixture
def own_standin() -> Iterator[Standin]:
    """A stand-in that the test may kill."""
    running = Standin(free_port())
    running.start()
    yield running
    running.stop()


def config(url: str, **more: object) -> dict:
    """Engine settings for tests: one process, deadlines that fit a fault of five seconds."""
    marker = {
        "python": str(PYTHON),
        "workers": 1,
        "page_seconds": 60,
        "request_seconds": 30,
        "ocr_error_url": f"{url}/ocr_error",
        **more.pop("marker", {}),
    }
    return {"ocr": {"engine": "marker", "server": url, "marker": marker, **more}}


@pytest.fixture(scope="session")
def engine(shared: Standin):
    made = make_engine(config(shared.url))
    yield made
    made.close()


@pytest.fixture(scope="session")
def impatient(shared: Standin):
    """An engine for faults that hang: an answer within 8 s, a page within 20 s."""
    made = make_engine(config(shared.url, marker={"page_seconds": 20, "request_seconds": 8}))
    yield made
    made.close()


@dataclass
class Case:
    """A file in a state folder of its own, to be read by an engine into the store."""

    state: Path
    row: Row

    def read(self, engine, *, retries: int = 0) -> ShardReport:
        settings = RunSettings(retries=retries)
        return read_shard([self.row], self.state, engine, settings)

    def stored(self, engine) -> FileResult:
        found = store.lookup(self.state, self.row.sha256, engine_key(engine))
        return found or FileResult(self.row.sha256)

    def texts(self, engine) -> dict[int, str]:
        return {n: page.result.markdown for n, page in self.stored(engine).pages.items()}

    def outcomes(self, engine) -> dict[int, str]:
        return {n: str(page.result.outcome) for n, page in self.stored(engine).pages.items()}

    def files(self) -> dict[str, bytes]:
        folder = self.state / "_ocr"
        return {p.name: p.read_bytes() for p in sorted(folder.rglob("*.json"))}


@pytest.fixture
def case(tmp_path):
    """Return a function that puts a PDF into a state folder and queues its pages."""

    def make(pdf: bytes, pages: int) -> Case:
        folder = tmp_path / "T-2031-0001" / "T-2031-0001-0001"
        folder.mkdir(parents=True)
        (folder / "attachment_1.pdf").write_bytes(pdf)
        digest = hashlib.sha256(pdf).hexdigest()
        numbers = tuple(range(1, pages + 1))
        row = Row("T-2031-0001", "T-2031-0001-0001", "attachment_1.pdf", digest, numbers)
        return Case(tmp_path, row)

    return make
