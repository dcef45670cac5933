"""The least that OCR can cost: the embedded engine in a loop over pages, nothing kept.

    python -m tests.benchmarks.bare_ocr FOLDER PAGES [--make]

With --make FOLDER gets a state folder of PAGES one-page scans instead, and a quarter as many
comments that send one of them again.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from random import Random

import pymupdf
from regcomments.ocr.engines import make
from regcomments.ocr.source import FileSource, PageProcess

from tests.benchmarks import prose


def main() -> int:
    """Make the scans or read them; returns the exit code."""
    folder, pages = Path(sys.argv[1]), int(sys.argv[2])
    if "--make" in sys.argv:
        _make(folder / "comments" / "CMS-2031-0001", pages)
        return 0
    engine = make({"ocr": {"engine": "tesseract", "languages": ["eng"], "dpi": 200}})
    read = 0
    seen: set[str] = set()
    with PageProcess() as process:
        for path in sorted((folder / "comments").glob("*/*/attachment_1.pdf")):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest in seen:
                continue
            seen.add(digest)
            source = FileSource(process, path, "", path.name, digest, (1,))
            read += sum(1 for _ in engine.read(source))
    print(f"{read} pages")
    return 0


def _make(docket: Path, pages: int) -> None:
    for number in range(1, pages + 1):
        folder = docket / f"{docket.name}-{number:04d}"
        folder.mkdir(parents=True)
        text = prose.text(Random(number), 14)
        source = pymupdf.open()
        page = source.new_page()
        page.insert_textbox((72, 72, 540, 720), text, fontsize=11)
        picture = page.get_pixmap(dpi=200, colorspace=pymupdf.csGRAY)
        scan = pymupdf.open()
        scan.new_page().insert_image(page.rect, pixmap=picture)
        scan.save(folder / "attachment_1.pdf", deflate=True)
        if number % 4 == 0:
            again = docket / f"{docket.name}-{pages + number:04d}"
            again.mkdir()
            shutil.copy(folder / "attachment_1.pdf", again)


if __name__ == "__main__":
    sys.exit(main())
