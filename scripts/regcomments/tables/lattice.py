"""Drawn lines to grids: rulings that cross each other make a grid of cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from regcomments.tables.items import Box, Ruling
from regcomments.tables.lines import FAR
from regcomments.tables.tolerances import DEFAULT, Tolerances


@dataclass(frozen=True, slots=True)
class Segment:
    """A merged ruling: its place across (`at`) and its extent along (`lo` to `hi`), points."""

    at: float
    lo: float
    hi: float


@dataclass(frozen=True, slots=True)
class Grid:
    """A ruled grid: column borders, row borders, and the cells as (row, col, rows, cols)."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    spans: tuple[tuple[int, int, int, int], ...]

    @property
    def box(self) -> Box:
        """The outer border."""
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])


def segments_of(
    rulings: Iterable[Ruling], tol: Tolerances = DEFAULT
) -> tuple[list[Segment], list[Segment]]:
    """Return the horizontal and the vertical segments, collinear pieces joined."""
    flat, upright = [], []
    for r in rulings:
        if not (-FAR < r.x0 <= r.x1 < FAR and -FAR < r.y0 <= r.y1 < FAR):
            continue
        if r.x1 - r.x0 >= r.y1 - r.y0:
            flat.append(((r.y0 + r.y1) / 2, r.x0, r.x1))
        else:
            upright.append(((r.x0 + r.x1) / 2, r.y0, r.y1))
    return _join(flat, tol), _join(upright, tol)


def _join(raw: list[tuple[float, float, float]], tol: Tolerances) -> list[Segment]:
    raw.sort()
    out: list[Segment] = []
    group: list[tuple[float, float, float]] = []

    def close() -> None:
        if not group:
            return
        at = sum(g[0] for g in group) / len(group)
        spans = sorted((g[1], g[2]) for g in group)
        lo, hi = spans[0]
        for a, b in spans[1:]:
            if a - hi <= tol.join_pt:
                hi = max(hi, b)
            else:
                out.append(Segment(at, lo, hi))
                lo, hi = a, b
        out.append(Segment(at, lo, hi))

    for item in raw:
        if group and (item[0] - group[-1][0] > 1.0 or item[0] - group[0][0] > tol.snap_pt):
            close()
            group = []
        group.append(item)
    close()
    # What is shorter than a letter is a dot of something else.
    return [s for s in out if s.hi - s.lo >= tol.sliver_pt]


def _cluster(values: Iterable[float], gap: float, least: int = 1) -> list[float]:
    """Return the middle of every group of at least `least` values with no `gap` between two."""
    groups: list[list[float]] = []
    for v in sorted(values):
        if groups and v - groups[-1][-1] <= gap:
            groups[-1].append(v)
        else:
            groups.append([v])
    return [sum(g) / len(g) for g in groups if len(g) >= least]


class _Sets:
    """Disjoint sets over 0 … n-1, the least member naming each; paths are halved when walked."""

    def __init__(self, n: int) -> None:
        self.parent = list(range(n))

    def find(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def union(self, i: int, j: int) -> None:
        a, b = self.find(i), self.find(j)
        self.parent[max(a, b)] = min(a, b)


def grids_of(
    flat: Sequence[Segment], upright: Sequence[Segment], tol: Tolerances = DEFAULT
) -> list[Grid]:
    """Return the grids of crossing segments, top to bottom; each has at least two cells."""
    n = len(flat)
    if not n or not upright or n + len(upright) > tol.max_rulings:
        return []
    sets = _Sets(n + len(upright))
    c = tol.cross_pt
    for i, h in enumerate(flat):
        for j, v in enumerate(upright):
            if h.lo - c <= v.at <= h.hi + c and v.lo - c <= h.at <= v.hi + c:
                sets.union(i, n + j)
    parts: dict[int, tuple[list[Segment], list[Segment]]] = defaultdict(lambda: ([], []))
    for i, h in enumerate(flat):
        parts[sets.find(i)][0].append(h)
    for j, v in enumerate(upright):
        parts[sets.find(n + j)][1].append(v)
    grids = [_grid(hs, vs, tol) for hs, vs in parts.values() if hs and vs]
    found = [g for g in grids if g is not None]
    return sorted(found, key=lambda g: (g.ys[0], g.xs[0]))


def _borders(across: list[Segment], along: list[Segment], tol: Tolerances) -> list[float]:
    """Positions of the borders: the segments, and the outer ends of those that cross them."""
    at = [s.at for s in across]
    # Ends at which two segments or more stop are the open sides of a grid.
    lo = _cluster([s.lo for s in along], tol.cross_pt, 2)
    hi = _cluster([s.hi for s in along], tol.cross_pt, 2)
    if lo and lo[0] < min(at) - tol.sliver_pt:
        at.append(lo[0])
    if hi and hi[-1] > max(at) + tol.sliver_pt:
        at.append(hi[-1])
    return _cluster(at, tol.sliver_pt)


def _at_borders(
    segments: list[Segment], borders: list[float], tol: Tolerances
) -> list[list[Segment]]:
    """For each border, the segments that lie on it."""
    return [[s for s in segments if abs(s.at - at) <= tol.sliver_pt] for at in borders]


def _covered(on: list[Segment], lo: float, hi: float, tol: Tolerances) -> bool:
    got = sum(max(0.0, min(s.hi, hi) - max(s.lo, lo)) for s in on)
    return got >= tol.border_share * (hi - lo)


def _grid(flat: list[Segment], upright: list[Segment], tol: Tolerances) -> Grid | None:
    xs, ys = _borders(upright, flat, tol), _borders(flat, upright, tol)
    cols, rows = len(xs) - 1, len(ys) - 1
    if cols < 1 or rows < 1 or cols * rows < 2 or cols * rows > tol.max_places:
        return None
    sets = _Sets(rows * cols)
    on_x, on_y = _at_borders(upright, xs, tol), _at_borders(flat, ys, tol)
    for i in range(rows):
        for j in range(cols):
            k = i * cols + j
            if j + 1 < cols and not _covered(on_x[j + 1], ys[i], ys[i + 1], tol):
                sets.union(k, k + 1)
            if i + 1 < rows and not _covered(on_y[i + 1], xs[j], xs[j + 1], tol):
                sets.union(k, k + cols)
    groups: dict[int, list[int]] = defaultdict(list)
    for k in range(rows * cols):
        groups[sets.find(k)].append(k)
    spans = []
    for members in groups.values():
        spans.extend(_rectangles(members, cols))
    if len(spans) < 2:
        return None
    return Grid(tuple(xs), tuple(ys), tuple(sorted(spans)))


def _rectangles(members: list[int], cols: int) -> list[tuple[int, int, int, int]]:
    """One span when the places fill a rectangle, else one a row: an L is no cell."""
    r = [k // cols for k in members]
    c = [k % cols for k in members]
    r0, r1, c0, c1 = min(r), max(r), min(c), max(c)
    if (r1 - r0 + 1) * (c1 - c0 + 1) == len(members):
        return [(r0, c0, r1 - r0 + 1, c1 - c0 + 1)]
    out = []
    by_row: dict[int, list[int]] = defaultdict(list)
    for k in sorted(members):
        by_row[k // cols].append(k % cols)
    for row, line in by_row.items():
        start = prev = line[0]
        for col in [*line[1:], None]:
            if col is None or col != prev + 1:
                out.append((row, start, 1, prev - start + 1))
                start = col
            prev = col
    return out
