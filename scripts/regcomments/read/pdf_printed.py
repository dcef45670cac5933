"""A text page as MuPDF prints it to XML without characters: lines and drawn boxes, no more.

At a fifth of the price of its dictionaries, and printed once for all that ask.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, lru_cache

import pymupdf
from pymupdf import mupdf

from regcomments.tables.items import Box
from regcomments.tables.rulings import Vector

_PRINT = getattr(mupdf, "fz_print_stext_page_as_xml_with_flags", None)  # since MuPDF 1.27
# Drawn boxes are collected beside the text, and put off until a line of text has ended: lines
# come out as without them. 0 where MuPDF can't put them off.
VECTOR_FLAGS = (
    pymupdf.TEXT_COLLECT_VECTORS | pymupdf.TEXT_LAZY_VECTORS
    if hasattr(pymupdf, "TEXT_LAZY_VECTORS")
    else 0
)
_FILL = '" stroke="0" rectangle="1"'
_VECTOR = re.compile(
    r'<vector bbox="([^"]*)" stroke="(\d)" rectangle="(\d)"[^>]* argb="([0-9a-f]{8})"'
)


class PrintedPage:
    """A text page and its XML.

    `with_vectors`: it was made with VECTOR_FLAGS; `with_annotations`: of the whole page, not of
    its contents only.
    """

    can_print = _PRINT is not None

    def __init__(
        self,
        textpage: pymupdf.TextPage,
        *,
        with_vectors: bool = False,
        with_annotations: bool = True,
    ) -> None:
        self.textpage = textpage
        self.with_annotations = with_annotations
        self._with_vectors = with_vectors

    @cached_property
    def xml(self) -> str:
        """The page's blocks, lines and vectors as XML, a tag a line."""
        return printed(_PRINT, self.textpage, 0).decode("utf-8", "replace")

    @property
    def has_fills(self) -> bool:
        """Whether something is known to be filled, so that it could cover words."""
        return self._with_vectors and _PRINT is not None and _FILL in self.xml

    def draws(self) -> bool | None:
        """Tell whether anything but text and pictures is drawn; None when nobody looked."""
        if not self._with_vectors or _PRINT is None:
            return None
        return "<vector" in self.xml

    @cached_property
    def vectors(self) -> list[Vector] | None:
        """What is drawn besides text and pictures; None when it was not collected."""
        drawn = self.draws()
        if not drawn:
            return None if drawn is None else []
        return [
            Vector(
                Box._make(map(float, box.split())),
                stroke == "1",
                rectangle == "1",
                *_shade(argb),
            )
            for box, stroke, rectangle, argb in _VECTOR.findall(self.xml)
        ]


@lru_cache(maxsize=1024)
def _shade(argb: str) -> tuple[float, float, float]:
    """Return the darkest and the lightest channel and the opacity of a colour, each of 1."""
    alpha, *channels = bytes.fromhex(argb)
    return min(channels) / 255, max(channels) / 255, alpha / 255


def printed(printer: Callable[..., None], textpage: pymupdf.TextPage, *flags: int) -> bytes:
    """Return what one of MuPDF's printers makes of `textpage`. Raises what MuPDF raises."""
    buffer = mupdf.FzBuffer(1 << 14)
    out = mupdf.FzOutput(buffer)
    printer(out, textpage.this, 0, *flags)
    out.fz_close_output()
    return buffer.fz_buffer_extract()
