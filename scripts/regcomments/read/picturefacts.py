"""What can be measured on a picture inside a flowing document (Word, mail, HTML, slides)."""

from __future__ import annotations

import io
import math
from collections.abc import Callable

from PIL import Image

from regcomments.read import ink
from regcomments.read.pagefacts import PageFacts
from regcomments.read.pictures import open_picture

# An A3 page scanned at 600 dpi has 70 million; more is a bomb. Transparent ones take four bytes
# a pixel.
MOST_PIXELS = 100_000_000
# A picture is searched at 100 dpi, where 8-point print has letters of 5 pixels, or with a longer
# side of so many pixels if that is less or more.
_DPI, _SHORTEST, _LONGEST = 100, 800, 1600
# Pixels searched of a picture whose size on the page is not known. Photographs of a letter have
# margins of desk, so more is allowed than for pages.
_MOST = 2_000_000
# Pixels to which a small picture is enlarged at the most: letters of 4 pixels are found after
# that in a picture of a line or two; one with more pixels shows them as it is.
_ENLARGED = 250_000
# Fewer pixels than this hold no word.
_LEAST = 1_500


def measure_picture(
    data: bytes,
    *,
    chars: int = 0,
    share: float = -1.0,
    shown: tuple[float, float] = (0.0, 0.0),
    least: int = _LEAST,
    told: Callable[[str], None] | None = None,
) -> PageFacts | None:
    """Return the facts of a raster picture, for grade.picture_may_hold_text.

    `chars` are the characters of the text around it, `share` the part of a page on which it is
    shown (-1 if unknown), `shown` its width and height there in points (0 if unknown). None for
    what Pillow cannot read (EMF, WMF, SVG, damaged files; `told` is called with the reason), and
    for pictures of fewer than `least` or more than MOST_PIXELS pixels. Width and height of the
    facts are those of `shown`, else pixels.
    """
    try:
        with open_picture(io.BytesIO(data)) as image:
            width, height = image.size
            if not least <= width * height < MOST_PIXELS:
                return None
            zoom = _zoom(width, height, max(shown) * _DPI / 72)
            size = (max(1, round(width * zoom)), max(1, round(height * zoom)))
            image.draft("L", size)
            grey = _on_white(image, size)
        seen = ink.look_first(ink.parts_of_image(grey, size), chars, faint=True)
    except Exception as error:  # Pillow's decoders raise anything on damaged data
        if told is not None:
            told(str(error))
        return None
    wide, high = shown if max(shown) > 0 else (width, height)
    return PageFacts(
        width=round(float(wide), 1),
        height=round(float(high), 1),
        chars=chars,
        images=1,
        image_share=round(share, 4),
        looked=True,
        ink_share=round(seen.ink, 5),
        lines=seen.lines,
        letters=seen.letters,
        longest=seen.longest,
        letter_height=round(seen.height, 1),
        vertical=seen.vertical,
    )


def _zoom(width: int, height: int, shown: float) -> float:
    """Return the factor by which a picture is scaled; `shown` pixels are its longer side's."""
    pixels = width * height
    if shown:
        zoom = min(max(shown, _SHORTEST), _LONGEST) / max(width, height)
    else:
        zoom = math.sqrt(_MOST / pixels)
        zoom = min(zoom, 1.0) if zoom < 2.0 else _SHORTEST / max(width, height)
    return min(zoom, max(1.0, math.sqrt(_ENLARGED / pixels)))


def _on_white(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return `image` in grey, on white paper where it is transparent, no smaller than `size`."""
    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image.convert("L")
    image = image.convert("RGBA").reduce(max(1, image.width // size[0]))
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("L")
