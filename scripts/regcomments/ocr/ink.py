"""What is seen on a page without reading it: the yardstick for what an engine says."""

from __future__ import annotations

import numpy as np
from PIL import Image

from regcomments.ocr.engines import PageInk
from regcomments.ocr.raster import Grey
from regcomments.read.ink import look

DPI = 100  # resolution that read.ink was tuned for
_LONG_SIDE = 1400  # pixels; a letter page at 100 dpi has 1,100. For pictures of unknown dpi
STRIPS = 4


def measure(grey: Grey) -> PageInk:
    """Return what is seen on `grey`, a page at about 100 dpi (see `small`)."""
    whole = look(grey)
    share = round(whole.ink, 6)
    if not whole.lines:
        return PageInk(share, strips=(0,) * STRIPS)
    # Quarters along the reading direction; a page on its side is read across.
    turned = np.rot90(grey) if whole.vertical else grey
    strips = [look(np.ascontiguousarray(part)).letters for part in np.array_split(turned, STRIPS)]
    return PageInk(share, whole.lines, whole.letters, tuple(strips), whole.vertical)


def small(grey: Grey, dpi: int) -> Grey:
    """Return `grey` scaled down to what `measure` wants; `dpi` 0 means unknown."""
    rows, cols = grey.shape
    factor = DPI / dpi if dpi else min(1.0, _LONG_SIDE / max(rows, cols))
    if factor >= 1.0:
        return grey
    size = (max(1, round(cols * factor)), max(1, round(rows * factor)))
    return np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.BOX))
