"""Unruled tables: runs of lines whose pieces stand in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from regcomments.tables.columns import Span, columns_of, place
from regcomments.tables.draft import Draft, Place
from regcomments.tables.items import Box, TextItem, hull
from regcomments.tables.lines import Line, Piece, lines_of, text_height
from regcomments.tables.tolerances import DEFAULT, Tolerances

FIGURE = re.compile(
    r"[-+−–—(<>≤≥~]*[$€£¥#]?\s*[-+−(]?\d[\d.,\s/:–-]*[%)*†‡a-z]{0,3}|[-–—.*†‡]+|n\.?/?a\.?|N/?A"
)
LEADER = re.compile(r"\.{4,}|(?:\. ){4,}|…{2,}|_{5,}")


def runs_of(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> list[list[Line]]:
    """Return runs of lines that may be tables: each begins and ends with a line of two pieces.

    A line of one piece stays in a run when a line of several follows close below.
    """
    out: list[list[Line]] = []
    run: list[Line] = []
    pending: list[Line] = []

    def close() -> None:
        nonlocal run, pending
        if sum(len(line.pieces) > 1 for line in run) >= 2:
            out.append(run)
        run, pending = [], []

    for line in lines:
        height = text_height([w for p in line.pieces for w in p.words])
        last = (pending or run)[-1:]
        if last and line.box.y0 - last[0].box.y1 > tol.row_gap_h * height:
            close()
        if len(line.pieces) > 1 and not _prose(line, tol):
            run += [*pending, line]
            pending = []
        elif run:
            pending.append(line)
            if len(pending) > 2 or _prose(line, tol):
                close()
    close()
    return out


def _prose(line: Line, tol: Tolerances) -> bool:
    """Every piece of the line reads as a sentence."""
    return all(len(p.text.split()) > tol.prose_words for p in line.pieces)


def draft_of(lines: Sequence[Line], columns: Sequence[Span]) -> Draft:
    """Return one row a line, wrapped lines merged into the row above."""
    rows: list[dict[tuple[int, int], list[TextItem]]] = []
    for line in lines:
        row: dict[tuple[int, int], list[TextItem]] = {}
        for piece in line.pieces:
            row.setdefault(place(piece.box, columns), []).extend(piece.words)
        if len(row) == 1 and rows:
            ((key, words),) = row.items()
            near = words[0].y0 - max(w.y1 for v in rows[-1].values() for w in v)
            height = words[0].y1 - words[0].y0
            if key in rows[-1] and near < 0.5 * height and (key[0] > 0 or len(rows[-1]) > 1):
                rows[-1][key].extend(words)
                continue
        rows.append(row)
    places = [
        Place(r, a, 1, b - a + 1, tuple(words))
        for r, row in enumerate(rows)
        for (a, b), words in sorted(row.items())
    ]
    return Draft(hull(line.box for line in lines), len(rows), len(columns), tuple(places))


def believable(draft: Draft, tol: Tolerances = DEFAULT) -> bool:
    """Tell whether an unruled draft is a table and not prose, a contents page or an address."""
    if draft.n_rows < 2 or draft.n_cols < 2:
        return False
    texts = [(p, " ".join(w.text for w in p.words)) for p in draft.filled]
    leaders = sum(bool(LEADER.search(t)) for _, t in texts)
    if leaders >= 0.3 * draft.n_rows:
        return False
    body = [t for p, t in texts if p.col > 0]
    if not body:
        return False
    figures = sum(bool(FIGURE.fullmatch(t)) for t in body)
    prose = sum(len(t.split()) > tol.prose_words for t in body)
    if prose > 0.3 * len(body):
        return False
    if figures >= tol.figure_share * len(body):
        return True
    return (
        draft.n_rows >= 3 and draft.n_cols >= 3 and len(texts) >= 0.6 * draft.n_rows * draft.n_cols
    )


def stream_tables(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> list[Draft]:
    """Return the unruled tables among the lines."""
    out = []
    for run in runs_of(lines, tol):
        columns = columns_of(run, tol)
        if len(columns) < 2:
            continue
        draft = draft_of(run, columns)
        if believable(draft, tol):
            out.append(draft)
    return out


def boxed_table(box: Box, items: Sequence[TextItem], tol: Tolerances = DEFAULT) -> Draft | None:
    """Return the table inside a detected box, with a header that the box clips, or None."""
    inside = [i for i in items if box.holds((i.x0 + i.x1) / 2, (i.y0 + i.y1) / 2, 1.0)]
    if not inside:
        return None
    height = text_height(inside)
    lines = lines_of(inside, (), tol)
    columns = columns_of(lines, tol)
    if len(columns) < 2:
        return None
    # A line just above the box, none of whose text leaves the box sideways, is its header.
    room = Box(box.x0 - 1, box.y0 - tol.clip_h * height, box.x1 + 1, box.y0)
    above = [
        i for i in items
        if i not in inside and room.holds((i.x0 + i.x1) / 2, (i.y0 + i.y1) / 2)
        and i.x0 >= box.x0 - height and i.x1 <= box.x1 + height
    ]  # fmt: skip
    draft = draft_of(lines, columns)
    if draft.n_rows < 2:
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
        top[col] = replace(old, words=(*piece.words, *old.words))
    rest = [p for p in draft.places if p.row or p.cols > 1]
    places = sorted([*top.values(), *rest], key=lambda p: (p.row, p.col))
    return replace(draft, box=hull([draft.box, *(p.box for p in pieces)]), places=tuple(places))
