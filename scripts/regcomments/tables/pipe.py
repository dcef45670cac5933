"""Tables for the text of a page: the confident, cheap call of the PDF reader."""

from __future__ import annotations

from dataclasses import dataclass

from regcomments.tables.draft import Draft, to_table
from regcomments.tables.items import Box, PageItems
from regcomments.tables.markdown import pipe_table
from regcomments.tables.reconstruct import page_drafts
from regcomments.tables.sources import Turn, turn_box
from regcomments.tables.tolerances import DEFAULT, Tolerances


@dataclass(frozen=True, slots=True)
class PipeTable:
    """A table found on a page: its box in the coordinates of page.get_text(), its pipe table."""

    bbox: Box
    markdown: str


def pipe_tables(geometry: PageItems, turn: Turn, tol: Tolerances = DEFAULT) -> list[PipeTable]:
    """Return the tables of a page that are worth writing as pipe tables, top to bottom.

    `geometry` and `turn` are what page_items returns.
    """
    out = []
    for draft in page_drafts(geometry, tol):
        if confident(draft):
            box = turn_box(draft.box, -turn, geometry.width, geometry.height)
            out.append(PipeTable(box, pipe_table(to_table(draft, 0, 0, tol).grid())))
    return out


def confident(draft: Draft) -> bool:
    """Tell whether a draft is sure enough to replace the page's own text."""
    return draft.n_rows >= 2 and draft.n_cols >= 2 and len(draft.filled) >= 4
