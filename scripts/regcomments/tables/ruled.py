"""Ruled grids filled with words."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from regcomments.tables.draft import Draft, Place, by_span, trim, without_slivers
from regcomments.tables.items import Box, TextItem
from regcomments.tables.lattice import Grid
from regcomments.tables.lines import Line, lines_of, on_one_line, text_height, text_of
from regcomments.tables.rows import figures
from regcomments.tables.stream import CAPTION, NOTE
from regcomments.tables.tolerances import DEFAULT, Tolerances


def fill(grid: Grid, items: Sequence[TextItem], tol: Tolerances = DEFAULT) -> Draft | None:
    """Return the grid with the items inside it; None when it is no table but a frame or a chart."""
    at = {}
    for k, (r, c, h, w) in enumerate(grid.spans):
        for i in range(r, r + h):
            for j in range(c, c + w):
                at[i, j] = k
    words: dict[int, list[TextItem]] = defaultdict(list)
    # The items are sorted by their middles.
    first = bisect_left(items, 2 * grid.ys[0], key=lambda i: i.y0 + i.y1)
    last = bisect_right(items, 2 * grid.ys[-1], key=lambda i: i.y0 + i.y1)
    for item in items[first:last]:
        x, y = (item.x0 + item.x1) / 2, (item.y0 + item.y1) / 2
        i, j = bisect_right(grid.ys, y) - 1, bisect_right(grid.xs, x) - 1
        if (i, j) in at:
            words[at[i, j]].append(item)
    if len(words) < 2:
        return None
    places = []
    for place in by_span(grid.spans, grid.xs, grid.ys, words):
        places.extend(split_columns(place, grid, tol))
    draft = Draft(grid.box, len(grid.ys) - 1, len(grid.xs) - 1, tuple(places), ruled=True)
    inside = [w for ws in words.values() for w in ws]
    draft = trim(without_slivers(draft, grid.xs, grid.ys, tol.sliver_h * text_height(inside)))
    draft = peel(draft)
    rows, cols = {p.row for p in draft.filled}, {p.col for p in draft.filled}
    if len(rows) < 2 or len(cols) < 2 or len(draft.filled) < 3:
        return None
    if len(rows) == len(draft.filled):  # never two texts in a row: labels in a drawing
        return None
    return draft


def is_chart(draft: Draft, tol: Tolerances = DEFAULT) -> bool:
    """Tell whether a grid is the mesh behind a chart: many places, hardly a text in them."""
    return len(draft.places) > 12 and len(draft.filled) < tol.chart_share * len(draft.places)


def peel(draft: Draft) -> Draft:
    """Return the draft without a caption in its first row and notes in its last."""
    while draft.n_rows > 2:
        first = [p for p in draft.filled if p.row == 0]
        last = [p for p in draft.filled if p.row + p.rows == draft.n_rows]
        if _whole_row(first, draft) and CAPTION.match(text_of(first[0].words)):
            draft = _without_row(draft, 0)
        elif _whole_row(last, draft) and _is_note(text_of(last[0].words)):
            draft = _without_row(draft, draft.n_rows - 1)
        else:
            break
    return draft


def _whole_row(places: Sequence[Place], draft: Draft) -> bool:
    return len(places) == 1 and places[0].cols == draft.n_cols and places[0].rows == 1


def _is_note(text: str) -> bool:
    return bool(NOTE.match(text)) or len(text.split()) > 20


def _without_row(draft: Draft, row: int) -> Draft:
    gone = next(p for p in draft.filled if p.row == row)
    places = tuple(
        p._replace(row=p.row - (p.row > row)) for p in draft.places if p.row != row
    )  # fmt: skip
    box = draft.box
    if gone.box is not None:
        box = box._replace(y0=gone.box.y1) if row == 0 else box._replace(y1=gone.box.y0)
    return replace(draft, box=box, n_rows=draft.n_rows - 1, places=places)


def stacked(draft: Draft, tol: Tolerances = DEFAULT) -> bool:
    """Tell whether bands hold several rows each: the grid has fewer lines than the table rows.

    So it is where cells side by side have as many lines, and these are figures, or end although
    the next word would have fitted. An address beside its one-line label is one row.
    """
    bands: dict[tuple[int, int], list[tuple[Place, Sequence[Line]]]] = defaultdict(list)
    for place in draft.filled:
        if place.box is not None:
            lines = (
                ()
                if on_one_line(place.words, tol)
                else lines_of(place.words, (), tol, ordered=True)
            )
            bands[place.row, place.rows].append((place, lines))
    fitting = breaks = 0
    for (row, _), band in bands.items():
        counts = [max(len(lines), 1) for _, lines in band]
        for place, lines in band:
            n = len(lines)
            if sum(abs(m - n) <= 0.2 * n for m in counts) < 2 or n < 2:
                continue
            last = [figures(line.pieces[-1].text) for line in lines]
            if n >= 3 and sum(last) >= 0.7 * n:
                return True
            if row and min(counts) == max(counts):
                fits, ends = _free_breaks(place, lines)
                fitting, breaks = fitting + fits, breaks + ends
    return breaks >= 3 and fitting >= 0.6 * breaks


def _free_breaks(place: Place, lines: Sequence[Line]) -> tuple[int, int]:
    """Line ends at which the next word would still have fitted, and all line ends."""
    fits = 0
    room = place.box.x1 - place.box.x0 - 2 * max(2.0, lines[0].box.x0 - place.box.x0)
    for upper, lower in pairwise(lines):
        word = lower.pieces[0].words[0]
        need = word.x1 - word.x0 + 0.3 * (word.y1 - word.y0)
        fits += upper.box.x1 - upper.box.x0 + need < room
    return fits, len(lines) - 1


def split_columns(place: Place, grid: Grid, tol: Tolerances = DEFAULT) -> list[Place]:
    """Return a merged place cut at the grid's columns when its text stands in them.

    Many tables draw their column lines in the heading only. A heading over several columns is
    one piece of text and stays whole.
    """
    if place.cols < 2 or not place.words:
        return [place]
    borders = grid.xs[place.col + 1 : place.col + place.cols]
    cut = [x for x in borders if not any(w.x0 + 1 < x < w.x1 - 1 for w in place.words)]
    lines = lines_of(place.words, (), tol, ordered=True)
    if not any(len(line.pieces) > 1 for line in lines):
        return [place]
    # A piece across a border vetoes that border.
    pieces = [p.box for line in lines for p in line.pieces]
    cut = [x for x in cut if not any(b.x0 + 1 < x < b.x1 - 1 for b in pieces)]
    edges = [place.col, *(grid.xs.index(x) for x in cut), place.col + place.cols]
    out = []
    for a, b in pairwise(edges):
        inside = tuple(
            w for w in place.words if grid.xs[a] <= (w.x0 + w.x1) / 2 < grid.xs[b]
        )  # fmt: skip
        box = Box(grid.xs[a], place.box.y0, grid.xs[b], place.box.y1) if place.box else None
        out.append(Place(place.row, a, place.rows, b - a, inside, box))
    return out
