"""Pictures in a Word document: which of them may hold text that the document lacks."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from regcomments.grade import judge
from regcomments.read.pagefacts import PageFacts
from regcomments.read.picturefacts import measure_picture
from regcomments.read.word_package import Package
from regcomments.read.word_state import PictureUse
from regcomments.records import Page
from regcomments.status import Reason

# Formats that OCR can open; EMF and WMF are drawings made of commands.
RASTER = re.compile(r"\.(?:png|jpe|jpe?g|jfif|gif|bmp|dib|tiff?|webp)$", re.IGNORECASE)
MAX_PICTURE_BYTES = 60_000_000
MAX_MEASURED = 60  # pictures searched for writing in one document, about 50 ms each
# As for PDF pages (pagefacts): a full text's pictures count from this share of the page on, those
# of a short text nearly always; fewer pixels can't hold a paragraph.
SHORT_TEXT = 200
SHARE_BESIDE_TEXT = 0.06
PIXELS_FOR_TEXT = 15_000
PIXELS_ON_SHORT = 3_000
_PAGE_AREA = 612.0 * 792.0  # US letter in points
_LETTER_SHARE = 0.3  # of the page; icons and previews of embedded files are smaller


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
    known: dict[tuple[bytes, float, float], PageFacts | None] = {}
    measured = 0
    for picture in pictures:
        share = picture.use.width * picture.use.height / _PAGE_AREA
        if chars >= SHORT_TEXT and 0 < share < SHARE_BESIDE_TEXT:
            continue
        if measured < MAX_MEASURED:
            facts = _facts(package, picture, share, chars, known)
            measured += 1
            if facts is not None and judge(facts).needs_ocr:
                pages.append(_page(picture, facts))
        elif 2 * sum(page.number <= pictures[MAX_MEASURED].number for page in pages) > measured:
            pages.append(_page(picture, None))
    return tuple(pages)


def _page(picture: Picture, facts: PageFacts | None) -> Page:
    row = facts.to_dict() if facts is not None else None
    return Page(picture.number, needs_ocr=True, reason=Reason.IMAGE, facts=row)


def _facts(
    package: Package,
    picture: Picture,
    share: float,
    chars: int,
    known: dict[tuple[bytes, float, float], PageFacts | None],
) -> PageFacts | None:
    """Return the facts of a picture, None when it can't be opened or is too small for writing.

    `known` holds those of the document's pictures so far: many hold the same bytes twice.
    """

    def told(problem: str) -> None:
        package.warnings.append(f"picture {picture.number} could not be read: {problem}"[:200])

    use = picture.use
    try:
        data = package.read(use.part, MAX_PICTURE_BYTES)
    except Exception as error:  # a damaged part raises what its zip layer does
        told(str(error))
        return None
    key = (hashlib.sha256(data).digest(), use.width, use.height)
    if key not in known:
        known[key] = measure_picture(
            data,
            chars=chars,
            share=min(share, 1.0),
            shown=(use.width, use.height),
            least=PIXELS_FOR_TEXT if chars >= SHORT_TEXT else PIXELS_ON_SHORT,
            told=told,
        )
    return known[key]
