"""What is seen on a page without reading it: the yardstick for what an engine says."""

from __future__ import annotations

import numpy as np
from PIL import Image

from regcomments.ocr.engines import PageInk
from regcomments.ocr.raster import Grey
from regcomments.read.ink import look

DPI = 100  # resolution that read.ink was tuned for
_LONG_SIDE = 1400  # pixels; a letter page at 100 dpi has 1,100. For pictures of unknown dpi


def measure(grey: Grey) -> PageInk:
    """Return what is seen on `grey`, a page at about 100 dpi (see `small`)."""
    seen = look(grey)
    return PageInk(round(seen.ink, 6), seen.lines, seen.letters, seen.quarters, seen.vertical)


def small(grey: Grey, dpi: int) -> Grey:
    """Return `grey` scaled down to what `measure` wants; `dpi` 0 means unknown."""
    rows, cols = grey.shape
    factor = DPI / dpi if dpi else min(1.0, _LONG_SIDE / max(rows, cols))
    if factor >= 1.0:
        return grey
    size = (max(1, round(cols * factor)), max(1, round(rows * factor)))
    return np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.BOX))
