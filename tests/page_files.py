"""Pages for the tests of grading, each made here: scans, stamps, junk layers, odd fonts."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageDraw, ImageFilter, ImageFont

SHARED = Path(__file__).resolve().parents[1].parent / "shared"

LINES = (
    "Dear Administrator,",
    "our clinic serves nine villages along the lower river. The draft rule would",
    "cut the travel allowance of our nurses by a third, and the nearest hospital",
    "is two hours away by ferry. Last winter the ferry did not run for eleven days.",
    "We ask the agency to keep the allowance as it is until a study of the costs of",
    "rural home visits has been made public and the counties have been heard.",
    "The clinic has lost four of its seven nurses since the spring of last year, and",
    "none of the posts could be filled. Patients who need dialysis now leave home at",
    "four in the morning. We would be glad to show the staff of the agency around.",
    "Respectfully, the board of the Lower River Clinic",
)
STAMP = "Case 4:21-cv-00{0} Document 17-2 Filed 03/0{0}/22 Page {0} of 9"
SMALL = pymupdf.Rect(72, 60, 180, 130)

Draw = Callable[[pymupdf.Page], object]


def page_of(*draws: Draw, width: float = 612, height: float = 792) -> pymupdf.Page:
    """Return a page drawn by `draws`, saved and opened again; it keeps its document alive."""
    return document_of([draws], width, height)[0]


def document_of(
    pages: list[tuple[Draw, ...]], width: float = 612, height: float = 792
) -> pymupdf.Document:
    """Return a document with one page per tuple of functions that draw it."""
    with pymupdf.open() as made:
        for draws in pages:
            page = made.new_page(width=width, height=height)
            for draw in draws:
                draw(page)
        return pymupdf.open("pdf", made.tobytes())


def letter(lines: tuple[str, ...] = LINES, top: float = 110, **options: object) -> Draw:
    """Return a function that types `lines`, 11 points high."""

    return lambda page: page.insert_text(
        (72, top), list(lines), fontsize=11, lineheight=18 / 11, **options
    )


def picture_of(draw: Draw, dpi: int = 150, rotate: float = 0.0, noise: float = 0.0) -> bytes:
    """Return what `draw` puts on a letter page as a PNG, turned by degrees, with grain added."""
    pixmap = page_of(draw).get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
    image = Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)
    if rotate:
        image = image.rotate(rotate, Image.Resampling.BICUBIC, expand=True, fillcolor=255)
    if noise:
        grain = np.random.default_rng(7).normal(0, noise, (image.height, image.width))
        image = Image.fromarray(np.clip(np.asarray(image) + grain, 0, 255).astype(np.uint8))
    return png(image)


def png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def show(picture: bytes, rect: pymupdf.Rect | None = None) -> Draw:
    """Return a function that puts `picture` on `rect`, or on the whole page."""
    return lambda page: page.insert_image(rect or page.rect, stream=picture)


def scan(**how: float) -> Draw:
    """Return a function that shows the letter as a scanner would give it."""
    return show(picture_of(letter(), **how))


def faint() -> Draw:
    """Return a function that shows the letter in grey 40 levels darker than its paper."""
    image = Image.open(io.BytesIO(picture_of(letter())))
    return show(png(image.point(lambda value: 185 + value * 40 // 255)))


def stamp(number: int = 3) -> Draw:
    return lambda page: page.insert_text((60, 20), STAMP.format(number), fontsize=9)


def blurred_word(page: pymupdf.Page) -> None:
    """Show one word as a small picture whose letters run into each other."""
    image = Image.new("L", (140, 48), 255)
    ImageDraw.Draw(image).text((8, 4), "OPPOSED", fill=0, font=ImageFont.load_default(28))
    blurred = image.filter(ImageFilter.GaussianBlur(2.2))
    page.insert_image(pymupdf.Rect(72, 110, 142, 134), stream=png(blurred))


def watermark() -> Draw:
    """Return a function that writes a word across the page, as text."""
    pivot = pymupdf.Point(120, 620)
    turn = (pivot, pymupdf.Matrix(50))
    return lambda page: page.insert_text(pivot, "COPY FOR THE FILE", fontsize=60, morph=turn)


def specks() -> Draw:
    """Return a function that writes what a failed OCR leaves: stray invisible characters."""

    def draw(page: pymupdf.Page) -> None:
        for number in range(30):
            mark = "1Il|.,;'"[number % 8]
            page.insert_text((40, 60 + 22 * number), mark, fontsize=8, render_mode=3)

    return draw


def unmapped(spaces: bool = True) -> Draw:
    """Return a function that types the letter in a font whose glyphs have no Unicode value."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
        letter(fontname="F0")(page)
        _set_mapping(page, None)

    return draw


