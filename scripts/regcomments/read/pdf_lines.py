"""Text lines of a PDF page with what is needed to judge them: box, size, visibility."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pymupdf
from pymupdf import mupdf

from regcomments.read.pdf_bidi import RTL, Glyph, is_rtl, logical

# What MuPDF is asked for: ligatures taken apart, white space kept, text clipped away left out.
# Without the CID flag an unmapped glyph comes as U+FFFD, which no reader takes for text.
TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
_FILLED_STROKED_CLIPPED = mupdf.FZ_STEXT_FILLED | mupdf.FZ_STEXT_STROKED | mupdf.FZ_STEXT_CLIPPED
# All three channels at 0xF0 or above (of 0xFF) is white enough to vanish on paper.
_WHITE = 0xF0F0F0
# Points; below it nobody reads a letter, and search-engine filler is set in it.
_TINY = 0.8
# Opacity (of 255) below which text leaves no trace on paper.
_TRANSPARENT = 8

_WORD_GAP = 0.15  # em; a narrower gap is kerning
_UPRIGHT = 0.99  # cosine of 8 degrees: a line that runs from left to right

HIDDEN = 1  # drawn in render mode 3 or fully transparent
WHITE = 2  # near white: visible only on a dark ground
TINY = 4
TABLE = 8  # not a line but a whole table, as pipe rows


class Line(NamedTuple):
    """A run of text on one baseline: text, box and size in points, direction, block, marks.

    The box is in the page's coordinates as shown, from the top left corner. (dx, dy) is the unit
    vector of the writing direction, (1, 0) for ordinary text; (ox, oy) is a point on the
    baseline, which unlike the box depends on no font's metrics. `marks` is a sum of HIDDEN,
    WHITE, TINY.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    ox: float
    oy: float
    dx: float = 1.0
    dy: float = 0.0
    block: int = 0
    marks: int = 0
    vertical: bool = False


