"""Lines to rows: which lines belong to one row of a table, and what the heading is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from regcomments.tables.columns import Span, overlap, place
from regcomments.tables.items import Box, TextItem
from regcomments.tables.lattice import Segment
from regcomments.tables.lines import Line, Piece
from regcomments.tables.tolerances import DEFAULT, Tolerances

FIGURE = re.compile(
    r"[-+−–—(<>≤≥~±]*\s*[$€£¥#]?\s*[-+−–(<]?[\d.,]*\d[\d.,\s/:–()%-]*[%)*†‡§¶]*"
    r"(?:(?<![\s(])[a-zA-Z]{1,2})?[)*†‡]*"
    r"|[-–—.*†‡…]+|[nN]\.?/?[aA]\.?"
)
# Characters. The longest in ICDAR 2013 has 31; the pattern takes the cube of the length at worst.
_FIGURE_LENGTH = 80
YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:\s?[-–/]\s?\d{2,4})?[*†‡a-z]?")

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
    text = text.strip()
    return len(text) <= _FIGURE_LENGTH and bool(FIGURE.fullmatch(text))


def row_of(
    line: Line,
    columns: Sequence[Span],
    rules: Sequence[Segment] = (),
    tol: Tolerances = DEFAULT,
) -> Row:
    """Return a line's pieces by the columns they lie in; pieces over several are cut if due."""
    cells: dict[Key, list[TextItem]] = {}
    for piece in line.pieces:
        for key, words in _placed(piece, columns, rules, tol):
            cells.setdefault(key, []).extend(words)
    return Row(cells, line.box.y0, line.box.y1)


def _placed(
    piece: Piece, columns: Sequence[Span], rules: Sequence[Segment], tol: Tolerances
) -> list[tuple[Key, list[TextItem]]]:
    key = place(piece.box, columns)
    whole = [(key, list(piece.words))]
    if key[0] == key[1]:
        return whole
    parts: dict[int, list[TextItem]] = {}
    for word in piece.words:
        first, last = place(word, columns)
        if first != last:
            return whole
        parts.setdefault(first, []).append(word)
    if len(parts) < 2 or underlined(piece.box, rules):
        return whole
    cut = [((c, c), ws) for c, ws in sorted(parts.items())]
    if all(figures(" ".join(w.text for w in ws)) for ws in parts.values()):
        return cut
    height = piece.box.y1 - piece.box.y0
    if (
        len(parts) == key[1] - key[0] + 1
        and all(_aligned(ws, columns[c], tol.align_h * height) for c, ws in parts.items())
        and _parted([ws for _, ws in cut], height)
    ):
        return cut
    return whole


def underlined(box: Box, rules: Sequence[Segment]) -> bool:
    """Tell whether a short rule runs right below a text, as below a merged heading."""
    height, width = box.y1 - box.y0, box.x1 - box.x0
    return any(
        box.y1 - 0.35 * height <= r.at <= box.y1 + 0.8 * height
        and r.lo <= box.x0 + height
        and box.x1 - height <= r.hi
        and r.hi - r.lo < 4 * width + 4 * height
        for r in rules
    )


def _parted(parts: Sequence[Sequence[TextItem]], height: float) -> bool:
    """The gaps between the parts are wider than the word spaces inside them."""
    inner = [b.x0 - a.x1 for ws in parts for a, b in pairwise(ws)]
    outer = [b[0].x0 - a[-1].x1 for a, b in pairwise(parts)]
    return min(outer) > max([*(1.25 * g for g in inner), 0.3 * height])


def _aligned(words: Sequence[TextItem], column: Span, slack: float) -> bool:
    x0, x1 = words[0].x0, words[-1].x1
    off = (x0 - column[0], x1 - column[1], (x0 + x1 - column[0] - column[1]) / 2)
    return min(map(abs, off)) <= slack


def begins_anew(row: Row) -> bool:
    """Tell whether a row has a label with a capital and something beside it."""
    label = next((ws for (a, _), ws in row.cells.items() if a == 0), None)
    return label is not None and len(row.cells) > 1 and min(label).text[:1].isupper()


def figure_columns(rows: Sequence[Row], lenient: bool = False) -> set[int]:
    """Return the columns beside the first that hold figures for the most part.

    `lenient` takes a third for most: wrapped headings and labels may outnumber the figures.
    """
    hits: Counter[int] = Counter()
    seen: Counter[int] = Counter()
    for row in rows:
        for (a, b), words in row.cells.items():
            if a == b and a > 0:
                seen[a] += 1
                hits[a] += figures(" ".join(w.text for w in words))
    return {c for c in seen if hits[c] >= (0.33 if lenient else 0.5) * seen[c]}


