"""MuPDF's own boxes of glyphs, as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pymupdf


@contextmanager
def uncorrected_boxes() -> Iterator[None]:
    """Let PyMuPDF take the boxes of glyphs as MuPDF gives them while this lasts.

    It otherwise mends those of fonts with odd metrics, which costs a fifth of a page's dictionary
    and a third of its list of words.
    """
    tools = pymupdf.TOOLS
    corrected = not tools.unset_quad_corrections()
    tools.unset_quad_corrections(True)
    try:
        yield
    finally:
        tools.unset_quad_corrections(not corrected)
