"""From the lines of a PDF page to its text: rows, paragraphs, hyphens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from regcomments.read.pdf_bidi import RTL, is_rtl
from regcomments.read.pdf_line import TABLE, Line

# Two pieces are on one row when their baselines differ by less than this share of the type size,
# or when their boxes lie side by side over this share of the lower one: some baselines are
# estimates.
_SAME_ROW, _SIDE_BY_SIDE = 0.4, 0.7
# A piece may begin this much (em) before the one on its left ends: italics, kerning, and boxes
# of full-width fonts that are wider than the step to the next glyph.
_KERN = 0.6
# Gaps in em: no space below the first, two spaces above the second (a column, not a word gap).
_GLUE, _COLUMN = 0.12, 1.5
# A gap between lines above this share of the type size begins a new paragraph.
_PARAGRAPH = 0.75
_PARALLEL = 0.999  # cosine of 2.5 degrees: what counts as the same writing direction

_SOFT_HYPHEN_BREAK = re.compile("\u00ad[ \t]*\n[ \t]*")
# Latin and Armenian ligatures, Hebrew and Arabic presentation forms.
_SHAPED = re.compile("[\ufb00-\ufdff\ufe70-\ufefc]")
# CJK symbols, kana, ideographs, full-width forms: scripts that are also written downwards.
_IDEOGRAPHIC = re.compile("[\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")


def page_text(lines: Sequence[Line]) -> str:
    """Return the text of `lines` in their order, pieces of one row joined, paragraphs apart.

    Soft hyphens at a line's end join the halves of the word, elsewhere they are dropped.
    """
    out: list[str] = []
    last: Line | None = None
    for row in rows(lines):
        first = row[0]
        if last is not None:
            if (  # nearly all rows: the next line of a paragraph
                first.block == last.block
                and first.dx == 1.0 == last.dx
                and not (first.marks or last.marks)
                and first.vertical == last.vertical
                and len(first.text) > 1
            ):
                out.append("\n")
            else:
                out.append(_between(last, first))
        out.append(first.text if len(row) == 1 else _row_text(row))
        last = row[-1]
    return clean("".join(out))


def clean(text: str) -> str:
    """Return `text` in letters that a search finds: no soft hyphens, ligatures or shaped forms.

    A word broken at a soft hyphen is whole again.
    """
    if text.isascii():
        return text
    if "\u00ad" in text:
        text = _SOFT_HYPHEN_BREAK.sub("", text).replace("\u00ad", "")
    return _SHAPED.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


def rows(lines: Sequence[Line]) -> list[list[Line]]:
    """Return `lines` as rows, each row's pieces in reading direction.

    A line joins the row before it when it stands on the same height and goes on where that row
    ends, or fills a gap in it if both are of one block.
    """
    found: list[list[Line]] = []
    last: Line | None = None
    for line in lines:
        if last is not None and not _below(last, line) and _fits(found[-1], line):
            found[-1].append(line)
        else:
            found.append([line])
        last = line
    return [row if len(row) == 1 else _in_order(row) for row in found]


def _below(last: Line, line: Line) -> bool:
    """Tell whether two upright lines are certainly on different rows; short, for nearly all are."""
    _, _, last_y0, _, last_y1, last_size, _, last_oy, last_dx, *_ = last
    _, _, y0, _, y1, size, _, oy, dx, *_ = line
    if dx <= _PARALLEL or last_dx <= _PARALLEL:
        return False
    if y0 > last_y1 or last_y0 > y1:
        return True
    apart = oy - last_oy if oy > last_oy else last_oy - oy
    if apart <= _SAME_ROW * (size if size < last_size else last_size):
        return False
    shared = (y1 if y1 < last_y1 else last_y1) - (y0 if y0 > last_y0 else last_y0)
    height, last_height = y1 - y0, last_y1 - last_y0
    return shared <= _SIDE_BY_SIDE * (height if height < last_height else last_height)


def _fits(row: list[Line], line: Line) -> bool:
    last = row[-1]
    if (line.marks | last.marks) & TABLE or line.vertical != last.vertical:
        return False
    if line.dx > _PARALLEL and last.dx > _PARALLEL:  # nearly all lines, so tested first
        if line.y0 > last.y1 or last.y0 > line.y1:
            return False
    elif line.dx * last.dx + line.dy * last.dy < _PARALLEL:
        return False
    size = min(line.size, last.size)
    if not _level(line, last, size):
        return False
    start, end = _extent(line)
    last_end = _extent(last)[1]
    slack = _KERN * size
    if start >= last_end - slack:
        return True
    if line.block != last.block and not (RTL.search(line.text) or RTL.search(last.text)):
        return False
    spans = [_extent(piece) for piece in row]
    return all(start >= e - slack or end <= s + slack for s, e in spans)


def _level(a: Line, b: Line, size: float) -> bool:
    if abs(_baseline(a) - _baseline(b)) <= _SAME_ROW * size:
        return True
    if abs(a.dx) >= abs(a.dy):
        shared, lower = min(a.y1, b.y1) - max(a.y0, b.y0), min(a.y1 - a.y0, b.y1 - b.y0)
    else:
        shared, lower = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.x1 - a.x0, b.x1 - b.x0)
    return shared > _SIDE_BY_SIDE * lower


def _in_order(row: list[Line]) -> list[Line]:
    turned = is_rtl(" ".join(piece.text for piece in row))
    return sorted(row, key=lambda piece: _extent(piece)[0], reverse=turned)


def _row_text(row: list[Line]) -> str:
    if len(row) == 1:
        return row[0].text
    out = [row[0].text]
    for a, b in pairwise(row):
        (a_start, a_end), (b_start, b_end) = _extent(a), _extent(b)
        gap = max(b_start - a_end, a_start - b_end) / max(min(a.size, b.size), 1e-3)
        out.append("" if gap < _GLUE else "  " if gap > _COLUMN else " ")
        out.append(b.text)
    return "".join(out)


def _between(a: Line, b: Line) -> str:
    """Return what parts `b` from the row that ends with `a`: nothing, a line end, an empty line."""
    if (a.marks | b.marks) & TABLE:
        return "\n\n"
    if a.vertical != b.vertical or a.dx * b.dx + a.dy * b.dy < _PARALLEL:
        return "\n\n"
    if len(b.text) == 1 and _stacked(a, b):
        return ""
    if a.block == b.block:
        return "\n"
    gap = _top(b) - _bottom(a)
    return "\n\n" if gap > _PARAGRAPH * min(a.size, b.size) or gap < -2 * a.size else "\n"


def _stacked(a: Line, b: Line) -> bool:
    """Tell whether `b` is the next glyph down a column that is set in an upright font."""
    return (
        len(a.text) == 1
        and _IDEOGRAPHIC.match(b.text) is not None
        and abs((a.x0 + a.x1) - (b.x0 + b.x1)) < _SAME_ROW * a.size
        and -0.5 * a.size < b.y0 - a.y1 < _PARAGRAPH * a.size
    )


def _extent(line: Line) -> tuple[float, float]:
    """Return start and end of a line along its writing direction.

    Exact for multiples of 90 degrees; a skewed line is taken for the nearest of them.
    """
    if abs(line.dx) >= abs(line.dy):
        return (line.x0, line.x1) if line.dx > 0 else (-line.x1, -line.x0)
    return (line.y0, line.y1) if line.dy > 0 else (-line.y1, -line.y0)


def _baseline(line: Line) -> float:
    """Return the place of a line's baseline across its writing direction."""
    if abs(line.dx) >= abs(line.dy):
        return line.oy if line.dx > 0 else -line.oy
    return -line.ox if line.dy > 0 else line.ox


def _top(line: Line) -> float:
    if abs(line.dx) >= abs(line.dy):
        return line.y0 if line.dx > 0 else -line.y1
    return -line.x1 if line.dy > 0 else line.x0


def _bottom(line: Line) -> float:
    if abs(line.dx) >= abs(line.dy):
        return line.y1 if line.dx > 0 else -line.y0
    return -line.x0 if line.dy > 0 else line.x1
