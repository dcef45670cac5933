"""Progress lines, receipts, one reading of same files, arguments of jobs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from regcomments import progress
from regcomments.job import Stretch, told
from regcomments.progress import (
    Counts,
    Progress,
    Receipts,
    board,
    duration,
    read_receipts,
    summary_lines,
)
from regcomments.read.remember import Remembering
from regcomments.records import Extraction
from regcomments.status import Reason, Status


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (42.4, "42 s"), (89.4, "89 s"), (150, "2 min"), (5400, "1 h 30 min")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


def test_a_line_tells_the_job_and_the_whole_run(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress.time, "time", lambda: clock[0])
    lines: list[str] = []
    folder = tmp_path / "0001"
    progress.write_receipt(folder / "A-1" / "1..9.json", Counts(comments=300, attachments=60))
    told_by = Progress("B-1", lines.append, folder / "B-1" / "1..9.json", 1000, 900.0)
    told_by.total = 400
    told_by.show(Counts(comments=1), "B-1-1")
    assert lines == []  # nothing is due yet
    clock[0] += 20
    told_by.show(Counts(comments=100, attachments=40), "B-1-100")
    assert lines == [
        (
            "B-1: 100/400 comments, 2.0 files/s, ETA 60 s, at B-1-100; "
            "in all 400 of 1000 comments, ETA 3 min, 0.8 files/s"
        )
    ]
    clock[0] += 10
    told_by.show(Counts(comments=100, attachments=40), "B-1-101/attachment_1.pdf", slow=12.3)
    assert ", at B-1-101/attachment_1.pdf for 12 s; in all 400 of" in lines[-1]


def test_a_job_at_work_counts_until_it_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "BEAT_SECONDS", 0.0)
    receipt = tmp_path / "A-1" / "1..9.json"
    job = Progress("A-1", lambda line: None, receipt, 10, 1.0)
    job.show(Counts(comments=4), "x")
    assert read_receipts(tmp_path, running=True).comments == 4
    assert read_receipts(tmp_path).comments == 0
    job.finish(Counts(comments=9))
    assert read_receipts(tmp_path, running=True).comments == 9
    assert [path.name for path in receipt.parent.iterdir()] == ["1..9.json"]


def test_a_job_broken_off_is_counted_and_no_longer_at_work(tmp_path):
    job = Progress("A-1", lambda line: None, tmp_path / "0001" / "A-1" / "1..9.json", 10, 1.0)
    job.break_off()  # before anything was begun
    assert list(tmp_path.iterdir()) == []
    job.show(Counts(comments=4), "x")
    job.break_off()
    assert read_receipts(tmp_path, running=True).comments == 4
    _, at_work = Receipts(tmp_path).look()
    assert [item.lost for item in at_work] == [True]


@pytest.mark.parametrize(
    ("docket", "through", "title"),
    [
        ("CMS-2031-0180", "CMS-2031-0180", "CMS-2031-0180"),
        ("CMS-2031-0180", "CMS-2031-0186", "CMS-2031-0180 to 0186"),
        ("CMS-2031-0180", "FDA-2031-0001", "CMS-2031-0180 to FDA-2031-0001"),
        ("A-1", "A-1-2", "A-1 to A-1-2"),
        ("EPA", "EPB", "EPA to EPB"),
    ],
)
def test_a_stretch_is_named_short(docket, through, title):
    assert Stretch(docket, "1", through, "9").title == title


def test_damaged_receipts_count_nothing(tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text("[]")
    progress.write_receipt(tmp_path / "c.json", Counts(comments=2, statuses={"ok/": 3}))
    total = read_receipts(tmp_path)
    assert total.comments == 2
    assert summary_lines(total)[1].split() == ["ok", "3"]


class FakeWorker:
    def __init__(self, reason: Reason | None = None) -> None:
        self.reads: list[str] = []
        self.reason = reason

    def read(self, path: Path) -> Extraction:
        import hashlib

        self.reads.append(path.name)
        raw = path.read_bytes()
        status = Status.FAILED if self.reason else Status.OK
        digest = hashlib.sha256(raw).hexdigest()
        return Extraction(
            status, text=raw.decode(), reason=self.reason, sha256=digest, size=len(raw)
        )


@pytest.mark.parametrize(
    ("files", "reason", "most", "reads"),
    [
        ({"a.txt": "one", "b.txt": "one"}, None, 10**6, ["a.txt"]),
        ({"a.txt": "one", "b.txt": "two"}, None, 10**6, ["a.txt", "b.txt"]),
        ({"a.txt": "one", "b.html": "one"}, None, 10**6, ["a.txt", "b.html"]),
        ({"a.txt": "one", "b.txt": "one"}, Reason.TIMEOUT, 10**6, ["a.txt", "b.txt"]),
        ({"a.txt": "one", "b.txt": "one"}, Reason.CORRUPT, 10**6, ["a.txt"]),
        ({"a.txt": "one", "b.txt": "one"}, None, 10, ["a.txt", "b.txt"]),
        (
            {"a.txt": "one", "b.txt": "two", "c.txt": "one"},
            None,
            1500,
            ["a.txt", "b.txt", "c.txt"],
        ),
    ],
)
def test_the_same_file_is_read_once(tmp_path, files, reason, most, reads):
    worker = FakeWorker(reason)
    reader = Remembering(worker, most)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        assert reader.read(tmp_path / name).text == text
    assert worker.reads == reads
    assert reader.repeated == len(files) - len(reads)


def test_lines_go_to_standard_error_and_to_the_log(tmp_path, capsys):
    log = tmp_path / "job.log"
    for text in ("one", "two"):
        with told(log) as say:
            say(text)
    assert log.read_text() == "one\ntwo\n"
    assert capsys.readouterr().err == "one\ntwo\n"


def test_the_board_has_a_line_a_job_and_one_for_all(tmp_path, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress.time, "time", lambda: clock[0])
    monkeypatch.setenv(progress.LIVE_VARIABLE, "1")
    progress.write_receipt(tmp_path / "A" / "1.json", Counts(comments=100, attachments=30))
    logged: list[str] = []
    jobs = {}
    for name in ("B", "C"):
        jobs[name] = Progress(name, print, tmp_path / name / "1.json", note=logged.append)
        jobs[name].total = 50
    receipts = Receipts(tmp_path)
    clock[0] += 4
    jobs["C"].show(Counts(comments=10, attachments=8), "C-10")
    clock[0] += 1
    jobs["B"].show(Counts(comments=5, attachments=5), "B-6/attachment_1.pdf", slow=5.0)
    assert board(receipts, 200, 995.0) == [
        "  B: 5/50 comments, 1.0 files/s, ETA 45 s, at B-6/attachment_1.pdf for 5 s",
        "  C: 10/50 comments, 2.0 files/s, ETA 16 s, at C-10",
        "  in all 115 of 200 comments, ETA 7 s, 4.3 files/s",
    ]
    clock[0] += progress.LOST_SECONDS - 0.5  # C has been killed by now, what it did stays done
    assert [line[:5] for line in board(receipts, 200, 995.0)] == ["  B: ", "  in "]
    jobs["B"].finish(Counts(comments=50, attachments=40))
    assert board(receipts, 200, 995.0)[0].startswith("  in all 160 of 200 comments")
    assert logged == []  # nothing was due yet


def test_a_live_job_tells_its_log_only(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv(progress.LIVE_VARIABLE, "1")
    with told(tmp_path / "log") as say:
        say.note("so far")
        say("done")
    assert (tmp_path / "log").read_text() == "so far\ndone\n"
    assert capsys.readouterr().err == "done\n"


def test_a_job_goes_on_when_nobody_listens(tmp_path):
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom regcomments.job import told\n"
        "with told(Path('log')) as say:\n    say('one')\n    say('two')\n"
    )
    ours, theirs = os.pipe()
    os.close(ours)
    scripts = Path(progress.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", program],
        stderr=theirs,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(scripts)},
    )
    os.close(theirs)
    assert done.returncode == 0
    assert (tmp_path / "log").read_text() == "one\ntwo\n"
