"""A shard that spans dockets: what it writes, what it leaves, what it says."""

import os
from pathlib import Path

import pytest
from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.progress import Progress, read_receipts
from regcomments.shard import run_shard


def make_state(root: Path) -> Path:
    state = root / "state"
    for docket, count in (("A-1", 3), ("B-1", 2), ("C-1", 3), ("D-1", 1)):
        for number in range(1, count + 1):
            folder = state / docket / f"{docket}-{number}"
            folder.mkdir(parents=True)
            (folder / "attachment_1.txt").write_text("We ask you to keep the rule as it is.")
    return state


def done(state: Path) -> list[str]:
    return sorted(path.parent.name for path in state.rglob("combined.md"))


def run(state: Path, lines: list[str], **more):
    settings = Settings(state=str(state), bib="none")
    stretch = {"docket": "A-1", "first": "A-1-2", "through": "C-1", "last": "C-1-2", **more}
    return run_shard(settings, say=lines.append, **stretch)


def test_a_stretch_ends_in_another_docket(tmp_path):
    state = make_state(tmp_path)
    counts = run(state, [])
    assert done(state) == ["A-1-2", "A-1-3", "B-1-1", "B-1-2", "C-1-1", "C-1-2"]
    assert (counts.comments, counts.attachments, counts.repeated) == (6, 6, 5)
    assert dict(counts.statuses) == {"ok/": 6}


def test_an_unreadable_docket_in_between_is_told_and_left(tmp_path, monkeypatch):
    state = make_state(tmp_path)
    real = os.scandir

    def scandir(path):
        if str(path).endswith("B-1"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    lines: list[str] = []
    counts = run(state, lines)
    assert done(state) == ["A-1-2", "A-1-3", "C-1-1", "C-1-2"]
    assert counts.failed_comments == 1
    assert lines == ["docket B-1 can't be read: Permission denied"]


@pytest.mark.parametrize("gone", ["A-1", "C-1"])
def test_an_end_that_has_gone_is_an_error(tmp_path, gone):
    state = make_state(tmp_path)
    (state / gone).rename(tmp_path / gone)
    with pytest.raises(UserError, match=f"docket {gone} is not in"):
        run(state, [])


def test_the_receipt_tells_what_was_done(tmp_path):
    state = make_state(tmp_path)
    lines: list[str] = []
    receipt = tmp_path / "0001" / "A-1..C-1" / "x.json"
    progress = Progress("A-1 to C-1", lines.append, receipt, 6, 1.0)
    progress.finish(run(state, lines, progress=progress))
    assert read_receipts(tmp_path / "0001").comments == 6
    assert lines[-1].startswith("A-1 to C-1: done, 6 comments, 6 attachments, ")
    assert "; in all 6 of 6 comments, ETA 0 s, " in lines[-1]
