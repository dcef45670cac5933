"""Unruled tables: runs of lines whose pieces stand in columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from regcomments.tables.belief import believable
from regcomments.tables.columns import Span, columns_of, place
from regcomments.tables.draft import Draft, Place
from regcomments.tables.heading import heading_lines, rows_from
from regcomments.tables.items import TextItem, hull
from regcomments.tables.lattice import Segment
from regcomments.tables.lines import Line
from regcomments.tables.prose import prose_pieces, wordy
from regcomments.tables.rows import Key, Row, figure_columns, full_rule, is_data, row_of
from regcomments.tables.runs import runs_of, with_ends
from regcomments.tables.tolerances import DEFAULT, Tolerances

CAPTION = re.compile(
    r"(table|exhibit|figure|fig\.?|chart|schedule|appendix|annex)\s+[\dA-Z]", re.IGNORECASE
)
NOTE = re.compile(
    r"(notes?|sources?|legend|key|abbreviations?|exhibit reads)\b\W"
    r"|[*†‡§¶]|\d{1,2}\)?\s+[A-Z][a-z]+ ",
    re.IGNORECASE,
)
BULLET = re.compile(r"[•●○▪■□◦‣·*o\-–—\ue000-\uf8ff]|[(]?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]")


def columns_of_run(
    lines: Sequence[Line], rules: Sequence[Segment], tol: Tolerances = DEFAULT
) -> list[Span]:
    """Return the columns of a run, drawn from its body when it has enough of one.

    Headings are wider than what they head and would close the white between columns.
    """
    columns = columns_of(lines, tol)
    if len(columns) < 2:
        return columns
    rows = [row_of(line, columns, rules, tol) for line in lines]
    head = heading_lines(rows, columns, rules)
    body = [line for line in lines[head:] if len(line.pieces) > 1]
    if len(body) >= 3:
        finer = columns_of(body, tol)
        if len(finer) >= len(columns):
            columns = finer
    return join_halves(columns, lines, tol)


def join_halves(
    columns: Sequence[Span], lines: Sequence[Line], tol: Tolerances = DEFAULT
) -> list[Span]:
    """Join a first column whose texts never share a line with anything to the second.

    Section names at the left edge and right-aligned labels make such a pair of columns.
    """
    if len(columns) < 3:
        return list(columns)
    for line in lines:
        spans = [place(p.box, columns) for p in line.pieces]
        if any(a == 0 and b == 0 for a, b in spans) and len(spans) > 1:
            return list(columns)
    return [(columns[0][0], columns[1][1]), *columns[2:]]


def draft_of(
    lines: Sequence[Line],
    columns: Sequence[Span],
    rules: Sequence[Segment] = (),
    tol: Tolerances = DEFAULT,
) -> Draft:
    """Return the table that lines make on given columns."""
    rows, _ = rows_from(lines, columns, rules, tol)
    return draft_from(rows, len(columns))


def draft_from(rows: Sequence[Row], n_cols: int) -> Draft:
    """Return the draft of finished rows, no two places over each other."""
    places = [
        Place(r, a, row.spans.get((a, b), 1), b - a + 1, tuple(words))
        for r, row in enumerate(rows)
        for (a, b), words in apart(row.cells)
    ]
    for k, p in enumerate(places):
        if p.rows > 1:
            below = [
                q.row
                for q in places[k + 1 :]
                if p.row < q.row < p.row + p.rows
                and q.col < p.col + p.cols
                and p.col < q.col + q.cols
            ]
            places[k] = p._replace(rows=min([len(rows), p.row + p.rows, *below]) - p.row)
    words = [w for p in places for w in p.words]
    return Draft(hull(words), len(rows), n_cols, tuple(places))


def apart(cells: Mapping[Key, list[TextItem]]) -> list[tuple[Key, list[TextItem]]]:
    """Return the texts of a row by columns, from left to right, no column in two of them.

    Where two share columns, one that begins further left ends before the other, one that begins
    at the same column begins behind it; those above each other are one.
    """
    found = sorted(cells.items())
    k = 1
    while k < len(found):
        ((a0, a1), left), ((b0, b1), right) = found[k - 1 : k + 1]
        if b0 > a1:
            k += 1
            continue
        if a0 < b0:
            found[k - 1] = (a0, b0 - 1), left
        elif a1 < b1 and max(w.x1 for w in left) <= min(w.x0 for w in right):
            found[k] = (a1 + 1, b1), right
        else:
            found[k - 1 : k + 1] = [((a0, max(a1, b1)), left + right)]
        found.sort()
        k = 1
    return found


def trim_ends(rows: list[Row], head: int, n_cols: int, tol: Tolerances = DEFAULT) -> list[Row]:
    """Drop rows at either end that are titles or notes: one text, or text across columns."""

    def stray(row: Row) -> bool:
        texts = [" ".join(w.text for w in ws) for ws in row.cells.values()]
        if len(row.columns()) == 1:
            return True
        wide = any(b - a >= max(1, n_cols // 2) for a, b in row.cells)
        return wide and any(len(t.split()) > tol.prose_words for t in texts)

    while rows and stray(rows[-1]):
        rows = rows[:-1]
    while len(rows) > 1 and stray(rows[0]) and 0 in rows[0].columns():
        rows = rows[1:]
    return rows


def stream_tables(
    lines: Sequence[Line], rules: Sequence[Segment] = (), tol: Tolerances = DEFAULT
) -> list[Draft]:
    """Return the unruled tables among the lines; `rules` are the horizontal ones."""
    # A run has two lines of several pieces; without them the prose need not be found either.
    if sum([len(line.pieces) > 1 for line in lines]) < 2:
        return []
    prose = prose_pieces(lines, tol)
    kept = []
    for line in lines:
        pieces = tuple(p for p in line.pieces if p not in prose)
        if pieces:
            kept.append(Line(hull(p.box for p in pieces), pieces))
    out = []
    for run in bridged(runs_of(kept, tol), kept, rules, tol):
        draft = table_of_run(with_ends(run, kept, tol), rules, tol)
        if draft is not None:
            out.append(draft)
    return out


def bridged(
    runs: list[list[Line]],
    lines: Sequence[Line],
    rules: Sequence[Segment],
    tol: Tolerances = DEFAULT,
) -> list[list[Line]]:
    """Join runs that a wide gap parts when the lower one goes on with the columns of the upper.

    The lower run must begin with figures, not with a heading of its own.
    """
    at = {id(line): k for k, line in enumerate(lines)}
    out: list[list[Line]] = []
    for run in runs:
        if out:
            upper = out[-1]
            a, b = at[id(upper[-1])], at[id(run[0])]
            gap = run[0].box.y0 - lines[b - 1].box.y1
            between = lines[a + 1 : b]
            height = run[0].box.y1 - run[0].box.y0
            if (
                len(between) <= 2
                and gap <= tol.bridge_gap_h * height
                and not any(wordy(p, tol) for line in between for p in line.pieces)
                and _same_columns(upper, run, rules, tol)
            ):
                out[-1] = [*upper, *between, *run]
                continue
        out.append(run)
    return out


def _same_columns(
    upper: Sequence[Line], lower: Sequence[Line], rules: Sequence[Segment], tol: Tolerances
) -> bool:
    mine, theirs = columns_of_run(upper, rules, tol), columns_of_run(lower, rules, tol)
    both = columns_of_run([*upper, *lower], rules, tol)
    if len(both) < 2 or len(both) < max(len(mine), len(theirs)):
        return False
    rows = [row_of(line, both, rules, tol) for line in [*upper, *lower]]
    return is_data(rows[len(upper)], figure_columns(rows))


def is_stray(line: Line, tol: Tolerances = DEFAULT, mark: re.Pattern[str] | None = None) -> bool:
    """Tell whether a line is a caption or a note (or of the kind that `mark` matches), or prose."""
    start = line.pieces[0].text
    marked = mark.match(start) if mark else CAPTION.match(start) or NOTE.match(start)
    return bool(marked) or any(wordy(p, tol) for p in line.pieces)


def without_notes(run: Sequence[Line], tol: Tolerances = DEFAULT) -> Sequence[Line]:
    """Return a run without a caption at its top and without notes at its bottom."""

    a, b = 0, len(run)
    while b > a and is_stray(run[b - 1], tol, NOTE):
        b -= 1
    while b > a and is_stray(run[a], tol, CAPTION):
        a += 1
    return run[a:b]


def _level(run: Sequence[Line], tol: Tolerances) -> bool:
    """Half of the lines hold pieces on one baseline; text side by side seldom does."""
    several = [line.pieces for line in run if len(line.pieces) > 1]
    hits = 0
    for pieces in several:
        mids = [(p.box.y0 + p.box.y1) / 2 for p in pieces]
        height = min(p.box.y1 - p.box.y0 for p in pieces)
        hits += max(mids) - min(mids) <= 2 * tol.level_h * height
    return 2 * hits >= len(several)


def _bullets(run: Sequence[Line], columns: Sequence[Span]) -> bool:
    """The first column holds nothing but bullets: a list, not a table."""
    if len(columns) > 3:
        return False
    first = [p.text for line in run for p in line.pieces if place(p.box, columns)[0] == 0]
    return bool(first) and all(BULLET.fullmatch(text) for text in first)


def table_of_run(
    run: Sequence[Line], rules: Sequence[Segment], tol: Tolerances = DEFAULT
) -> Draft | None:
    """Return the table that a run of lines makes, or None when it is not believable as one."""
    run = without_notes(run, tol)
    columns = columns_of_run(run, rules, tol)
    if len(columns) < 2:
        return None
    if _bullets(run, columns):
        return None
    rows, head = rows_from(run, columns, rules, tol)
    rows = trim_ends(rows, head, len(columns), tol)
    if len(rows) < 2:
        return None
    draft = draft_from(rows, len(columns))
    vouched = head == 1 and full_rule(rules, rows[0], rows[1], columns)
    # Text side by side is seldom on one baseline. Cells centred in their rows are not either, but
    # their lines join into rows, and there are figures.
    joined = len(rows) <= 0.7 * len(run) and bool(figure_columns(rows))
    strict = not joined and not _level(run, tol)
    return draft if believable(draft, vouched, strict, tol) else None
