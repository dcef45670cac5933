"""The text of a PDF page as lines, by the cheapest way that misses nothing."""

from __future__ import annotations

import weakref

import pymupdf
from pymupdf import mupdf

from regcomments.read.pdf_bidi import has_rtl
from regcomments.read.pdf_line import Line
from regcomments.read.pdf_parts import PageParts
from regcomments.read.pdf_plain import may_hide_text, plain_lines
from regcomments.read.pdf_printed import VECTOR_FLAGS, PrintedPage
from regcomments.read.pdf_spans import marked_lines, ordered_lines
from regcomments.read.pdf_visible import overprinted

# What MuPDF is asked for: ligatures taken apart, white space kept, text clipped away left out.
# Without the CID flag an unmapped glyph comes as U+FFFD, which no reader takes for text.
TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
_NEARLY_ALL = 0.95  # share of the paper; crop marks and bleed lie outside this


def printed_page(page: pymupdf.Page, parts: PageParts, *, contents_only: bool) -> PrintedPage:
    """Return the text page of `page`, and what is drawn beside it where that is not too much.

    `contents_only`: see text_page. Raises what MuPDF raises.
    """
    drawn = bool(VECTOR_FLAGS) and parts.draws_little
    textpage = text_page(page, contents_only=contents_only, flags=VECTOR_FLAGS if drawn else 0)
    return PrintedPage(textpage, with_vectors=drawn, with_annotations=not contents_only)


def text_page(
    page: pymupdf.Page, *, contents_only: bool = False, flags: int = 0
) -> pymupdf.TextPage:
    """Return MuPDF's text page of `page`, in unrotated coordinates.

    `contents_only` leaves out annotations and form fields; `flags` are set besides TEXT_FLAGS.
    Raises what MuPDF raises.
    """
    flags |= TEXT_FLAGS
    if not contents_only:
        return page.get_textpage(flags=flags)
    rotation = page.rotation
    if rotation:
        page.set_rotation(0)
    try:
        fz_page = page.this
        if isinstance(fz_page, mupdf.PdfPage):
            fz_page = mupdf.FzPage(fz_page)
        found = mupdf.FzStextPage(mupdf.fz_bound_page(fz_page))
        device = mupdf.fz_new_stext_device(found, mupdf.FzStextOptions(flags))
        mupdf.fz_run_page_contents(fz_page, device, mupdf.FzMatrix(), mupdf.FzCookie())
        mupdf.fz_close_device(device)
    finally:
        if rotation:
            page.set_rotation(rotation)
    textpage = pymupdf.TextPage(found)
    textpage.parent = weakref.proxy(page)  # as page.get_textpage does; users of it check that
    return textpage


def lines_of(
    text: PrintedPage, page: pymupdf.Page, parts: PageParts | None = None
) -> tuple[list[Line], int]:
    """Return the lines of `text` in MuPDF's order, those without a visible letter left out.

    Right-to-left lines are put into reading order. Words printed over themselves come once; the
    second value is the number of characters so left out. `parts` are those of `page`, if at hand.
    Raises what MuPDF raises.
    """
    parts = parts or PageParts(page)
    textpage = text.textpage
    lines = None if may_hide_text(page, textpage, parts) else plain_lines(text)
    if lines is None:
        lines = marked_lines(textpage)
    repeated = 0
    once = overprinted(lines)
    if once or has_rtl(line.text for line in lines):
        before = _length(lines)
        lines = ordered_lines(textpage, once=once)
        repeated = max(before - _length(lines), 0) if once else 0
    if parts.rotation:
        matrix = page.rotation_matrix
        lines = [_turned(line, matrix) for line in lines]
    return lines, repeated


def _length(lines: list[Line]) -> int:
    return sum(len(line.text) for line in lines)


def letters_outside(page: pymupdf.Page, textpage: pymupdf.TextPage) -> int:
    """Return how many characters of text lie on the paper but outside the part that is shown.

    0 without a look when nearly all of the paper is shown. Raises what MuPDF raises.
    """
    shown, paper = page.cropbox, page.mediabox
    if shown.width * shown.height > _NEARLY_ALL * paper.width * paper.height:
        return 0
    inside = len("".join(textpage.extractText().split()))
    try:
        page.set_cropbox(paper)
        everything = page.get_textpage(flags=TEXT_FLAGS).extractText()
    finally:
        page.set_cropbox(shown)
    return max(len("".join(everything.split())) - inside, 0)


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
