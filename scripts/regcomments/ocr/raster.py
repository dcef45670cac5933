"""Pages of any queued file as pictures and as one-page PDFs, within bounds.

Runs in the bounded process only (see source.py): files come from the public.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pymupdf
from PIL import Image, ImageFile, ImageOps

from regcomments.digest import file_sha256
from regcomments.read.pictures import open_picture
from regcomments.read.sniff import Kind, sniff

Grey = npt.NDArray[np.uint8]

# An A3 page at 300 dpi has 17 million pixels; beyond that a poster is scaled down.
MAX_PIXELS = 20_000_000
# Declared size beyond which a picture isn't decoded: a 1-bit scan of A0 at 600 dpi.
MAX_DECODED_PIXELS = 200_000_000
MAX_FRAMES = 5000
_POINTS = 72  # PDF units per inch
_MIN_SIDE = 8  # pixels; nothing smaller holds a letter
_ONE_TONE = 6  # grey levels by which an even ground varies in a JPEG
# What Pillow's decoders raise on damaged pictures.
_DAMAGE = (OSError, SyntaxError, EOFError, ValueError, IndexError, struct.error)


class RasterError(Exception):
    """The page or the file can't be rendered; the message says why, in one line."""


class Pages(Protocol):
    """An opened file whose pages can be rendered; numbers count from 1."""

    count: int

    def grey(self, number: int, dpi: int) -> tuple[Grey, int]:
        """Return the page in grey and the dpi that it has (0: unknown, a picture as it is)."""

    def pdf(self, number: int) -> bytes:
        """Return a PDF of this page alone."""


@dataclass(frozen=True)
class _PdfPages:
    document: pymupdf.Document

    @property
    def count(self) -> int:
        return self.document.page_count

    def grey(self, number: int, dpi: int) -> tuple[Grey, int]:
        page = self.document[_index(number, self.count)]
        width, height = page.rect.width, page.rect.height
        scale = dpi / _POINTS
        pixels = width * height * scale * scale
        if not (math.isfinite(pixels) and pixels > 0):
            raise RasterError("the page has no area")
        if pixels > MAX_PIXELS:
            scale *= math.sqrt(MAX_PIXELS / pixels)
        pix = page.get_pixmap(
            matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False
        )
        rows = np.frombuffer(pix.samples, np.uint8).reshape(pix.height, pix.stride)
        return np.ascontiguousarray(rows[:, : pix.width]), round(scale * _POINTS)

    def pdf(self, number: int) -> bytes:
        index = _index(number, self.count)
        with pymupdf.open() as single:
            single.insert_pdf(self.document, from_page=index, to_page=index)
            return single.tobytes(garbage=3, deflate=True, no_new_id=True)


@dataclass(frozen=True)
class _ImagePages:
    image: Image.Image
    source: Path | io.BytesIO

    @property
    def count(self) -> int:
        return min(getattr(self.image, "n_frames", 1), MAX_FRAMES)

    def grey(self, number: int, dpi: int) -> tuple[Grey, int]:
        frame = self._frame(number)
        return np.asarray(_flat_grey(frame)), 0

    def pdf(self, number: int) -> bytes:
        frame = _on_paper(self._frame(number))
        out = io.BytesIO()
        frame.save(out, "PNG")
        # A page as wide as a letter, so that engines that render at a fixed dpi see the pixels.
        width = 8.5 * _POINTS
        with pymupdf.open() as single:
            page = single.new_page(width=width, height=width * frame.height / frame.width)
            page.insert_image(page.rect, stream=out.getvalue())
            return single.tobytes(deflate=True, no_new_id=True)

    def _frame(self, number: int) -> Image.Image:
        self.image.seek(_index(number, self.count))
        width, height = self.image.size
        if width * height > MAX_DECODED_PIXELS:
            raise RasterError(f"{width} x {height} pixels, more than {MAX_DECODED_PIXELS}")
        if self.image.format == "JPEG" and width * height > MAX_PIXELS:
            factor = math.sqrt(MAX_PIXELS / (width * height))
            self.image.draft("RGB", (int(width * factor), int(height * factor)))
        try:
            self.image.load()
            frame = self.image
        except _DAMAGE as error:
            frame = _salvaged(self.source, number, error)
        frame = ImageOps.exif_transpose(frame)
        if frame.width * frame.height > MAX_PIXELS:
            factor = math.sqrt(MAX_PIXELS / (frame.width * frame.height))
            size = (max(1, int(frame.width * factor)), max(1, int(frame.height * factor)))
            frame = frame.convert("L").resize(size, Image.Resampling.BOX)
        if min(frame.size) < _MIN_SIDE:
            raise RasterError(f"{frame.width} x {frame.height} pixels, too small for text")
        return frame


@dataclass(frozen=True)
class _PicturePages:
    """The pictures inside a flowing document, by their number there."""

    path: Path
    module: str
    count: int = 1_000_000

    def grey(self, number: int, dpi: int) -> tuple[Grey, int]:
        return self._picture(number).grey(1, dpi)

    def pdf(self, number: int) -> bytes:
        return self._picture(number).pdf(1)

    def _picture(self, number: int) -> Pages:
        data = import_module(self.module).picture(self.path, number)
        return _open_image(io.BytesIO(data))


