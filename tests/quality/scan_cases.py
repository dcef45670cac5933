"""Pages that need OCR, pages that only look so, and pictures."""

from __future__ import annotations

import io
from functools import cache

import pymupdf
from PIL import Image, ImageDraw
from samples.letter import load
from samples.pdf import add_letter, letter_pages, letter_pdf
from samples.pdfwriter import Canvas, PdfWriter
from samples.scan import Scanner, add_scans, jpeg, photo, scan_pdf, scan_tiff
from samples.word import letter_docx, package, paragraph, picture, picture_docx, run

from tests.quality.case import Case
from tests.quality.pdf_cases import one_page, prose

DPI = 100  # enough to read, a quarter of the work of 200
_LETTER = "cardiologist"
_FAX = ("06/11/2031 09:12  FROM: NORTH CLINIC  555-0107   P.{page}/{pages}",)


@cache
def _scans(name: str = _LETTER, turns: int = 0) -> tuple[Image.Image, ...]:
    return tuple(Scanner(dpi=DPI, quarter_turns=turns, noise=2.0).scan(letter_pdf(load(name))))


def _scan(*, turns: int = 0, rotate: int = 0, stamp: tuple[str, ...] = (), pages: int = 1) -> bytes:
    writer = PdfWriter("scan")
    add_scans(writer, list(_scans(turns=turns)) * pages, dpi=DPI, rotate=rotate, stamp=stamp)
    return writer.to_bytes()


def _mixed() -> bytes:
    writer = PdfWriter("mixed")
    add_letter(writer, load("valley_cover"))
    add_scans(writer, list(_scans()), dpi=DPI)
    writer.add_page(b"")
    add_letter(writer, load("form_letter"))
    return writer.to_bytes()


def _layer(good: bool) -> bytes:
    """A scan with an invisible text layer, as OCR programs write it, right or junk."""
    name = "county_health"
    (content,) = letter_pages(load(name))
    if not good:
        shift = bytes.maketrans(b"etaoinshrdlu", b"~1l;|'}!{:,^")
        parts = content.split(b"(")
        for index in range(1, len(parts)):
            text, close, rest = parts[index].partition(b") Tj")
            parts[index] = text.translate(shift).replace(b" ", b" . ") + close + rest
        content = b"(".join(parts)
    writer, canvas = PdfWriter("layer"), Canvas()
    (image,) = Scanner(dpi=DPI, skew=0.0, noise=2.0).scan(letter_pdf(load(name)))
    canvas.image("scan", 0, 0, 612, 792)
    canvas.raw("q 3 Tr")
    canvas.raw(content)
    canvas.raw("Q")
    picture = writer.add_jpeg(jpeg(image), image.size)
    writer.add_page(canvas.content(), images={"scan": picture})
    return writer.to_bytes()


def _without_unicode() -> bytes:
    """Text in an embedded font whose glyphs have no character codes."""
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    writer = pymupdf.TextWriter(page.rect)
    font = pymupdf.Font("tiro")
    for index in range(20):
        text = f"Line {index} cannot be copied out of this file although it is printed well."
        writer.append((72, 90 + 18 * index), text, font=font)
    writer.write_text(page)
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "ToUnicode")[0] != "null":
            document.xref_set_key(xref, "ToUnicode", "null")
    return document.tobytes(garbage=3, deflate=True, no_new_id=True)


def _outlines() -> bytes:
    """A page whose letters are drawn as shapes, as some design programs export them."""
    with pymupdf.open(stream=letter_pdf(load(_LETTER)), filetype="pdf") as source:
        svg = source[0].get_svg_image(text_as_path=True)
    with pymupdf.open(stream=svg.encode("utf-8"), filetype="svg") as drawing:
        return drawing.convert_to_pdf()


def _screenshot() -> bytes:
    """A typed page with the picture of a letter pasted into it."""
    writer, canvas = PdfWriter("pasted"), Canvas()
    prose(canvas)
    canvas.image("shot", 72, 220, 468, 308)
    image = _scans("county_health")[0].crop((0, 0, 850, 560))
    shot = writer.add_jpeg(jpeg(image, 60), image.size)
    writer.add_page(canvas.content(), images={"shot": shot})
    return writer.to_bytes()


