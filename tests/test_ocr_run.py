"""Running a job: no page is recorded as read unless it was, whatever the engine does."""

import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from regcomments.errors import UserError
from regcomments.ocr import source, store
from regcomments.ocr.engines import Outcome, PageInk
from regcomments.ocr.queue import Row, build_queue
from regcomments.ocr.run import RunSettings, read_shard
from regcomments.ocr.source import PageError, PageLimits, PageProcess

from tests.ocr_fakes import LETTER, FaultyEngine, entry, head, picture, put, scan_pdf, text_pdf

ROOT = Path(__file__).parents[1]
# A page of print eight times over, so that half of it is a clear miss.
DENSE = [line for _ in range(4) for line in LETTER]
TEXT = "\n".join(DENSE)
SEEN = PageInk(0.05, 9, 400, (200, 200, 0, 0))
QUIET = RunSettings(progress=lambda _: None)


@pytest.fixture(scope="module")
def scan() -> bytes:
    """Three pages: dense print, nothing, dense print."""
    pages = text_pdf([DENSE, [], DENSE])
    return scan_pdf([picture(pages, n, 100) for n in range(3)], 100)


def job(state, scan, pages=(1, 2, 3)):
    digest = put(state, "C-1", "attachment_1.pdf", scan)
    return [Row("T-2024-0001", "C-1", "attachment_1.pdf", digest, pages, 3)]


def outcomes(state, rows) -> dict[int, str]:
    found = store.lookup(state, rows[0].sha256)
    return {number: str(page.result.outcome) for number, page in found.pages.items()}


def test_text_and_nothing_are_kept_and_not_read_again(tmp_path, scan):
    rows = job(tmp_path, scan)
    engine = FaultyEngine({2: "empty"}, TEXT)
    report = read_shard(rows, tmp_path, engine, QUIET)
    assert outcomes(tmp_path, rows) == {1: "text", 2: "nothing", 3: "text"}
    assert (report.read, report.failed) == (3, 0)
    files = {path: path.read_bytes() for path in store.stored_files(tmp_path, rows[0].sha256)}
    again = read_shard(rows, tmp_path, engine, QUIET)
    assert (again.already, engine.calls) == (3, [1, 2, 3])
    assert files == {p: p.read_bytes() for p in store.stored_files(tmp_path, rows[0].sha256)}


@pytest.mark.parametrize(
    "fault", ["empty", "garbage", "loop", "half", "crash", "silent", "failed", "stray"]
)
def test_a_fault_is_never_taken_for_a_page_read(tmp_path, scan, fault):
    rows = job(tmp_path, scan, (1, 3))
    engine = FaultyEngine({1: fault}, TEXT)
    report = read_shard(rows, tmp_path, engine, QUIET)
    kept = outcomes(tmp_path, rows)
    if fault == "stray":  # a page nobody asked for is dropped, the right one counts
        assert kept == {1: "text", 3: "text"}
        return
    assert kept[1] == "failed"
    # A crash ends the engine's round; the pages behind it are tried on their own.
    assert kept[3] == "text"
    assert report.failed == 1 and report.failures[0][1:2] == (1,) and report.failures[0][2]


def test_text_on_a_blank_page_is_not_kept(tmp_path, scan):
    rows = job(tmp_path, scan, (2,))
    read_shard(rows, tmp_path, FaultyEngine({}, TEXT), QUIET)
    found = store.lookup(tmp_path, rows[0].sha256).pages[2].result
    assert (found.outcome, found.markdown) == (Outcome.NOTHING, "")


def test_one_more_try_within_a_run(tmp_path, scan):
    rows = job(tmp_path, scan, (1,))
    engine = FaultyEngine({1: "empty"}, TEXT, heal_after=1)
    read_shard(rows, tmp_path, engine, QUIET)
    assert outcomes(tmp_path, rows) == {1: "text"}
    assert engine.calls == [1, 1]


def test_failed_pages_are_queued_until_the_attempts_are_used_up(tmp_path, scan):
    rows = job(tmp_path, scan, (1,))
    heads = [
        (
            tmp_path / "T-2024-0001" / "C-1" / "combined.md",
            head("C-1", entry("attachment_1.pdf", (1,), rows[0].sha256, 3)),
        )
    ]
    engine = FaultyEngine({1: "empty"}, TEXT)
    for left in (1, 1, 1, 0, 0):
        queue = build_queue(heads, tmp_path, engine, max_attempts=3)
        assert queue.pages == left
        read_shard(queue.rows, tmp_path, engine, QUIET)
    assert queue.exhausted == 1
    assert store.lookup(tmp_path, rows[0].sha256).pages[1].attempt == 3
    healed = FaultyEngine({}, TEXT, digest="ffffffffffff")
    assert build_queue(heads, tmp_path, healed).pages == 1


