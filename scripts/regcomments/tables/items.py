"""What table reconstruction reads and returns: text items, rulings, pages, cells, tables.

All boxes are in points from the top left corner of the page as it is shown (rotation applied).
TextItem and Ruling are named tuples, not dataclasses, because a page holds hundreds of them and
a frozen dataclass costs three times as much to make.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle in points: left, top, right, bottom."""

    x0: float
    y0: float
    x1: float
    y1: float

    def holds(self, x: float, y: float, slack: float = 0.0) -> bool:
        """Tell whether the point lies inside, give or take `slack` points."""
        return self.x0 - slack <= x <= self.x1 + slack and self.y0 - slack <= y <= self.y1 + slack


class TextItem(NamedTuple):
    """A word or a run of words with its box in points."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str


class Ruling(NamedTuple):
    """A drawn horizontal or vertical line (or the edge of a filled box), as a thin rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PageItems:
    """The geometry of one page: its number (from 1), size in points, text items and rulings.

    `boxes` are regions that a layout tool takes for tables; None when nobody was asked, so that
    an empty tuple means "asked, and none found".
    """

    number: int
    width: float
    height: float
    items: tuple[TextItem, ...]
    rulings: tuple[Ruling, ...] = ()
    boxes: tuple[Box, ...] | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: row and column from 0, its text, its box in points (None when it is not known).

    `row_span` and `col_span` count the grid places a merged cell covers; places so covered have
    no cell of their own.
    """

    row: int
    col: int
    text: str
    bbox: Box | None = None
    row_span: int = 1
    col_span: int = 1
    address: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: page from 1 (0 where the format has no pages), index on the page from 0.

    `continues` is the address of the table on an earlier page that this one goes on with.
    `ruled` tells whether drawn lines gave the cells.
    """

    page: int
    index: int
    n_rows: int
    n_cols: int
    cells: tuple[Cell, ...]
    bbox: Box | None = None
    address: str = ""
    continues: str | None = None
    ruled: bool = False

    def grid(self) -> list[list[str]]:
        """Return the texts row by row, every row `n_cols` long, "" for an empty place."""
        rows = [[""] * self.n_cols for _ in range(self.n_rows)]
        for cell in self.cells:
            rows[cell.row][cell.col] = cell.text
        return rows

    def cell(self, row: int, col: int) -> Cell | None:
        """Return the cell that covers a grid place (a merged one covers several), or None."""
        for cell in self.cells:
            if (
                cell.row <= row < cell.row + cell.row_span
                and cell.col <= col < cell.col + cell.col_span
            ):
                return cell
        return None


def hull(boxes: Iterable[tuple[float, float, float, float] | TextItem | Ruling]) -> Box:
    """Return the smallest box round all of them. Raises ValueError when there is none."""
    rows = list(boxes)
    if len(rows) < 2:
        if not rows:
            raise ValueError("no box to enclose")
        return Box._make(rows[0][:4])
    x0, y0, x1, y1, *_ = zip(*rows, strict=False)
    return Box(min(x0), min(y0), max(x1), max(y1))
