"""Generated scans and a fault-injecting engine for the OCR tests."""

import io
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pymupdf
from PIL import Image
from regcomments.combined import Combined, Entry, FrontMatter
from regcomments.ocr.engines import Outcome, PageInk, PageResult
from regcomments.status import Status

LETTER = [
    "Riverbend Community Hospital",
    "To the Administrator: we write about the proposed payment rates for",
    "outpatient wound care. Our clinic serves four rural counties, and the",
    "nearest other clinic lies ninety minutes away by road. The proposed cut",
    "of eleven percent would close our evening hours, which working patients",
    "depend on. In 2022 we treated 1,846 patients with chronic ulcers; fewer",
    "than three in a hundred lost a limb. Please keep the present rate until",
    "the agency has measured what travel does to healing.",
    "Respectfully, the nurses of the wound care clinic",
]
GARBAGE = "]}|~^ ##$ %%@ {{[ ((* ~~` ||\\ <>/ ^^& **) !!;" * 4
LOOP = "The commenter supports the proposed rule. " * 60


def text_pdf(pages: list[list[str]], size: float = 12) -> bytes:
    """Return a PDF with a page for each list of lines; an empty list is a blank page."""
    with pymupdf.open() as document:
        for lines in pages:
            page = document.new_page(width=612, height=792)
            for number, line in enumerate(lines):
                page.insert_text((72, 90 + number * size * 1.6), line, fontsize=size)
        return document.tobytes(no_new_id=True)


def picture(pdf: bytes, page: int = 0, dpi: int = 200) -> Image.Image:
    """Return a page (from 0) of `pdf` as a grey picture."""
    with pymupdf.open(stream=pdf, filetype="pdf") as document:
        pix = document[page].get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
        return Image.frombytes("L", (pix.width, pix.height), pix.samples)


def scan_pdf(pictures: list[Image.Image], dpi: int = 200) -> bytes:
    """Return a PDF whose pages are these pictures."""
    with pymupdf.open() as document:
        for image in pictures:
            out = io.BytesIO()
            image.save(out, "PNG")
            width, height = (side * 72 / dpi for side in image.size)
            page = document.new_page(width=width, height=height)
            page.insert_image(page.rect, stream=out.getvalue())
        return document.tobytes(deflate=True, no_new_id=True)


def head(comment: str, *entries: Entry) -> FrontMatter:
    """Return a front matter that holds `entries`."""
    return FrontMatter(comment, "T-2024-0001", "2024-01-01T00:00:00Z", 0, entries)


def entry(file: str, pages: tuple[int, ...], digest: str | None = None, n: int = 9) -> Entry:
    """Return an attachment that wants `pages`."""
    return Entry(file, Status.OCR_NEEDED, 0, pages=n, ocr_pages=pages, sha256=digest)


def put(state: Path, comment: str, name: str, data: bytes) -> str:
    """Write an attachment into the state folder and return its SHA-256."""
    folder = state / "T-2024-0001" / comment
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return sha256(data).hexdigest()


def combined_of(comment: str, *entries: Entry) -> Combined:
    """Return a combined.md with `entries` and no text."""
    return Combined(head(comment, *entries), "", {item.file: "" for item in entries})


@dataclass
class FaultyEngine:
    """Says the right text but for the pages with a fault; `heal_after` tries make those good.

    Faults: empty, garbage, loop, half, invented, crash, silent, twice, stray, failed, slow.
    """

    faults: dict[int, str] = field(default_factory=dict)
    text: str = "\n".join(LETTER)
    deterministic: bool = False
    heal_after: int = 99
    name: str = "faulty"
    version: str = "1"
    model: str = "none"
    digest: str = "0123456789ab"
    ink: PageInk | None = None  # None: to be looked at by the caller
    calls: list[int] = field(default_factory=list)

    def read(self, source) -> Iterator[PageResult]:
        for number in source.pages:
            self.calls.append(number)
            fault = self.faults.get(number)
            if self.calls.count(number) > self.heal_after:
                fault = None
            yield from self._say(number, fault)

    def close(self) -> None:
        pass

    def _say(self, number: int, fault: str | None) -> Iterator[PageResult]:
        good = PageResult(number, Outcome.TEXT, self.text, 0.9, ink=self.ink)
        texts = {
            "empty": "",
            "garbage": GARBAGE,
            "loop": LOOP,
            "half": "\n".join(LETTER[:3]),
        }
        if fault == "crash":
            raise RuntimeError("the server hung up")
        if fault == "silent":
            return
        if fault == "failed":
            yield PageResult(number, Outcome.FAILED, error="HTTP 500")
            return
        if fault == "slow":
            time.sleep(0.4)
        if fault == "stray":
            yield PageResult(number + 1000, Outcome.TEXT, self.text)
        if fault == "twice":
            yield good
        if fault in texts:
            yield PageResult(
                number, Outcome.TEXT if texts[fault] else Outcome.NOTHING, texts[fault]
            )
            return
        yield good
