"""Which pages need OCR: pure functions from facts to verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from regcomments.read.pagefacts import PageFacts
from regcomments.status import Reason

RULE_VERSION = "2"

# Share of a page's characters without Unicode value from which its text is unreadable: every
# fifth letter.
_GARBLED_SHARE = 0.2
# Share of a page's words with symbols, digits or capitals inside from which it is no language.
_ODD_SHARE = 0.25
# A text of symbols, of so many kinds and this share, with no word in it, is no text either.
_SYMBOL_SHARE, _SYMBOL_KINDS = 0.4, 3
# Fewer such signs than this prove nothing.
_FEW = 5
# Letters outside the text layer that make a substantial part of any page: a paragraph of some
# forty words. Labels of charts and forms stay below.
PARAGRAPH = 250
# Letters outside the text layer that count on a page without text: a word or two. Recall
# decides here; a logo costs one OCR try.
SOME_LETTERS = 8
# On a short page the writing outside the text layer is substantial if it is so many times more.
_TIMES_MORE = 5
# Part of the page that ink covers on paper that is blank but for specks.
_SPECKS = 0.0005


@dataclass(frozen=True)
class Verdict:
    """Whether a page needs OCR, why, and whether its text may go into the body until then."""

    needs_ocr: bool
    reason: Reason | None = None
    keep_text: bool = True


def garbled(facts: PageFacts) -> bool:
    """Return whether the text layer is not language: unmapped glyphs, or a wrong alphabet."""
    bad = max(facts.bad_chars, facts.unmapped_chars)
    if bad >= _FEW and bad >= _GARBLED_SHARE * facts.chars:
        return True
    if not facts.words and facts.symbol_kinds >= _SYMBOL_KINDS:
        return facts.symbols >= _SYMBOL_SHARE * facts.chars
    odd = max(facts.odd_words, facts.consonant_runs)
    return odd > _FEW and odd >= _ODD_SHARE * facts.words


def judge(facts: PageFacts, stamp_chars: int = 0) -> Verdict:
    """Return the verdict on one page, `stamp_chars` characters of which repeat on its fellows."""
    if garbled(facts):
        return Verdict(True, Reason.GARBLED, keep_text=False)
    own = max(0, facts.chars - stamp_chars)
    enough = min(SOME_LETTERS + _TIMES_MORE * own, PARAGRAPH)
    if facts.looked and facts.letters >= enough:
        specks = facts.tokens >= 10 and facts.single_tokens >= 0.6 * facts.tokens
        return Verdict(True, Reason.SCANNED, keep_text=not specks)
    if facts.render_failed and own < 50 and facts.images:
        return Verdict(True, Reason.SCANNED)
    if not facts.chars and not (facts.looked and facts.ink_share > _SPECKS):
        return Verdict(False, Reason.BLANK)
    return Verdict(False)


def stamps(facts: Sequence[PageFacts]) -> list[int]:
    """Return for each page how many characters stand in lines that most pages repeat.

    Fax headers, Bates numbers and court stamps are no text of the page; digits are masked when
    the lines are hashed. Documents of fewer than three pages show no repetition.
    """
    pages = [[mark.split(":") for mark in page.marks.split()] for page in facts]
    count = Counter(key for marks in pages for key in {key for key, _ in marks})
    most = max(3, len(facts) // 2 + 1)
    return [sum(int(size) for key, size in marks if count[key] >= most) for marks in pages]


def judge_document(facts: Sequence[PageFacts]) -> list[Verdict]:
    """Return the verdict on each page of a document, in the order given."""
    return [judge(page, stamp) for page, stamp in zip(facts, stamps(facts), strict=True)]
