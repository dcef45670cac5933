"""A table in the making: places with the words in them, before texts and addresses are set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from regcomments.tables.items import Box, Cell, Table, TextItem, hull
from regcomments.tables.lines import spelled, text_of
from regcomments.tables.tolerances import DEFAULT, Tolerances


class Place(NamedTuple):
    """A place of the grid: row, column, rows and columns covered, and its words.

    A named tuple, because a table has hundreds and each is put anew some times.
    """

    row: int
    col: int
    rows: int
    cols: int
    words: tuple[TextItem, ...]
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A grid of places inside a box in points."""

    box: Box
    n_rows: int
    n_cols: int
    places: tuple[Place, ...]
    ruled: bool = False

    @property
    def filled(self) -> list[Place]:
        """The places that hold text."""
        return [p for p in self.places if p.words]


def trim(draft: Draft) -> Draft:
    """Return the draft without rows and columns that hold no text anywhere at its edges."""
    rows = [p.row for p in draft.filled]
    cols = [p.col for p in draft.filled]
    if not rows:
        return replace(draft, n_rows=0, n_cols=0, places=())
    r0, c0 = min(rows), min(cols)
    r1 = max(p.row + p.rows for p in draft.filled)
    c1 = max(p.col + p.cols for p in draft.filled)
    if r0 == c0 == 0 and r1 == draft.n_rows and c1 == draft.n_cols:
        return draft
    places = tuple(
        p._replace(
            row=max(p.row, r0) - r0,
            col=max(p.col, c0) - c0,
            rows=min(p.row + p.rows, r1) - max(p.row, r0),
            cols=min(p.col + p.cols, c1) - max(p.col, c0),
        )
        for p in draft.places
        if p.row < r1 and p.col < c1 and p.row + p.rows > r0 and p.col + p.cols > c0
    )
    return replace(draft, n_rows=r1 - r0, n_cols=c1 - c0, places=places)


def without_slivers(draft: Draft, xs: Sequence[float], ys: Sequence[float], limit: float) -> Draft:
    """Return the draft without rows and columns that hold no text and are narrower than `limit`.

    `xs` and `ys` are the borders, in points. Double lines and cell spacing leave such gaps.
    """
    rows = [False] * draft.n_rows
    cols = [False] * draft.n_cols
    for p in draft.filled:
        rows[p.row] = cols[p.col] = True
    keep_r = [rows[k] or ys[k + 1] - ys[k] >= limit for k in range(draft.n_rows)]
    keep_c = [cols[k] or xs[k + 1] - xs[k] >= limit for k in range(draft.n_cols)]
    if all(keep_r) and all(keep_c):
        return draft
    r_at = [sum(keep_r[:k]) for k in range(draft.n_rows + 1)]
    c_at = [sum(keep_c[:k]) for k in range(draft.n_cols + 1)]
    places = []
    for p in draft.places:
        r0, r1 = r_at[p.row], r_at[p.row + p.rows]
        c0, c1 = c_at[p.col], c_at[p.col + p.cols]
        if r1 > r0 and c1 > c0:
            places.append(p._replace(row=r0, col=c0, rows=r1 - r0, cols=c1 - c0))
    return replace(draft, n_rows=r_at[-1], n_cols=c_at[-1], places=tuple(places))


def unfold(draft: Draft, tol: Tolerances = DEFAULT) -> list[Draft]:
    """Return a long table set in several columns of print as that many tables.

    Its heading then says the same several times over, the row labels' heading too. A heading
    that only repeats years under merged cells keeps its table.
    """
    top = {p.col: p for p in draft.filled if p.row == 0}
    n = draft.n_cols
    if draft.n_rows < 3 or len(top) < n or any(p.cols > 1 or p.rows > 1 for p in top.values()):
        return [draft]
    heads = [text_of(top[c].words, None, tol).casefold() for c in range(n)]
    for period in range(2, n // 2 + 1):
        if n % period or any(heads[c] != heads[c % period] for c in range(n)):
            continue
        if any(p.col // period != (p.col + p.cols - 1) // period for p in draft.filled):
            return [draft]
        parts = []
        for start in range(0, n, period):
            places = tuple(
                p._replace(col=p.col - start)
                for p in draft.places
                if start <= p.col and p.col + p.cols <= start + period
            )
            box = hull(p.box or hull(p.words) for p in places if p.box or p.words)
            parts.append(trim(Draft(box, draft.n_rows, period, places, draft.ruled)))
        return parts
    return [draft]


def to_table(draft: Draft, page: int, index: int, tol: Tolerances = DEFAULT) -> Table:
    """Return the finished table without addresses; empty places become empty cells."""
    edges: dict[int, float] = {}
    for p in draft.filled:
        right = max(w.x1 for w in p.words)
        edges[p.col + p.cols] = max(edges.get(p.col + p.cols, right), right)
    cells = [
        Cell(
            p.row,
            p.col,
            spelled(text_of(p.words, edges.get(p.col + p.cols), tol)),
            p.box or (hull(p.words) if p.words else None),
            p.rows,
            p.cols,
        )
        for p in draft.places
    ]
    taken = {
        (r, c)
        for p in draft.places
        for r in range(p.row, p.row + p.rows)
        for c in range(p.col, p.col + p.cols)
    }
    cells += [
        Cell(r, c, "")
        for r in range(draft.n_rows)
        for c in range(draft.n_cols)
        if (r, c) not in taken
    ]
    cells.sort(key=lambda cell: (cell.row, cell.col))
    return Table(
        page, index, draft.n_rows, draft.n_cols, tuple(cells), draft.box, ruled=draft.ruled
    )


def by_span(
    spans: Sequence[tuple[int, int, int, int]],
    xs: Sequence[float],
    ys: Sequence[float],
    words: dict[int, list[TextItem]],
) -> list[Place]:
    """Return the places of ruled spans; `words` are keyed by the span's position."""
    return [
        Place(r, c, h, w, tuple(words.get(k, ())), Box(xs[c], ys[r], xs[c + w], ys[r + h]))
        for k, (r, c, h, w) in enumerate(spans)
    ]