@cache
def _logo() -> Image.Image:
    image = Image.new("L", (240, 240), 255)
    draw = ImageDraw.Draw(image)
    draw.ellipse((20, 20, 220, 220), fill=90)
    draw.rectangle((100, 50, 140, 190), fill=255)
    draw.rectangle((50, 100, 190, 140), fill=255)
    return image


def _with_logo() -> bytes:
    writer, canvas = PdfWriter("logo"), Canvas()
    canvas.image("logo", 72, 30, 48, 48)
    prose(canvas, 120, lines=12)
    logo = writer.add_jpeg(jpeg(_logo(), 80), _logo().size)
    writer.add_page(canvas.content(), images={"logo": logo})
    return writer.to_bytes()


def _logo_docx() -> bytes:
    body = picture("rId6", (0.6, 0.6)) + paragraph(run("The letter under the logo is typed."))
    return package(body, media={"word/media/image1.jpg": jpeg(_logo(), 80)})


def _picture(kind: str, image: Image.Image | None = None) -> bytes:
    buffer = io.BytesIO()
    (image or _scans()[0]).save(buffer, kind)
    return buffer.getvalue()


def _paper() -> bytes:
    image = Image.new("L", (850, 1100), 252)
    return _picture("PNG", image)


def _two_page_tiff() -> bytes:
    scanner = Scanner(dpi=DPI, noise=1.0)
    return scan_tiff(letter_pdf(load("auditor")), scanner)


def _photographed() -> bytes:
    image = photo(letter_pdf(load("patient_infusion")))
    return picture_docx(("My letter is in the picture.",), jpeg(image, 45), (6.0, 7.9))


_NEEDED = "ocr_needed"

CASES = (
    Case("scan.pdf", _scan, _NEEDED, "scanned", ocr_pages=(1,)),
    Case("scan-turned.pdf", lambda: _scan(turns=1), _NEEDED, ocr_pages=(1,)),
    Case("scan-rotate-180.pdf", lambda: _scan(rotate=180), _NEEDED, ocr_pages=(1,)),
    Case("scan-faxed.pdf", lambda: _scan(stamp=_FAX, pages=3), _NEEDED, ocr_pages=(1, 2, 3)),
    Case("scan-200dpi.pdf", lambda: scan_pdf(letter_pdf(load("daughter"))), _NEEDED,
         ocr_pages=(1,)),
    Case("mixed.pdf", _mixed, _NEEDED, "mixed", ocr_pages=(2,), must=(
        "The Council asks that the statement be entered", "I urge you to keep care at home.")),
    Case("layer-good.pdf", lambda: _layer(True), once=(
        "The budget of the department is $611,000.",)),
    Case("layer-junk.pdf", lambda: _layer(False), _NEEDED, ocr_pages=(1,)),
    Case("no-unicode.pdf", _without_unicode, _NEEDED, "garbled", ocr_pages=(1,)),
    Case("outlines.pdf", _outlines, _NEEDED, ocr_pages=(1,)),
    Case("screenshot.pdf", _screenshot, _NEEDED, ocr_pages=(1,), must=("Line 6 of the letter",)),
    Case("logo.pdf", _with_logo, must=("Line 12 of the letter",)),
    Case("ruled-paper.pdf", lambda: one_page(
        lambda canvas: [canvas.line(72, y, 540, y, 0.3) for y in range(80, 720, 20)])),
    Case("scan.jpg", lambda: jpeg(_scans()[0], 50), _NEEDED, "image", ocr_pages=(1,)),
    Case("scan.png", lambda: _picture("PNG"), _NEEDED, "image", ocr_pages=(1,)),
    Case("scan.gif", lambda: _picture("GIF"), _NEEDED, "image", ocr_pages=(1,)),
    Case("scan.bmp", lambda: _picture("BMP"), _NEEDED, "image", ocr_pages=(1,)),
    Case("scan.tif", _two_page_tiff, _NEEDED, "image", ocr_pages=(1, 2)),
    Case("white.png", _paper),
    Case("damaged.jpg", lambda: jpeg(_scans()[0], 50)[:300], "failed"),
    Case("photographed.docx", _photographed, _NEEDED, must=("My letter is in the picture.",),
         ocr_pages=(1,)),
    Case("logo.docx", _logo_docx, must=("The letter under the logo is typed.",)),
    Case("letter-named.pdf", lambda: letter_docx(load("pharmacist")),
         must=("The word “pump” should include elastomeric devices",)),
)  # fmt: skip
