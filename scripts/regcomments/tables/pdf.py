"""The tables of a PDF file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pymupdf

from regcomments.read.pdf_forms import Markup, annotation_kinds, markup_of
from regcomments.read.pdf_lines import printed_page, text_page
from regcomments.read.pdf_open import MUPDF_ERRORS, open_pdf
from regcomments.read.pdf_parts import PageParts
from regcomments.read.pdf_printed import PrintedPage
from regcomments.read.pdf_shown import may_draw_lines, shown_lines, shown_words
from regcomments.read.pdf_tables import page_geometry
from regcomments.records import UnreadableError
from regcomments.tables import address
from regcomments.tables.files import file_sha256
from regcomments.tables.items import Box, PageItems, Table
from regcomments.tables.reconstruct import reconstruct_tables
from regcomments.tables.sources import Turn, turn_box
from regcomments.tables.tolerances import DEFAULT, Tolerances


def tables_of_pdf(path: Path, max_pages: int = 5000, tol: Tolerances = DEFAULT) -> list[Table]:
    """Return the tables of a PDF with addresses; boxes in points on the page as shown.

    A damaged page has no tables; the others are still read. Raises UnreadableError for a file
    that cannot be opened, OSError.
    """
    base = address.base_of("pdf", file_sha256(path))
    with open_pdf(path) as doc:
        return tables_of_document(doc, base, max_pages, tol)


def tables_of_document(
    doc: pymupdf.Document, url_base: str, max_pages: int = 5000, tol: Tolerances = DEFAULT
) -> list[Table]:
    """Return the tables of an open PDF, with addresses below `url_base`."""
    turns: dict[int, tuple[Turn, float, float]] = {}

    def pages() -> Iterator[PageItems]:
        for page, geometry, turn in _shown_pages(doc, max_pages, tol):
            # From reading space to the page as shown: undo the text's turn, add the page's own.
            back = (page.rotation // 90 - turn) % 4
            turns[geometry.number] = (back, geometry.width, geometry.height)
            yield geometry

    return [turned(t, *turns[t.page]) for t in reconstruct_tables(pages(), url_base, tol)]


def shown_items(page: pymupdf.Page, tol: Tolerances = DEFAULT) -> tuple[PageItems, Turn]:
    """Return the words that a page shows, filled fields among them, and its rulings.

    As page_items. Hidden text and what is printed twice are left out as the reader leaves them
    out. Raises what MuPDF raises on damaged pages.
    """
    parts = PageParts(page)
    kinds = annotation_kinds(page) if parts.has_annotations else frozenset()
    printed = printed_page(page, parts, contents_only=bool(kinds))
    markup = markup_of(page) if kinds else Markup()
    shown = shown_lines(page, parts, printed, markup.covers)
    if markup.entries:
        # Fields are no part of the contents; their words come last, in blocks of their own.
        printed = PrintedPage(text_page(page))
    return page_geometry(
        page,
        shown.lines,
        printed,
        drawn=bool(kinds) or may_draw_lines(printed, parts),
        filled=bool(markup.entries),
        words=shown_words(page, printed.textpage, shown),
        tol=tol,
    )


def _shown_pages(
    doc: pymupdf.Document, max_pages: int, tol: Tolerances
) -> Iterator[tuple[pymupdf.Page, PageItems, Turn]]:
    """Yield the pages with `shown_items` of each, damaged ones left out."""
    for number in range(min(doc.page_count, max_pages)):
        try:
            page = doc.load_page(number)
            items, turn = shown_items(page, tol)
        except MUPDF_ERRORS:
            continue
        yield page, items, turn


def upright_items(
    path: Path, max_pages: int = 5000, tol: Tolerances = DEFAULT
) -> dict[int, PageItems]:
    """Return the geometry of those pages of a PDF that have text and show it upright, by number.

    Empty for a file that PyMuPDF cannot open.
    """
    out: dict[int, PageItems] = {}
    try:
        doc = open_pdf(path)
    except UnreadableError:
        return out
    with doc:
        for page, items, turn in _shown_pages(doc, max_pages, tol):
            if items.items and turn == page.rotation // 90 % 4:
                out[items.number] = items
    return out


def turned(table: Table, turn: Turn, width: float, height: float) -> Table:
    """Return the table with its boxes turned clockwise together with a page of that size."""
    if not turn:
        return table

    def move(box: Box | None) -> Box | None:
        return None if box is None else turn_box(box, turn, width, height)

    cells = tuple(replace(c, bbox=move(c.bbox)) for c in table.cells)
    return replace(table, bbox=move(table.bbox), cells=cells)
