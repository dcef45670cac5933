"""Is what an engine says about a page to be believed? Independent of the engine.

Language models behind OCR fail quietly: an empty answer, half a page, one line over and over, a
letter that nobody wrote. Each rule compares the text with itself or with the ink on the page.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections import Counter
from dataclasses import replace

from regcomments.ocr.engines import Outcome, PageInk, PageResult
from regcomments.textnorm import normalise

# Letters seen as lines of writing from which an empty answer is a fault. Bar codes, seals and
# halftone reach 24 on 40 pages without text; a two-word stamp has 30.
EMPTY_LETTERS = 60
# Share of ink that no page of writing has (0.29 at most on 170): a photograph or a pattern.
TEXTURE_INK = 0.4
# Letters seen from which the share read is judged; the estimate is too coarse for fewer.
HALF_LETTERS = 400
# Estimates were 0.6 to 1.6 times the truth on 30 pages, so a whole page reads at least 0.6 of
# them; half a page reads 0.3 to 0.5.
HALF_SHARE = 0.45
# Of the page's letters in its lower half, so that "the text stops" is more than a guess.
LOWER_SHARE = 0.3
# Ink below which nothing can be written: one full stop of 10 point on a letter page has 4e-6.
BLANK_INK = 2e-6
# Ink of a line of three words; a longer text on a page with less is invented. A page with the
# single typed word "Phone" has 3e-4.
FAINT_INK = 5e-5
INVENTED_CHARS = 40
# Deflate shrinks English pages 1.7 to 2.6 fold, tables of figures up to 6; a loop 12 and more.
LOOP_RATIO = 10.0
LOOP_MIN = 600  # characters; short texts shrink little
FIGURES_SHARE = 0.6  # of the letters and digits: from here on it is a table of figures
FIGURES_MIN = 3000  # characters of nothing but figures; a column of zeros is real, this is not
LINE_SHARE = 0.4  # of the page's characters in one line written again and again
LINE_REPEATS = 5
LINES_OFF = 0.15  # of the lines seen, by which a page that truly repeats itself may differ
LETTERS_LIKE = (0.6, 1.5)  # times the letters seen, likewise
TAIL_REPEATS = 8  # a phrase this often at the very end, where a model got stuck
_TAIL_WINDOW = 1600  # characters looked at: six times the longest phrase and some
_TAIL_MIN = 60  # characters; "ha ha ha" is no loop
GARBAGE_CHARS = 40  # characters below which shares mean nothing
GARBAGE_LETTERS = 0.5  # letters and digits among the visible characters; prose has 0.95
GARBAGE_SINGLES = 0.7  # words of one character; a spaced-out table has 0.4
_FILLER = re.compile(r"([^\w\s])\1{3,}|(?:[|:\-. _]\s?){8,}")
_MARKUP = re.compile(r"<[^<>\n]{1,60}>|!\[[^\]\n]*\]\([^)\n]*\)")
_PHRASE = range(3, 201)  # characters that a phrase may have


def judge(result: PageResult, ink: PageInk | None = None) -> PageResult:
    """Return `result` with the outcome it deserves, its text in normal form.

    `ink` is what is seen on the page; without it only the text is judged. Text that isn't to be
    believed is `failed`, with the rule that it broke as its error, and is dropped; half a page is
    `failed` too, but keeps its text. An engine's own `failed` and `unreadable` stand.
    """
    ink = ink or result.ink
    text = normalise(result.markdown)
    result = replace(result, markdown=text, ink=ink)
    if result.outcome not in (Outcome.TEXT, Outcome.NOTHING):
        return result
    plain = plain_text(text)
    if not plain:
        return _judge_empty(result, ink)
    if ink is not None and ink.share < BLANK_INK:
        # Certain: nothing is there. Another try would find no more.
        flags = (*result.flags, "invented")
        return replace(result, outcome=Outcome.NOTHING, markdown="", flags=flags)
    fault = text_fault(text)
    if fault is not None and not (looped(text) and ink is not None and line_for_line(text, ink)):
        return replace(result, outcome=Outcome.FAILED, markdown="", error=fault)
    if ink is not None and invented(plain, ink):
        error = "text for a page on which next to nothing is seen"
        return replace(result, outcome=Outcome.FAILED, markdown="", error=error)
    if ink is not None and halved(plain, ink):
        error = f"{_letters(plain)} letters read where about {ink.letters} are seen"
        return replace(result, outcome=Outcome.FAILED, error=error)
    return replace(result, outcome=Outcome.TEXT)


def text_fault(text: str) -> str | None:
    """Return the rule that `text` breaks by itself (a loop, garbage), None when it breaks none."""
    if looped(text):
        return "the text repeats itself over and over"
    if garbled(plain_text(text)):
        return "the text is not language"
    return None


def invented(plain: str, ink: PageInk) -> bool:
    """True when a text stands for a page that has no ink for it."""
    return _letters(plain) >= INVENTED_CHARS and ink.share < FAINT_INK


def halved(plain: str, ink: PageInk) -> bool:
    """True when a good part of the writing seen on the page is missing."""
    letters = _letters(plain)
    if ink.letters < HALF_LETTERS or letters >= HALF_SHARE * ink.letters:
        return False
    lower = sum(ink.strips[len(ink.strips) // 2 :])
    return lower >= LOWER_SHARE * ink.letters or letters < HALF_SHARE / 2 * ink.letters


def _letters(plain: str) -> int:
    return sum(map(str.isalnum, plain))


def line_for_line(text: str, ink: PageInk) -> bool:
    """True when `text` has the lines and letters that are seen: then the page repeats itself.

    A model that loops goes on to its limit, far beyond the lines of the page.
    """
    lines = sum(1 for line in text.split("\n") if line.strip())
    letters = _letters(plain_text(text))
    return (
        abs(lines - ink.lines) <= LINES_OFF * ink.lines
        and LETTERS_LIKE[0] * ink.letters <= letters <= LETTERS_LIKE[1] * ink.letters
    )


def looped(text: str) -> bool:
    """True when `text` goes in circles: one phrase or line makes up most of it."""
    text = _FILLER.sub(" ", text).strip()
    figures = sum(map(str.isdecimal, text)) > FIGURES_SHARE * sum(map(str.isalnum, text))
    if len(text) >= (FIGURES_MIN if figures else LOOP_MIN) and _shrinks(text):
        return True
    if figures:
        return False
    tail, phrase = _repeated_end(text[-_TAIL_WINDOW:])
    if len(tail) >= _TAIL_MIN and sum(map(str.isalpha, phrase)) >= 3:
        return True
    lines = [line.strip() for line in text.split("\n")]
    total = sum(map(len, lines))
    line, count = Counter(filter(None, lines)).most_common(1)[0] if total else ("", 0)
    return count >= LINE_REPEATS and len(line) >= 12 and len(line) * count >= LINE_SHARE * total


def _repeated_end(text: str) -> tuple[str, str]:
    """Return the longest end of `text` that is one phrase TAIL_REPEATS times or more, and that.

    Of the phrases that make it up, the shortest; two empty strings where there is none. By
    comparing the text with itself, moved: a regular expression takes a hundred times as long.
    """
    longest = phrase = ""
    for size in _PHRASE:
        if len(text) < TAIL_REPEATS * size:
            break
        if text[-size:] != text[-2 * size : -size]:
            continue
        start = len(text) - 2 * size
        while start >= size and text[start - size : start] == text[-size:]:
            start -= size
        if len(text) - start >= max(TAIL_REPEATS * size, len(longest) + 1):
            longest, phrase = text[start:], text[-size:]
    return longest, phrase


def _shrinks(text: str) -> bool:
    raw = text.encode("utf-8", "replace")
    return len(raw) >= LOOP_RATIO * len(zlib.compress(raw, 6))


def garbled(plain: str) -> bool:
    """True when most visible characters are no letters, or most words no words."""
    visible = [char for char in plain if not char.isspace()]
    if len(visible) < GARBAGE_CHARS:
        return False
    good = sum(unicodedata.category(char)[0] in "LNM" for char in visible)
    if good < GARBAGE_LETTERS * len(visible) or plain.count("\ufffd") > 0.1 * len(visible):
        return True
    words = plain.split()
    # Scripts without spaces have no single-letter words; scripts of one sign a word aren't judged.
    singles = sum(len(word) == 1 and word.isascii() for word in words)
    return len(words) >= GARBAGE_CHARS // 2 and singles > GARBAGE_SINGLES * len(words)


def plain_text(markdown: str) -> str:
    """Return the words of `markdown` without its marks, fillers and pictures."""
    text = _MARKUP.sub(" ", markdown)
    text = re.sub(r"[*#|`>\\]+", " ", _FILLER.sub(" ", text))
    return " ".join(text.split()) if any(map(str.isalnum, text)) else ""


def _judge_empty(result: PageResult, ink: PageInk | None) -> PageResult:
    if ink is not None and ink.letters >= EMPTY_LETTERS and ink.share <= TEXTURE_INK:
        error = f"no text for a page on which about {ink.letters} letters are seen"
        return replace(result, outcome=Outcome.FAILED, markdown="", error=error)
    return replace(result, outcome=Outcome.NOTHING, markdown="")
