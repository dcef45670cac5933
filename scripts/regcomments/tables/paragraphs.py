"""Paragraphs of a page: their lines are one item each, so that tables are sought in less text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from operator import itemgetter

from regcomments.tables.items import Ruling, TextItem
from regcomments.tables.tolerances import DEFAULT, Tolerances

# Lines of a block below which it is looked at word by word.
_FEW_LINES = 3
# Two blanks in a row, or a tab: cells may be parted by them.
_WIDE = ("  ", "\t", "\u00a0\u00a0")

Paragraphs = Mapping[int, Sequence[TextItem]]


def paragraphs_of(
    lines: Iterable[tuple[int, TextItem]], tol: Tolerances = DEFAULT
) -> dict[int, list[TextItem]]:
    """Return the lines of each block of running text, by the block's number.

    `lines` are those of an upright page in MuPDF's order, each with its block's number. A
    paragraph is a block of wordy lines with no other text beside any of them, so that no part of
    it can be a cell. Its lines are as good as its words to the search for tables, and a page
    with a table is half prose.
    """
    blocks = []
    for number, group in groupby(lines, itemgetter(0)):
        found = [item for _, item in group]
        middles = [item.y0 + item.y1 for item in found]
        blocks.append((min(middles) / 2, max(middles) / 2, number, found))
    blocks.sort(key=itemgetter(0, 1))
    out: dict[int, list[TextItem]] = {}
    reached = float("-inf")
    for k, (top, bottom, number, found) in enumerate(blocks):
        below = blocks[k + 1][0] if k + 1 < len(blocks) else float("inf")
        if len(found) >= _FEW_LINES:
            near = tol.line_h * (found[0].y1 - found[0].y0)
            if reached + near < top and bottom + near < below and _is_prose(found, near, tol):
                out[number] = found
        reached = max(reached, bottom)
    return out


def _is_prose(lines: Sequence[TextItem], near: float, tol: Tolerances) -> bool:
    """Tell whether lines stand below each other, hold letters, and words enough, the last apart."""
    words = 0
    for upper, lower in pairwise(lines):
        if lower.y0 + lower.y1 - upper.y0 - upper.y1 < 2 * near:
            return False
        words += upper.text.count(" ") + 1
    if words < (len(lines) - 1) * tol.prose_words:
        return False
    text = "".join([line.text for line in lines])
    if any(wide in text for wide in _WIDE):
        return False
    return sum(map(str.isalpha, text)) >= 0.7 * len(text)


def beside_no_ruling(
    paragraphs: Paragraphs, rulings: Collection[Ruling], tol: Tolerances = DEFAULT
) -> Paragraphs:
    """Return those of the paragraphs at whose height no upright line is drawn."""
    upright = [(r.y0, r.y1) for r in rulings if r.y1 - r.y0 > r.x1 - r.x0]
    if not upright:
        return paragraphs
    near = tol.line_h * max(0.0, *(i.y1 - i.y0 for lines in paragraphs.values() for i in lines))
    return {
        number: lines
        for number, lines in paragraphs.items()
        if not any(lo < lines[-1].y1 + near and lines[0].y0 - near < hi for lo, hi in upright)
    }
