"""Tables inside known limits: a detected box, a sparsely ruled grid, rules above and below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from regcomments.tables.belief import believable
from regcomments.tables.columns import Span, overlap, place
from regcomments.tables.draft import Draft, Place
from regcomments.tables.items import Box, TextItem, hull
from regcomments.tables.lattice import Segment
from regcomments.tables.lines import Line, Piece, lines_of, text_height
from regcomments.tables.prose import wordy
from regcomments.tables.stream import (
    columns_of_run,
    draft_from,
    draft_of,
    is_stray,
    rows_from,
    trim_ends,
)
from regcomments.tables.tolerances import DEFAULT, Tolerances


def boxed_table(
    box: Box, items: Sequence[TextItem], rules: Sequence[Segment] = (), tol: Tolerances = DEFAULT
) -> Draft | None:
    """Return the table inside a detected box, with a header that the box clips, or None."""
    inside = [i for i in items if box.holds((i.x0 + i.x1) / 2, (i.y0 + i.y1) / 2, 1.0)]
    if not inside:
        return None
    height = text_height(inside)
    lines = lines_of(inside, (), tol)
    columns = columns_of_run(lines, rules, tol)
    if len(columns) < 2:
        return None
    # A line just above the box, none of whose text leaves the box sideways, is its header.
    room = Box(box.x0 - 1, box.y0 - tol.clip_h * height, box.x1 + 1, box.y0)
    above = [
        i
        for i in items
        if i not in inside
        and room.holds((i.x0 + i.x1) / 2, (i.y0 + i.y1) / 2)
        and i.x0 >= box.x0 - height
        and i.x1 <= box.x1 + height
    ]
    draft = draft_of(lines, columns, rules, tol)
    if not believable(draft, True, False, tol):
        return None
    return _with_header(draft, [p for n in lines_of(above, (), tol) for p in n.pieces], columns)


def _with_header(draft: Draft, pieces: Sequence[Piece], columns: Sequence[Span]) -> Draft:
    """Put pieces from just above into the first row, unless one of them spans columns."""
    spans = [place(p.box, columns) for p in pieces]
    if not pieces or any(a != b for a, b in spans):
        return draft
    top = {p.col: p for p in draft.places if p.row == 0 and p.cols == 1}
    for (col, _), piece in zip(spans, pieces, strict=True):
        old = top.get(col, Place(0, col, 1, 1, ()))
        top[col] = old._replace(words=(*piece.words, *old.words))
    rest = [p for p in draft.places if p.row or p.cols > 1]
    places = sorted([*top.values(), *rest], key=lambda p: (p.row, p.col))
    return replace(draft, box=hull([draft.box, *(p.box for p in pieces)]), places=tuple(places))


def finer(
    draft: Draft,
    items: Sequence[TextItem],
    flat: Sequence[Segment],
    upright: Sequence[Segment],
    tol: Tolerances,
) -> Draft | None:
    """Read a sparsely ruled grid by its text; its lines part columns and rows where drawn.

    `items` are in the order of `sort_items`.
    """
    box = draft.box
    inside = [i for i in items if box.holds((i.x0 + i.x1) / 2, (i.y0 + i.y1) / 2)]
    cuts = [
        s.at
        for s in upright
        if box.x0 < s.at < box.x1 and overlap(s.lo, s.hi, box.y0, box.y1) > 0.5 * (box.y1 - box.y0)
    ]
    rules = [s for s in flat if box.y0 - 2 <= s.at <= box.y1 + 2]
    lines = lines_of(inside, cuts, tol, ordered=True)
    columns = columns_of_run(lines, rules, tol)
    if len(columns) < draft.n_cols:
        return None
    other = draft_of(lines, columns, rules, tol)
    if len(other.filled) <= len(draft.filled):
        return None
    return replace(other, box=box, ruled=True)


def booktabs(
    items: Sequence[TextItem], flat: Sequence[Segment], tol: Tolerances = DEFAULT
) -> list[Draft]:
    """Return tables set between rules of one length: above and below the heading, and at the end.

    The rules vouch for the table, so its cells may hold sentences. `items` are in the order of
    `sort_items`.
    """
    groups: dict[tuple[int, int], list[Segment]] = defaultdict(list)
    for s in flat:
        if s.hi - s.lo > tol.rule_length_pt:
            groups[round(s.lo / 6), round(s.hi / 6)].append(s)
    out: list[Draft] = []
    height = text_height(items)
    for key in sorted(groups):
        rules = sorted(groups[key], key=lambda s: s.at)
        if len(rules) < 3:
            continue
        lo, hi = rules[0].lo - 3, rules[0].hi + 3
        end = rules[-1].at
        top = rules[0].at - 4 * height
        inside = [
            i for i in items if 2 * top < i[1] + i[3] < 2 * end and 2 * lo <= i[0] + i[2] <= 2 * hi
        ]
        lines = lines_of(inside, (), tol, ordered=True)
        if all(len(line.pieces) < 2 for line in lines):
            continue  # nothing that could be a heading
        while len(rules) >= 3:
            found = _below_rule(lines, rules, flat, tol)
            if found is not None:
                out.append(found)
                rules = [s for s in rules if s.at > found.box.y1]
            else:
                rules = rules[1:]
    return out


def _heading_above(lines: Sequence[Line], rule: Segment, tol: Tolerances) -> list[Line]:
    """The lines right above a rule, when they are a row of several texts: no rule is on top."""
    found: list[Line] = []
    edge = rule.at
    for line in reversed([n for n in lines if (n.box.y0 + n.box.y1) / 2 < rule.at]):
        height = line.box.y1 - line.box.y0
        limit = 0.9 if not found else tol.wrap_h
        if (
            edge - line.box.y1 > limit * height
            or any(wordy(p, tol) for p in line.pieces)
            or line.box.x0 < rule.lo - 3
            or line.box.x1 > rule.hi + 3
        ):
            break
        found.insert(0, line)
        edge = line.box.y0
    return found if any(len(line.pieces) > 1 for line in found) and len(found) <= 4 else []


def _below_rule(
    lines: Sequence[Line], rules: Sequence[Segment], flat: Sequence[Segment], tol: Tolerances
) -> Draft | None:
    """The table whose heading stands between the first two rules, down to the last that fits."""
    top, second = rules[0], rules[1]
    start = top.at
    below = [n for n in lines if (n.box.y0 + n.box.y1) / 2 > top.at]
    head = sum(n.box.y1 <= second.at + 2 for n in below)
    over = _heading_above(lines, top, tol)
    if over:
        below, head, start = [*over, *below], len(over), over[0].box.y0
    if not 1 <= head <= 4 or all(len(n.pieces) < 2 for n in below[:head]):
        return None
    # The table ends before the first line that is a note, prose, or far below the last.
    end = len(below)
    for k in range(1, len(below)):
        gap = below[k].box.y0 - below[k - 1].box.y1
        height = below[k].box.y1 - below[k].box.y0
        # Sections named in the middle of a table are as long as prose, but stand off its edge.
        lone = (
            k >= head
            and len(below[k].pieces) == 1
            and below[k].box.x0 < top.lo + 2 * height
            and is_stray(below[k], tol)
        )
        if lone or gap > tol.bridge_gap_h * height:
            end = k
            break
    floor = below[end].box.y0 if end < len(below) else float("inf")
    # Rules also part groups of rows: the last one above that line closes the table.
    bottom = next((r for r in reversed(rules[2:]) if r.at <= floor + 2), None)
    if bottom is None:
        return None
    table = [n for n in below[:end] if (n.box.y0 + n.box.y1) / 2 < bottom.at]
    body = table[head:]
    if len(body) < 2 or sum(len(n.pieces) > 1 for n in body) < 2:
        return None
    columns = columns_of_run(table, flat, tol)
    if len(columns) < 2:
        return None
    first = [p for line in body for p in line.pieces if place(p.box, columns)[0] == 0]
    if sum(wordy(p, tol) for p in first) > 0.3 * len(first):
        return None
    rows, count = rows_from(table, columns, flat, tol)
    rows = trim_ends(rows, count, len(columns), tol)
    if len(rows) < 2 or sum(len(row.cells) > 1 for row in rows) < 0.4 * len(rows):
        return None
    return replace(draft_from(rows, len(columns)), box=Box(top.lo, start, top.hi, bottom.at))
