"""Runs of lines that may be unruled tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from regcomments.tables.lines import Line, text_height
from regcomments.tables.prose import wordy
from regcomments.tables.tolerances import DEFAULT, Tolerances


def runs_of(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> list[list[Line]]:
    """Return runs of lines that may be tables: each begins and ends with a line of two pieces.

    Lines of one piece stay in a run when a line of several follows close below.
    """
    out: list[list[Line]] = []
    run: list[Line] = []
    pending: list[Line] = []
    gaps: list[float] = []

    def close() -> None:
        nonlocal run, pending
        if sum(len(line.pieces) > 1 for line in run) >= 2:
            out.append(run)
        run, pending = [], []
        gaps.clear()

    for line in lines:
        height = text_height([w for p in line.pieces for w in p.words])
        last = (pending or run)[-1:]
        if last:
            gap = line.box.y0 - last[0].box.y1
            if gap > _gap_limit(gaps, height, tol):
                close()
            else:
                gaps.append(gap)
        if len(line.pieces) > 1:
            run += [*pending, line]
            pending = []
        elif run:
            pending.append(line)
            if len(pending) > tol.max_singles or wordy(line.pieces[0], tol):
                close()
    close()
    return out


def _gap_limit(gaps: Sequence[float], height: float, tol: Tolerances) -> float:
    """The white that ends a run: well above what parted its lines so far, in points."""
    most = tol.row_gap_h * height
    if len(gaps) < 3:
        return most
    return min(most, max(0.9 * height, 3 * median(gaps)))


def with_ends(run: Sequence[Line], lines: Sequence[Line], tol: Tolerances = DEFAULT) -> list[Line]:
    """Return a run with the lines of one piece close above and below that belong to its cells.

    "Descriptio" above "n" is such a line: it stands over one heading, not at the left edge where
    titles stand. Below, the tail of a wrapped cell is one; what proves to be none is trimmed.
    """
    start = next(k for k, line in enumerate(lines) if line is run[0])
    end = next(k for k, line in enumerate(lines) if line is run[-1])
    out = list(run)
    for line in reversed(lines[max(0, start - tol.tail_lines) : start]):
        if not _one_below_other(line, out[0], tol) or not _over_one(line, out):
            break
        out.insert(0, line)
    for line in lines[end + 1 : end + 1 + tol.tail_lines]:
        if not _one_below_other(out[-1], line, tol) or len(line.pieces) != 1:
            break
        out.append(line)
    return out


def _one_below_other(upper: Line, lower: Line, tol: Tolerances) -> bool:
    """The lines touch as the lines of one cell do, and neither is running text."""
    height = min(upper.box.y1 - upper.box.y0, lower.box.y1 - lower.box.y0)
    gap = lower.box.y0 - upper.box.y1
    prose = any(wordy(p, tol) for line in (upper, lower) for p in line.pieces)
    return -0.75 * height < gap < tol.wrap_h * height and not prose


def _over_one(line: Line, run: Sequence[Line]) -> bool:
    """A line of one piece stands over one piece of the run's first lines, not over the leftmost."""
    if len(line.pieces) != 1:
        return False
    box = line.pieces[0].box
    for lower in run[:3]:
        # In a line of one piece that piece is the leftmost only if it is so in the run.
        left = min(n.box.x0 for n in run[:3])
        under = [p for p in lower.pieces if p.box.x0 < box.x1 and box.x0 < p.box.x1]
        if under:
            return len(under) == 1 and under[0].box.x0 > left + 1
    return False
