"""Marks of ink on a picture: connected components and straight rules; NumPy only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

# A straight run at least this long (an inch at 100 dpi) and at most so thick is a rule, a
# table line or a grid: no stroke of running text is that long.
_RULE_LENGTH = 100
_RULE_THICKNESS = 5


@dataclass(frozen=True)
class Boxes:
    """Bounding boxes in pixels (ends exclusive) and the pixel count of each component."""

    x0: Ints
    y0: Ints
    x1: Ints
    y1: Ints
    area: Ints

    def __len__(self) -> int:
        return len(self.x0)

    def pick(self, which: Mask | Ints) -> Boxes:
        """Return the boxes chosen by a mask or by indices."""
        return Boxes(
            self.x0[which], self.y0[which], self.x1[which], self.y1[which], self.area[which]
        )


def _runs(mask: Mask) -> tuple[Ints, Ints, int]:
    """Return (begin, end, row span) of the horizontal runs, as offsets into padded rows."""
    rows, cols = mask.shape
    span = cols + 2
    padded = np.zeros((rows, span), bool)
    padded[:, 1:-1] = mask
    flat = padded.ravel()
    # Each row begins and ends empty, so that beginnings and ends take turns.
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    return edges[::2].copy(), edges[1::2].copy(), span


def _runs_down(mask: Mask, length: int) -> Mask:
    """Return the pixels of `mask` that stand in runs of `length` and more down the picture."""
    # Eight columns a byte. Where the next 1, 2, 4, ... pixels are set, until it is `length`.
    starts, reach = np.packbits(mask, axis=1), 1
    inside = np.zeros_like(starts)
    while reach < length:
        step = min(reach, length - reach)
        starts = starts[:-step] & starts[step:]
        reach += step
        if not starts.any():
            return np.zeros_like(mask)
    inside[: len(starts)] = starts
    reach = 1
    while reach < length:
        step = min(reach, length - reach)
        inside[step:] |= inside[:-step]
        reach += step
    return np.unpackbits(inside, axis=1, count=mask.shape[1]).view(bool)


def _runs_across(mask: Mask, length: int) -> Mask:
    """Return the pixels of `mask` that stand in runs of `length` and more across the picture."""
    inside = np.zeros((mask.shape[0], mask.shape[1] + 2), bool)
    if _may_run_across(mask, length):
        begin, end, _ = _runs(mask)
        chosen = np.flatnonzero(end - begin >= length)
        flat = inside.ravel()
        for a, b in zip(begin[chosen].tolist(), end[chosen].tolist(), strict=True):
            flat[a:b] = True
    return inside[:, 1:-1]


def _may_run_across(mask: Mask, length: int) -> bool:
    """Return whether `mask` may have a run of `length` across; False is certain."""
    whole = (length - 7) // 8  # bytes of eight pixels that lie in a run, wherever it begins
    if whole < 1:
        return True
    full, reach = np.packbits(mask, axis=1) == 255, 1
    while 2 * reach <= whole:
        full = full[:, :-reach] & full[:, reach:]
        reach *= 2
    return bool(full.any())


def without_rules(mask: Mask) -> Mask:
    """Return `mask` without straight thin lines across or down: table rules, grids, underlines."""
    across = _runs_across(mask, _RULE_LENGTH)
    if across.any():
        across &= ~_runs_down(across, _RULE_THICKNESS + 1)
    down = _runs_down(mask, _RULE_LENGTH)
    if down.any():
        down &= ~_runs_across(down, _RULE_THICKNESS + 1)
    return mask & ~(across | down)


def components(mask: Mask) -> tuple[Boxes, Ints, tuple[Ints, Ints, Ints]]:
    """Return the 8-connected components of `mask`.

    Returns their boxes, the component of each horizontal run, and the runs as (row, start, end).
    Runs of neighbouring rows that touch are merged by repeated hooking to the smallest label
    with pointer jumping (Shiloach and Vishkin 1982), which suits whole-array operations.
    """
    rows, cols = mask.shape
    begin, end, span = _runs(mask)
    count = len(begin)
    label = np.arange(count)
    # Touching, diagonally too: the run below begins before this one's end and ends after its begin.
    first = np.searchsorted(end, begin + span, side="left")
    last = np.searchsorted(begin, end + span, side="right")
    touching = np.maximum(last - first, 0)
    upper = np.repeat(np.arange(count), touching)
    offset = np.arange(len(upper)) - np.repeat(np.cumsum(touching) - touching, touching)
    lower = np.repeat(first, touching) + offset
    while len(upper):
        a, b = label[upper], label[lower]
        differ = a != b
        if not differ.any():
            break
        upper, lower, a, b = upper[differ], lower[differ], a[differ], b[differ]
        np.minimum.at(label, np.maximum(a, b), np.minimum(a, b))
        while True:
            jumped = label[label]
            if np.array_equal(jumped, label):
                break
            label = jumped
    _, run_of = np.unique(label, return_inverse=True)
    total = int(run_of.max()) + 1 if count else 0
    row, start = np.divmod(begin, span)
    start -= 1
    stop = start + (end - begin)
    x0 = np.full(total, cols, np.int64)
    y0 = np.full(total, rows, np.int64)
    x1 = np.zeros(total, np.int64)
    y1 = np.zeros(total, np.int64)
    np.minimum.at(x0, run_of, start)
    np.minimum.at(y0, run_of, row)
    np.maximum.at(x1, run_of, stop)
    np.maximum.at(y1, run_of, row + 1)
    area = np.bincount(run_of, weights=stop - start, minlength=total).astype(np.int64)
    return Boxes(x0, y0, x1, y1, area), run_of, (row, start, stop)
