"""Pictures in a Word document: which of them may hold text that the document lacks."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

from PIL import Image

from regcomments.grade import judge
from regcomments.read.pagefacts import PageFacts
from regcomments.read.picturefacts import facts_of
from regcomments.read.pictures import open_picture
from regcomments.read.word_package import Package
from regcomments.read.word_state import PictureUse
from regcomments.records import Page
from regcomments.status import Reason

# Formats that OCR can open; EMF and WMF are drawings made of commands.
RASTER = re.compile(r"\.(?:png|jpe|jpe?g|jfif|gif|bmp|dib|tiff?|webp)$", re.IGNORECASE)
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
_LETTER_SHARE = 0.3  # of the page; icons and previews of embedded files are smaller
_DPI = 100  # at which 8-point print has letters of 5 pixels
_SHORTEST, _LONGEST = 800, 1600  # pixels of the longer side that is searched


@dataclass(frozen=True)
class Picture:
    """A raster picture of a document: its number from 1 in document order, and its use."""

    number: int
    use: PictureUse


def raster_pictures(package: Package, uses: dict[str, PictureUse]) -> list[Picture]:
    """Return the distinct raster pictures among `uses`, numbered in document order."""
    found = [use for part, use in uses.items() if RASTER.search(part) and package.has(part)]
    return [Picture(number, use) for number, use in enumerate(found, 1)]


def large_drawings(uses: dict[str, PictureUse]) -> bool:
    """Return whether a picture made of commands could be a whole letter, not an icon."""
    return any(
        use.width * use.height >= _LETTER_SHARE * _PAGE_AREA
        for part, use in uses.items()
        if not RASTER.search(part)
    )


def picture_pages(package: Package, pictures: list[Picture], chars: int) -> tuple[Page, ...]:
    """Return those pictures that hold writing which `chars` characters of text can't be.

    Their facts are those of a page (pagefacts.PageFacts), so that grading can judge them again.
    In a long row of pictures the last ones are taken for what most of the first ones are.
    """
    pages: list[Page] = []
    measured = 0
    for picture in pictures:
        share = picture.use.width * picture.use.height / _PAGE_AREA
        if chars >= SHORT_TEXT and 0 < share < SHARE_BESIDE_TEXT:
            continue
        if measured < MAX_MEASURED:
            facts = _measured(package, picture, share, chars)
            measured += 1
            if facts is not None and judge(facts).needs_ocr:
                pages.append(_page(picture, facts))
        elif 2 * sum(page.number <= pictures[MAX_MEASURED].number for page in pages) > measured:
            pages.append(_page(picture, None))
    return tuple(pages)


def _page(picture: Picture, facts: PageFacts | None) -> Page:
    row = facts.to_dict() if facts is not None else None
    return Page(picture.number, needs_ocr=True, reason=Reason.IMAGE, facts=row)


def _measured(package: Package, picture: Picture, share: float, chars: int) -> PageFacts | None:
    """Return the facts of a picture, None when it can't be opened or is too small for writing."""
    least = PIXELS_FOR_TEXT if chars >= SHORT_TEXT else PIXELS_ON_SHORT
    shown = max(picture.use.width, picture.use.height) * _DPI / 72
    try:
        grey = _grey(package.read(picture.use.part, MAX_PICTURE_BYTES), least, shown)
        if grey is None:
            return None
        size = (round(picture.use.width, 1), round(picture.use.height, 1))
        return facts_of(grey, size, chars=chars, share=min(share, 1.0))
    except Exception as error:  # Pillow's decoders raise anything on damaged data
        package.warnings.append(f"picture {picture.number} could not be read: {error}"[:200])
        return None


def _grey(data: bytes, least: int, shown: float) -> Image.Image | None:
    """Return a picture in grey at about 100 dpi, None when it has fewer pixels than `least`.

    `shown` is the length in pixels of its longer side as it is shown, 0 when not known.
    """
    with open_picture(io.BytesIO(data)) as image:
        if not least <= image.width * image.height <= MAX_PIXELS:
            return None
        target = min(max(shown, _SHORTEST), _LONGEST)
        image.draft("L", (int(target), int(target)))
        grey = _flatten(image).convert("L")
    scale = target / max(grey.size)
    size = (max(1, round(grey.width * scale)), max(1, round(grey.height * scale)))
    return grey.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)


def _flatten(image: Image.Image) -> Image.Image:
    """Return the picture on white where it is transparent."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        return Image.alpha_composite(white, image)
    return image
