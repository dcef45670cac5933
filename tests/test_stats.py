"""Counts and findings, as people read them."""

import os

import pytest
from regcomments import pagestore
from regcomments.renditions import Pair
from regcomments.stats import render, stats, table
from state_files import digests, entry, sample_state, write_comment


@pytest.fixture
def state(tmp_path):
    return sample_state(tmp_path / "state")


def test_counts(state):
    found = stats(state)
    assert (found.report.comments, found.report.pending, found.n_dockets) == (4, 0, 2)
    assert (found.attachments, found.members, found.bytes) == (7, 1, 70)
    assert (found.chars, found.pages, found.ocr_pages, found.ocr_read) == (181, 9, 3, 3)
    assert (found.waiting_files, found.inline_missing, found.warnings) == (1, 1, 1)
    assert [(item.status, item.reason, item.files) for item in found.statuses] == [
        ("ok", "", 5),
        ("ocr_needed", "scanned", 1),
        ("failed", "corrupt", 1),
        ("unsupported", "", 1),
    ]
    assert [(item.docket, item.comments, item.failed) for item in found.dockets] == [
        ("D-1", 3, 1),
        ("D-2", 1, 0),
    ]


def test_text(state):
    text = render(stats(state))
    assert text.splitlines()[0] == f"State        {state}"
    assert "4 done, 0 pending, 0 damaged, in 2 dockets" in text
    start = text.index("status ")
    assert text[start : text.index("\n\n", start)].splitlines() == [
        "status       reason   files  characters  pages  pages for OCR",
        "ok           -            5         157      6              0",
        "ocr_needed   scanned      1           0      3              3",
        "failed       corrupt      1           0      0              0",
        "unsupported  -            1           0      0              0",
        "all                       8         157      9              3",
    ]
    for word in ("Pending", "Stale", "Orphaned", "Unexpected", "Damaged", "Unused"):
        assert word not in text


def test_findings(state):
    for number in range(7):
        (state / "D-4" / f"D-4-000{number}").mkdir(parents=True)
    new = state / "D-1" / "D-1-0002" / "attachment_3.pdf"
    new.write_bytes(b"new")
    (state / "D-2" / "D-2-0001" / "attachment_1.mp3").unlink()
    (state / "D-1" / "D-1-0010" / "notes.txt").touch()
    (state / "D-1" / "stray\x1b[31m.pdf").touch()
    (state / "D-1" / "D-1-10000" / "combined.md").write_text("garbage")
    store = state / "_ocr" / "bb"
    store.mkdir(parents=True)
    (store / ("b" * 64 + ".tesseract-1.json")).touch()
    (state / "_ocr" / "aa").mkdir()
    (state / "_ocr" / "aa" / ("a" * 64 + ".tesseract-1.json")).touch()  # in use
    found = stats(state)
    survey = found.survey
    assert (survey.pending.count, len(survey.pending.examples)) == (7, 5)
    assert survey.stale.examples == ["D-1/D-1-0002"]
    assert survey.orphaned.examples == ["D-2/D-2-0001/attachment_1.mp3"]
    assert survey.unexpected.examples == ["D-1/D-1-0010/notes.txt", "D-1/stray\x1b[31m.pdf"]
    assert survey.orphaned_ocr.examples == [f"_ocr/bb/{'b' * 64}.tesseract-1.json"]
    assert [problem.path for problem in found.report.problems] == ["D-1/D-1-10000/combined.md"]
    text = render(found)
    assert "Pending      7 (no combined.md yet" in text and "… and 2 more" in text
    assert "\x1b" not in text and "stray\\x1b[31m.pdf" in text
    assert "D-1/D-1-10000/combined.md: no front matter" in text


def test_pairs(state):
    write_comment(state, "D-5", "D-5-0001", entry(), entry("attachment_1.docx", "ok"))
    pairs = [
        ("D-1", "D-1-10000", Pair("attachment_1.docx", "attachment_1.pdf", 0.97, True)),
        ("D-5", "D-5-0001", Pair("attachment_1.docx", "attachment_1.pdf", 0.25, False)),
    ]
    pagestore.append_pairs(state, "s", pairs)
    found = stats(state)
    assert (found.pairs.pairs, found.pairs.same, found.pairs.below) == (2, 1, 1)
    text = render(found)
    assert "Renditions   2 pairs, text given once for 1; words agree 0.61 (median), 1" in text
    assert "  D-5/D-5-0001/attachment_1.docx and attachment_1.pdf: 0.25" in text
    assert render(stats(state)) == text


def test_empty_state(tmp_path):
    text = render(stats(tmp_path))
    assert "0 done, 0 pending" in text and "status" not in text


def test_twice_changes_no_byte(state):
    first = render(stats(state))
    before = digests(state)
    assert render(stats(state)) == first
    assert digests(state) == before


def test_while_a_run_goes_on(state, monkeypatch):
    """A comment that is finished during the walk is counted once, as pending or as done."""
    (state / "D-2" / "D-2-0002").mkdir()
    real = os.stat
    late = []

    def slow(path, *arguments, **more):
        if str(path).startswith("D-2-0002") and not late:
            late.append(path)
            try:
                return real(path, *arguments, **more)
            finally:
                write_comment(state, "D-2", "D-2-0002")
        return real(path, *arguments, **more)

    monkeypatch.setattr("regcomments.index_walk.os.stat", slow)
    found = stats(state)
    assert late
    assert (found.report.comments, found.report.pending, found.survey.pending.count) == (4, 1, 1)
    found = stats(state)
    assert (found.report.comments, found.report.pending) == (5, 0)


def test_table():
    assert table(("name", "count"), [("a", 1), ("long name", 12345)], 1) == [
        "name        count",
        "a               1",
        "long name  12,345",
    ]
