"""Which pages need OCR: pure functions from page facts to verdicts (docs/grading.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from regcomments.read.pagefacts import PageFacts
from regcomments.status import Reason

RULE_VERSION = "4"


@dataclass(frozen=True)
class Rule:
    """The limits of the rule. Each has a reason; docs/grading.md tells how far each can move.

    `garbled_share`: part of a page's characters without a Unicode value from which its text is
    unreadable, every fifth letter. `odd_share`: part of its words that no alphabet spells (symbols,
    digits, capitals inside) from which it is no language; ordinary pages stay below 0.06.
    `symbol_share`, `symbol_kinds`: a text of so many symbols with no word in it is no text.
    `vowel_share`: part of vowels among small Western letters below which letters stand for others;
    European languages have 0.36 to 0.45, tables of codes 0.23 and more, a shifted alphabet 0.15;
    at least `sample` letters. `accented_share`: part of letters beyond A to Z from which Western
    text is another alphabet read in the wrong code page; no Western language has 0.2.
    `few`: as many signs of any other kind prove nothing.

    `some_letters`: letters outside the text layer that count on a page without text, a word or
    two. Recall decides here: a logo costs one OCR try, a missed page a comment. `times_more`: on
    a short page they are substantial if so many times more than the text. `paragraph`: they are
    on any page, some forty words; labels of charts and forms stay below. `one_word`: in a mark of a
    word's shape, on a page that bears nothing but a filing or fax stamp.

    `speck_share`, `speck_tokens`: a text layer that is mostly single characters, over writing
    that it does not cover, is the debris of a failed OCR. `clean`: ink on paper that is blank
    but for specks, as a part of the page.
    """

    garbled_share: float = 0.2
    odd_share: float = 0.25
    symbol_share: float = 0.4
    symbol_kinds: int = 3
    vowel_share: float = 0.2
    sample: int = 80
    accented_share: float = 0.4
    few: int = 5
    some_letters: int = 8
    times_more: float = 5.0
    paragraph: int = 250
    one_word: int = 4
    speck_share: float = 0.6
    speck_tokens: int = 10
    clean: float = 0.0005


RULE = Rule()


@dataclass(frozen=True)
class Verdict:
    """Whether a page needs OCR, why, and whether its text may go into the body until then."""

    needs_ocr: bool
    reason: Reason | None = None
    keep_text: bool = True


def garbled(facts: PageFacts, rule: Rule = RULE) -> bool:
    """Return whether the text layer is not language: unmapped glyphs, or a wrong alphabet."""
    bad = max(facts.bad_chars, facts.unmapped_chars)
    if bad >= rule.few and bad >= rule.garbled_share * facts.chars:
        return True
    if facts.accented > max(4 * rule.few, rule.accented_share * facts.chars):
        return True
    if not facts.words and facts.symbol_kinds >= rule.symbol_kinds:
        return facts.symbols >= rule.symbol_share * facts.chars
    if facts.small_letters >= rule.sample and (
        facts.small_vowels < rule.vowel_share * facts.small_letters
    ):
        return True
    return facts.odd_words > rule.few and facts.odd_words >= rule.odd_share * facts.words


def judge(facts: PageFacts, stamp_chars: int = 0, rule: Rule = RULE) -> Verdict:
    """Return the verdict on one page, `stamp_chars` characters of which repeat on its fellows."""
    if garbled(facts, rule):
        return Verdict(True, Reason.GARBLED, keep_text=False)
    own = max(0, facts.chars - max(stamp_chars, facts.stamp_chars))
    enough = min(rule.some_letters + rule.times_more * own, rule.paragraph)
    if facts.looked and facts.letters >= enough:
        specks = facts.single_tokens >= rule.speck_share * facts.tokens
        junk = specks and facts.tokens >= rule.speck_tokens
        return Verdict(True, Reason.SCANNED, keep_text=not junk)
    # Under a stamp alone a single word counts, even one whose letters touch.
    if facts.looked and facts.stamp_chars and not own and facts.lone >= rule.one_word:
        return Verdict(True, Reason.SCANNED)
    # A page that cannot be drawn is given the benefit of the doubt if it says next to nothing.
    if facts.render_failed and own < rule.paragraph / rule.times_more and facts.images:
        return Verdict(True, Reason.SCANNED)
    if not facts.chars and not (facts.looked and facts.ink_share > rule.clean):
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


def judge_document(facts: Sequence[PageFacts], rule: Rule = RULE) -> list[Verdict]:
    """Return the verdict on each page of a document, in the order given."""
    return [judge(page, stamp, rule) for page, stamp in zip(facts, stamps(facts), strict=True)]


def picture_may_hold_text(picture: PageFacts, rule: Rule = RULE) -> bool:
    """Return whether a picture in a flowing document may hold the letter, or a part of it.

    `picture` comes from picturefacts.measure_picture, its `chars` are the characters of the
    document's own text: beside a long text only a paragraph counts, beside none a line does.
    """
    return judge(picture, 0, rule).needs_ocr
