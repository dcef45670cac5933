"""Lines to rows: which lines belong to one row of a table, and what the heading is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from regcomments.tables.columns import Span, overlap, place
from regcomments.tables.items import TextItem
from regcomments.tables.lattice import Segment
from regcomments.tables.lines import Line, Piece
from regcomments.tables.tolerances import DEFAULT, Tolerances

FIGURE = re.compile(
    r"[-+−–—(<>≤≥~±]*\s*[$€£¥#]?\s*[-+−–(<]?[\d.,]*\d[\d.,\s/:–()%-]*[%)*†‡§¶a-zA-Z]{0,3}"
    r"|[-–—.*†‡…]+|[nN]\.?/?[aA]\.?|[-–—]"
)

Key = tuple[int, int]  # first and last column


@dataclass(slots=True)
class Row:
    """A row in the making: its fragments by columns, its top and bottom in points."""

    cells: dict[Key, list[TextItem]]
    top: float
    bottom: float
    spans: dict[Key, int] = field(default_factory=dict)  # rows that a heading cell covers

    def columns(self) -> set[int]:
        """Every column that has text in this row."""
        return {c for a, b in self.cells for c in range(a, b + 1)}


def figures(text: str) -> bool:
    """Tell whether a text is a number, an amount, a range, a dash or "n/a"."""
    return bool(FIGURE.fullmatch(text.strip()))


def row_of(line: Line, columns: Sequence[Span], tol: Tolerances = DEFAULT) -> Row:
    """Return a line's pieces by the columns they lie in; pieces over several are cut if due."""
    cells: dict[Key, list[TextItem]] = {}
    for piece in line.pieces:
        for key, words in _placed(piece, columns, tol):
            cells.setdefault(key, []).extend(words)
    return Row(cells, line.box.y0, line.box.y1)


def _placed(
    piece: Piece, columns: Sequence[Span], tol: Tolerances
) -> list[tuple[Key, list[TextItem]]]:
    key = place(piece.box, columns)
    if key[0] == key[1]:
        return [(key, list(piece.words))]
    parts: dict[int, list[TextItem]] = {}
    for word in piece.words:
        first, last = place(word, columns)
        if first != last:
            return [(key, list(piece.words))]
        parts.setdefault(first, []).append(word)
    if len(parts) < 2:
        return [(key, list(piece.words))]
    height = piece.box.y1 - piece.box.y0
    if all(figures(" ".join(w.text for w in ws)) for ws in parts.values()) or (
        len(parts) == key[1] - key[0] + 1
        and all(_aligned(ws, columns[c], 0.35 * height) for c, ws in parts.items())
    ):
        return [((c, c), ws) for c, ws in sorted(parts.items())]
    return [(key, list(piece.words))]


def _aligned(words: Sequence[TextItem], column: Span, slack: float) -> bool:
    x0, x1 = words[0].x0, words[-1].x1
    off = (x0 - column[0], x1 - column[1], (x0 + x1 - column[0] - column[1]) / 2)
    return min(map(abs, off)) <= slack


def is_data(row: Row) -> bool:
    """Tell whether a row holds figures beside its first column, at least half of its texts."""
    texts = [" ".join(w.text for w in ws) for (a, _), ws in row.cells.items() if a > 0]
    hits = sum(figures(t) for t in texts)
    return bool(texts) and hits * 2 >= len(texts) and any(re.search(r"\d", t) for t in texts)


def between(rules: Sequence[Segment], upper: Row, lower: Row, lo: float, hi: float) -> bool:
    """Tell whether a rule runs between two rows over most of the stretch from `lo` to `hi`."""
    a, b = (upper.top + upper.bottom) / 2, (lower.top + lower.bottom) / 2
    got = sum(overlap(r.lo, r.hi, lo, hi) for r in rules if a < r.at < b)
    return got >= 0.6 * (hi - lo)


def rows_from(
    lines: Sequence[Line],
    columns: Sequence[Span],
    rules: Sequence[Segment] = (),
    tol: Tolerances = DEFAULT,
) -> tuple[list[Row], int]:
    """Return the rows of a block of lines, and how many of them are heading."""
    raw = [row_of(line, columns, tol) for line in lines]
    head = heading_lines(raw, columns, rules)
    top = merge_heading(raw[:head], columns, rules, tol) if head else []
    body = merge_body(raw[head:], columns, rules, tol)
    return top + body, len(top)


def heading_lines(rows: Sequence[Row], columns: Sequence[Span], rules: Sequence[Segment]) -> int:
    """Return how many leading lines are heading: up to the first full rule or the first figures."""
    lo, hi = columns[0][0], columns[-1][1]
    first_data = next((k for k, row in enumerate(rows) if is_data(row)), None)
    for k in range(1, min(len(rows), 10)):
        if first_data is not None and k > first_data:
            break
        if between(rules, rows[k - 1], rows[k], lo, hi):
            return k
    if first_data is None:
        return 1
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


def merge_body(
    rows: Sequence[Row], columns: Sequence[Span], rules: Sequence[Segment], tol: Tolerances
) -> list[Row]:
    """Return body rows: a line that only goes on with the row above, or below, joins it."""
    lo, hi = columns[0][0], columns[-1][1]
    out: list[Row] = []
    for row in rows:
        last = out[-1] if out else None
        if last is None or between(rules, last, row, lo, hi):
            out.append(row)
            continue
        height = row.bottom - row.top
        near = row.top - last.bottom < tol.wrap_h * height
        if near and (_goes_on(last, row, columns) or _begun_above(last, row, columns)):
            for key, words in row.cells.items():
                _add(last, key, words)
            last.bottom = max(last.bottom, row.bottom)
        else:
            out.append(row)
    return out


def _add(row: Row, key: Key, words: list[TextItem]) -> None:
    for old in row.cells:
        if old[0] <= key[0] and key[1] <= old[1]:
            row.cells[old].extend(words)
            return
    row.cells.setdefault(key, []).extend(words)


def _goes_on(last: Row, row: Row, columns: Sequence[Span]) -> bool:
    """The line holds only tails of cells of the row above."""
    if not row.columns() <= last.columns() or len(row.cells) >= max(2, len(last.columns())):
        return False
    if 0 in row.columns():
        return len(row.cells) == 1 and len(last.columns()) > 1 and _full(last, row, columns)
    return not any(figures(" ".join(w.text for w in ws)) for ws in row.cells.values())


def _begun_above(last: Row, row: Row, columns: Sequence[Span]) -> bool:
    """The row above is only the first line of this row's label."""
    if last.columns() != {0} or 0 not in row.columns() or len(row.cells) < 2:
        return False
    label = min(row.cells[k][0] for k in row.cells if k[0] == 0)
    head = min(last.cells[k][0] for k in last.cells)
    starts_small = label.text[:1].islower() or label.x0 > head.x0 + 3
    return starts_small and _full(last, row, columns)


def _full(last: Row, row: Row, columns: Sequence[Span]) -> bool:
    """The next line's first word would not have fitted on the line above it."""
    upper = [w for k, ws in last.cells.items() if k[0] == 0 for w in ws]
    lower = [w for k, ws in row.cells.items() if k[0] == 0 for w in ws]
    if not upper or not lower:
        return False
    bottom = max(upper, key=lambda w: (w.y0 + w.y1, w))
    mid = (bottom.y0 + bottom.y1) / 2
    end = max(w.x1 for w in upper if w.y0 <= mid <= w.y1)
    word = min(lower)
    room = columns[0][1] - end
    return word.x1 - word.x0 + 0.2 * (word.y1 - word.y0) > room
