"""The worker process: a file that kills, hangs or fills its reader costs only itself."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from regcomments.read import worker as worker_module
from regcomments.read.limits import WorkerLimits
from regcomments.read.worker import Worker
from regcomments.records import Extraction
from regcomments.status import Reason, Status

QUICK = WorkerLimits(seconds=2.0, seconds_per_page=10.0, memory_mb=1024)
PATIENT = WorkerLimits(seconds=60.0, memory_mb=1024)


def faulty_read(path: Path, options) -> Extraction:
    """Stand in for read_attachment: the name of the file says what goes wrong."""
    name = path.stem
    if name == "segfault":
        ctypes.string_at(0)
    if name == "hang":
        while True:
            pass
    if name == "exit":
        os._exit(3)
    if name == "memory":
        hoard = []
        try:
            while True:
                hoard.append(bytearray(50_000_000))
        except MemoryError:
            hoard.clear()
            return Extraction(Status.FAILED, reason=Reason.MEMORY)
    if name == "slow_but_long":
        options.on_pages(4)
        time.sleep(3)
    if name == "killed":
        os.kill(os.getpid(), 9)
    return Extraction(Status.OK, text=name)


@pytest.mark.parametrize(
    ("name", "limits", "status", "reason"),
    [
        ("segfault", PATIENT, Status.FAILED, Reason.CRASHED),
        ("hang", QUICK, Status.FAILED, Reason.TIMEOUT),
        ("exit", PATIENT, Status.FAILED, Reason.CRASHED),
        ("memory", PATIENT, Status.FAILED, Reason.MEMORY),
        ("killed", PATIENT, Status.FAILED, Reason.MEMORY),
        ("slow_but_long", QUICK, Status.OK, None),
    ],
)
def test_planted_fault_costs_only_its_own_file(monkeypatch, tmp_path, name, limits, status, reason):
    monkeypatch.setattr(worker_module, "read_attachment", faulty_read)
    with Worker(limits, fork=True) as worker:
        assert worker.read(tmp_path / "before.txt").text == "before"
        result = worker.read(tmp_path / f"{name}.txt")
        assert (result.status, result.reason) == (status, reason)
        assert worker.read(tmp_path / "after.txt").text == "after"


def test_worker_dies_with_its_parent(tmp_path):
    """A killed parent leaves no reader that loops for ever."""
    pid = os.fork()
    if pid == 0:
        worker_module.read_attachment = faulty_read
        worker = Worker(WorkerLimits(seconds=60), fork=True)
        worker._start()
        (tmp_path / "pid").write_text(str(worker._pid))
        worker._conn.send(str(tmp_path / "hang"))
        os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    os.kill(child, 9)
    pytest.fail("the worker outlived its parent")


def test_limits_stay_below_those_of_the_shell():
    code = (
        "import os, resource as r\n"
        "from regcomments.read.limits import restrict\n"
        "r.setrlimit(r.RLIMIT_FSIZE, (5 << 20, 5 << 20))\n"
        "if os.getuid() == 0: os.setuid(65534)\n"
        "restrict(3072, 1024)\n"
        "print(r.getrlimit(r.RLIMIT_FSIZE)[0] >> 20, r.getrlimit(r.RLIMIT_AS)[0] >> 20)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "5 3072\n", run.stderr


@pytest.mark.parametrize("fork", [True, False], ids=["fork", "fresh interpreter"])
def test_reads_a_real_file(tmp_path, fork):
    path = tmp_path / "attachment_1.txt"
    path.write_text("We support the proposed rule.\n")
    with Worker(fork=fork) as worker:
        result = worker.read(path)
    assert (result.status, result.text) == (Status.OK, "We support the proposed rule.")
    assert result.sha256 is not None
    assert result.size == 30


def test_scratch_folder_goes_with_the_worker(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with Worker(fork=True) as worker:
        (tmp_path / "a.txt").write_text("text")
        worker.read(tmp_path / "a.txt")
        assert len(list(tmp_path.glob("regcomments-*"))) == 1
    assert list(tmp_path.glob("regcomments-*")) == []
