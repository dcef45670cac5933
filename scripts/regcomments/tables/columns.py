"""Columns of unruled tables: where the white corridors between pieces of text run."""

from __future__ import annotations

from collections.abc import Sequence

from regcomments.tables.items import Box
from regcomments.tables.lines import Line, Piece
from regcomments.tables.tolerances import DEFAULT, Tolerances

Span = tuple[float, float]


def overlap(a0: float, a1: float, b0: float, b1: float) -> float:
    """Return the length that two intervals share, in points; 0 when they are apart."""
    return max(0.0, min(a1, b1) - max(a0, b0))


def spanning(piece: Piece, lines: Sequence[Line], tol: Tolerances = DEFAULT) -> bool:
    """Tell whether a piece lies over two pieces of other lines, as merged headings do.

    The vote is among the lines that have anything below or above it.
    """
    several = one = 0
    lo, hi = piece.box.x0, piece.box.x1
    for line in lines:
        under = [p for p in line.pieces if overlap(lo, hi, p.box.x0, p.box.x1) > 1.0]
        if piece in under or not under:
            continue
        if len(under) > 1:
            several += 1
        else:
            one += 1
    return several > 0 and several >= tol.span_vote * (several + one)


def columns_of(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> list[Span]:
    """Return the x extents of the columns of a block of lines, from left to right.

    A column is a stretch of x that more than a few lines cover; merged headings don't count.
    Pieces that fall between columns make columns of their own.
    """
    rows = [line for line in lines if len(line.pieces) > 1]
    plain = [p for line in rows for p in line.pieces if not spanning(p, rows, tol)]
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
    for p in sorted(plain, key=lambda p: p.box):
        if not any(overlap(p.box.x0, p.box.x1, a, b) > 0 for a, b in columns):
            columns.append((p.box.x0, p.box.x1))
            columns = _union(columns)
    # With bridges allowed a column may come out narrower than its text: widen into the white.
    return _widen(_union(columns), plain)


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
        hit = [k for k, (a, b) in enumerate(columns) if overlap(p.box.x0, p.box.x1, a, b) > 0]
        if len(hit) == 1:
            k = hit[0]
            lo = max(p.box.x0, columns[k - 1][1]) if k else p.box.x0
            hi = min(p.box.x1, columns[k + 1][0]) if k + 1 < len(columns) else p.box.x1
            out[k] = (min(out[k][0], lo), max(out[k][1], hi))
    return out


def place(box: Box, columns: Sequence[Span]) -> tuple[int, int]:
    """Return the first and the last column that a box lies in (the nearest when in none)."""
    hit = [
        k
        for k, (a, b) in enumerate(columns)
        if overlap(box.x0, box.x1, a, b) > 0.3 * min(b - a, box.x1 - box.x0)
    ]
    if hit:
        return hit[0], hit[-1]
    mid = (box.x0 + box.x1) / 2
    k = min(range(len(columns)), key=lambda k: abs((columns[k][0] + columns[k][1]) / 2 - mid))
    return k, k