def is_data(row: Row, columns: set[int]) -> bool:
    """Tell whether a row holds figures where `columns` of figures are, in half of them or more.

    Years alone are a heading.
    """
    texts = [" ".join(w.text for w in ws) for (a, _), ws in row.cells.items() if a in columns]
    hits = [t for t in texts if figures(t)]
    return (
        len(hits) * 2 >= len(texts)
        and any(re.search(r"\d", t) for t in hits)
        and not all(YEAR.fullmatch(t) for t in hits)
    )


def between(
    rules: Sequence[Segment], upper: Row, lower: Row, lo: float, hi: float, share: float = 0.9
) -> bool:
    """Tell whether rules run between two rows over a share of the stretch from `lo` to `hi`."""
    a, b = (upper.top + upper.bottom) / 2, (lower.top + lower.bottom) / 2
    got = sum(overlap(r.lo, r.hi, lo, hi) for r in rules if a < r.at < b)
    return got >= share * (hi - lo)


def full_rule(rules: Sequence[Segment], upper: Row, lower: Row, columns: Sequence[Span]) -> bool:
    """Tell whether a rule runs between two rows through all columns, the first among them.

    The short rules below merged headings may come to nine tenths together, but leave that out.
    """
    return between(rules, upper, lower, columns[0][0], columns[-1][1]) and between(
        rules, upper, lower, *columns[0], share=0.5
    )


def merge_body(
    rows: Sequence[Row], columns: Sequence[Span], rules: Sequence[Segment], tol: Tolerances
) -> list[Row]:
    """Return body rows: a line that only goes on with the row above, or below, joins it."""
    # In a table of entries in small letters these say nothing about wrapping.
    starts = [min(ws).text[:1] for row in rows for ws in row.cells.values()]
    capitals = sum(c.islower() for c in starts) < 0.3 * len(starts)
    out: list[Row] = []
    for row in rows:
        last = out[-1] if out else None
        if last is None or full_rule(rules, last, row, columns):
            out.append(row)
            continue
        height = row.bottom - row.top
        near = row.top - last.bottom < tol.wrap_h * height
        if near and (
            _goes_on(last, row, columns)
            or _begun_above(last, row, columns)
            or (capitals and _in_mid_sentence(last, row))
        ):
            for key, words in row.cells.items():
                add_cell(last, key, words)
            last.bottom = max(last.bottom, row.bottom)
        else:
            out.append(row)
    return out


def add_cell(row: Row, key: Key, words: list[TextItem]) -> None:
    """Put words into the row's cell that holds these columns, or into a new one."""
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
        return (
            len(row.cells) == 1
            and len(last.columns()) > 1
            and _indent(row) >= _indent(last) - 1
            and _full(last, row, columns)
        )
    return not any(figures(" ".join(w.text for w in ws)) for ws in row.cells.values())


def _in_mid_sentence(last: Row, row: Row) -> bool:
    """Every cell of the line begins in small letters, below one that begins otherwise."""
    for key, words in row.cells.items():
        above = next((ws for old, ws in last.cells.items() if old == key), None)
        if above is None or not min(words).text[:1].islower() or figures(words[0].text):
            return False
        first = min(above, key=lambda w: (round(w.y0 + w.y1), w))
        if first.text[:1].islower():
            return False
    return 0 not in row.columns() or _indent(row) >= _indent(last) - 1


def _indent(row: Row) -> float:
    """Where the first column's text begins, in points."""
    return min(w.x0 for k, ws in row.cells.items() if k[0] == 0 for w in ws)


def _begun_above(last: Row, row: Row, columns: Sequence[Span]) -> bool:
    """The row above is only the first line of this row's label."""
    if last.columns() != {0} or 0 not in row.columns() or len(row.cells) < 2:
        return False
    label = min(row.cells[k][0] for k in row.cells if k[0] == 0)
    starts_small = label.text[:1].islower() or label.x0 > _indent(last) + 3
    return starts_small and _full(last, row, columns)


def _full(last: Row, row: Row, columns: Sequence[Span]) -> bool:
    """The next line's first word would not have fitted on the line above it."""
    upper = [w for k, ws in last.cells.items() if k[0] == 0 for w in ws]
    lower = [w for k, ws in row.cells.items() if k[0] == 0 for w in ws]
    if not upper or not lower:
        return False
    # A short word wraps from nothing: it is a row name of its own.
    if sum(len(w.text) + 1 for w in upper) < 12:
        return False
    bottom = max(w.y0 + w.y1 for w in upper) / 2
    end = max(w.x1 for w in upper if (w.y0 + w.y1) / 2 > bottom - 0.3 * (w.y1 - w.y0))
    word = min(lower)
    room = columns[0][1] - end
    return word.x1 - word.x0 + 0.2 * (word.y1 - word.y0) > room
