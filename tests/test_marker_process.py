"""marker's processes with a fake program in them: environment, deadline, memory, death, order."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from multiprocessing import Pipe
from pathlib import Path

import pytest
from regcomments.ocr import marker as marker_module
from regcomments.ocr import marker_process
from regcomments.ocr.engines import EngineUnavailableError, engine_key
from regcomments.ocr.engines import make as make_engine
from regcomments.ocr.marker_env import MarkerSettings, environment, find_python, setup, versions
from regcomments.ocr.marker_process import (
    MarkerDiedError,
    MarkerProcess,
    ProcessLimits,
    ProcessPlan,
    arrivals,
)
from regcomments.ocr.server import Endpoint

from tests.marker_fakes import PROGRAM, TEXT, fake_python, within

WHERE = Endpoint("http://gpu.lan:8000/v1")


@pytest.fixture
def program(tmp_path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def started(program):
    """Return a function that starts a process with the fake program; all are killed at the end."""
    running = []

    def start(limits: ProcessLimits | None = None, **setup) -> MarkerProcess:
        plan = ProcessPlan(sys.executable, dict(os.environ), setup, program=program)
        process = MarkerProcess(plan, limits or ProcessLimits(page_seconds=20, start_seconds=20))
        running.append(process)
        process.start()
        return process

    yield start
    for process in running:
        process.close()


def await_answer(process: MarkerProcess) -> dict:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for ready in arrivals([process]):
            return ready.answer()
        process.check()
    raise AssertionError("no answer")


def test_process_gets_ready_answers_and_is_used_again(started):
    process = started()
    assert await_answer(process) == {"ready": True}
    process.ask(b"text 1")
    first = await_answer(process)
    assert first["markdown"] == f"{TEXT} 1"
    process.ask(b"text 2")
    assert await_answer(process)["pid"] == first["pid"]


def scratch_of(process: MarkerProcess) -> Path:
    return Path(process._scratch)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(
    ("word", "message"),
    [("exit", "exit 9"), ("kill", "killed"), ("hang", "not done within 1 s")],
)
def test_death_and_overrun_are_told_and_leave_nothing(started, word, message):
    process = started(ProcessLimits(page_seconds=1, start_seconds=20))
    await_answer(process)
    pid, scratch = process._process.pid, scratch_of(process)
    assert scratch.is_dir()
    process.ask(f"{word} 1".encode())
    with pytest.raises(MarkerDiedError, match=message):
        await_answer(process)
    assert gone(pid)
    assert not scratch.exists()
    process.start()  # and it can be used again
    assert await_answer(process) == {"ready": True}


@pytest.mark.parametrize("word", ["list", "split", "deep", "huge", "torn"])
def test_crash_or_hang_on_an_answer_that_makes_no_sense(started, word, monkeypatch):
    monkeypatch.setattr(marker_process, "STALL_SECONDS", 0.5)
    process = started()
    await_answer(process)
    process.ask(f"{word} 1".encode())
    with within(15), pytest.raises(MarkerDiedError, match=r"makes no sense|stopped answering"):
        await_answer(process)
    assert process.conn is None


def test_unbounded_time_when_a_process_no_longer_reads(started, monkeypatch):
    monkeypatch.setattr(marker_process, "STALL_SECONDS", 0.5)
    process = started()
    await_answer(process)
    os.kill(process._process.pid, signal.SIGSTOP)
    with within(15), pytest.raises(MarkerDiedError, match="stopped reading"):
        process.ask(b"x" * (8 << 20))
        await_answer(process)
    assert process.conn is None


def test_folder_left_behind_when_a_process_can_t_be_started(program, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plan = ProcessPlan(str(tmp_path / "no-python"), {}, {}, program=program)
    process = MarkerProcess(plan, ProcessLimits())
    before = set(tmp_path.iterdir()), len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError):
        process.start()
    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space left"):
        process.start()
    assert (set(tmp_path.iterdir()), len(os.listdir("/proc/self/fd"))) == before


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_memory_is_watched(started):
    process = started(ProcessLimits(page_seconds=60, start_seconds=20, memory_mb=200))
    await_answer(process)
    process.ask(b"eat 1")
    with pytest.raises(MarkerDiedError, match="more than 200 MB"):
        await_answer(process)


def test_process_that_grew_large_is_replaced_after_its_page(started):
    process = started(ProcessLimits(page_seconds=60, start_seconds=20, memory_mb=10_000))
    await_answer(process)
    process.limits = ProcessLimits(memory_mb=8)  # the bare interpreter has more than 6 MB
    process.ask(b"text 1")
    assert process.answer()["markdown"] == f"{TEXT} 1"
    assert process.conn is None


@pytest.mark.parametrize(
    ("setup", "limits", "message"),
    [
        ({"broken": 1}, ProcessLimits(), "doesn't start: ImportError: no torch"),
        ({"dies": 1}, ProcessLimits(), "exit 3.*segmentation fault"),
        ({"slow_start": 60}, ProcessLimits(start_seconds=0.6), "not started within 0.6 s"),
    ],
)
def test_process_that_does_not_start_is_told(started, setup, limits, message):
    process = started(limits, **setup)
    with pytest.raises(MarkerDiedError, match=message):
        await_answer(process)


def test_child_dies_with_its_parent(tmp_path, program):
    """The real program: a killed parent must not leave 0.8 GB that wait for a server."""
    child = Path(marker_module.__file__).with_name("marker_child.py")
    fake = tmp_path / "surya" / "inference"
    fake.mkdir(parents=True)
    asked = tmp_path / "asked"  # the kernel, to end the child with its parent
    (fake / "__init__.py").write_text(f"import time; open({str(asked)!r}, 'w'); time.sleep(600)")
    (tmp_path / "surya" / "__init__.py").write_text("")
    for name in ("converters/pdf", "models"):
        path = tmp_path / "marker" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").write_text("")
        path.write_text("PdfConverter = create_model_dict = None\n")
    code = (
        "import sys, os, time\n"
        f"sys.path.insert(0, {str(Path(marker_module.__file__).parents[2])!r})\n"
        "from pathlib import Path\n"
        "from regcomments.ocr.marker_process import *\n"
        f"env = dict(os.environ, PYTHONPATH={str(tmp_path)!r})\n"
        "setup = {'backend': 'vllm', 'marker': {}}\n"
        f"plan = ProcessPlan(sys.executable, env, setup, program=Path({str(child)!r}))\n"
        "p = MarkerProcess(plan, ProcessLimits()); p.start(); print(p._process.pid, flush=True)\n"
        "time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    deadline = time.monotonic() + 60
    while not asked.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert asked.exists() and not gone(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 30
    while not gone(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert gone(pid)


def test_child_whose_parent_is_dead_already_does_not_stay():
    mine, theirs = Pipe()
    child = Path(marker_module.__file__).with_name("marker_child.py")
    command = [sys.executable, "-P", str(child), str(theirs.fileno()), "-1"]
    run = subprocess.run(command, pass_fds=[theirs.fileno()], timeout=60)
    assert run.returncode == 0
    mine.close()


# The environment of a process


def test_environment_points_at_the_services_and_starts_none():
    found = environment(MarkerSettings(request_seconds=75), WHERE, {"PATH": "/bin", "HOME": "/h"})
    assert found["SURYA_INFERENCE_URL"] == "http://gpu.lan:8000/v1"
    assert found["SURYA_INFERENCE_TIMEOUT_SECONDS"] == "75"
    assert {name: value for name, value in found.items() if name.endswith("_AUTOSTART")} == {
        "SURYA_INFERENCE_AUTOSTART": "false",
        "OCR_ERROR_SERVER_AUTOSTART": "false",
        "FAST_LAYOUT_SERVER_AUTOSTART": "false",
        "DETECTOR_SERVER_AUTOSTART": "false",
    }
    assert (found["TORCH_DEVICE"], found["HF_HUB_OFFLINE"]) == ("cpu", "1")
    assert (found["PATH"], found["HOME"]) == ("/bin", "/h")
    assert "OCR_ERROR_SERVER_URL" not in found


def test_optional_services_are_passed_on():
    where = Endpoint("http://a:1/v1", "http://b:2/v1", "http://c:3/v1")
    found = environment(MarkerSettings(), where, {"NO_PROXY": "lan"})
    assert found["OCR_ERROR_SERVER_URL"] == "http://b:2/v1"
    assert found["FAST_LAYOUT_SERVER_URL"] == "http://c:3/v1"
    assert found["NO_PROXY"] == found["no_proxy"] == "lan,a,b,c"
    assert setup(MarkerSettings(), where)["ocr_error"] is True
    assert setup(MarkerSettings(), WHERE)["ocr_error"] is False


@pytest.mark.parametrize(
    "name",
    [
        "SURYA_INFERENCE_PORT",
        "OCR_ERROR_SERVER_URL",
        "VLLM_GPU_TYPE",
        "TORCH_DEVICE_X",
        "PYTHONPATH",
    ],
)
def test_marker_s_variables_of_the_user_do_not_count(name):
    assert name not in environment(MarkerSettings(), WHERE, {name: "1"})


def test_pages_keep_headers_and_footers_and_are_read_whole():
    options = setup(MarkerSettings(), WHERE)["marker"]
    assert options["force_ocr"]
    assert options["paginate_output"]
    assert options["pdftext_workers"] == 1
    assert options["keep_pageheader_in_output"]
    assert options["keep_pagefooter_in_output"]
    assert options["mode"] == "balanced"


def test_python_that_is_named_wins():
    assert find_python("/opt/marker/bin/python") == "/opt/marker/bin/python"
    assert find_python("~/m/bin/python") == os.path.expanduser("~/m/bin/python")
    assert Path(find_python(None)).name.startswith("python")


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("[null, null]", 0, "has no marker-pdf: run `make setup-marker`"),
        ('["1.10.1", "0.17.0"]', 0, r"marker-pdf 1\.10\.1 is installed"),
        ("", 1, "can't be run"),
        ("gibberish", 0, "can't be run"),
    ],
)
def test_environment_that_lacks_marker_is_told(tmp_path, output, code, message):
    with pytest.raises(EngineUnavailableError, match=message):
        versions(fake_python(tmp_path / "python", output, code))
    with pytest.raises(EngineUnavailableError, match="make setup-marker"):
        make_engine({"ocr": {"engine": "marker", "marker": {"python": str(tmp_path / "none")}}})


def engine_config(python: str, **ocr) -> dict:
    marker = {"python": python, **ocr.pop("marker", {})}
    return {"ocr": {"engine": "marker", "server": "http://127.0.0.1:9", "marker": marker, **ocr}}


def test_engine_tells_version_and_model_and_keeps_settings_apart(tmp_path):
    python = fake_python(tmp_path / "python", '["2.0.0", "0.22.1"]')
    engine = make_engine(engine_config(python))
    assert (engine.name, engine.version, engine.deterministic) == ("marker", "2.0.0", False)
    assert "datalab-to/surya-ocr-2" in engine.model
    assert engine_key(engine).startswith("marker-")
    same = make_engine(engine_config(python, server="http://gpu:1", marker={"workers": 2}))
    assert same.digest == engine.digest  # neither changes a text
    newer = fake_python(tmp_path / "newer", '["2.1.0", "0.22.1"]')
    others = [
        engine_config(newer),
        engine_config(python, marker={"model": "other"}),
        engine_config(python, second_opinion=True),
    ]
    digests = {make_engine(config).digest for config in others}
    assert len(digests | {engine.digest}) == 4
