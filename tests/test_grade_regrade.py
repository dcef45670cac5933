"""Applying the rule again to stored facts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from regcomments.grade import RULE, judge_document
from regcomments.read.pagefacts import PageFacts, measure
from regcomments.regrade import Change, regrade
from regcomments.status import Reason

from tests import page_files as files

SCAN = PageFacts(looked=True, letters=120, ink_share=0.04, images=1, image_share=1.0)
TEXT = PageFacts(chars=2000, tokens=400, words=380)


def row(page: int, facts: PageFacts, needs: bool, reason: str | None, **more: object) -> dict:
    stored = {"sha256": "a" * 64, "page": page, "needs_ocr": needs, "reason": reason}
    return {**stored, "ocr_engine": None, **facts.to_dict(), **more}


def test_nothing_changes_under_the_same_rule() -> None:
    pages = [(files.scan(), files.stamp(n)) for n in range(3)] + [(files.letter(),), ()]
    facts = [measure(page, page.get_text()) for page in files.document_of(pages)]
    rows = [
        row(number, fact, verdict.needs_ocr, verdict.reason and str(verdict.reason))
        for number, (fact, verdict) in enumerate(
            zip(facts, judge_document(facts), strict=True), start=1
        )
    ]
    assert [r["needs_ocr"] for r in rows] == [True, True, True, False, False]
    assert list(regrade(json.loads(json.dumps(rows)))) == []


@pytest.mark.parametrize(
    ("stored", "rule", "needs", "reread"),
    [
        (row(2, SCAN, False, None), RULE, True, False),
        (row(2, SCAN, True, "scanned"), replace(RULE, some_letters=500), False, False),
        (row(2, TEXT, True, "garbled"), RULE, False, True),
        (row(2, replace(TEXT, bad_chars=900), False, None), RULE, True, True),
    ],
)
def test_changes(stored: dict, rule: object, needs: bool, reread: bool) -> None:
    (change,) = regrade([row(1, TEXT, False, None), stored], rule)
    assert (change.page, change.was_needed) == (2, stored["needs_ocr"])
    assert (change.verdict.needs_ocr, change.reread) == (needs, reread)


@pytest.mark.parametrize(
    "stored",
    [
        {"sha256": "b", "page": 1, "needs_ocr": True, "reason": "image", "width": 9, "height": 9},
        row(1, SCAN, True, "image"),
        row(1, TEXT, True, "scanned", ocr_engine="tesseract 5"),
        row(1, TEXT, True, "scanned", marks=None),
    ],
)
def test_rows_left_as_they_are(stored: dict) -> None:
    assert list(regrade([stored])) == []


def test_pictures_keep_their_reason() -> None:
    (change,) = regrade([row(1, replace(SCAN, letters=0), True, "image")])
    assert change == Change("a" * 64, 1, True, Reason.IMAGE, change.verdict, False)
    assert not change.verdict.needs_ocr


def test_files_are_judged_apart() -> None:
    stamped = replace(SCAN, chars=45, letters=40, marks="0a0b0c0d:45")
    rows = [row(n, stamped, False, None, sha256=sha) for sha in ("c", "d") for n in (1, 2)]
    assert list(regrade(rows)) == []
    more = [*rows, row(3, stamped, False, None, sha256="d")]
    assert [(change.sha256, change.page) for change in regrade(more)] == [
        ("d", 1),
        ("d", 2),
        ("d", 3),
    ]


@pytest.mark.parametrize("stored", [{"page": 1}, {**row(1, SCAN, False, None), "reason": "odd"}])
def test_broken_rows_are_named(stored: dict) -> None:
    with pytest.raises((KeyError, ValueError)):
        list(regrade([stored]))