def test_a_disbelieved_answer_of_a_deterministic_engine_is_final(tmp_path, scan):
    rows = job(tmp_path, scan, (1,))
    engine = FaultyEngine({1: "loop"}, TEXT, deterministic=True)
    report = read_shard(rows, tmp_path, engine, QUIET)
    assert outcomes(tmp_path, rows) == {1: "unreadable"}
    assert (engine.calls, report.failed) == ([1], 0)


def test_long_files_are_stored_in_parts(tmp_path):
    rows = job(tmp_path, b"never looked at", tuple(range(1, 61)))
    read_shard(rows, tmp_path, FaultyEngine(ink=SEEN), QUIET)
    names = [path.name.split(".")[2] for path in store.stored_files(tmp_path, rows[0].sha256)]
    assert names == ["p0001-0025", "p0026-0050", "p0051-0060"]
    assert len(outcomes(tmp_path, rows)) == 60


def test_jobs_that_share_a_file_give_the_same_names_and_bytes_in_any_order(tmp_path):
    parts = [
        Row("D", "C", "attachment_1.pdf", "a" * 64, pages, 7) for pages in ((1, 2, 3, 4), (6, 7))
    ]
    found = []
    for folder, order in (("one", parts), ("two", parts[::-1])):
        for row in order:
            read_shard([row], tmp_path / folder, FaultyEngine(ink=SEEN), QUIET)
        files = store.stored_files(tmp_path / folder, "a" * 64)
        found.append({path.name: path.read_bytes() for path in files})
    assert found[0] == found[1]
    assert [name.split(".")[2] for name in found[0]] == ["p0001-0004", "p0006-0007"]


def test_a_changed_or_lost_file_isnt_read_under_the_old_hash(tmp_path, scan):
    rows = job(tmp_path, scan, (1,))
    path = tmp_path / "T-2024-0001" / "C-1" / "attachment_1.pdf"
    path.write_bytes(scan + b"\n% changed")
    report = read_shard(rows, tmp_path, FaultyEngine({}, TEXT), QUIET)
    assert report.failed == 1 and "changed" in report.failures[0][2]
    path.unlink()
    report = read_shard(rows, tmp_path, FaultyEngine({}, TEXT), QUIET)
    assert report.failed == 1 and "No such file" in report.failures[0][2]


@pytest.mark.parametrize("lost", [False, True], ids=["changed", "lost"])
def test_attempt_counted_against_a_content_that_was_never_seen(tmp_path, scan, lost):
    """The same letter lies with other comments: their pages must not be given up for it."""
    rows = job(tmp_path, scan, (1,))
    path = tmp_path / "T-2024-0001" / "C-1" / "attachment_1.pdf"
    whole = path.read_bytes()
    for _ in range(4):
        path.write_bytes(scan + b"\n% changed")
        if lost:
            path.unlink()
        assert read_shard(rows, tmp_path, FaultyEngine({}, TEXT), QUIET).failed == 1
    assert store.lookup(tmp_path, rows[0].sha256) is None
    path.write_bytes(whole)
    assert read_shard(rows, tmp_path, FaultyEngine({}, TEXT), QUIET).read == 1


