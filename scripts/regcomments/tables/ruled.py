"""Ruled grids filled with words."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

from regcomments.tables.draft import Draft, by_span
from regcomments.tables.items import TextItem
from regcomments.tables.lattice import Grid
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
    places = by_span(grid.spans, grid.xs, grid.ys, words)
    return Draft(grid.box, len(grid.ys) - 1, len(grid.xs) - 1, tuple(places), ruled=True)
