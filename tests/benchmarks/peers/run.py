"""Drives a tool's reader process over files: a deadline for each, a new process after a kill."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.peers.environments import ENVIRONMENTS, ROOT

SCRIPT = Path(__file__).with_name("readers.py")
START_SECONDS = 120.0  # imports and models; 3 s are usual
# Nothing that a tool reads may make it reach out. No server listens on port 9.
_NOWHERE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Reading:
    """One file: its text, CPU seconds of the reading with children, and why it failed, if so.

    `tables` are rows of cells, where the tool hands tables out apart from its text.
    """

    text: str
    cpu: float
    failure: str = ""
    tables: tuple[list[list[str]], ...] = ()

    @property
    def empty(self) -> bool:
        """True when the file failed or gave nothing."""
        return not self.text.strip()


@dataclass(frozen=True)
class Run:
    """All files of one tool, in order; CPU seconds of all its processes, imports included."""

    version: str
    readings: tuple[Reading, ...]
    cpu: float
    wall: float


class _Reader:
    """One reader process. `ask` raises TimeoutError or EOFError, after which it is dead."""

    def __init__(self, tool: str, python: str, log: Path) -> None:
        search = os.pathsep.join([str(ROOT / "scripts"), str(ROOT)])
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        proxies = dict.fromkeys(names, _NOWHERE)
        environment = {**os.environ, **proxies, "PYTHONPATH": search}
        # A user's Python keeps its bytecode.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if python != sys.executable:
            del environment["PYTHONPATH"]  # its environment holds the tool and nothing of ours
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [python, str(SCRIPT), tool],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment,
                start_new_session=True,
                bufsize=0,
            )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self.cpu: float | None = None
        self.version = json.loads(self._line(START_SECONDS))["version"]

    def ask(self, path: Path, deadline: float) -> dict[str, object]:
        """Return the answer for one file."""
        try:
            self._process.stdin.write(json.dumps(str(path)).encode() + b"\n")
        except BrokenPipeError:
            self.close()
            raise EOFError from None
        return json.loads(self._line(deadline))

    def _line(self, seconds: float) -> bytes:
        until = time.monotonic() + seconds
        chunks: list[bytes] = []
        while True:
            if not self._selector.select(max(0.0, until - time.monotonic())):
                self.close(grace=0)
                raise TimeoutError
            data = os.read(self._process.stdout.fileno(), 1 << 20)
            chunks.append(data)
            if data.endswith(b"\n"):
                return b"".join(chunks)
            if not data:
                self.close()
                raise EOFError

    def close(self, grace: float = 10.0) -> float:
        """End the process and its children; return the CPU seconds of all of them.

        It has `grace` seconds to leave by itself: those of a child that it waits for count.
        """
        if self.cpu is None:
            self._process.stdin.close()
            until = time.monotonic() + grace
            ended = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while not os.waitid(os.P_PID, self._process.pid, ended) and time.monotonic() < until:
                time.sleep(0.02)
            os.killpg(self._process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(self._process.pid, 0)
            self._process.returncode = os.waitstatus_to_exitcode(status)
            self._process.stdout.close()
            self._selector.close()
            self.cpu = usage.ru_utime + usage.ru_stime
        return self.cpu


def read_files(tool: str, files: Iterable[Path], work: Path, deadline: float = 60.0) -> Run:
    """Read `files` one after the other with `tool`, each within `deadline` wall seconds.

    What the tool writes to standard error lands in `work`. Raises KeyError for an unknown tool,
    EOFError or TimeoutError when it doesn't start at all.
    """
    python = sys.executable if tool == "regcomments" else str(ENVIRONMENTS[tool].python)
    log = work / f"{tool}.log"
    started = time.perf_counter()
    reader = _Reader(tool, python, log)
    cpu = 0.0
    readings = []
    for path in files:
        if reader.cpu is not None:
            cpu += reader.cpu
            reader = _Reader(tool, python, log)
        try:
            answer = reader.ask(path, deadline)
        except TimeoutError:
            readings.append(Reading("", deadline, f"over {deadline:.0f} s"))
        except EOFError:
            readings.append(Reading("", 0.0, "the process died"))
        else:
            readings.append(_reading(answer))
    cpu += reader.close()
    return Run(reader.version, tuple(readings), cpu, time.perf_counter() - started)


def _reading(answer: dict[str, object]) -> Reading:
    return Reading(
        str(answer.get("text", "")),
        float(answer["cpu"]),
        str(answer.get("error", "")),
        tuple(answer.get("tables", ())),
    )


def empty_files(readings: Sequence[Reading]) -> int:
    """Return how many files failed or gave nothing."""
    return sum(reading.empty for reading in readings)
