"""Which pages need OCR: pure functions from facts to verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regcomments.read.pagefacts import PageFacts
from regcomments.status import Reason

RULE_VERSION = "1"


@dataclass(frozen=True)
class Verdict:
    """Whether a page needs OCR, why, and whether its text may go into the body until then."""

    needs_ocr: bool
    reason: Reason | None = None
    keep_text: bool = True


def judge(facts: PageFacts) -> Verdict:
    """Return the verdict on one page seen alone."""
    if facts.chars and facts.bad_chars > 0.12 * facts.chars:
        return Verdict(True, Reason.GARBLED, keep_text=False)
    if facts.chars <= 50 and (facts.images or facts.paths > 20):
        return Verdict(True, Reason.SCANNED)
    if (
        facts.image_share >= 0.5
        and 0 <= facts.visible_text_share < 0.05
        and (facts.hidden_text_share < 0.05)
    ):
        return Verdict(True, Reason.SCANNED)
    if not facts.chars:
        return Verdict(False, Reason.BLANK)
    return Verdict(False)


def judge_document(facts: Sequence[PageFacts]) -> list[Verdict]:
    """Return the verdict on each page of a document, in the order given."""
    return [judge(page) for page in facts]
