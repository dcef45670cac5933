"""One folder to combined.md, and what a redo must never cost."""

import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from regcomments.combined import CombinedError, read
from regcomments.comment import extract_comment, keep_good, make_combined
from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.merge import merge_comments
from regcomments.read import worker as worker_module
from regcomments.read.worker import Worker
from regcomments.records import Extraction
from regcomments.redo import parse_redo
from regcomments.shard import run_shard
from regcomments.status import Reason, Status

NOW = "2031-05-04T09:12:44Z"


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "state" / "CMS-2031-0001" / "CMS-2031-0001-0001"
    path.mkdir(parents=True)
    (path / "attachment_1.txt").write_text("We support the rule.")
    (path / "attachment_2.txt").write_text("Our second letter asks for more time.")
    return path


@pytest.fixture
def settings(tmp_path) -> Settings:
    return Settings(state=str(tmp_path / "state"), bib="none")


def extract(folder, **bodies):
    with Worker(fork=True) as worker:
        return make_combined(folder, bodies.get("bodies"), worker, now=NOW)


def test_writes_once_and_then_leaves_it(folder):
    path = extract_comment(folder, bodies={folder.name: "Inline."}, now=NOW)
    first = path.read_bytes()
    (folder / "attachment_1.txt").write_text("changed")
    assert extract_comment(folder, now="2032-01-01T00:00:00Z") == path
    assert path.read_bytes() == first
    combined = read(path)
    assert combined.inline == "Inline."
    assert combined.head.chars == len("Inline.") + 20 + 37


def test_redo_without_a_database_keeps_the_inline_body(folder, settings):
    extract(folder, bodies={folder.name: "Typed into the form."})
    run_shard(
        settings,
        docket="CMS-2031-0001",
        first=folder.name,
        last=folder.name,
        redo=parse_redo("all"),
        say=lambda line: None,
    )
    assert read(folder / "combined.md").inline == "Typed into the form."


def test_row_that_has_gone_keeps_the_inline_body(folder):
    extract(folder, bodies={folder.name: "Typed into the form."})
    extract(folder, bodies={})
    combined = read(folder / "combined.md")
    assert combined.inline == "Typed into the form."
    assert not combined.head.inline_missing


def test_attachment_that_has_gone_keeps_entry_and_text(folder, settings):
    extract(folder, bodies={})
    (folder / "attachment_1.txt").unlink()
    report = merge_comments(settings, [("CMS-2031-0001", folder.name)], "", lambda line: None)
    assert report.failed == ()
    combined = read(folder / "combined.md")
    assert [entry.file for entry in combined.head.attachments] == [
        "attachment_1.txt",
        "attachment_2.txt",
    ]
    assert combined.texts["attachment_1.txt"] == "We support the rule."
    assert "has gone" in combined.head.warnings[0]


def test_merge_leaves_a_damaged_file_alone(folder, settings):
    (folder / "combined.md").write_text("no front matter")
    report = merge_comments(settings, [("CMS-2031-0001", folder.name)], "", lambda line: None)
    assert report.failed == (f"CMS-2031-0001/{folder.name}",)
    assert (folder / "combined.md").read_text() == "no front matter"
    with pytest.raises(CombinedError):
        extract(folder)


@pytest.mark.parametrize(
    ("reason", "kept"),
    [
        (Reason.TIMEOUT, True),
        (Reason.MEMORY, True),
        (Reason.CRASHED, True),
        (Reason.CORRUPT, False),
        (Reason.ENCRYPTED, False),
    ],
)
def test_passing_failure_keeps_the_text_read_before(folder, reason, kept):
    old = extract(folder, bodies={}).combined
    sha256 = old.head.attachments[0].sha256
    failed = Extraction(Status.FAILED, reason=reason, sha256=sha256, error="x")
    result = keep_good({"attachment_1.txt": failed}, old)["attachment_1.txt"]
    assert (result.status == Status.OK) is kept
    assert (result.text == "We support the rule.") is kept


