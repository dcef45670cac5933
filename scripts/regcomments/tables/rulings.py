"""The drawn lines of a page: from MuPDF's paths, or from the boxes it collects beside the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pymupdf

from regcomments.tables.items import Box, Ruling
from regcomments.tables.tolerances import DEFAULT, Tolerances

# Lightness from which a filled box is as good as paper.
PAPER = 0.97
# Points. A stroke that is no upright rectangle and larger than this may have lines of a table in
# it, of which MuPDF tells no more than the box around all; the corner of a frame is smaller.
_SMALL = 12.0
# Points; a grid in which boxes are sought. Larger ones than so many squares go without it.
_SQUARE, _SQUARES = 40.0, 4
_MOST_LARGE = 300
# Lines and boxes of all paths, for each path allowed: one path may hold any number of them.
_PIECES = 2
# Points; the pens of tables are 0.25 to 1.5 wide.
_THIN = 2.5


class Vector(NamedTuple):
    """A piece of drawing on a page: its box in points, half the pen's width around a stroke.

    `upright` tells that it fills its box: a rectangle, or a level or plumb line. `darkest` and
    `lightest` are channels of its colour, from 0 (black) to 1; `alpha` is its opacity, 0 to 1.
    """

    box: Box
    stroked: bool
    upright: bool
    darkest: float
    lightest: float
    alpha: float


def rulings_of(page: pymupdf.Page, tol: Tolerances = DEFAULT) -> list[Ruling]:
    """Return the drawn lines and the edges of coloured boxes; none of a page of heavy drawing.

    Raises what a damaged path raises. Paths are taken one by one as MuPDF draws them: a list of
    those of a map would fill the memory, and asking for their count first costs more.
    """
    out: list[Ruling] = []
    fills: list[tuple[float, float, float, float]] = []
    faults: list[Exception] = []
    count = 0

    def take(path: dict[str, Any]) -> None:
        nonlocal count
        count += 1
        if count > tol.max_paths or len(out) + len(fills) > _PIECES * tol.max_paths or faults:
            return
        try:
            _take_path(path, tol.rule_thick_pt, out, fills)
        # An exception that leaves a callback ends the process (seen with PyMuPDF 1.28).
        except Exception as fault:
            faults.append(fault)

    page.get_cdrawings(callback=take)
    if faults:
        raise faults[0]
    if count > tol.max_paths or len(out) + len(fills) > _PIECES * tol.max_paths:
        return []
    for box in outermost(fills):
        out.extend(box_edges(box, tol.rule_thick_pt))
    return out


def _take_path(path: dict[str, Any], thick: float, out: list[Ruling], fills: list) -> None:
    """Sort one drawn path into lines and coloured boxes; curves and slopes give neither."""
    x0, y0, x1, y1 = path["rect"]
    if "f" in path["type"]:
        if min(x1 - x0, y1 - y0) <= thick:
            # White ones count: they part the cells of tables on coloured ground.
            out.append(Ruling(x0, y0, x1, y1))
            return
        fill = path.get("fill")
        if fill is not None and min(fill) < PAPER:
            for item in path["items"]:
                if item[0] in ("re", "qu"):
                    fills.append(_box_of(item))
    if "s" not in path["type"] or path.get("stroke_opacity", 1) == 0:
        return
    for item in path["items"]:
        if item[0] == "l":
            (ax, ay), (bx, by) = item[1], item[2]
            if abs(ax - bx) <= 1 or abs(ay - by) <= 1:
                out.append(Ruling(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)))
        elif item[0] in ("re", "qu"):
            out.extend(box_edges(_box_of(item), thick))


def outermost(boxes: list[tuple[float, float, float, float]]) -> list:
    """Return the boxes that lie in no other: Word shades a cell, then each paragraph in it.

    Of boxes larger than the cells of tables only the largest hundreds are asked for.
    """
    kept: list[tuple[float, float, float, float]] = []
    # By the squares of a grid that they touch, so that a heat map is not compared all with all.
    large: list[tuple[float, float, float, float]] = []
    small: dict[tuple[int, int], list[tuple[float, float, float, float]]] = defaultdict(list)
    for box in sorted(set(boxes), key=lambda b: ((b[0] - b[2]) * (b[3] - b[1]), b)):
        x0, y0, x1, y1 = box
        near = (*large, *small.get((int(x0 // _SQUARE), int(y0 // _SQUARE)), ()))
        if any(
            k[0] - 1 <= x0 and k[1] - 1 <= y0 and x1 <= k[2] + 1 and y1 <= k[3] + 1 for k in near
        ):
            continue
        kept.append(box)
        if max(x1 - x0, y1 - y0) > _SQUARES * _SQUARE:
            if len(large) < _MOST_LARGE:
                large.append(box)
            continue
        for i in range(int((x0 - 1) // _SQUARE), int((x1 + 1) // _SQUARE) + 1):
            for j in range(int((y0 - 1) // _SQUARE), int((y1 + 1) // _SQUARE) + 1):
                small[i, j].append(box)
    return kept


def _box_of(item: Any) -> tuple[float, float, float, float]:
    if item[0] == "re":
        return tuple(item[1])
    quad = item[1]
    xs, ys = [p[0] for p in quad], [p[1] for p in quad]
    return min(xs), min(ys), max(xs), max(ys)


def box_edges(box: Sequence[float], thick: float) -> Iterable[Ruling]:
    x0, y0, x1, y1 = box
    if min(x1 - x0, y1 - y0) <= thick:
        return (Ruling(x0, y0, x1, y1),)
    return (
        Ruling(x0, y0, x1, y0),
        Ruling(x0, y1, x1, y1),
        Ruling(x0, y0, x0, y1),
        Ruling(x1, y0, x1, y1),
    )


def rulings_of_vectors(vectors: Sequence[Vector], tol: Tolerances = DEFAULT) -> list[Ruling] | None:
    """Return what rulings_of tells of a page; None when its paths must be looked at.

    So it is where a stroke may hold several lines, and where boxes may be wider than drawn:
    MuPDF adds half the pen's width in the units of the code, which are often tenths of a point.
    Lines as thin as lines should be prove the page free of that; frames alone prove nothing.
    """
    out: list[Ruling] = []
    fills: list[tuple[float, float, float, float]] = []
    frames: list[Box] = []
    if len(vectors) > tol.max_paths:
        return []
    thin = False
    for box, stroked, upright, darkest, _, alpha in vectors:
        x0, y0, x1, y1 = box
        thickness = min(x1 - x0, y1 - y0)
        if not stroked:
            if thickness <= tol.rule_thick_pt:
                # White ones count: they part the cells of tables on coloured ground.
                out.append(Ruling(x0, y0, x1, y1))
            elif upright and darkest < PAPER:
                fills.append((x0, y0, x1, y1))
        elif alpha == 0:
            continue
        elif not upright:
            if max(x1 - x0, y1 - y0) > _SMALL:
                return None
        elif thickness <= _THIN:
            thin = True
            out.append(Ruling(x0, y0, x1, y1))
        elif thickness <= _SMALL:
            return None
        else:
            frames.append(box)
    if frames and not thin:
        return None
    for box in (*outermost(fills), *frames):
        out.extend(box_edges(box, tol.rule_thick_pt))
    return out
