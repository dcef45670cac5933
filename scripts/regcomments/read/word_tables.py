"""Tables of a Word document as grids of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from regcomments.read.word_controls import alternative
from regcomments.read.word_styles import is_on, small_int
from regcomments.read.word_xml import MC, VAL, W

MAX_COLUMNS = 100  # Word itself stops at 63
MAX_CELLS = 1_000_000  # of one table with the empty ones; more only bombs have
# Characters from which a cell of several paragraphs is a text laid out in a table; in it the
# paragraphs stay visible, while in a cell of data a line end is only a matter of its width.
LONG_CELL = 300
_GRID_SPAN, _CELL_DELETED = W + "gridSpan", W + "cellDel"
_V_MERGE, _H_MERGE = W + "vMerge", W + "hMerge"
_WRAPPERS = {W + name for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag")}


@dataclass(frozen=True)
class CellPlace:
    """Where a cell element stands: first grid column, columns, whether a cell above covers it."""

    element: etree._Element
    column: int
    covered: bool
    span: int = 1


def table_rows(table: etree._Element) -> tuple[list[list[CellPlace]], list[etree._Element]]:
    """Return the rows of a table with the place of each cell, and the rows that are hidden.

    Deleted rows and cells are left out. A vertically merged cell belongs to its first row; the
    cells below it are `covered`.
    """
    rows: list[list[CellPlace]] = []
    hidden: list[etree._Element] = []
    merging: set[int] = set()
    for row in _children(table, W + "tr"):
        properties = row.find(W + "trPr")
        column = 0
        if properties is not None:
            if properties.find(W + "del") is not None:
                continue
            flag = properties.find(W + "hidden")
            if flag is not None and is_on(flag):
                hidden.append(row)
                continue
            column = _span(properties.find(W + "gridBefore"), 0)
        places: list[CellPlace] = []
        for cell in _children(row, W + "tc"):
            span, merge, deleted = _cell_facts(cell)
            if deleted:
                continue
            covered = merge == "across" or (merge == "continue" and column in merging)
            if merge == "restart" or (merge == "continue" and not covered):
                merging.add(column)
            elif merge != "continue":
                merging.discard(column)
            places.append(CellPlace(cell, column, covered, span))
            column += span
        rows.append(places)
    return rows, hidden


def grid(rows: list[list[tuple[int, str]]]) -> list[list[str]]:
    """Return rows of equal length from (grid column, text) cells.

    Grid columns in which no cell begins are dropped: Word makes one for every border that any
    row has. A cell that spans several of the others is followed by empty cells. What lies
    beyond the last column allowed joins the cell in it.
    """
    starts = sorted({column for row in rows for column, _ in row})
    index = {column: place for place, column in enumerate(starts)}
    width = max(1, min(len(starts), MAX_COLUMNS, MAX_CELLS // max(len(rows), 1)))
    result: list[list[str]] = []
    for row in rows:
        cells = [""] * width
        for column, text in row:
            place = min(index[column], width - 1)
            cells[place] = f"{cells[place]} {text}".strip() if cells[place] else text
        result.append(cells)
    return result


def one_line(paragraphs: list[str]) -> str:
    """Return the paragraphs of a cell as one line."""
    lines = [re.sub(r"\s+", " ", text).strip() for text in paragraphs]
    lines = [line for line in lines if line]
    long = sum(map(len, lines)) > LONG_CELL
    return (" <br> " if long else " ").join(lines)


def _children(node: etree._Element, tag: str, depth: int = 0) -> Iterator[etree._Element]:
    """Yield the rows of a table or the cells of a row, also from inside wrappers."""
    for child in node:
        if child.tag == tag:
            yield child
        elif depth < 20 and child.tag in _WRAPPERS:
            yield from _children(child, tag, depth + 1)
        elif depth < 20 and child.tag == MC + "AlternateContent":
            branch = alternative(child)
            if branch is not None:
                yield from _children(branch, tag, depth + 1)


def _span(node: etree._Element | None, default: int) -> int:
    value = small_int(node.get(VAL), default) if node is not None else default
    return min(max(value if value is not None else default, 0), MAX_COLUMNS)


def _cell_facts(cell: etree._Element) -> tuple[int, str, bool]:
    """Return the columns a cell spans, its merging (restart, continue, across, ""), deletion."""
    properties = cell.find(W + "tcPr")
    if properties is None:
        return 1, "", False
    merge, span, deleted = "", None, False
    for node in properties:  # one pass: a table of a thousand cells is common
        tag = node.tag
        if tag == _GRID_SPAN:
            span = node if span is None else span
        elif tag == _H_MERGE:
            merge = "across" if (node.get(VAL) or "continue") == "continue" else merge
        elif tag == _V_MERGE:
            merge = merge or node.get(VAL) or "continue"
        elif tag == _CELL_DELETED:
            deleted = True
    return max(_span(span, 1), 1), merge, deleted