def test_attempt_counted_against_pages_when_the_machine_has_no_room(tmp_path, scan, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    rows = job(tmp_path, scan, (1,))
    monkeypatch.setattr(source, "make_scratch", full)
    with pytest.raises(UserError, match="No space left"):
        read_shard(rows, tmp_path, FaultyEngine({}, TEXT), QUIET)
    assert store.lookup(tmp_path, rows[0].sha256) is None


@pytest.mark.parametrize("error", [AttributeError, ZeroDivisionError, EOFError, AssertionError])
def test_lost_pages_when_an_engine_raises_what_nobody_foresaw(tmp_path, scan, error):
    class Odd(FaultyEngine):
        def read(self, source):
            for result in super().read(source):
                if result.number == 2:
                    raise error("odd")
                yield result

    rows = job(tmp_path, scan)
    report = read_shard(rows, tmp_path, Odd({}, TEXT), QUIET)
    assert outcomes(tmp_path, rows) == {1: "text", 2: "failed", 3: "text"}
    assert report.failed == 1


def test_progress_tells_pages_and_rate(tmp_path, scan):
    lines = []
    read_shard(job(tmp_path, scan), tmp_path, FaultyEngine({2: "empty"}, TEXT),
               RunSettings(progress=lines.append))  # fmt: skip
    assert lines[-1].startswith("ocr: 3 of 3 pages (2 text, 1 nothing), ")


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_loses_little_and_goes_on(tmp_path, sent):
    rows = job(tmp_path, b"never looked at", tuple(range(1, 61)))
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from regcomments.ocr.engines import PageInk
        from regcomments.ocr.queue import Row
        from regcomments.ocr.run import RunSettings, read_shard
        from tests.ocr_fakes import FaultyEngine
        rows = [Row("T-2024-0001", "C-1", "attachment_1.pdf", sys.argv[2], tuple(range(1, 61)), 60)]
        class Slow(FaultyEngine):
            def read(self, source):
                for result in super().read(source):
                    print(result.number, flush=True)
                    yield result
        faults = {n: "slow" for n in range(29, 61)}
        engine = Slow(faults, ink=PageInk(0.05, 9, 400, (200, 200, 0, 0)))
        read_shard(rows, Path(sys.argv[1]), engine, RunSettings(progress=lambda _: None))
        """
    )
    search = os.pathsep.join([str(ROOT), str(ROOT / "scripts")])
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), rows[0].sha256],
        env={**os.environ, "PYTHONPATH": search},
        stdout=subprocess.PIPE,
        text=True,
    )
    for line in process.stdout:
        if line.strip() == "30":
            break
    process.send_signal(sent)
    process.wait(30)
    assert process.returncode == (143 if sent == signal.SIGTERM else -9)
    kept = outcomes(tmp_path, rows)
    assert len(kept) >= (28 if sent == signal.SIGTERM else 25)
    assert set(kept.values()) == {"text"}
    engine = FaultyEngine(ink=SEEN)
    read_shard(rows, tmp_path, engine, QUIET)
    assert len(outcomes(tmp_path, rows)) == 60
    assert set(engine.calls).isdisjoint(kept)


FAULTS = """
import ctypes, os, sys, time
from multiprocessing.connection import Connection
from regcomments.ocr import tasks
true = tasks.run_task
def run_task(pages, task, number, options):
    if number == 1: ctypes.string_at(0)
    if number == 2: time.sleep(600)
    if number == 3: hoard = bytearray(3_000_000_000)
    if number == 4: os._exit(7)
    if number == 5: raise RecursionError("deep")
    if number in range(7, 10):
        conn = Connection(os.dup(int(sys.argv[1])))
        conn.send_bytes({7: b"[1]", 8: b"{half", 9: b"[" * 100_000}[number])
        time.sleep(600)
    if number == 10:
        os.write(int(sys.argv[1]), (0x7FFFFFFF).to_bytes(4, "big") + b"x" * 1000)
        time.sleep(600)
    return true(pages, task, number, options)
tasks.run_task = run_task
tasks.serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (1, "signal 11"),
        (2, "within 3 s"),
        (3, "memory"),
        (4, "exit 7"),
        (5, "RecursionError"),
        (7, "no sense"),
        (8, "no sense"),
        (9, "no sense"),
        (10, "stopped answering|within 3 s"),
    ],
)
def test_a_page_that_breaks_its_process_costs_only_itself(tmp_path, monkeypatch, page, told):
    (tmp_path / "faulty_tasks.py").write_text(FAULTS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pdf = tmp_path / "a.pdf"
    pdf.write_bytes(text_pdf([["page"]] * 6))
    request = {"path": str(pdf), "inside": "", "sha256": put(tmp_path, "C", "a.pdf",
               pdf.read_bytes()), "task": "ink", "options": {}}  # fmt: skip
    limits = PageLimits(seconds=3, memory_mb=2048)
    with PageProcess(limits, "faulty_tasks") as process:
        with pytest.raises(PageError, match=told):
            process.ask({**request, "number": page})
        assert process.ask({**request, "number": 6})["share"] > 0


def test_a_process_whose_parent_is_gone_ends_at_once():
    mine, theirs = socket.socketpair()
    command = [sys.executable, "-m", "regcomments.ocr.tasks", str(theirs.fileno())]
    with mine, theirs:
        orphan = subprocess.Popen(
            [*command, str(os.getppid())],  # not its parent
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        )
        assert orphan.wait(20) == 0


def test_the_process_ends_with_its_parent(tmp_path):
    program = (
        "from regcomments.ocr.source import PageProcess\n"
        "p = PageProcess(); p._start(); print(p._process.pid, flush=True); import time\n"
        "time.sleep(60)"
    )
    search = str(ROOT / "scripts")
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": search},
    )
    child = int(parent.stdout.readline())
    time.sleep(1.0)
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and Path(f"/proc/{child}/stat").exists():
        state = Path(f"/proc/{child}/stat").read_text().split(") ")[1][0]
        if state == "Z":
            break
        time.sleep(0.1)
    else:
        assert not Path(f"/proc/{child}/stat").exists()
