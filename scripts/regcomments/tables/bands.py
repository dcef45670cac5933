"""Rows parted by rules or by white: every line between two partings belongs to one row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from regcomments.tables.columns import Span
from regcomments.tables.lattice import Segment
from regcomments.tables.rows import Row, add_cell, begins_anew, figure_columns, figures, full_rule
from regcomments.tables.tolerances import DEFAULT, Tolerances


def banded(
    lines: Sequence[Row],
    head: int,
    columns: Sequence[Span],
    rules: Sequence[Segment],
    tol: Tolerances = DEFAULT,
) -> list[Row] | None:
    """Return one row a band of the lines below `head` lines of heading, None if there are none.

    Bands must agree with their content: no column has two figures in one band, and lines of a
    cell end where the next word would not have fitted.
    """
    rows = lines[head:]
    if len(rows) < 2:
        return None
    cuts = [full_rule(rules, a, b, columns) for a, b in pairwise(rows)]
    if sum(cuts) < max(2, 0.2 * len(cuts)):
        # The heading has a say: a single row below it may fill several lines.
        whole = white_cuts(lines, tol)
        cuts = whole[head:]
        if not any(cuts) and not (head and whole[head - 1]):
            return None
    if all(cuts):
        return None
    bands: list[list[Row]] = [[rows[0]]]
    for row, cut in zip(rows[1:], cuts, strict=True):
        if cut:
            bands.append([row])
        else:
            bands[-1].append(row)
    if not _agree(bands, rows, columns):
        return None
    return [_merged(band) for band in bands]


def white_cuts(rows: Sequence[Row], tol: Tolerances = DEFAULT) -> list[bool]:
    """Tell for each line but the first whether wide white parts it from the one above.

    All are parted when gaps do not fall into narrow and wide ones.
    """
    heights = sorted(w.y1 - w.y0 for row in rows for ws in row.cells.values() for w in ws)
    height = heights[len(heights) // 2]
    gaps, bottom = [], rows[0].bottom
    for row in rows[1:]:
        # Lines of centred cells overlap more or less: that is no difference.
        gaps.append(max((row.top - bottom) / height, -0.1))
        bottom = max(bottom, row.bottom)
    ordered = sorted(gaps)
    jump, at = max(((b - a, a) for a, b in pairwise(ordered)), default=(0.0, 0.0))
    if jump < tol.band_jump_h or at > tol.wrap_h:
        return [True] * len(gaps)
    return [g > at for g in gaps]


def _agree(bands: Sequence[Sequence[Row]], rows: Sequence[Row], columns: Sequence[Span]) -> bool:
    figured = figure_columns(rows, lenient=True) | {0}
    doubled = fits = breaks = 0
    for band in bands:
        seen: set[int] = set()
        last: dict[int, Row] = {}
        # Two lines with a text in every column are two rows, and so are two with a label that
        # begins anew and something beside it.
        twice = (
            sum(len(row.columns()) == len(columns) for row in band) > 1
            or sum(begins_anew(row) for row in band) > 1
        )
        for row in band:
            for (a, b), words in row.cells.items():
                if a != b:
                    continue
                if figures(" ".join(w.text for w in words)) and a in figured:
                    twice |= a in seen
                    seen.add(a)
                elif a in last:
                    upper = next(ws for k, ws in last[a].cells.items() if k == (a, a))
                    word = min(words)
                    room = columns[a][1] - max(w.x1 for w in upper)
                    breaks += 1
                    fits += word.x1 - word.x0 + 0.2 * (word.y1 - word.y0) < room - 1
                last[a] = row
        doubled += twice
    return doubled <= 0.1 * len(bands) and fits <= 0.3 * breaks


def _merged(band: Sequence[Row]) -> Row:
    out = Row({key: list(words) for key, words in band[0].cells.items()}, band[0].top, 0.0)
    for row in band[1:]:
        for key, words in row.cells.items():
            add_cell(out, key, words)
    out.bottom = max(row.bottom for row in band)
    return out
