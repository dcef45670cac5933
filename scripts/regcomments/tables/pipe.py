"""Tables for the text of a page: the confident, cheap call of the PDF reader."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pymupdf

from regcomments.tables.draft import Draft, to_table
from regcomments.tables.items import Box, Ruling
from regcomments.tables.markdown import pipe_table
from regcomments.tables.paragraphs import Paragraphs
from regcomments.tables.reconstruct import page_drafts
from regcomments.tables.sources import page_items, turn_box
from regcomments.tables.tolerances import DEFAULT, Tolerances


@dataclass(frozen=True, slots=True)
class PipeTable:
    """A table found on a page: its box in the coordinates of page.get_text(), its pipe table."""

    bbox: Box
    markdown: str


def may_hold_table(text: str, tol: Tolerances = DEFAULT) -> bool:
    """Tell from a page's plain text whether looking for tables is worth its cost.

    MuPDF writes every cell as a line of its own, so a table shows as a run of short lines; a
    page of prose has none but its heading, date and signature. Costs some 20 microseconds.
    """
    run = 0
    for line in text.split("\n"):
        # Empty lines neither continue nor break a run: empty cells leave them.
        if not line or line.isspace():
            continue
        run = run + 1 if len(line) <= tol.short_line else 0
        if run >= tol.short_run:
            return True
    return False


def pipe_tables(
    page: pymupdf.Page,
    text: str | None = None,
    textpage: pymupdf.TextPage | None = None,
    tol: Tolerances = DEFAULT,
    *,
    directions: Collection[tuple[float, float]] | None = None,
    drawn: bool = True,
    rulings: Sequence[Ruling] | None = None,
    paragraphs: Paragraphs | None = None,
) -> list[PipeTable]:
    """Return the tables of a page that are worth writing as pipe tables, top to bottom.

    `text` is page.get_text() when at hand: it lets pages of prose off at once. `textpage` saves
    reading the page again; for `directions` and what follows see page_items.
    """
    if text is not None and not may_hold_table(text, tol):
        return []
    geometry, turn = page_items(
        page,
        tol,
        textpage,
        directions=directions,
        drawn=drawn,
        rulings=rulings,
        paragraphs=paragraphs,
    )
    out = []
    for draft in page_drafts(geometry, tol):
        if confident(draft):
            box = turn_box(draft.box, -turn, geometry.width, geometry.height)
            out.append(PipeTable(box, pipe_table(to_table(draft, 0, 0, tol).grid())))
    return out


def confident(draft: Draft) -> bool:
    """Tell whether a draft is sure enough to replace the page's own text."""
    return draft.n_rows >= 2 and draft.n_cols >= 2 and len(draft.filled) >= 4
