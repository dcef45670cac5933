"""Scans of pages: rendered, set askew, dirtied, compressed; and files that hold such scans."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import pymupdf
from PIL import Image

from samples.pdfwriter import Canvas, PdfWriter

DPI = 200  # of an office scanner's usual setting
SPECKS = 900  # dirt on the glass, in spots a page


@dataclass(frozen=True)
class Scanner:
    """How pages are scanned: resolution, skew in degrees, quarter turns, noise, JPEG quality."""

    dpi: int = DPI
    skew: float = 1.3
    quarter_turns: int = 0
    noise: float = 4.0
    quality: int = 42
    seed: int = 1

    def scan(self, pdf: bytes) -> list[Image.Image]:
        """Return the pages of `pdf` as gray pictures."""
        with pymupdf.open(stream=pdf, filetype="pdf") as document:
            return [self._page(page, index) for index, page in enumerate(document)]

    def _page(self, page: pymupdf.Page, index: int) -> Image.Image:
        pixmap = page.get_pixmap(dpi=self.dpi, colorspace=pymupdf.csGRAY, alpha=False)
        image = Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)
        image = image.rotate(self.skew, Image.Resampling.BICUBIC, fillcolor=255)
        random = np.random.default_rng((self.seed, index))
        # Scanner noise is coarser than a pixel: drawn at half the size, which is quicker too.
        rows, columns = image.height // 2 + 1, image.width // 2 + 1
        grain = random.normal(0.0, self.noise, (rows, columns)).repeat(2, 0).repeat(2, 1)
        pixels = np.asarray(image, dtype=np.float32) * 0.93 + 8.0
        pixels += grain[: image.height, : image.width]
        ys = random.integers(0, image.height - 2, SPECKS)
        xs = random.integers(0, image.width - 2, SPECKS)
        pixels[ys, xs] = pixels[ys + 1, xs] = 90.0
        image = Image.fromarray(pixels.clip(0, 255).astype(np.uint8))
        return image.rotate(90 * self.quarter_turns, expand=True) if self.quarter_turns else image


def jpeg(image: Image.Image, quality: int = 42) -> bytes:
    """Return `image` as JPEG."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def add_scans(
    writer: PdfWriter,
    images: list[Image.Image],
    *,
    dpi: int = DPI,
    quality: int = 42,
    stamp: tuple[str, ...] = (),
    rotate: int = 0,
) -> None:
    """Add `images` to `writer`, a page each; `stamp` are lines of real text over each picture.

    `{page}` and `{pages}` in a stamp are filled in.
    """
    for number, image in enumerate(images, 1):
        size = (image.width * 72 / dpi, image.height * 72 / dpi)
        canvas = Canvas(size[1])
        canvas.image("scan", 0, 0, *size)
        for index, line in enumerate(stamp):
            text = line.format(page=number, pages=len(images))
            canvas.text(36, 16 + 11 * index, text, "cour", 9)
        picture = writer.add_jpeg(jpeg(image, quality), image.size)
        writer.add_page(canvas.content(), images={"scan": picture}, size=size, rotate=rotate)


def scan_pdf(pdf: bytes, scanner: Scanner | None = None, stamp: tuple[str, ...] = ()) -> bytes:
    """Return a PDF whose pages are scans of the pages of `pdf`."""
    scanner = scanner or Scanner()
    writer = PdfWriter("Scanned document")
    images = scanner.scan(pdf)
    add_scans(writer, images, dpi=scanner.dpi, quality=scanner.quality, stamp=stamp)
    return writer.to_bytes()


def scan_tiff(pdf: bytes, scanner: Scanner | None = None) -> bytes:
    """Return the scanned pages of `pdf` as one black and white TIFF, as fax servers write it."""
    scanner = scanner or Scanner()
    first, *rest = (
        image.point(lambda v: 255 if v > 140 else 0, "1") for image in scanner.scan(pdf)
    )
    buffer = io.BytesIO()
    first.save(
        buffer,
        "TIFF",
        save_all=True,
        append_images=rest,
        compression="group4",
        dpi=(scanner.dpi, scanner.dpi),
    )
    return buffer.getvalue()


def photo(pdf: bytes, seed: int = 5) -> Image.Image:
    """Return the first page of `pdf` as a photograph taken at a slant, with uneven light."""
    image = Scanner(dpi=150, skew=-2.4, noise=6.0, seed=seed).scan(pdf)[0]
    w, h = image.size
    corners = (-0.03 * w, 0.02 * h, 0.02 * w, 1.03 * h, 1.02 * w, 0.98 * h, 1.05 * w, -0.03 * h)
    image = image.transform(
        (w, h), Image.Transform.QUAD, corners, Image.Resampling.BICUBIC, fillcolor=70
    )
    shade = np.linspace(1.0, 0.72, w, dtype=np.float32)
    return Image.fromarray((np.asarray(image, dtype=np.float32) * shade).astype(np.uint8))
