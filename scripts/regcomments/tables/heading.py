"""Headings of tables: stacked words, merged cells, levels."""

from __future__ import annotations

from collections.abc import Sequence

from regcomments.tables.bands import banded, white_cuts
from regcomments.tables.columns import Span, overlap
from regcomments.tables.items import TextItem
from regcomments.tables.lattice import Segment
from regcomments.tables.lines import Line
from regcomments.tables.rows import (
    Key,
    Row,
    begins_anew,
    between,
    figure_columns,
    full_rule,
    is_data,
    merge_body,
    row_of,
)
from regcomments.tables.tolerances import DEFAULT, Tolerances


def rows_from(
    lines: Sequence[Line],
    columns: Sequence[Span],
    rules: Sequence[Segment] = (),
    tol: Tolerances = DEFAULT,
) -> tuple[list[Row], int]:
    """Return the rows of a block of lines, and how many of them are heading."""
    raw = [row_of(line, columns, rules, tol) for line in lines]
    head = heading_lines(raw, columns, rules)
    if 1 < head < len(raw) and not full_rule(rules, raw[head - 1], raw[head], columns):
        # The first line of a centred cell stands above the figures of its row.
        cuts = white_cuts(raw, tol)
        start = head
        while start > 0 and not cuts[start - 1]:
            start -= 1
        head = start or head
    top = merge_heading(raw[:head], columns, rules, tol) if head else []
    body = banded(raw, head, columns, rules, tol)
    if body is None:
        body = merge_body(raw[head:], columns, rules, tol)
    return top + body, len(top)


def heading_lines(rows: Sequence[Row], columns: Sequence[Span], rules: Sequence[Segment]) -> int:
    """Return how many leading lines are heading: up to the first full rule or the first figures."""
    figured = figure_columns(rows)
    first_data = next((k for k, row in enumerate(rows) if is_data(row, figured)), None)
    for k in range(1, min(len(rows), 10)):
        if first_data is not None and k > first_data:
            break
        if full_rule(rules, rows[k - 1], rows[k], columns):
            return k
    if first_data is None:
        return 1
    if len(rows) > 1 and len(rows[0].columns()) == len(columns) and begins_anew(rows[1]):
        return min(1, first_data)
    # A single text in the first column right above the figures is a section of the body.
    while first_data > 1 and rows[first_data - 1].columns() == {0}:
        first_data -= 1
    return min(first_data, 10)


def merge_heading(
    rows: Sequence[Row], columns: Sequence[Span], rules: Sequence[Segment], tol: Tolerances
) -> list[Row]:
    """Return heading rows: words stacked in one column are one cell, merged cells stay above."""
    cells: list[tuple[int, int, Key, list[TextItem]]] = []  # first line, last line, columns, words
    for k, row in enumerate(rows):
        for key, words in sorted(row.cells.items()):
            key = _ruled_extent(key, words, rows, k, columns, rules)
            key = _centred_extent(key, words, rows, k, columns)
            for n in range(len(cells) - 1, -1, -1):
                first, last, old, have = cells[n]
                if old == key or (old[0] <= key[0] and key[1] <= old[1] and old[0] == old[1]):
                    gap = min(w.y0 for w in words) - max(w.y1 for w in have)
                    height = words[0].y1 - words[0].y0
                    lo, hi = columns[key[0]][0], columns[key[1]][1]
                    if gap < tol.wrap_h * height and not between(rules, rows[last], row, lo, hi):
                        cells[n] = (first, k, old, have + words)
                        break
                if old[0] <= key[1] and key[0] <= old[1]:
                    cells.append((k, k, key, list(words)))
                    break
            else:
                cells.append((k, k, key, list(words)))
    return _levels(cells, rows)


def _ruled_extent(
    key: Key,
    words: Sequence[TextItem],
    rows: Sequence[Row],
    k: int,
    columns: Sequence[Span],
    rules: Sequence[Segment],
) -> Key:
    """Columns over which a short rule right below a heading runs: it tells what it heads."""
    x0, x1 = min(w.x0 for w in words), max(w.x1 for w in words)
    bottom = max(w.y1 for w in words)
    height = words[0].y1 - words[0].y0
    for r in rules:
        if not (bottom - 0.35 * height <= r.at <= bottom + 0.8 * height):
            continue
        if not (r.lo - height <= x0 and x1 <= r.hi + height):
            continue
        hit = [c for c, (a, b) in enumerate(columns) if overlap(a, b, r.lo, r.hi) > 0.5 * (b - a)]
        if hit and len(hit) < len(columns) and k + 1 < len(rows):
            others = [w for q, ws in rows[k].cells.items() if q != key for w in ws]
            # Two headings over one rule: the rule belongs to neither.
            if not any(r.lo <= (w.x0 + w.x1) / 2 <= r.hi for w in others):
                return min(key[0], hit[0]), max(key[1], hit[-1])
    return key


def _centred_extent(
    key: Key, words: Sequence[TextItem], rows: Sequence[Row], k: int, columns: Sequence[Span]
) -> Key:
    """Columns that a heading is centred over, where nothing but it stands above them."""
    if k + 1 >= len(rows):
        return key
    busy = {
        c for row in rows[: k + 1] for q in row.cells if q != key for c in range(q[0], q[1] + 1)
    }
    below = {c for q in rows[k + 1].cells if q[0] == q[1] for c in q}
    if not set(range(key[0], key[1] + 1)) <= below:
        return key
    lo, hi = key
    while lo - 1 in below and lo - 1 not in busy and lo - 1 > 0:
        lo -= 1
    while hi + 1 in below and hi + 1 not in busy:
        hi += 1
    mid = (min(w.x0 for w in words) + max(w.x1 for w in words)) / 2
    best, least = key, 0.12
    for a in range(lo, key[0] + 1):
        for b in range(key[1], hi + 1):
            width = columns[b][1] - columns[a][0]
            miss = abs((columns[a][0] + columns[b][1]) / 2 - mid) / width
            if (a, b) != key and miss < least:
                best, least = (a, b), miss
    return best


def _levels(cells: list[tuple[int, int, Key, list[TextItem]]], rows: Sequence[Row]) -> list[Row]:
    """Give every heading cell a level: one below the cells that stand above it."""
    level: list[int] = []
    for n, (first, _, key, _) in enumerate(cells):
        above = [
            level[m]
            for m in range(n)
            if cells[m][1] < first and cells[m][2][0] <= key[1] and key[0] <= cells[m][2][1]
        ]
        level.append(max(above) + 1 if above else 0)
    depth = max(level, default=-1) + 1
    out = [Row({}, rows[0].top, rows[-1].bottom) for _ in range(depth)]
    for n, (_, last, key, words) in enumerate(cells):
        below = [
            level[m]
            for m in range(len(cells))
            if cells[m][0] > last and cells[m][2][0] <= key[1] and key[0] <= cells[m][2][1]
        ]
        row = out[level[n]]
        row.cells.setdefault(key, []).extend(words)
        row.spans[key] = (min(below) if below else depth) - level[n]
    return out