def text_page(page: pymupdf.Page, *, contents_only: bool = False) -> pymupdf.TextPage:
    """Return MuPDF's text page of `page`, in unrotated coordinates.

    `contents_only` leaves out annotations and form fields. Raises what MuPDF raises.
    """
    if not contents_only:
        return page.get_textpage(flags=TEXT_FLAGS)
    rotation = page.rotation
    if rotation:
        page.set_rotation(0)
    try:
        fz_page = page.this
        if isinstance(fz_page, mupdf.PdfPage):
            fz_page = mupdf.FzPage(fz_page)
        found = mupdf.FzStextPage(mupdf.fz_bound_page(fz_page))
        device = mupdf.fz_new_stext_device(found, mupdf.FzStextOptions(TEXT_FLAGS))
        mupdf.fz_run_page_contents(fz_page, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
    finally:
        if rotation:
            page.set_rotation(rotation)
    textpage = pymupdf.TextPage(found)
    textpage.parent = weakref.proxy(page)  # as page.get_textpage does; users of it check that
    return textpage


def lines_of(textpage: pymupdf.TextPage, page: pymupdf.Page) -> list[Line]:
    """Return the lines of `textpage` in MuPDF's order, those without a visible letter left out.

    A line whose spans differ in visibility is cut where they do. Right-to-left lines are put
    into reading order.
    """
    # MuPDF's own boxes will do: mending those of fonts with odd metrics costs a fifth more.
    corrected = not pymupdf.TOOLS.unset_quad_corrections()
    pymupdf.TOOLS.unset_quad_corrections(True)
    try:
        lines = _lines(textpage.extractDICT()["blocks"])
    finally:
        pymupdf.TOOLS.unset_quad_corrections(not corrected)
    if any(RTL.search(line.text) for line in lines):
        blocks = textpage.extractRAWDICT()["blocks"]
        for block in blocks:
            if "lines" in block:
                block["lines"] = list(_spelled(block["lines"]))
        lines = _lines(blocks)
    return lines if not page.rotation else [_turned(line, page.rotation_matrix) for line in lines]


def _lines(blocks: Sequence[dict]) -> list[Line]:
    lines: list[Line] = []
    for number, block in enumerate(blocks):
        for line in block.get("lines", ()):
            spans = line["spans"]
            first = spans[0]
            mark = _marks(first)
            size = first["size"]
            text = first["text"]
            if len(spans) > 1:
                if any(_marks(span) != mark for span in spans):
                    lines.extend(_cut(line, [_marks(span) for span in spans], number))
                    continue
                text = "".join([span["text"] for span in spans])
                size = max([span["size"] for span in spans])
            stripped = text.strip()
            if not stripped:
                continue
            x0, y0, x1, y1 = line["bbox"]
            dx, dy = line["dir"]
            ox, oy = first["origin"]
            if len(stripped) < len(text) and dx > _UPRIGHT:
                # The box holds the spaces too; they would hide the gap to the next piece.
                step = (x1 - x0) / len(text)
                x0 += step * (len(text) - len(text.lstrip()))
                x1 -= step * (len(text) - len(text.rstrip()))
            lines.append(
                Line(
                    stripped, x0, y0, x1, y1, size, ox, oy, dx, dy, number, mark, line["wmode"] > 0
                )
            )
    return lines


def _spelled(raw_lines: Iterable[dict]) -> Iterable[dict]:
    """Return raw lines with the text that plain ones have, right-to-left ones in reading order.

    MuPDF breaks a right-to-left line wherever the direction turns; the pieces become one again.
    """
    row: list[dict] = []
    for line in raw_lines:
        for span in line["spans"]:
            span["text"] = "".join([char["c"] for char in span["chars"]])
        if row and not _beside(row[-1], line):
            yield from _row_in_order(row)
            row = []
        row.append(line)
    yield from _row_in_order(row)


def _beside(a: dict, b: dict) -> bool:
    size = max(a["spans"][0]["size"], 1.0)
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = a["bbox"], b["bbox"]
    return (
        a["dir"] == b["dir"]
        and abs(ay0 + ay1 - by0 - by1) < 0.6 * size
        and max(ax0 - bx1, bx0 - ax1) < size
    )


def _row_in_order(row: list[dict]) -> Iterable[dict]:
    spans = [span for line in row for span in line["spans"]]
    if not row or row[0]["dir"][0] < _UPRIGHT or not is_rtl("".join(s["text"] for s in spans)):
        yield from row
        return
    glyphs = [
        Glyph(char["c"], char["bbox"][0], char["bbox"][2])
        for span in spans
        for char in span["chars"]
    ]
    size = max(span["size"] for span in spans)
    for span in spans:
        span["text"] = ""
    spans[0]["text"] = logical(glyphs, _WORD_GAP * size)
    inked = [glyph for glyph in glyphs if not glyph.char.isspace()] or glyphs
    box = (
        min(glyph.x0 for glyph in inked),
        min(line["bbox"][1] for line in row),
        max(glyph.x1 for glyph in inked),
        max(line["bbox"][3] for line in row),
    )
    yield {**row[0], "spans": spans, "bbox": box}


def _marks(span: dict) -> int:
    marks = 0
    if not span["char_flags"] & _FILLED_STROKED_CLIPPED or span["alpha"] < _TRANSPARENT:
        marks = HIDDEN
    if span["color"] & _WHITE == _WHITE:
        marks |= WHITE
    if span["size"] < _TINY:
        marks |= TINY
    return marks


def _cut(line: dict, marks: Sequence[int], block: int) -> Iterable[Line]:
    spans = line["spans"]
    start = 0
    for end in range(1, len(spans) + 1):
        if end < len(spans) and (marks[end] == marks[start] or not spans[end]["text"].strip()):
            continue
        run = spans[start:end]
        text = "".join([span["text"] for span in run]).strip()
        if text:
            x0, y0, x1, y1 = zip(*[span["bbox"] for span in run], strict=True)
            yield Line(
                text,
                min(x0),
                min(y0),
                max(x1),
                max(y1),
                max([span["size"] for span in run]),
                *run[0]["origin"],
                *line["dir"],
                block,
                marks[start],
                bool(line["wmode"]),
            )
        start = end


def _turned(line: Line, matrix: pymupdf.Matrix) -> Line:
    a, b, c, d, e, f = matrix
    x, y = (line.x0, line.x1), (line.y0, line.y1)
    xs = [a * u + c * v + e for u in x for v in y]
    ys = [b * u + d * v + f for u in x for v in y]
    return line._replace(
        x0=min(xs),
        y0=min(ys),
        x1=max(xs),
        y1=max(ys),
        ox=a * line.ox + c * line.oy + e,
        oy=b * line.ox + d * line.oy + f,
        dx=a * line.dx + c * line.dy,
        dy=b * line.dx + d * line.dy,
    )