# Kinds whose reader has picture(path, number) -> bytes.
_PICTURE_READERS = {
    Kind.DOC: "regcomments.read.msdoc",
    Kind.PPT: "regcomments.read.msppt",
    Kind.RTF: "regcomments.read.rtf",
    Kind.XLSX: "regcomments.read.xlsx",
    Kind.DOCX: "regcomments.read.word",
    Kind.PPTX: "regcomments.read.slides",
    **dict.fromkeys((Kind.WPD, Kind.WPS, Kind.OFFICE_OTHER, Kind.IWORK), "regcomments.read.office"),
    **dict.fromkeys((Kind.ODT, Kind.ODS, Kind.ODP), "regcomments.read.opendocument"),
}


def open_pages(path: Path, inside: str, sha256: str, scratch: Path) -> Pages:
    """Open the file at `path`, or the document `inside` it (its name there; "" for none).

    The bytes must have the given SHA-256, else results would be kept under the wrong name.
    `scratch` is a folder for an unpacked member. Raises RasterError, OSError.
    """
    if inside:
        data = _member(path, inside, sha256)
        path = scratch / f"{sha256}{_suffix(inside)}"
        path.write_bytes(data)
    elif file_sha256(path) != sha256:
        raise RasterError("the file has changed since it was queued")
    kind = sniff(path)
    if kind == Kind.IMAGE:
        return _open_image(path)
    if kind in _PICTURE_READERS:
        return _PicturePages(path, _PICTURE_READERS[kind])
    return _open_pdf(path, "xps" if kind == Kind.XPS else "pdf")


def _open_pdf(path: Path, filetype: str) -> _PdfPages:
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype=filetype)
    except (RuntimeError, ValueError) as error:
        raise RasterError(f"can't be opened: {_line(error)}") from error
    if filetype == "pdf" and not document.is_pdf:  # MuPDF opens what it knows by its content
        raise RasterError("not a PDF")
    if document.needs_pass and not document.authenticate(""):
        raise RasterError("asks for a password")
    return _PdfPages(document)


def _open_image(source: Path | io.BytesIO) -> _ImagePages:
    Image.MAX_IMAGE_PIXELS = MAX_DECODED_PIXELS
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)
    try:
        return _ImagePages(open_picture(source), source)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise RasterError(f"the picture can't be opened: {_line(error)}") from error


def _flat_grey(frame: Image.Image) -> Image.Image:
    """Return `frame` in 8-bit grey, transparent parts white."""
    return _on_paper(frame).convert("L")


def _on_paper(frame: Image.Image) -> Image.Image:
    """Return `frame` in 8-bit grey or colour, transparent parts white."""
    if frame.mode in ("I", "F") or frame.mode.startswith("I;16"):
        values = np.asarray(frame, np.float64)
        low, high = float(values.min()), float(values.max())
        scaled = (values - low) * (255.0 / (high - low)) if high > low else values * 0 + 255
        return Image.fromarray(scaled.astype(np.uint8))
    if frame.mode in ("RGBA", "LA", "PA") or "transparency" in frame.info:
        rgba = frame.convert("RGBA")
        paper = Image.new("RGBA", rgba.size, "white")
        return Image.alpha_composite(paper, rgba).convert("RGB")
    return frame.convert("L" if frame.mode in ("1", "L") else "RGB")


def _salvaged(source: Path | io.BytesIO, number: int, fault: Exception) -> Image.Image:
    """Return what can be decoded of a damaged picture, in grey; rows that are missing are paper.

    Raises RasterError when that is nothing.
    """
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        if isinstance(source, io.BytesIO):
            source.seek(0)
        with open_picture(source) as image:
            image.seek(number - 1)
            grey = np.array(_flat_grey(image))
            exif = image.info.get("exif")
    except _DAMAGE as error:
        raise RasterError(f"the picture is damaged: {_line(fault)}") from error
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    # Rows that were never decoded are of one tone, all of them of the same.
    off = np.abs(grey.astype(np.int16) - int(grey[-1, -1])).max(axis=1) > _ONE_TONE
    rows = int(np.flatnonzero(off)[-1]) + 1 if off.any() else 0
    if not rows:
        raise RasterError(f"the picture is damaged: {_line(fault)}")
    grey[rows:] = int(np.median(grey[:rows]))
    frame = Image.fromarray(grey)
    if exif:
        frame.info["exif"] = exif
    return frame


def _member(path: Path, inside: str, sha256: str) -> bytes:
    from regcomments.read import documents_inside

    for data in documents_inside(path, inside):
        if hashlib.sha256(data).hexdigest() == sha256:
            return data
    raise RasterError("the document inside is no longer there, or has changed")


def _suffix(name: str) -> str:
    suffix = name.rpartition(".")[2].lower()
    return f".{suffix}" if suffix.isalnum() and suffix.isascii() and len(suffix) <= 8 else ""


def _index(number: int, count: int) -> int:
    if not 1 <= number <= count:
        raise RasterError(f"there is no page {number} (the file has {count})")
    return number - 1


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
