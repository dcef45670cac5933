"""Pictures: one page per frame, each wanting OCR unless nothing is on it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from PIL import Image, ImageFile, UnidentifiedImageError

from regcomments.read.options import ReadOptions
from regcomments.records import Document, Page, UnreadableError
from regcomments.status import Reason, Status

MAX_PIXELS = 400_000_000  # of one frame; a 36 x 48 inch plan at 400 dpi has 276 million
# Pixels up to which a frame is decoded to see whether it is blank; RGB takes three bytes each.
MAX_LOOKED_AT = 60_000_000
MIN_SIDE = 12  # pixels; fewer can't hold a line of text
# Grey levels between the darkest and the lightest spot up to which a frame is one colour: JPEG
# noise on an even ground stays below.
FLAT = 6
# Not all that Pillow opens: for PostScript it would start another program.
_FORMATS = ("PNG", "JPEG", "MPO", "GIF", "BMP", "DIB", "TIFF", "WEBP", "JPEG2000", "AVIF", "PSD")
_PAGED = frozenset({"TIFF"})  # frames of GIF, APNG and WebP move, those of MPO are 3D views
_DAMAGE = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    IndexError,
    TypeError,
    KeyError,
    OverflowError,
)
_HEIF = (b"heic", b"heix", b"heif", b"mif1", b"msf1", b"hevc")


def read_picture(path: Path, options: ReadOptions) -> Document:
    """Return the picture at `path` as pages that want OCR (`image`) or hold nothing (`blank`).

    The facts of a page are its width and height in pixels. Raises UnreadableError: corrupt,
    too_large, no_reader (a format that Pillow lacks here).
    """
    with _quiet(), _opened(path) as image:
        count = getattr(image, "n_frames", 1) if image.format in _PAGED else 1
        if count > options.max_pages:
            detail = f"{count} frames, more than {options.max_pages}"
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
        if options.on_pages is not None:
            options.on_pages(count)
        form = (image.format or "").lower()
        read = [_page(image, path, number) for number in range(1, count + 1)]
    pages = tuple(page for page, _ in read)
    notes = [f"page {page.number}: {note}" for page, note in read if note]
    if notes and not any(page.needs_ocr for page in pages):
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, notes[0])
    return Document("image", f"pillow/{form}", pages=pages, paged=True, warnings=tuple(notes[:20]))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Lift Pillow's own pixel limit, which ours replaces, for a while."""
    limit, truncated = Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES
    Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = None, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES = limit, truncated


def open_picture(source: Path | IO[bytes]) -> Image.Image:
    """Return the picture in `source` if it has one of the formats above.

    Raises UnidentifiedImageError, or whatever Pillow raises on damage.
    """
    Image.init()
    return Image.open(source, formats=[name for name in _FORMATS if name in Image.OPEN])


def _opened(path: Path) -> Image.Image:
    try:
        return open_picture(path)
    except (UnidentifiedImageError, *_DAMAGE) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        with path.open("rb") as handle:
            head = handle.read(16)
        if head[8:12] in _HEIF:
            raise UnreadableError(Status.UNSUPPORTED, Reason.NO_READER, "heif") from error
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "not a readable picture") from error


def _page(image: Image.Image, path: Path, number: int) -> tuple[Page, str]:
    """Frame `number` as a page, and what is wrong with it; damage that leaves it empty is wrong."""
    facts: dict[str, int] = {}
    note = ""
    try:
        if getattr(image, "n_frames", 1) > 1:
            image.seek(number - 1)
        width, height = image.size
        facts = {"width": width, "height": height}
        if width * height > MAX_PIXELS:
            detail = f"{width} x {height} pixels, more than {MAX_PIXELS}"
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
        blank = min(width, height) < MIN_SIDE or _is_flat(image)
    except _DAMAGE as error:
        note = f"damaged ({type(error).__name__}: {error})"[:200]
        blank = not _shows_something(path, number)
    if blank:
        return Page(number, reason=Reason.BLANK, facts=facts), note
    return Page(number, needs_ocr=True, reason=Reason.IMAGE, facts=facts), note


def _shows_something(path: Path, number: int) -> bool:
    """Whether the part of a damaged frame that can be decoded is more than one colour."""
    ImageFile.LOAD_TRUNCATED_IMAGES = True  # `_quiet` puts it back
    try:
        with Image.open(path) as image:
            if getattr(image, "n_frames", 1) > 1:
                image.seek(number - 1)
            return not _is_flat(image)
    except _DAMAGE:
        return False
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False


def _is_flat(image: Image.Image) -> bool:
    if image.format == "JPEG":
        image.draft("L", (2000, 2000))  # decodes at a fraction of the size
    if image.width * image.height > MAX_LOOKED_AT:
        return False
    bands = [image]
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        bands = [rgba.getchannel("A"), rgba.convert("L")]
        if bands[0].getextrema() == (0, 0):
            return True
    elif image.mode not in ("L", "I", "F", "I;16"):
        bands = [image.convert("L")]
    return all(high - low <= FLAT for low, high in (band.getextrema() for band in bands))
