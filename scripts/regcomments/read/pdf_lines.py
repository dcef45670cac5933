"""Text lines of a PDF page with what is needed to judge them: box, size, visibility."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pymupdf
from pymupdf import mupdf

# What MuPDF is asked for: ligatures taken apart, white space kept, text clipped away left out.
# Without the CID flag an unmapped glyph comes as U+FFFD, which no reader takes for text.
TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
_FILLED_STROKED_CLIPPED = mupdf.FZ_STEXT_FILLED | mupdf.FZ_STEXT_STROKED | mupdf.FZ_STEXT_CLIPPED
# All three channels above this (of 255) is white enough to vanish on paper.
_WHITE = 0xF0
# Points; below it nobody reads a letter, and search-engine filler is set in it.
_TINY = 0.8
# Opacity (of 255) below which text leaves no trace on paper.
_TRANSPARENT = 8

HIDDEN = 1  # drawn in render mode 3 or fully transparent
WHITE = 2  # near white: visible only on a dark ground
TINY = 4


class Line(NamedTuple):
    """A run of text on one baseline: text, box and size in points, direction, block, marks.

    The box is in the page's coordinates as shown, from the top left corner. (dx, dy) is the unit
    vector of the writing direction, (1, 0) for ordinary text. `marks` is a sum of HIDDEN, WHITE,
    TINY.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
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
    return pymupdf.TextPage(found)


def lines_of(textpage: pymupdf.TextPage, page: pymupdf.Page) -> list[Line]:
    """Return the lines of `textpage` in MuPDF's order, those without a visible letter left out.

    A line whose spans differ in visibility is cut where they do.
    """
    lines: list[Line] = []
    for number, block in enumerate(textpage.extractDICT()["blocks"]):
        for line in block.get("lines", ()):
            spans = line["spans"]
            marks = [_marks(span) for span in spans]
            dx, dy = line["dir"]
            vertical = bool(line["wmode"])
            if not any(marks) or len(set(marks)) == 1:
                text = "".join([span["text"] for span in spans])
                if text.strip():
                    size = max([span["size"] for span in spans])
                    lines.append(
                        Line(text, *line["bbox"], size, dx, dy, number, marks[0], vertical)
                    )
                continue
            lines.extend(_cut(spans, marks, dx, dy, number, vertical))
    return lines if not page.rotation else [_turned(line, page.rotation_matrix) for line in lines]


def _marks(span: dict) -> int:
    marks = 0
    if not span["char_flags"] & _FILLED_STROKED_CLIPPED or span["alpha"] < _TRANSPARENT:
        marks = HIDDEN
    color = span["color"]
    if color & 0xFF >= _WHITE and color >> 8 & 0xFF >= _WHITE and color >> 16 & 0xFF >= _WHITE:
        marks |= WHITE
    if span["size"] < _TINY:
        marks |= TINY
    return marks


def _cut(
    spans: list[dict], marks: list[int], dx: float, dy: float, block: int, vertical: bool
) -> Iterable[Line]:
    start = 0
    for end in range(1, len(spans) + 1):
        if end < len(spans) and (marks[end] == marks[start] or not spans[end]["text"].strip()):
            continue
        run = spans[start:end]
        text = "".join(span["text"] for span in run)
        if text.strip():
            boxes = [span["bbox"] for span in run]
            yield Line(
                text,
                min(box[0] for box in boxes),
                min(box[1] for box in boxes),
                max(box[2] for box in boxes),
                max(box[3] for box in boxes),
                max(span["size"] for span in run),
                dx,
                dy,
                block,
                marks[start],
                vertical,
            )
        start = end


def _turned(line: Line, matrix: pymupdf.Matrix) -> Line:
    box = pymupdf.Rect(line.x0, line.y0, line.x1, line.y1) * matrix
    box.normalize()
    dx = line.dx * matrix.a + line.dy * matrix.c
    dy = line.dx * matrix.b + line.dy * matrix.d
    return line._replace(x0=box.x0, y0=box.y0, x1=box.x1, y1=box.y1, dx=dx, dy=dy)
