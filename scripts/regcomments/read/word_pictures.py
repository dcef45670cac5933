"""Pictures in a Word document: which of them may hold text that the document lacks."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regcomments.read.word_package import Package
from regcomments.read.word_state import PictureUse
from regcomments.records import Page, UnreadableError
from regcomments.status import Reason

if TYPE_CHECKING:
    from PIL import Image

# Formats that OCR can open; EMF and WMF are drawings made of commands.
RASTER = (
    ".png",
    ".jpg",
    ".jpeg",
    ".jpe",
    ".jfif",
    ".gif",
    ".bmp",
    ".dib",
    ".tif",
    ".tiff",
    ".webp",
)
MAX_PICTURE_BYTES = 60_000_000
MAX_PIXELS = 120_000_000  # an A3 page scanned at 600 dpi has 70 million
MAX_MEASURED = 60  # pictures searched for writing in one document, about 50 ms each
# As for PDF pages (pagefacts): a full text's pictures count from this share of the page on, those
# of a short text nearly always; fewer pixels can't hold a paragraph.
SHORT_TEXT = 200
SHARE_BESIDE_TEXT = 0.06
PIXELS_FOR_TEXT = 15_000
PIXELS_ON_SHORT = 3_000
_PAGE_AREA = 612.0 * 792.0  # US letter in points
_DPI = 100  # at which 8-point print has letters of 5 pixels
_SHORTEST, _LONGEST = 800, 1600  # pixels of the longer side that is searched


@dataclass(frozen=True)
class Picture:
    """A raster picture of a document: its number from 1 in document order, and its use."""

    number: int
    use: PictureUse


def raster_pictures(package: Package, uses: dict[str, PictureUse]) -> list[Picture]:
    """Return the distinct raster pictures among `uses`, numbered in document order."""
    found = [
        use for part, use in uses.items() if part.lower().endswith(RASTER) and package.has(part)
    ]
    return [Picture(number, use) for number, use in enumerate(found, 1)]


def picture_pages(package: Package, pictures: list[Picture], chars: int) -> tuple[Page, ...]:
    """Return those pictures that hold writing which `chars` characters of text can't be.

    Their facts are those of a page (pagefacts.PageFacts), so that grading can judge them again.
    """
    pages: list[Page] = []
    measured = 0
    for picture in pictures:
        share = picture.use.width * picture.use.height / _PAGE_AREA
        if chars >= SHORT_TEXT and 0 < share < SHARE_BESIDE_TEXT:
            continue
        if measured >= MAX_MEASURED:
            package.warnings.append("more pictures than are searched for writing")
            break
        try:
            page = _judge(package, picture, share, chars)
        except UnreadableError as error:
            package.warnings.append(f"picture {picture.number} could not be read: {error.detail}")
            continue
        measured += 1
        if page is not None:
            pages.append(page)
    return tuple(pages)


def _judge(package: Package, picture: Picture, share: float, chars: int) -> Page | None:
    # Imported here: most documents have no picture, and NumPy is slow to load.
    import numpy as np
    from PIL import Image, UnidentifiedImageError

    from regcomments.grade import judge
    from regcomments.read import ink
    from regcomments.read.pagefacts import PageFacts

    if package.size(picture.use.part) > MAX_PICTURE_BYTES:
        return None
    data = package.read(picture.use.part, MAX_PICTURE_BYTES)
    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
            least = PIXELS_FOR_TEXT if chars >= SHORT_TEXT else PIXELS_ON_SHORT
            if not least <= width * height <= MAX_PIXELS:
                return None
            shown = max(picture.use.width, picture.use.height) * _DPI / 72
            target = min(max(shown, _SHORTEST), _LONGEST)
            image.draft("L", (int(target), int(target)))
            grey = _flatten(image).convert("L")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError):
        return None  # damaged: neither a person nor OCR sees anything in it
    scale = target / max(grey.size)
    size = (max(1, round(grey.width * scale)), max(1, round(grey.height * scale)))
    grey = grey.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    seen = ink.look(np.asarray(grey))
    facts = PageFacts(
        width=round(picture.use.width, 1),
        height=round(picture.use.height, 1),
        chars=chars,
        images=1,
        image_share=round(min(share, 1.0), 4),
        looked=True,
        ink_share=round(seen.ink, 5),
        lines=seen.lines,
        letters=seen.letters,
        longest=seen.longest,
        letter_height=round(seen.height, 1),
        vertical=seen.vertical,
    )
    if not judge(facts).needs_ocr:
        return None
    return Page(picture.number, needs_ocr=True, reason=Reason.IMAGE, facts=facts.to_dict())


def _flatten(image: Image.Image) -> Image.Image:
    """Return the picture on white where it is transparent."""
    from PIL import Image  # late, as in _judge

    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image)
    return image