def test_other_content_is_never_covered_by_old_text(folder):
    old = extract(folder, bodies={}).combined
    failed = Extraction(Status.FAILED, reason=Reason.TIMEOUT, sha256="0" * 64)
    assert keep_good({"attachment_1.txt": failed}, old)["attachment_1.txt"] == failed


def test_folder_that_settles_between_two_others_is_left(tmp_path, folder, settings):
    old = 1_700_000_000
    for number in (1, 2, 3):
        comment = folder.parent / f"CMS-2031-0001-000{number}"
        comment.mkdir(exist_ok=True)
        (comment / "attachment_1.txt").write_text("text")
        if number != 2:
            for path in comment.iterdir():
                os.utime(path, (old, old))
    counts = run_shard(
        replace(settings, settle_seconds=600),
        docket="CMS-2031-0001",
        first="CMS-2031-0001-0001",
        last="CMS-2031-0001-0003",
        say=lambda line: None,
    )
    assert counts.comments == 2
    assert not (folder.parent / "CMS-2031-0001-0002" / "combined.md").exists()


def test_one_unexpected_error_costs_one_comment(folder, settings, monkeypatch):
    other = folder.parent / "CMS-2031-0001-0002"
    other.mkdir()

    def failing(path, *arguments, **options):
        if path == folder:
            raise ValueError("nobody thought of this")
        return make_combined(path, *arguments, **options)

    monkeypatch.setattr("regcomments.shard.make_combined", failing)
    said: list[str] = []
    counts = run_shard(
        settings, docket="CMS-2031-0001", first=folder.name, last=other.name, say=said.append
    )
    assert (counts.comments, counts.failed_comments) == (1, 1)
    assert "nobody thought of this" in said[0]
    assert (other / "combined.md").exists()


def test_docket_that_vanishes_is_an_error_not_a_success(settings):
    with pytest.raises(UserError, match="not in"):
        run_shard(settings, docket="CMS-2031-0009", first="a", last="b", say=lambda line: None)


def test_worker_that_dies_while_sending_costs_only_that_file(monkeypatch, tmp_path):
    def dying(path, options):
        if path.stem == "bad":
            # A length that is never followed by so many bytes: what a killed sender leaves.
            os.write(find_socket(), b"\x00\x00\x10\x00half")
            os._exit(1)
        return Extraction(Status.OK, text=path.stem)

    monkeypatch.setattr(worker_module, "read_attachment", dying)
    with Worker(fork=True) as worker:
        assert worker.read(tmp_path / "bad.txt").reason == Reason.CRASHED
        assert worker.read(tmp_path / "good.txt").text == "good"


def find_socket() -> int:
    """Return the worker's end of its pipe: the socket with the highest number."""
    sockets = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                sockets.append(int(name))
        except OSError:
            continue
    return max(sockets)


def test_worker_starts_under_a_lower_limit_of_the_shell(tmp_path):
    (tmp_path / "a.txt").write_text("text")
    code = (
        "import resource, sys; from pathlib import Path\n"
        "low = 1 << 30; resource.setrlimit(resource.RLIMIT_FSIZE, (low // 4, low // 4))\n"
        "from regcomments.read.worker import Worker\n"
        "with Worker(fork=True) as worker: print(worker.read(Path(sys.argv[1])).text)\n"
    )
    package = str(Path(worker_module.__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.txt")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": package},
    )
    assert run.stdout == "text\n", run.stderr
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY


def test_worker_that_cannot_start_is_an_error_not_a_status(monkeypatch, tmp_path):
    def refuse(*_):
        raise ValueError("no")

    monkeypatch.setattr(worker_module, "restrict", refuse)
    with Worker(fork=True) as worker, pytest.raises(UserError, match="does not start"):
        worker.read(tmp_path / "a.txt")
