"""Text items and rulings to tables: the pure heart of docpipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from regcomments.tables import address
from regcomments.tables.columns import overlap
from regcomments.tables.draft import Draft, to_table, unfold
from regcomments.tables.follow import goes_on, last_of
from regcomments.tables.framed import booktabs, boxed_table, finer
from regcomments.tables.items import Box, Cell, PageItems, Table, TextItem
from regcomments.tables.lattice import grids_of, segments_of
from regcomments.tables.lines import lines_of, sort_items, text_height
from regcomments.tables.ruled import fill, is_chart, stacked
from regcomments.tables.stream import stream_tables
from regcomments.tables.tolerances import DEFAULT, Tolerances


def reconstruct_tables(
    pages: Iterable[PageItems], url_base: str, tol: Tolerances = DEFAULT
) -> list[Table]:
    """Return the tables of the pages, with addresses below `url_base` (…/doc).

    Pure and deterministic: the order of a page's items and rulings does not matter. The rule by
    rows (y) and cells (x) is the seed's; drawn lines, column grids and merged cells go beyond it.
    """
    tables: list[Table] = []
    last: tuple[PageItems, Draft, str] | None = None
    for page in pages:
        drafts = page_drafts(page, tol)
        start = len(tables)
        for index, draft in enumerate(drafts):
            table = addressed(to_table(draft, page.number, index, tol), url_base)
            if index == 0 and last is not None and goes_on(last[0], last[1], page, draft, tol):
                table = replace(table, continues=last[2])
            tables.append(table)
        last = None
        if drafts:
            k = last_of(drafts)
            last = (page, drafts[k], tables[start + k].address)
    return tables


def page_drafts(page: PageItems, tol: Tolerances = DEFAULT) -> list[Draft]:
    """Return the tables of one page from top to bottom, then from left to right."""
    items = sort_items(page.items)
    if len(items) > tol.max_items:
        return []
    flat, upright = segments_of(page.rulings, tol)
    if len(flat) + len(upright) > tol.max_rulings:
        flat, upright = [], []
    drafts: list[Draft] = []
    charts: list[Box] = []
    for grid in grids_of(flat, upright, tol):
        draft = fill(grid, items, tol)
        if draft is None and len(grid.spans) <= 12:
            continue
        if draft is None or is_chart(draft, tol):
            # Its axis labels stand around it.
            b, room = grid.box, 2.5 * text_height(items)
            charts.append(Box(b.x0 - room, b.y0 - room, b.x1 + room, b.y1 + room))
            continue
        if stacked(draft, tol):
            draft = finer(draft, items, flat, upright, tol) or draft
        drafts.append(draft)
    free = _outside(_outside(items, [d.box for d in drafts]), charts)
    drafts += booktabs(free, flat, tol)
    free = _outside(free, [d.box for d in drafts])
    drafts += stream_tables(lines_of(free, (), tol, ordered=True), flat, tol)
    # A layout tool's boxes come last: they part tables at gaps, clip headings, and take prose.
    for box in sorted(page.boxes or ()):
        if any(_share(box, b) > 0.1 for b in [*charts, *(d.box for d in drafts)]):
            continue
        draft = boxed_table(box, free, flat, tol)
        if draft is not None:
            drafts.append(draft)
    parts = [part for d in drafts for part in unfold(d, tol)]
    return sorted(
        (d for d in parts if len(d.filled) >= 2), key=lambda d: (d.box.y0, d.box.x0, d.box)
    )


def _outside(items: list[TextItem], boxes: Sequence[Box]) -> list[TextItem]:
    for box in boxes:
        x0, y0, x1, y1 = 2 * box.x0 - 2, 2 * box.y0 - 2, 2 * box.x1 + 2, 2 * box.y1 + 2
        items = [
            i for i in items if not (x0 <= i[0] + i[2] <= x1 and y0 <= i[1] + i[3] <= y1)
        ]  # fmt: skip
    return items


def _share(a: Box, b: Box) -> float:
    """The part of box `a` that box `b` covers."""
    both = overlap(a.x0, a.x1, b.x0, b.x1) * overlap(a.y0, a.y1, b.y0, b.y1)
    return both / max(1.0, (a.x1 - a.x0) * (a.y1 - a.y0))


def addressed(table: Table, url_base: str) -> Table:
    """Return the table with its own and its cells' addresses set."""
    parent = address.page_of(url_base, table.page - 1) if table.page else url_base
    here = address.table_of(parent, table.index)
    # Not by `replace`, which takes as long as to find the cell.
    cells = tuple(
        [
            Cell(
                c.row,
                c.col,
                c.text,
                c.bbox,
                c.row_span,
                c.col_span,
                address.cell_of(here, c.row, c.col),
            )
            for c in table.cells
        ]
    )
    return replace(table, address=here, cells=cells)


def grids(tables: Sequence[Table]) -> list[list[list[str]]]:
    """Return the texts of several tables."""
    return [t.grid() for t in tables]