def private_use() -> Draw:
    """Return a function that types the letter in a font that maps to private-use characters."""

    def draw(page: pymupdf.Page) -> None:
        page.insert_font(fontname="F0", fontbuffer=pymupdf.Font("helv").buffer)
        letter(fontname="F0")(page)
        _set_mapping(
            page,
            b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
            b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
            b"1 beginbfrange <0000> <00ff> <e000> endbfrange\n"
            b"endcmap end end\n",
        )

    return draw


def _set_mapping(page: pymupdf.Page, cmap: bytes | None) -> None:
    document = page.parent
    for xref, *_ in page.get_fonts():
        if cmap is None:
            document.xref_set_key(xref, "ToUnicode", "null")
        else:
            stream = document.get_new_xref()
            document.update_object(stream, "<<>>")
            document.update_stream(stream, cmap)
            document.xref_set_key(xref, "ToUnicode", f"{stream} 0 R")


def logo(rect: pymupdf.Rect = SMALL) -> Draw:
    """Return a function that shows a mark without letters."""
    image = Image.new("L", (300, 200), 255)
    pen = ImageDraw.Draw(image)
    pen.ellipse((20, 20, 180, 180), fill=60)
    pen.polygon([(190, 180), (240, 20), (290, 180)], fill=120)
    return show(png(image), rect)


def photo(rect: pymupdf.Rect | None = None) -> Draw:
    """Return a function that shows soft blobs of light and shade, as a landscape has."""
    rng = np.random.default_rng(11)
    coarse = Image.fromarray(rng.integers(40, 220, (9, 7)).astype(np.uint8))
    return show(png(coarse.resize((700, 900), Image.Resampling.BICUBIC)), rect)


def bars(page: pymupdf.Page) -> None:
    """Draw a bar chart without labels."""
    for number, height in enumerate((120, 260, 90, 310, 200, 240)):
        left = 100 + 70 * number
        page.draw_rect(pymupdf.Rect(left, 600 - height, left + 45, 600), fill=(0.3, 0.4, 0.7))
    page.draw_line((90, 600), (540, 600))


def dirt(page: pymupdf.Page) -> None:
    """Show an empty sheet as scanned: grain, a dark edge, three punch holes, some specks."""
    rng = np.random.default_rng(5)
    paper = np.clip(rng.normal(243, 4, (1100, 850)), 0, 255)
    paper[:, :12] = 30
    rows, cols = np.mgrid[:1100, :850]
    for y in (150, 550, 950):
        paper[(rows - y) ** 2 + (cols - 45) ** 2 < 300] = 40
    for y, x in rng.integers(20, 830, (40, 2)):
        paper[y : y + 3, x : x + 3] = 90
    show(png(Image.fromarray(paper.astype(np.uint8))))(page)


def strokes(page: pymupdf.Page) -> None:
    """Draw the letter as outlines: each glyph a filled path, no text and no picture."""
    svg = page_of(letter()).get_svg_image(text_as_path=True)
    outlines = pymupdf.open("pdf", pymupdf.open("svg", svg.encode()).convert_to_pdf())
    page.show_pdf_page(page.rect, outlines, 0)
