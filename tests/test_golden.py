"""Five committed comment folders must give their committed combined.md, and the same twice.

To write the expected files anew after a wanted change, and then to look at the difference:

    REGCOMMENTS_REGENERATE_GOLDEN=1 python -m pytest tests/test_golden.py

CI refuses that: there an expectation is never made from the outcome that it should judge.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest
from regcomments import combined
from regcomments.bib import open_bib
from regcomments.comment import extract_comment
from regcomments.read.worker import Worker
from regcomments.status import Reason, Status

FIXTURES = Path(__file__).parent / "fixtures"
FOLDERS = sorted(FIXTURES.glob("comments/*/*"))
IDS = [folder.name for folder in FOLDERS]
REGENERATE = os.environ.get("REGCOMMENTS_REGENERATE_GOLDEN") == "1"
NOW = "2031-07-01T08:00:00Z"

# What must hold whatever the expected files say: the statuses of the four negatives and their like.
STATUSES = [
    ("0001", "attachment_1.pdf", Status.OK, None),
    ("0001", "attachment_2.pdf", Status.FAILED, Reason.EMPTY_FILE),
    ("0002", "attachment_1.docx", Status.OK, None),
    ("0002", "attachment_1.pdf", Status.OK, None),
    ("0002", "attachment_2.pdf", Status.FAILED, Reason.ENCRYPTED),
    ("0003", "attachment_1.pdf", Status.OCR_NEEDED, Reason.MIXED),
    ("0003", "attachment_2.pdf", Status.FAILED, Reason.CORRUPT),
    ("0004", "attachment_1.txt", Status.OK, None),
    ("0004", "attachment_2.html", Status.OK, None),
    ("0004", "attachment_3.xyz", Status.UNSUPPORTED, Reason.UNKNOWN_KIND),
    ("0005", "attachment_2.docx", Status.OK, None),
    ("0005", "attachment_9.pdf", Status.OK, None),
    ("0005", "attachment_10.pdf", Status.OK, None),
]


@pytest.fixture(scope="module")
def bodies(tmp_path_factory) -> dict[str, str]:
    """The inline bodies, read as the workflow reads them from a database made here."""
    path = tmp_path_factory.mktemp("bib") / "bib.sqlite"
    rows = json.loads((FIXTURES / "bodies.json").read_text("utf-8"))
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE items (id TEXT PRIMARY KEY, title TEXT, abstract TEXT)")
    connection.executemany("INSERT INTO items VALUES (?, 'Comment', ?)", rows.items())
    connection.commit()
    connection.close()
    bib = open_bib(path)
    try:
        return bib.bodies(IDS)
    finally:
        bib.close()


@pytest.fixture(scope="module")
def state(tmp_path_factory, bodies) -> Path:
    """A copy of the fixtures in which every comment has been extracted."""
    state = tmp_path_factory.mktemp("golden") / "comments"
    shutil.copytree(FIXTURES / "comments", state)
    with Worker() as worker:
        for folder in FOLDERS:
            copy = state / folder.parent.name / folder.name
            written = extract_comment(copy, bodies=bodies, now=NOW, worker=worker)
            assert written == copy / "combined.md"
    return state


def expected_path(folder: Path) -> Path:
    return FIXTURES / "expected" / f"{folder.name}.md"


def normalised(text: str) -> str:
    """Return `text` without what changes from run to run or with each release."""
    text = re.sub(r"^extracted_at: .*$", "extracted_at: <time>", text, count=1, flags=re.M)
    return re.sub(r"^tool: .*$", "tool: <tool>", text, count=1, flags=re.M)


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_combined_is_as_committed(folder, state):
    got = normalised((state / folder.parent.name / folder.name / "combined.md").read_text("utf-8"))
    path = expected_path(folder)
    if REGENERATE and os.environ.get("CI") != "true":
        path.parent.mkdir(exist_ok=True)
        path.write_text(got, "utf-8")
    assert got == path.read_text("utf-8")


def test_regeneration_is_refused_in_ci():
    assert not (REGENERATE and os.environ.get("CI") == "true"), (
        "REGCOMMENTS_REGENERATE_GOLDEN must not be set in CI"
    )


def test_no_expected_file_is_left_over():
    assert len(FOLDERS) == 5
    assert {path.stem for path in FIXTURES.glob("expected/*.md")} == set(IDS)


@pytest.mark.parametrize(("number", "file", "status", "reason"), STATUSES)
def test_status(number, file, status, reason, state):
    docket = FOLDERS[0].parent.name
    head = combined.read(state / docket / f"{docket}-{number}" / "combined.md").head
    entry = next(entry for entry in head.attachments if entry.file == file)
    assert (entry.status, entry.reason) == (status, reason)


def test_every_attachment_has_a_status():
    listed = {(folder[-4:], path.name) for folder, path in _attachments()}
    assert listed == {(number, file) for number, file, _, _ in STATUSES}


def _attachments():
    return [(folder.name, path) for folder in FOLDERS for path in folder.iterdir()]


def test_second_run_changes_no_byte(state, bodies):
    def snapshot() -> dict[Path, tuple[bytes, int]]:
        return {
            path: (path.read_bytes(), path.stat().st_mtime_ns)
            for path in state.rglob("*")
            if path.is_file()
        }

    before = snapshot()
    for folder in FOLDERS:
        extract_comment(
            state / folder.parent.name / folder.name, bodies=bodies, now="2032-01-01T00:00:00Z"
        )
    assert snapshot() == before
    assert len(before) == len(_attachments()) + len(FOLDERS)


def test_removing_one_makes_the_same_again(state, bodies):
    path = state / FOLDERS[0].parent.name / IDS[0] / "combined.md"
    before = path.read_bytes()
    path.unlink()
    extract_comment(path.parent, bodies=bodies, now=NOW)
    assert path.read_bytes() == before
