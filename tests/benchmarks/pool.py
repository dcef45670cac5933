"""The distinct letters that most attachments of a corpus are links to, and what they say."""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image
from samples.letter import Letter, to_text
from samples.pdf import add_letter, letter_pages, letter_pdf
from samples.pdfwriter import PdfWriter
from samples.scan import Scanner, add_scans, jpeg, scan_tiff
from samples.word import letter_docx

from tests.benchmarks import prose

PDFS, TWINS, DOCX, IMAGES, TIFFS, TEXTS = 260, 20, 27, 12, 4, 6
SCANS, MIXED = 14, 6  # among the PDFs: about one attachment in twenty needs OCR
LONG = (58, 75, 120)  # pages of the few long ones
SCANNED_PAGES = 24  # distinct scanned pages; the scans are made of them
LOGOS = 30
_MTIME = 1_700_000_000
_RTF = "{\\rtf1\\ansi\\ansicpg1252 %s\\par}"


@dataclass(frozen=True)
class Pool:
    """Paths of the letters by extension with their cumulated weights, and (docx, pdf) pairs.

    `phrases` holds sentences of each letter by the SHA-256 of its file; none of what is scanned.
    """

    paths: dict[str, list[str]]
    weights: dict[str, list[float]]
    twins: list[tuple[str, str]]
    phrases: dict[str, tuple[str, ...]]

    def draw(self, ext: str, random: Random) -> str:
        """Return a letter of the kind `ext`; the first of each kind are drawn most often."""
        return random.choices(self.paths[ext], cum_weights=self.weights[ext])[0]


def page_count(random: Random) -> int:
    """Draw a number of pages: log-normal, median 2, 85 % at most 5, one in 300 above 30."""
    return min(150, max(1, round(random.lognormvariate(math.log(2), 0.95))))


def build_pool(folder: Path, seed: int) -> Pool:
    """Write the letters into `folder` and return the pool."""
    random = Random(seed)
    files = _Files(folder)
    logos = [_logo(random) for _ in range(LOGOS)]
    scanned = list(_scanned_pages(random))
    for index in range(PDFS):
        if index % 13 == 5 and index // 13 < SCANS + MIXED:
            files.add("pdf", *_scan(random, scanned, typed=index // 13 >= SCANS))
        else:
            files.add("pdf", *_typed(random, logos, page_count(random)))
    for pages in LONG:
        files.add("pdf", *_typed(random, logos, pages))
    for _ in range(DOCX):
        letter = prose.letter(random, page_count(random))
        files.add("docx", letter_docx(letter), letter)
    for image in scanned[:IMAGES]:
        files.add("jpg", jpeg(image))
    for _ in range(TIFFS):
        files.add("tif", scan_tiff(letter_pdf(prose.letter(random, 1)), Scanner(noise=1.0)))
    for _ in range(TEXTS):
        letter = prose.letter(random, 1)
        files.add("txt", to_text(letter).encode("cp1252"), letter)
        files.add("rtf", _rtf(to_text(letter)), letter)
    twins = []
    for _ in range(TWINS):
        letter = prose.letter(random, page_count(random))
        pair = (letter_docx(letter), letter_pdf(letter))
        twins.append(tuple(files.put(f"twin{len(twins)}.{ext}", data, letter)
                           for ext, data in zip(("docx", "pdf"), pair, strict=True)))  # fmt: skip
    # Campaign letters: the n-th of a kind is drawn in proportion to 1 / (n + 20).
    weights = {
        ext: list(accumulate(1 / (rank + 20) for rank in range(len(paths))))
        for ext, paths in files.paths.items()
    }
    return Pool(files.paths, weights, twins, files.phrases)


class _Files:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.paths: dict[str, list[str]] = {}
        self.phrases: dict[str, tuple[str, ...]] = {}

    def add(self, ext: str, data: bytes, letter: Letter | None = None) -> None:
        kind = self.paths.setdefault(ext, [])
        kind.append(self.put(f"{len(kind):03d}.{ext}", data, letter))

    def put(self, name: str, data: bytes, letter: Letter | None) -> str:
        path = self._folder / name
        path.write_bytes(data)
        if letter is not None:
            self.phrases[hashlib.sha256(data).hexdigest()] = prose.phrases(letter)
        os.utime(path, (_MTIME, _MTIME))
        return str(path)


def _typed(
    random: Random, logos: list[tuple[bytes, tuple[int, int]]], pages: int
) -> tuple[bytes, Letter]:
    """A letter; half of them have a letterhead picture, which makes most of the bytes."""
    letter = prose.letter(random, pages)
    writer = PdfWriter(letter.subject)
    contents = letter_pages(letter)
    if random.random() < 0.5:
        data, size = random.choice(logos)
        image = writer.add_jpeg(data, size)
        paint = b"q 90 0 0 45 450 730 cm /logo Do Q\n"
        writer.add_page(paint + contents[0], images={"logo": image})
        contents = contents[1:]
    for content in contents:
        writer.add_page(content)
    return writer.to_bytes(), letter


def _scan(random: Random, pages: list[Image.Image], *, typed: bool) -> tuple[bytes, Letter | None]:
    """Scanned pages, after a typed letter if asked for."""
    writer = PdfWriter("scan")
    letter = prose.letter(random, 1) if typed else None
    if letter is not None:
        add_letter(writer, letter)
    count = min(40, max(1, round(random.lognormvariate(math.log(5), 0.8))))
    add_scans(writer, [random.choice(pages) for _ in range(count)], dpi=150)
    return writer.to_bytes(), letter


def _scanned_pages(random: Random) -> Iterable[Image.Image]:
    for index in range(SCANNED_PAGES):
        scanner = Scanner(dpi=150, skew=random.uniform(-1.8, 1.8), seed=index)
        yield scanner.scan(letter_pdf(prose.letter(random, 1)))[0]


def _logo(random: Random) -> tuple[bytes, tuple[int, int]]:
    """A gray picture of 10 to 400 KB, as letterheads are: smooth shapes with grain."""
    side = round(random.lognormvariate(math.log(420), 0.5))
    grain = np.random.default_rng(random.randrange(1 << 30)).normal(200, 14, (side // 2, side))
    image = Image.fromarray(grain.clip(0, 255).astype(np.uint8))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=85)
    return buffer.getvalue(), image.size


def _rtf(text: str) -> bytes:
    escaped = "".join(
        char if ord(char) < 128 else f"\\'{char.encode('cp1252')[0]:02x}" for char in text
    )
    return (_RTF % escaped.replace("\n", "\\par\n")).encode("ascii")
