"""Apply the rule of grade.py again to stored page facts, without reading the files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from regcomments.grade import RULE, Rule, Verdict, judge, judge_document
from regcomments.read.pagefacts import PageFacts, Scalar
from regcomments.status import Reason

Row = Mapping[str, Scalar | None]


@dataclass(frozen=True)
class Change:
    """A page on which the rule now says something else than is stored.

    `page` counts from 1. `reread` tells that the file must be read again before the change can
    be shown: the page's text was left out of the body, or must leave it.
    """

    sha256: str
    page: int
    was_needed: bool
    was_reason: Reason | None
    verdict: Verdict
    reread: bool


def regrade(rows: Iterable[Row], rule: Rule = RULE) -> Iterator[Change]:
    """Yield what changes in `rows`, one a page, those of a file next to each other.

    A row holds `sha256`, `page`, `needs_ocr`, `reason` and the facts (PageFacts.to_dict). Rows
    without facts of grading (pages of picture files), and pages that OCR has read, are left as
    they are. Raises KeyError or ValueError for rows that lack the first four or hold nonsense.
    """
    for sha256, group in groupby(rows, key=lambda row: str(row["sha256"])):
        pages = sorted((row for row in group if _graded(row)), key=lambda row: int(row["page"]))
        yield from _file_changes(sha256, pages, rule)


def _graded(row: Row) -> bool:
    return row.get("marks") is not None and not row.get("ocr_engine")


def _file_changes(sha256: str, rows: list[Row], rule: Rule) -> Iterator[Change]:
    facts = [PageFacts.from_dict(row) for row in rows]
    # Pictures of a flowing document are judged one by one: they have no lines in common.
    pictures = [row.get("reason") == Reason.IMAGE for row in rows]
    verdicts = judge_document(facts, rule)
    for row, fact, picture, verdict in zip(rows, facts, pictures, verdicts, strict=True):
        if picture:
            alone = judge(fact, 0, rule)
            verdict = Verdict(alone.needs_ocr, Reason.IMAGE if alone.needs_ocr else None)
        needed = bool(row["needs_ocr"])
        reason = Reason(str(row["reason"])) if row.get("reason") else None
        if (needed, reason) == (verdict.needs_ocr, verdict.reason):
            continue
        was_kept = reason is not Reason.GARBLED
        yield Change(
            sha256, int(row["page"]), needed, reason, verdict, was_kept != verdict.keep_text
        )
