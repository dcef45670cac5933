"""Files with documents inside, dynamic forms, spreadsheets, slides, and what is no document."""

from __future__ import annotations

import io
import random

import pymupdf
from pptx import Presentation
from samples.letter import load
from samples.oddities import junk, line_pdf
from samples.pdf import letter_pdf
from samples.pdfwriter import Canvas, PdfWriter, literal
from samples.word import letter_docx, zip_bytes

from tests.quality.case import Case
from tests.quality.pdf_cases import prose

_ZIP_EXAMPLES = {
    "a/letter.pdf": lambda: letter_pdf(load("cardiologist")),
    "a/letter.docx": lambda: letter_docx(load("deaf_advocates")),
    "note.txt": lambda: b"A note that goes with both letters.",
}


def _embedding(*names: str, portfolio: bool = False) -> bytes:
    cover = "Open this file in a newer reader." if portfolio else "The appendix is attached."
    document = pymupdf.open(stream=line_pdf(cover), filetype="pdf")
    for name in names:
        data = line_pdf(f"Text of the embedded file {name}.")
        document.embfile_add(name, data, filename=name)
    if portfolio:
        catalog = document.pdf_catalog()
        document.xref_set_key(catalog, "Collection", "<</Type/Collection/View/D>>")
    return document.tobytes(no_new_id=True)


def _xfa(static: bool) -> bytes:
    """An XFA form: with a real page, or with only the notice that Adobe's designer puts there."""
    writer, canvas = PdfWriter("form"), Canvas()
    if static:
        prose(canvas)
    else:
        for index, line in enumerate(
            (
                "Please wait...",
                "If this message is not replaced by the proper contents of the document,",
                "your PDF viewer may not be able to display this type of document.",
            )
        ):
            canvas.text(72, 90 + 16 * index, line, "helv", 10)
    writer.add_page(canvas.content())
    template = (
        b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns='
        b'"http://www.xfa.org/schema/xfa-template/2.8/"><subform name="f"/></template></xdp:xdp>'
    )
    xfa = writer.add(b"<<>>", template, deflate=True)
    needs = b"" if static else b"/NeedsRendering true"
    writer.catalog_extra = b"%s/AcroForm<</Fields[]/XFA %d 0 R>>" % (needs, xfa)
    return writer.to_bytes()


def _attached_by_pin() -> bytes:
    """A file attached to a place on the page by a pin, as reviewers do."""
    document = pymupdf.open(stream=line_pdf("See the pin."), filetype="pdf")
    data = line_pdf("Text behind the pin.")
    document[0].add_file_annot((100, 200), data, "pinned.pdf")
    return document.tobytes(no_new_id=True)


def _spreadsheet() -> bytes:
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    rel = "http://schemas.openxmlformats.org/package/2006/relationships"
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    sheet_type = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    strings = ("Clinic", "Visits", "Elm Street", "Ferry Road")
    shared = "".join(f"<si><t>{text}</t></si>" for text in strings)
    rows = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
        '<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>1204</v></c></row>'
        '<row r="3"><c r="A3" t="s"><v>3</v></c><c r="B3"><v>87.5</v></c></row>'
    )
    files = {
        "[Content_Types].xml": f'<Types xmlns="{types}"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        'ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{sheet_type}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{sheet_type}.worksheet+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{sheet_type}.sharedStrings+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{rel}"><Relationship Id="rId1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Visits of 2030" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{rel}"><Relationship Id="rId1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" '
        f'Type="{office}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
        "xl/sharedStrings.xml": f'<sst xmlns="{main}">{shared}</sst>',
    }
    return zip_bytes({name: text.encode() for name, text in files.items()})


def _open_document() -> bytes:
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{office}:office:1.0" '
        f'xmlns:text="{office}:text:1.0" xmlns:table="{office}:table:1.0"><office:body>'
        "<office:text><text:h text:outline-level='1'>Our view</text:h>"
        "<text:p>The ferry runs <text:span>twice</text:span> a day.</text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>Crossing</text:p>"
        "</table:table-cell><table:table-cell><text:p>$14</text:p></table:table-cell>"
        "</table:table-row></table:table></office:text></office:body></office:document-content>"
    )
    manifest = (
        f'<manifest:manifest xmlns:manifest="{office}:manifest:1.0"><manifest:file-entry '
        'manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>'
        "</manifest:manifest>"
    )
    return zip_bytes(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "content.xml": content.encode(),
            "META-INF/manifest.xml": manifest.encode(),
        }
    )


def _slides() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Why we oppose"
    slide.placeholders[1].text_frame.text = "Eleven clinics would close."
    slide.notes_slide.notes_text_frame.text = "Say this slowly."
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Costs"
    cells = slide.shapes.add_table(2, 2, 914400, 1828800, 5486400, 914400).table
    for index, text in enumerate(("Item", "Cost", "Van", "$31,000")):
        cells.cell(index // 2, index % 2).text = text
    buffer = io.BytesIO()
    deck.save(buffer)
    return buffer.getvalue()


def _zip() -> bytes:
    return zip_bytes({name: make() for name, make in _ZIP_EXAMPLES.items()})


def _nested_zip() -> bytes:
    return zip_bytes({"inner.zip": _zip(), "../../escape.txt": b"A name that wants to climb."})


def _wave() -> bytes:
    samples = random.Random(1).randbytes(2000)
    head = b"WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data"
    return (
        b"RIFF"
        + (36 + len(samples)).to_bytes(4, "little")
        + head
        + (len(samples).to_bytes(4, "little") + samples)
    )


def _launcher() -> bytes:
    """A PDF with scripts and actions, of which nothing may be done."""
    writer, canvas = PdfWriter("active"), Canvas()
    prose(canvas)
    writer.add_page(canvas.content())
    script = literal("app.alert('script words'); this.submitForm('http://192.0.2.1/');")
    writer.catalog_extra = b"/OpenAction<</S/JavaScript/JS%s>>" % script
    return writer.to_bytes()


CASES = (
    Case("embedding.pdf", lambda: _embedding("appendix.pdf"), must=(
        "The appendix is attached.", "Text of the embedded file appendix.pdf.")),
    Case("portfolio.pdf", lambda: _embedding("one.pdf", "two.pdf", portfolio=True), must=(
        "Text of the embedded file one.pdf.", "Text of the embedded file two.pdf.")),
    Case("pin.pdf", _attached_by_pin, must=("See the pin.", "Text behind the pin.")),
    Case("xfa-dynamic.pdf", lambda: _xfa(False), "failed", "xfa"),
    Case("xfa-static.pdf", lambda: _xfa(True), must=("Line 6 of the letter",)),
    Case("active.pdf", _launcher, must=("Line 1 of the letter",), must_not=("script words",)),
    Case("visits.xlsx", _spreadsheet, rows=(("Clinic", "Visits"), ("Elm Street", "1204"),
         ("Ferry Road", "87.5"))),
    Case("letter.odt", _open_document, must=("Our view", "The ferry runs twice a day."),
         rows=(("Crossing", "$14"),)),
    Case("slides.pptx", _slides, must=("Why we oppose", "Eleven clinics would close.",
         "Say this slowly."), rows=(("Van", "$31,000"),)),
    Case("letters.zip", _zip, must=("requires no clinical judgment", "In 88 of them the picture",
         "A note that goes with both letters.")),
    Case("nested.zip", _nested_zip, must=("A note that goes with both letters.",
         "A name that wants to climb.")),
    Case("data.xyz", junk, "unsupported", "unknown_kind"),
    Case("sound.wav", _wave, "unsupported", "not_a_document"),
)  # fmt: skip
