"""Ruled grids filled with words."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from regcomments.tables.draft import Draft, Place, by_span, trim, without_slivers
from regcomments.tables.items import Box, TextItem
from regcomments.tables.lattice import Grid
from regcomments.tables.lines import lines_of, text_height
from regcomments.tables.tolerances import DEFAULT, Tolerances


def fill(grid: Grid, items: Sequence[TextItem], tol: Tolerances = DEFAULT) -> Draft | None:
    """Return the grid with the items inside it, or None when it holds fewer than two texts."""
    at = {}
    for k, (r, c, h, w) in enumerate(grid.spans):
        for i in range(r, r + h):
            for j in range(c, c + w):
                at[i, j] = k
    words: dict[int, list[TextItem]] = defaultdict(list)
    for item in items:
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
    return draft if draft.n_rows >= 2 and draft.n_cols >= 2 and len(draft.filled) >= 3 else None


def split_columns(place: Place, grid: Grid, tol: Tolerances = DEFAULT) -> list[Place]:
    """Return a merged place cut at the grid's columns when its text stands in them.

    Many tables draw their column lines in the heading only. A heading over several columns is
    one piece of text and stays whole.
    """
    if place.cols < 2 or not place.words:
        return [place]
    borders = grid.xs[place.col + 1 : place.col + place.cols]
    cut = [x for x in borders if not any(w.x0 + 1 < x < w.x1 - 1 for w in place.words)]
    lines = lines_of(place.words, (), tol)
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
