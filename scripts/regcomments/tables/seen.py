"""The words of a page that its reader shows: those of lines left out are taken from the list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from regcomments.read.pdf_line import SHADOW, Line

Word = Sequence  # as PyMuPDF gives it: x0, y0, x1, y1, text, number of block, line, word

# Points by which a word's middle may lie beside a line that was cut out under a bar.
_SLACK = 2.0
_CELL = 4.0  # points; the grid in which words printed twice are sought
_HEIGHT = 1.2  # a word's box is so many times as high as its type size


def seen_words(words: Sequence[Word], left_out: Sequence[Line]) -> list[Word]:
    """Return `words` without those of the lines `left_out`, boxes in the same coordinates.

    A word goes once for each time that a line left out names it, so what shows at the same
    place stays. Of a word that is hidden in part the shown part stays. Where a line's words are
    not found as they are spelled (right-to-left text), all that stand in its box go.
    """
    out: list[Word | None] = list(words)
    blocks: dict[int, list[int]] = defaultdict(list)
    for k, word in enumerate(words):
        blocks[word[5]].append(k)
    for line in left_out:
        near = [k for k in blocks[line.block] if out[k] is not None and _beside(out[k], line)]
        for text in line.text.split():
            at = next((k for k in near if out[k] is not None and out[k][4] == text), None)
            if at is not None:
                out[at] = None
                continue
            at = next((k for k in near if out[k] is not None and text in out[k][4]), None)
            if at is not None:
                out[at] = _without(out[at], text, line)
                continue
            for k in near:
                if out[k] is not None and _inside(out[k], line):
                    out[k] = None
    return [word for word in out if word is not None]


def _beside(word: Word, line: Line) -> bool:
    return (
        word[0] < line.x1 + _SLACK
        and line.x0 - _SLACK < word[2]
        and word[1] < line.y1
        and line.y0 < word[3]
    )


def _inside(word: Word, line: Line) -> bool:
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return line.x0 - _SLACK <= x <= line.x1 + _SLACK and line.y0 <= y <= line.y1


def _without(word: Word, text: str, line: Line) -> Word:
    """Return the word less the hidden `text`, its box less the line's where that is at an end."""
    x0, y0, x1, y1, whole, *rest = word
    if whole.startswith(text):
        x0 = min(max(x0, line.x1), x1)
    elif whole.endswith(text):
        x1 = max(min(x1, line.x0), x0)
    return (x0, y0, x1, y1, whole.replace(text, "", 1), *rest)


def words_once(words: Sequence[Word]) -> list[Word]:
    """Return `words`, of those that another line prints again at nearly the same place the first.

    As the reader does by the glyph (pdf_spans.ordered_lines).
    """
    seen: dict[tuple[str, int, int], list[Word]] = defaultdict(list)
    kept: list[Word] = []
    for word in words:
        near = SHADOW * (word[3] - word[1]) / _HEIGHT
        column, row = int(word[0] // _CELL), int(word[1] // _CELL)
        reach = range(-int(near // _CELL) - 1, int(near // _CELL) + 2)
        if not any(
            other[5:7] != word[5:7]
            and abs(other[0] - word[0]) <= near
            and abs(other[1] - word[1]) <= near
            for i in reach
            for j in reach
            for other in seen.get((word[4], column + i, row + j), ())
        ):
            seen[word[4], column, row].append(word)
            kept.append(word)
    return kept
