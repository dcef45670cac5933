"""A line of text on a PDF page, and the marks that put it in doubt."""

from __future__ import annotations

from typing import NamedTuple

HIDDEN = 1  # drawn in render mode 3 or fully transparent
WHITE = 2  # near white, or under a shape: visible only if the page shows a contrast there
TINY = 4  # smaller than TINY_SIZE
TABLE = 8  # not a line but a whole table, as pipe rows

# Points; below it nobody reads a letter, and search-engine filler is set in it.
TINY_SIZE = 0.8
# A copy counts as the shadow of a line when it is moved by at most this share of the type size:
# drop shadows are 0.05 to 0.15 em, the next line of text is 1 em away.
SHADOW = 0.35
UPRIGHT = 0.99  # cosine of 8 degrees: a line that runs from left to right


class Line(NamedTuple):
    """A run of text on one baseline: text, box and size in points, direction, block, marks.

    The box is in the page's coordinates as shown, from the top left corner. (dx, dy) is the unit
    vector of the writing direction, (1, 0) for ordinary text; (ox, oy) is a point on the
    baseline, which unlike the box depends on no font's metrics. `marks` is a sum of HIDDEN,
    WHITE, TINY.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    ox: float
    oy: float
    dx: float = 1.0
    dy: float = 0.0
    block: int = 0
    marks: int = 0
    vertical: bool = False
