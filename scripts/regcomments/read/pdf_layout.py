"""From the lines of a PDF page to its text: rows, paragraphs, hyphens."""

from __future__ import annotations

import re
from collections.abc import Sequence

from regcomments.read.pdf_lines import Line

# Two pieces are on one row when their baselines differ by less than this share of the type size.
_SAME_ROW = 0.4
# A piece may begin this much (em) before the one on its left ends, as italics and kerning do.
_KERN = 0.5
# Gaps in em: no space below the first, two spaces above the second (a column, not a word gap).
_GLUE, _COLUMN = 0.12, 1.5
# A gap between lines above this share of the type size begins a new paragraph.
_PARAGRAPH = 0.75

_SOFT_HYPHEN_BREAK = re.compile("\u00ad[ \t]*\n[ \t]*")
_HORIZONTAL = 0.999  # cosine of 2.5 degrees: what counts as upright text


def page_text(lines: Sequence[Line]) -> str:
    """Return the text of `lines` in their order, pieces of one row joined, paragraphs apart.

    Soft hyphens at a line's end join the halves of the word, elsewhere they are dropped.
    """
    out: list[str] = []
    before: Line | None = None
    for line in lines:
        text = line.text.strip(" \t")
        if before is None:
            out.append(text)
        else:
            out.append(_separator(before, line) + text)
        before = line
    return clean("".join(out))


def clean(text: str) -> str:
    """Return `text` without soft hyphens; a word broken at one is whole again."""
    if "\u00ad" in text:
        text = _SOFT_HYPHEN_BREAK.sub("", text).replace("\u00ad", "")
    return text


def same_row(a: Line, b: Line) -> bool:
    """Tell whether `b` goes on in the row that `a` is in, to its right in reading direction."""
    if a.vertical or b.vertical or abs(a.dx * b.dx + a.dy * b.dy) < _HORIZONTAL:
        return False
    if a.dx * b.dx + a.dy * b.dy < 0:
        return False
    size = max(min(a.size, b.size), 1e-3)
    # Turn both into the frame of the writing direction, which is a multiple of 90 degrees or not
    # far from one; skewed rows are compared by their box middles.
    along_a, across_a = _frame(a)
    along_b, across_b = _frame(b)
    return abs(across_a - across_b) < _SAME_ROW * size and along_b[0] >= along_a[1] - _KERN * size


def _separator(a: Line, b: Line) -> str:
    if same_row(a, b):
        gap = (_frame(b)[0][0] - _frame(a)[0][1]) / max(min(a.size, b.size), 1e-3)
        if gap < _GLUE and not a.text.endswith(" ") and not b.text.startswith(" "):
            return ""
        return "  " if gap > _COLUMN else " "
    if a.vertical != b.vertical or a.dx * b.dx + a.dy * b.dy < _HORIZONTAL:
        return "\n\n"
    if a.block == b.block:
        return "\n"
    gap = _top(b) - _bottom(a)
    return "\n\n" if gap > _PARAGRAPH * min(a.size, b.size) or gap < -2 * a.size else "\n"


def _frame(line: Line) -> tuple[tuple[float, float], float]:
    """Return ((start, end) along the writing direction, middle across it)."""
    if abs(line.dx) >= abs(line.dy):
        middle = (line.y0 + line.y1) / 2
        return ((line.x0, line.x1), middle) if line.dx > 0 else ((-line.x1, -line.x0), -middle)
    middle = (line.x0 + line.x1) / 2
    return ((line.y0, line.y1), -middle) if line.dy > 0 else ((-line.y1, -line.y0), middle)


def _top(line: Line) -> float:
    if abs(line.dx) >= abs(line.dy):
        return line.y0 if line.dx > 0 else -line.y1
    return -line.x1 if line.dy > 0 else line.x0


def _bottom(line: Line) -> float:
    if abs(line.dx) >= abs(line.dy):
        return line.y1 if line.dx > 0 else -line.y0
    return -line.x0 if line.dy > 0 else line.x1
