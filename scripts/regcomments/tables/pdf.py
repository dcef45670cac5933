"""The tables of a PDF file."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pymupdf

from regcomments.tables import address
from regcomments.tables.draft import to_table
from regcomments.tables.items import Box, Table
from regcomments.tables.reconstruct import addressed, page_drafts
from regcomments.tables.sources import Turn, page_items, turn_box
from regcomments.tables.tolerances import DEFAULT, Tolerances


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file in hex. Raises OSError."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def tables_of_pdf(path: Path, tol: Tolerances = DEFAULT) -> list[Table]:
    """Return the tables of a PDF with addresses; boxes in points on the page as shown.

    Raises pymupdf.FileDataError (a damaged file) or OSError.
    """
    base = address.base_of("pdf", file_sha256(path))
    with pymupdf.open(path, filetype="pdf") as doc:
        return [t for page in doc for t in tables_of_page(page, base, tol)]


def tables_of_page(page: pymupdf.Page, url_base: str, tol: Tolerances = DEFAULT) -> list[Table]:
    """Return the tables of one page, with addresses below `url_base`."""
    geometry, turn = page_items(page, tol)
    # From reading space to the page as shown: undo the text's turn, add the page's own.
    back = (page.rotation // 90 - turn) % 4
    out = []
    for index, draft in enumerate(page_drafts(geometry, tol)):
        table = to_table(draft, geometry.number, index, tol)
        if back:
            table = turned(table, back, geometry.width, geometry.height)
        out.append(addressed(table, url_base))
    return out


def turned(table: Table, turn: Turn, width: float, height: float) -> Table:
    """Return the table with its boxes turned clockwise together with a page of that size."""

    def move(box: Box | None) -> Box | None:
        return None if box is None else turn_box(box, turn, width, height)

    cells = tuple(replace(c, bbox=move(c.bbox)) for c in table.cells)
    return replace(table, bbox=move(table.bbox), cells=cells)
