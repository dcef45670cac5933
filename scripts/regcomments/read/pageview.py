"""A page, or a part of it, as a grey picture to be searched for writing (read.ink).

Most pages without text are one scanned picture. A JPEG is decoded from its own bytes, which takes
a quarter of the time of having MuPDF draw the page; other pictures are drawn, a part of them
first where a part is cheaper than the whole.
"""

from __future__ import annotations

import io
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pymupdf
from PIL import Image, ImageDraw

from regcomments.read.ink import Viewed, parts_of, parts_of_image
from regcomments.read.pdf_parts import PageParts

# A picture of the page from `top` to `bottom` (parts of the height), and what text covers there.
View = Callable[[float, float], Viewed]

# The render aims at 100 dpi, where 8-point print has letters of 5 pixels and a letter page
# 0.93 million pixels; small pages are enlarged, huge ones (posters, scans with a wrong
# resolution) reduced to these numbers of pixels.
_DPI = 100
_FEWEST_PIXELS, _MOST_PIXELS, _ZOOM = 500_000, 1_600_000, 4.0
# Part of the page under pictures from which they are taken for the page.
ALL = 0.9
# An A3 page scanned at 600 dpi has 70 million pixels.
_MOST_DECODED = 80_000_000
_SIX_NUMBERS = re.compile(rb"((?:[-+]?[\d.]{1,24}\s+){6})cm(?![A-Za-z])")
# Formats of which a part takes as long to decode as the whole; so does a part of a turned page.
_UNDIVIDED = re.compile("JPX|JBIG2|ASCII")
# What Pillow's decoder raises on damaged pictures.
_DAMAGE = (OSError, SyntaxError, EOFError, ValueError, IndexError, struct.error)


def view_of(
    page: pymupdf.Page,
    parts: PageParts,
    textpage: pymupdf.TextPage | None,
    *,
    has_text: bool,
    picture_only: bool,
    clip: pymupdf.Rect | None = None,
) -> View:
    """Return the cheapest view of `page`, or of `clip` on it, at about 100 dpi.

    `has_text` tells that the page has a text layer, whose boxes come with the view; `textpage`
    is one without pictures, if at hand. `picture_only` tells that the page is all under pictures
    and draws nothing else. Raises what MuPDF raises, here or in the view.
    """
    if has_text or clip is not None:
        return _whole(_rendered(page, clip or page.rect, _spans(page, textpage)))
    if not picture_only or len(parts.pictures) != 1:
        return _whole(_rendered(page, page.rect))
    coded = page.parent.xref_get_key(parts.pictures[0].xref, "Filter")[1]
    jpeg = _jpeg(page, parts) if coded in ("/DCTDecode", "[/DCTDecode]") else None
    if jpeg is not None:
        return jpeg
    drawn = _rendered(page, page.rect)
    return _whole(drawn) if page.rotation or _UNDIVIDED.search(coded) else drawn


def zoom_of(paper: pymupdf.Rect) -> float:
    """Return pixels a point at which a page of this size is looked at."""
    area = max(paper.width * paper.height, 1.0)
    zoom = max(_DPI / 72, math.sqrt(_FEWEST_PIXELS / area))
    return min(zoom, math.sqrt(_MOST_PIXELS / area), _ZOOM)


def _whole(view: View) -> View:
    """Return a view whose parts are cut from the whole, drawn once."""
    return parts_of(*view(0.0, 1.0))


def _rendered(
    page: pymupdf.Page, whole: pymupdf.Rect, lines: Sequence[Mapping[str, Any]] = ()
) -> View:
    zoom = zoom_of(page.rect)

    def part(top: float, bottom: float) -> Viewed:
        box = pymupdf.Rect(whole)
        box.y0, box.y1 = (whole.y0 + share * whole.height for share in (top, bottom))
        pixmap = page.get_pixmap(
            matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False, clip=box
        )
        grey = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.stride)
        grey = grey[:, : pixmap.width]
        at = page.rotation_matrix * pymupdf.Matrix(zoom, 0, 0, zoom, -pixmap.x, -pixmap.y)
        return grey, _text_mask(lines, at, grey.shape) if lines else None

    return part


def _jpeg(page: pymupdf.Page, parts: PageParts) -> View | None:
    """Return a view of the JPEG that is all of the page, set upright; None if it is not so."""
    boxes, matrices = parts.picture_boxes, _SIX_NUMBERS.findall(parts.code)
    picture, document = parts.pictures[0], page.parent
    if not boxes or len(boxes) != 1 or len(matrices) != 1 or picture.pixels > _MOST_DECODED:
        return None
    a, b, c, d = map(float, matrices[0].split()[:4])
    if a <= 0 or d <= 0 or b or c:
        return None
    if any(
        document.xref_get_key(picture.xref, k)[0] != "null" for k in ("SMask", "Mask", "Decode")
    ):
        return None
    zoom = zoom_of(page.rect)
    x0, y0, x1, y1 = boxes[0]
    size = max(1, round((x1 - x0) * zoom)), max(1, round((y1 - y0) * zoom))
    try:
        image = Image.open(io.BytesIO(document.xref_stream_raw(picture.xref)), formats=["JPEG"])
        if image.width * image.height != picture.pixels or image.mode not in ("L", "RGB"):
            return None
        image.draft("L", size)
        image = image.convert("L") if image.mode != "L" else image
        image.load()
    except (*_DAMAGE, Image.DecompressionBombError):
        return None  # MuPDF draws what can be made out
    return parts_of_image(image, size)


def _spans(page: pymupdf.Page, textpage: pymupdf.TextPage | None) -> list[dict[str, Any]]:
    """Return the lines of the text layer, those that notes and form fields draw included."""
    # The text page at hand may lack what they draw.
    if page.first_annot is not None or page.first_widget is not None:
        textpage = None
    data = page.get_text("dict", textpage=textpage, flags=pymupdf.TEXTFLAGS_TEXT)
    return [line for block in data["blocks"] for line in block.get("lines", ())]


def _text_mask(
    lines: Sequence[Mapping[str, Any]], to_pixels: pymupdf.Matrix, shape: tuple[int, int]
) -> npt.NDArray[np.bool_]:
    """Return the pixels under the text layer, its glyphs' boxes a little enlarged.

    Slanted lines are drawn as the quadrilaterals they are: the upright box of a diagonal
    watermark would cover half a page.
    """
    image = Image.new("1", (shape[1], shape[0]))
    draw = ImageDraw.Draw(image)
    for line in lines:
        upright = min(abs(line["dir"][0]), abs(line["dir"][1])) < 0.02
        for span in line["spans"]:
            if not span["text"].strip():
                continue
            if upright:
                box = pymupdf.Rect(span["bbox"]) * to_pixels
                pad = 1 + 0.1 * min(box.width, box.height)
                draw.rectangle((box.x0 - pad, box.y0 - pad, box.x1 + pad, box.y1 + pad), 1)
            else:
                quad = pymupdf.recover_quad(line["dir"], span) * to_pixels
                corners = (quad.ul, quad.ur, quad.lr, quad.ll)
                draw.polygon([(p.x, p.y) for p in corners], 1)
    return np.asarray(image)
