"""PDF: what programs in the wild do to text, pictures and structure."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pymupdf
from PIL import Image
from samples.letter import load
from samples.oddities import form_pdf, line_pdf
from samples.pdf import letter_pages, letter_pdf
from samples.pdfwriter import Canvas, PdfWriter, literal, width
from samples.scan import Scanner, jpeg

from tests.quality.case import Case
from tests.quality.pdf_cases import one_page, prose
from tests.quality.scan_cases import DPI

_LINE = "Every hospital in the county has asked for the same delay."
_NEEDED = "ocr_needed"


def _scan_image(name: str = "county_health") -> Image.Image:
    return Scanner(dpi=DPI, noise=2.0).scan(letter_pdf(load(name)))[0]


def _glyph_by_glyph(canvas: Canvas) -> None:
    """Each glyph placed by itself and no blank written, as some typesetters do."""
    for row in range(8):
        x = 72.0
        for char in _LINE:
            if char != " ":
                canvas.text(x, 90 + 16 * row, char, "helv", 11)
            x += width(char, "helv", 11)


def _watermark(canvas: Canvas) -> None:
    prose(canvas, lines=10)
    c, s = math.cos(math.radians(40)), math.sin(math.radians(40))
    canvas.raw(
        f"q 0.85 g BT /hebo 90 Tf {c:.3f} {s:.3f} {-s:.3f} {c:.3f} 150 330 Tm (DRAFT) Tj ET Q"
    )


def _upside_down(canvas: Canvas) -> None:
    for row in range(5):
        place = f"BT /helv 11 Tf -1 0 0 -1 540 {90 + 15 * row} Tm "
        canvas.raw(place.encode() + literal(f"Line {row + 1}. {_LINE}") + b" Tj ET")


def _wrong_unicode() -> bytes:
    """A font whose table of characters is shifted: the page is right, its text is not."""
    data = letter_pdf(load("cardiologist"))
    pairs = "".join(
        f"<{code:02x}> <{code + (3 if code < 120 else -9):04x}>\n" for code in range(97, 123)
    )
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /x def "
        "/CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange "
        f"26 beginbfchar\n{pairs}endbfchar endcmap end end"
    )
    document = pymupdf.open(stream=data, filetype="pdf")
    cmap = document.get_new_xref()
    document.update_object(cmap, "<<>>")
    document.update_stream(cmap, table.encode())
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "Type")[1] == "/Font":
            document.xref_set_key(xref, "ToUnicode", f"{cmap} 0 R")
    return document.tobytes(no_new_id=True)


def _strips() -> bytes:
    """A scan cut into strips, as old scanner drivers write it."""
    image = _scan_image()
    writer, canvas, names = PdfWriter("strips"), Canvas(), {}
    step = 44
    for top in range(0, image.height, step):
        part = image.crop((0, top, image.width, min(top + step, image.height)))
        names[f"s{top}"] = writer.add_jpeg(jpeg(part), part.size)
        y, h = top * 72 / DPI, part.height * 72 / DPI
        canvas.image(f"s{top}", 0, y, 612, h)
    writer.add_page(canvas.content(), images=names)
    return writer.to_bytes()


def _mask() -> bytes:
    """A scan as a one-bit stencil, painted black."""
    bits = np.packbits(np.asarray(_scan_image()) < 140, axis=1)
    size = _scan_image().size
    writer, canvas = PdfWriter("mask"), Canvas()
    head = (
        b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ImageMask true/BitsPerComponent 1"
        b"/Decode[1 0]>>" % size
    )
    stencil = writer.add(head, bits.tobytes(), deflate=True)
    canvas.image("scan", 0, 0, 612, 792)
    writer.add_page(canvas.content(), images={"scan": stencil})
    return writer.to_bytes()


def _inline_image() -> bytes:
    image = _scan_image()
    data = zlib.compress(image.tobytes())
    head = f"q 612 0 0 792 0 0 cm BI /W {image.width} /H {image.height} /CS /G /BPC 8 /F /Fl ID "
    writer = PdfWriter("inline")
    writer.add_page(head.encode() + data + b"\nEI Q")
    return writer.to_bytes()


def _picture_page(image: Image.Image, draw, x: float, y: float, w: float, h: float) -> bytes:
    writer, canvas = PdfWriter("picture"), Canvas()
    canvas.image("picture", x, y, w, h)
    draw(canvas)
    picture = writer.add_jpeg(jpeg(image, 60), image.size)
    writer.add_page(canvas.content(), images={"picture": picture})
    return writer.to_bytes()


def _signature() -> bytes:
    """A typed letter with the picture of a signature: nothing in it for OCR."""
    side = np.full((90, 360), 255, np.uint8)
    t = np.linspace(0, 1, 4000)
    xs = (20 + 310 * t + 14 * np.sin(40 * t)).astype(int)
    ys = (45 + 30 * np.sin(23 * t) * np.cos(5 * t)).astype(int)
    for dx in (0, 1, 2):
        side[ys, xs + dx] = 30
    return _picture_page(
        Image.fromarray(side), lambda canvas: prose(canvas, lines=20), 72, 420, 144, 36
    )


def _background() -> bytes:
    """Typed text on a full-page picture of soft colour, as slides and flyers have."""
    rows = np.linspace(255, 205, 800, dtype=np.float32)[:, None]
    image = Image.fromarray(np.repeat(rows, 600, 1).astype(np.uint8))
    return _picture_page(image, lambda canvas: prose(canvas, lines=25), 0, 0, 612, 792)


def _typed_on_scan() -> bytes:
    """A scanned form whose printed questions are a picture, the answers typed over it."""

    def answers(canvas: Canvas) -> None:
        for index in range(6):
            canvas.text(330, 420 + 30 * index, f"Answer {index + 1}: we disagree", "helv", 10)

    return _picture_page(_scan_image(), answers, 0, 0, 612, 792)


def _court_header() -> bytes:
    writer = PdfWriter("filed")
    image = _scan_image()
    picture = writer.add_jpeg(jpeg(image), image.size)
    for number in range(1, 5):
        canvas = Canvas()
        canvas.image("scan", 0, 0, 612, 792)
        canvas.text(60, 14, f"Case 2:31-cv-00417-ABC   Document 88-{number}   Filed 06/14/31   "
                    f"Page {number} of 4   PageID #: {1200 + number}", "helv", 9)  # fmt: skip
        canvas.text(60, 784, f"RECEIVED BY THE DOCKET CENTER   REG-{31000 + number}", "cour", 8)
        writer.add_page(canvas.content(), images={"scan": picture})
    return writer.to_bytes()


def _footer_only_page() -> bytes:
    writer = PdfWriter("report")
    for number in range(1, 4):
        canvas = Canvas()
        canvas.text(280, 770, f"Page {number} of 3", "helv", 9)
        if number != 2:
            prose(canvas)
        writer.add_page(canvas.content())
    return writer.to_bytes()


def _bars(canvas: Canvas) -> None:
    prose(canvas)
    canvas.text(72, 240, "Figure 1. Beds by year", "hebo", 10)
    for index, height in enumerate((60, 90, 75, 120, 140)):
        canvas.raw(f"0.4 0.5 0.8 rg {90 + 60 * index} 380 36 {height} re f 0 g")
        canvas.text(92 + 60 * index, 424, str(2026 + index), "helv", 9)


def _borderless(canvas: Canvas) -> None:
    rows = (
        ("Service", "Visits", "Cost", "Per visit"),
        ("Wound care", "1,204", "$61,400", "$51.00"),
        ("Infusion", "310", "$88,970", "$287.00"),
        ("Physical therapy", "2,051", "$143,570", "$70.00"),
        ("Speech therapy", "77", "$6,930", "$90.00"),
        ("Total", "3,642", "$300,870", "$82.61"),
    )
    prose(canvas, lines=4)
    for index, row in enumerate(rows):
        y = 190 + 18 * index
        canvas.text(72, y, row[0], "helv", 10)
        for column, cell in enumerate(row[1:]):
            right = 270 + 90 * column
            canvas.text(right - width(cell, "helv", 10), y, cell, "helv", 10)
    canvas.text(72, 330, "The figures are of the fiscal year that ended in June.", "helv", 11)


def _broken(kind: str) -> bytes:
    data = letter_pdf(load("cardiologist"))
    if kind == "startxref":
        start = data.rindex(b"startxref")
        return data[:start] + b"startxref\n99999999\n%%EOF\n"
    if kind == "offsets":
        return data.replace(b"%PDF-1.6\n", b"%PDF-1.6\n% a line that a mail gateway put in\n", 1)
    return data.replace(b"endobj", b"ENDOBJ").replace(b"/Length ", b"/Length 9")


def _saved(**choices) -> bytes:
    with pymupdf.open(stream=letter_pdf(load("cardiologist")), filetype="pdf") as document:
        return document.tobytes(**choices)


def _page_loop() -> bytes:
    """A page tree whose branch leads back to its root: reading must end."""
    data = line_pdf(_LINE)
    return data.replace(b"/Kids[", b"/Kids[2 0 R ", 1)


def _form_without_looks() -> bytes:
    data = form_pdf("Comment form", [("Name", "Ingeborg Haas"), ("View", "Opposed, with reasons")])
    document = pymupdf.open(stream=data, filetype="pdf")
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "Subtype")[1] == "/Widget":
            document.xref_set_key(xref, "AP", "null")
    return document.tobytes(no_new_id=True)


def _sticky_note() -> bytes:
    document = pymupdf.open(stream=one_page(prose), filetype="pdf")
    document[0].add_text_annot((500, 100), "Reviewer: the county disagrees here.")
    return document.tobytes(no_new_id=True)


def _typewriter_on_scan() -> bytes:
    document = pymupdf.open(
        stream=_picture_page(_scan_image(), lambda canvas: None, 0, 0, 612, 792), filetype="pdf"
    )
    document[0].add_freetext_annot((72, 560, 500, 590), "Typed over the scan: objection noted.")
    return document.tobytes(no_new_id=True)


def _in_form_object() -> bytes:
    """The page's text lies in a form that the page's content only calls."""
    (content,) = letter_pages(load("cardiologist"))
    writer = PdfWriter("nested")
    head = b"<</Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font %d 0 R>>>>"
    form = writer.add(head % writer.fonts, content, deflate=True)
    writer.add_page(b"q /body Do Q", images={"body": form})
    return writer.to_bytes()


_CLINIC = "Please keep codes 93295 and 93296 apart"

CASES = (
    Case("glyphs.pdf", lambda: one_page(_glyph_by_glyph), must=(_LINE,)),
    Case("watermark.pdf", lambda: one_page(_watermark), must=(
        "Line 1 of the letter says what the hospital needs and why.",
        "Line 5 of the letter says what the hospital needs and why.")),
    Case("upside-down.pdf", lambda: one_page(_upside_down), order=(
        f"Line 1. {_LINE}", f"Line 5. {_LINE}")),
    Case("wrong-unicode.pdf", _wrong_unicode, _NEEDED, "garbled", ocr_pages=(1,)),
    Case("strips.pdf", _strips, _NEEDED, ocr_pages=(1,)),
    Case("stencil.pdf", _mask, _NEEDED, ocr_pages=(1,)),
    Case("inline-image.pdf", _inline_image, _NEEDED, ocr_pages=(1,)),
    Case("signature.pdf", _signature, must=("Line 20 of the letter",)),
    Case("background.pdf", _background, must=("Line 25 of the letter",)),
    Case("typed-on-scan.pdf", _typed_on_scan, _NEEDED, ocr_pages=(1,),
         must=("Answer 6: we disagree",)),
    Case("typewriter-on-scan.pdf", _typewriter_on_scan, _NEEDED, ocr_pages=(1,),
         must=("Typed over the scan: objection noted.",)),
    Case("court-header.pdf", _court_header, _NEEDED, ocr_pages=(1, 2, 3, 4)),
    Case("footer-only-page.pdf", _footer_only_page, must=("Line 6 of the letter",)),
    Case("chart.pdf", lambda: one_page(_bars), must=("Figure 1. Beds by year",)),
    Case("borderless.pdf", lambda: one_page(_borderless), rows=(
        ("Service", "Visits", "Cost", "Per visit"), ("Infusion", "310", "$88,970", "$287.00"),
        ("Total", "3,642", "$300,870", "$82.61")),
        must=("The figures are of the fiscal year that ended in June.",)),
    Case("bad-startxref.pdf", lambda: _broken("startxref"), must=(_CLINIC,)),
    Case("bad-offsets.pdf", lambda: _broken("offsets"), must=(_CLINIC,)),
    Case("bad-lengths.pdf", lambda: _broken("lengths"), must=(_CLINIC,), also=("failed",)),
    Case("object-streams.pdf", lambda: _saved(use_objstms=1, garbage=3), must=(_CLINIC,)),
    Case("aes-owner.pdf", lambda: _saved(encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o"),
         must=(_CLINIC,)),
    Case("aes-user.pdf", lambda: _saved(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u"),
         "failed", "encrypted"),
    Case("page-loop.pdf", _page_loop, also=("failed",), must=(_LINE,)),
    Case("form-without-looks.pdf", _form_without_looks, order=(
        "Name", "Ingeborg Haas", "View", "Opposed, with reasons")),
    Case("sticky-note.pdf", _sticky_note, once=("Reviewer: the county disagrees here.",)),
    Case("form-object.pdf", _in_form_object, once=(_CLINIC,)),
)  # fmt: skip
