"""Columns of unruled tables: where the white corridors between pieces of text run."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter

from regcomments.tables.items import Box, TextItem
from regcomments.tables.lines import Line, Piece
from regcomments.tables.tolerances import DEFAULT, Tolerances

Span = tuple[float, float]

# Columns up to which a loop over them is faster than bisection with a key.
_MANY = 24
_left, _right = itemgetter(0), itemgetter(1)


def overlap(a0: float, a1: float, b0: float, b1: float) -> float:
    """Return the length that two intervals share, in points; 0 when they are apart."""
    return max(0.0, min(a1, b1) - max(a0, b0))


def merged_headings(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> set[Piece]:
    """Return the pieces that lie over two pieces of other lines, as merged headings do.

    The vote is among the lines that have anything below or above the piece.
    """
    # Pieces of a line are apart, so both edge lists are sorted and bisection counts overlaps.
    # A sample of the lines votes as well as all of them.
    step = max(1, -(-len(lines) // tol.voters))
    edges = [
        (k, [p.box.x0 for p in lines[k].pieces], [p.box.x1 for p in lines[k].pieces])
        for k in range(0, len(lines), step)
    ]
    # Most pieces lie over no white between two others: they are asked no further. The gaps are
    # in the order of their left ends from the right, with the least right end so far.
    gaps = sorted([(-a, b) for _, x0, x1 in edges for a, b in zip(x1, x0[1:], strict=False)])
    starts = [gap[0] for gap in gaps]
    ends = list(accumulate([gap[1] for gap in gaps], min))
    found = set()
    for k, line in enumerate(lines):
        for piece in line.pieces:
            lo, hi = piece.box.x0 + 1.0, piece.box.x1 - 1.0
            after = bisect_left(starts, -lo)
            if not after or ends[after - 1] >= hi:
                continue
            several = one = 0
            for j, x0, x1 in edges:
                if j == k:
                    continue
                under = bisect_left(x0, hi) - bisect_right(x1, lo)
                if under > 1:
                    several += 1
                elif under == 1:
                    one += 1
            if several and several >= tol.span_vote * (several + one):
                found.add(piece)
    return found


def columns_of(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> list[Span]:
    """Return the x extents of the columns of a block of lines, from left to right.

    A column is a stretch of x that more than a few lines cover; merged headings don't count.
    Pieces that fall between columns make columns of their own.
    """
    rows = [line for line in lines if len(line.pieces) > 1]
    merged = merged_headings(rows, tol)
    plain = [p for line in rows for p in line.pieces if p not in merged]
    if not plain:
        return []
    allowed = int(tol.bridge_share * len(rows))
    events = sorted(
        [(p.box.x0, 1) for p in plain] + [(p.box.x1, -1) for p in plain],
        key=lambda e: (e[0], -e[1]),
    )
    columns: list[Span] = []
    depth, start = 0, 0.0
    for x, step in events:
        before, depth = depth, depth + step
        if before <= allowed < depth:
            start = x
        elif depth <= allowed < before:
            columns.append((start, x))
    apart = [(p.box.x0, p.box.x1) for p in plain if not _touched(p.box, columns)]
    columns = _union([*columns, *apart])
    if len(columns) > tol.max_columns:
        return []
    # With bridges allowed a column may come out narrower than its text: widen into the white.
    return _widen(columns, plain)


def _touched(box: Box | TextItem, columns: Sequence[Span]) -> range:
    """The indexes of the columns that a box overlaps; columns are apart and in order."""
    x0, x1, n = box[0], box[2], len(columns)
    if n > _MANY:
        first = bisect_right(columns, x0, key=_right)
        return range(first, max(first, bisect_left(columns, x1, key=_left)))
    first = 0
    while first < n and columns[first][1] <= x0:
        first += 1
    last = first
    while last < n and columns[last][0] < x1:
        last += 1
    return range(first, last)


def _union(spans: Sequence[Span]) -> list[Span]:
    out: list[Span] = []
    for a, b in sorted(spans):
        if out and a < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], b))
        else:
            out.append((a, b))
    return out


def _widen(columns: list[Span], pieces: Sequence[Piece]) -> list[Span]:
    out = list(columns)
    for p in pieces:
        hit = _touched(p.box, columns)
        if len(hit) == 1:
            k = hit[0]
            lo = max(p.box.x0, columns[k - 1][1]) if k else p.box.x0
            hi = min(p.box.x1, columns[k + 1][0]) if k + 1 < len(columns) else p.box.x1
            out[k] = (min(out[k][0], lo), max(out[k][1], hi))
    return out


def place(box: Box | TextItem, columns: Sequence[Span]) -> tuple[int, int]:
    """Return the first and the last column that a box lies in (the nearest when in none)."""
    x0, x1 = box[0], box[2]
    hit = [
        k
        for k in _touched(box, columns)
        if min(columns[k][1], x1) - max(columns[k][0], x0)
        > 0.3 * min(columns[k][1] - columns[k][0], x1 - x0)
    ]
    if hit:
        return hit[0], hit[-1]
    mid = (x0 + x1) / 2
    k = min(range(len(columns)), key=lambda k: abs((columns[k][0] + columns[k][1]) / 2 - mid))
    return k, k
