"""What can be measured on a picture inside a flowing document (Word, mail, HTML, slides)."""

from __future__ import annotations

import io
import math

import numpy as np
from PIL import Image, UnidentifiedImageError

from regcomments.read import ink
from regcomments.read.pagefacts import SHORT_TEXT, PageFacts
from regcomments.read.pictures import open_picture

# An A3 page scanned at 600 dpi has 70 million; more is a bomb. Transparent ones take four bytes
# a pixel.
MOST_PIXELS = 80_000_000
# Pixels searched: a letter page at 100 dpi has 0.93 million. Photographs of a letter have margins
# of desk, so more is allowed than for pages.
_FEWEST, _MOST = 500_000, 2_000_000
# Fewer pixels than this hold no word.
_LEAST = 1_500


def measure_picture(data: bytes, *, chars: int = 0, share: float = -1.0) -> PageFacts | None:
    """Return the facts of a raster picture, for grade.picture_may_hold_text.

    `chars` are the characters of the text around it, `share` the part of a page on which it is
    shown, -1 if unknown. None for what Pillow cannot read (EMF, WMF, SVG, damaged files), for
    specks and for pictures above MOST_PIXELS. Width and height of the facts are pixels.
    """
    try:
        with open_picture(io.BytesIO(data)) as image:
            width, height = image.size
            if not _LEAST <= width * height <= MOST_PIXELS:
                return None
            zoom = math.sqrt(_MOST / (width * height))
            zoom = min(max(1.0, math.sqrt(_FEWEST / (width * height))), zoom)
            size = (max(1, round(width * zoom)), max(1, round(height * zoom)))
            image.draft("L", size)
            grey = _on_white(image, size).resize(size, Image.Resampling.BOX)
    except (
        UnidentifiedImageError,
        Image.DecompressionBombError,
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
    ):
        return None
    return facts_of(grey, (width, height), chars=chars, share=share, faint=chars < SHORT_TEXT)


def facts_of(
    grey: Image.Image, size: tuple[float, float], *, chars: int, share: float, faint: bool = True
) -> PageFacts:
    """Return the facts of a picture that is given in grey, `size` being what they say of it.

    `chars` and `share` are those of `measure_picture`; `faint` asks for faint writing too.
    """
    seen = ink.look_first(ink.parts_of(np.asarray(grey)), chars, faint=faint)
    return PageFacts(
        width=float(size[0]),
        height=float(size[1]),
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


def _on_white(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return `image` in grey, on white paper where it is transparent, no smaller than `size`."""
    if image.mode not in ("RGBA", "LA", "PA") and "transparency" not in image.info:
        return image.convert("L")
    image = image.convert("RGBA").reduce(max(1, image.width // size[0]))
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("L")
