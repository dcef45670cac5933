"""PDF: text, structure, what is visible and what is not, forms and annotations."""

from __future__ import annotations

import pymupdf
from samples.letter import load, parse
from samples.oddities import blank_pdf, corrupt, form_pdf, line_pdf, truncated
from samples.pdf import add_letter, letter_pdf
from samples.pdfwriter import Canvas, Lock, PdfWriter, literal

from tests.quality.case import Case

SENTENCE = "The county asks that the visits of its two nurses be paid at cost."
WIDE = """\
from: Fennimore Hospital District
date: July 1, 2031
re: Exhibit of costs
sign: The board

Table 1. Costs with gaps
| Service | 2029 | 2030 | Remark |
| Ambulance | $4,100 | | sold in spring |
| Laboratory | | $9,250 | |
| Night nurse, including the supplement for weekends and public holidays | $61,000 | $64,300 | ok |
| Total | $65,100 | $73,550 | |
"""


def one_page(draw, **page) -> bytes:
    """Return a PDF of one page that `draw(canvas)` fills."""
    writer, canvas = PdfWriter("case"), Canvas()
    draw(canvas)
    writer.add_page(canvas.content(), **page)
    return writer.to_bytes()


def prose(canvas: Canvas, y: float = 90, x: float = 72, lines: int = 6) -> None:
    """Write some lines of ordinary text, numbered so that each is distinct."""
    for index in range(lines):
        text = f"Line {index + 1} of the letter says what the hospital needs and why."
        canvas.text(x, y + 15 * index, text, "helv", 11)


def _shadow(canvas: Canvas) -> None:
    prose(canvas, 200)
    for shift in (0.0, 0.6):
        canvas.text(72 + shift, 120 + shift, "Statement of the Shadow Committee", "hebo", 16)


def _hidden(canvas: Canvas) -> None:
    prose(canvas)
    canvas.text(72, 300, "invisible keyword stuffing", "helv", 11, extra="3 Tr")
    canvas.raw("0 Tr")


def _blacked_out(canvas: Canvas) -> None:
    prose(canvas)
    canvas.text(72, 300, "The call came from Leopold Fanshawe on Monday.", "helv", 11)
    canvas.raw("0 g 168 489 94 11 re f")


def _off_page(canvas: Canvas) -> None:
    prose(canvas)
    canvas.text(700, 300, "beyond the edge of the paper", "helv", 11)


def _columns(canvas: Canvas) -> None:
    left = ("In the left column we say", "that beds are short, and", "that nurses are tired.")
    right = ("In the right column we ask", "for a delay of one year,", "and for a clear form.")
    for x, lines in ((72, left), (330, right)):
        for index, line in enumerate(lines):
            canvas.text(x, 100 + 14 * index, line, "tiro", 11)


def _turned(canvas: Canvas) -> None:
    """Text set at a right angle, for a page that is shown turned."""
    for index in range(4):
        place = f"BT /helv 11 Tf 0 1 -1 0 {100 + 15 * index} 90 Tm "
        text = literal(f"Row {index + 1}: this page is read with the head on the left.")
        canvas.raw(place.encode() + text + b" Tj ET")


def _portrait_rotated() -> bytes:
    document = pymupdf.open(stream=letter_pdf(load("auditor")), filetype="pdf")
    for page in document:
        page.set_rotation(270)
    return document.tobytes(no_new_id=True)


def _cropped() -> bytes:
    def draw(canvas: Canvas) -> None:
        prose(canvas)
        canvas.text(72, 760, "printer's note below the crop", "helv", 9)

    return one_page(draw, extra=b"/CropBox[0 100 612 792]")


def _switched_off() -> bytes:
    document = pymupdf.open(stream=one_page(prose), filetype="pdf")
    layer = document.add_ocg("draft", on=False)
    document[0].insert_text((72, 400), "watermark of an old draft", oc=layer)
    return document.tobytes(no_new_id=True)


def _annotated(kind: str) -> bytes:
    document = pymupdf.open(stream=one_page(prose), filetype="pdf")
    page = document[0]
    text = "Typed onto the form: we disagree with part four."
    page.add_freetext_annot((72, 300, 500, 330), text, fontsize=11)
    data = document.tobytes(no_new_id=True)
    if kind == "appearance":
        return data
    document = pymupdf.open(stream=data, filetype="pdf")
    for xref in range(1, document.xref_length()):
        if document.xref_get_key(xref, "Subtype")[1] == "/FreeText":
            document.xref_set_key(xref, "AP", "null")
    return document.tobytes(no_new_id=True)


def _hidden_field() -> bytes:
    document = pymupdf.open(
        stream=form_pdf(
            "Form", [("Name", "Rosamund Pike-Hale"), ("Secret", "internal routing 77")]
        ),
        filetype="pdf",
    )
    for widget in document[0].widgets():
        if widget.field_name == "field2":
            document.xref_set_key(widget.xref, "F", "2")
    return document.tobytes(no_new_id=True)


def _checked() -> bytes:
    document = pymupdf.open(stream=one_page(prose), filetype="pdf")
    page = document[0]
    for index, (kind, value, y) in enumerate(
        (
            (pymupdf.PDF_WIDGET_TYPE_COMBOBOX, "Oppose", 300),
            (pymupdf.PDF_WIDGET_TYPE_TEXT, "first line of the answer\nsecond line of it", 340),
        )
    ):
        widget = pymupdf.Widget()
        widget.field_name = f"w{index}"
        widget.field_type = kind
        widget.rect = pymupdf.Rect(200, y, 480, y + 36)
        if kind == pymupdf.PDF_WIDGET_TYPE_COMBOBOX:
            widget.choice_values = ["Support", "Oppose", "Neutral"]
        else:
            widget.field_flags = pymupdf.PDF_TX_FIELD_IS_MULTILINE
        widget.field_value = value
        page.add_widget(widget)
    return document.tobytes(no_new_id=True)


def _html(html: str) -> bytes:
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    page.insert_htmlbox((72, 72, 540, 720), html)
    document.subset_fonts()
    return document.tobytes(garbage=3, deflate=True, no_new_id=True)


def _incremental() -> bytes:
    """A file saved twice: the second version appended, with its own table of objects."""
    data = one_page(lambda canvas: canvas.text(72, 90, "An early draft.", "helv", 11))
    document = pymupdf.open(stream=data, filetype="pdf")
    fresh = Canvas()
    prose(fresh)
    xref = document[0].get_contents()[0]
    stream = fresh.content()
    start = data.rindex(b"startxref\n") + 10
    previous = int(data[start : data.index(b"\n", start)])
    out = data + b"%d 0 obj\n<</Length %d>>\nstream\n" % (xref, len(stream))
    offset = len(data)
    out += stream + b"\nendstream\nendobj\n"
    table = len(out)
    trailer = data[data.rindex(b"trailer\n<<") + 10 : data.rindex(b">>\nstartxref")]
    out += b"xref\n%d 1\n%010d 00000 n \ntrailer\n<<%s/Prev %d>>\nstartxref\n%d\n%%%%EOF\n" % (
        xref,
        offset,
        trailer,
        previous,
        table,
    )
    return out


def _long(pages: int) -> bytes:
    writer = PdfWriter("Long")
    for number in range(1, pages + 1):
        canvas = Canvas()
        canvas.text(72, 60, "Docket exhibit", "helv", 9)
        prose(canvas)
        canvas.text(72, 300, f"This is sheet {number} of the exhibit.", "helv", 11)
        canvas.text(280, 770, f"- {number} -", "helv", 9)
        writer.add_page(canvas.content())
    return writer.to_bytes()


def _cover_and_blank() -> bytes:
    writer = PdfWriter("letter")
    add_letter(writer, load("form_letter"))
    writer.add_page(b"")
    return writer.to_bytes()


def _no_pages() -> bytes:
    return PdfWriter("none").to_bytes()


_AUDIT_ROW = ("Rent", "488", "$41,220,600", "58.9%")
_FORM = [("Name of the commenter", "Anselm Kirkbride"), ("Position", "Oppose in part")]

CASES = (
    Case(
        "letter.pdf",
        lambda: letter_pdf(load("auditor")),
        must=("A threshold of $25,000 would remove 1,071 lines", "Sunniva Lindgren, CPA"),
        once=("A payment that passes through an unrelated company",),
        rows=(_AUDIT_ROW, ("Total", "1,904", "$70,025,450", "100.0%")),
    ),
    Case(
        "footnotes.pdf",
        lambda: letter_pdf(load("legal_aid")),
        must=("In two cases the notice was posted after the appeal period had ended.",),
        rows=(("Low German", "48", "0", "19%"), ("Language of the client", "Cases")),
    ),
    Case(
        "gaps.pdf",
        lambda: letter_pdf(parse(WIDE)),
        rows=(
            ("Ambulance", "$4,100", "", "sold in spring"),
            ("Laboratory", "", "$9,250"),
            ("Total", "$65,100", "$73,550", ""),
        ),
        must=("Night nurse, including the supplement",),
    ),
    Case("columns.pdf", lambda: one_page(_columns), must=(
        "In the left column we say that beds are short, and that nurses are tired.",
        "In the right column we ask for a delay of one year, and for a clear form.",
    )),
    Case("short.pdf", lambda: line_pdf("I agree."), must=("I agree.",)),
    Case("long.pdf", lambda: _long(60), must=("This is sheet 1 of", "This is sheet 60 of")),
    Case("blank.pdf", blank_pdf, reason="blank"),
    Case("blank-after-text.pdf", _cover_and_blank, must=("I urge you to keep care at home.",)),
    Case("shadow.pdf", lambda: one_page(_shadow), once=("Statement of the Shadow Committee",)),
    Case("hidden.pdf", lambda: one_page(_hidden), must=("Line 6 of the letter",),
         must_not=("invisible keyword stuffing",)),
    Case("blacked-out.pdf", lambda: one_page(_blacked_out), must=("The call came from",),
         must_not=("Fanshawe",)),
    Case("off-page.pdf", lambda: one_page(_off_page), must=("Line 1 of the letter",),
         must_not=("beyond the edge of the paper",)),
    Case("cropped.pdf", _cropped, must=("Line 6 of the letter",),
         must_not=("printer's note below the crop",)),
    Case("layer-off.pdf", _switched_off, must=("Line 2 of the letter",),
         must_not=("watermark of an old draft",)),
    Case("turned.pdf", lambda: one_page(_turned, rotate=90), must=(
        "Row 1: this page is read with the head on the left.", "Row 4: this page is read")),
    Case("rotated-270.pdf", _portrait_rotated, rows=(_AUDIT_ROW,)),
    Case("form.pdf", lambda: form_pdf("Public comment form", _FORM), order=(
        "Name of the commenter", "Anselm Kirkbride", "Position", "Oppose in part")),
    Case("form-choices.pdf", _checked, must=("Oppose", "second line of it"),
         once=("first line of the answer",)),
    Case("form-hidden-field.pdf", _hidden_field, must=("Rosamund Pike-Hale",),
         must_not=("internal routing 77",)),
    Case("freetext.pdf", lambda: _annotated("appearance"),
         once=("Typed onto the form: we disagree with part four.",)),
    Case("freetext-bare.pdf", lambda: _annotated("bare"),
         once=("Typed onto the form: we disagree with part four.",)),
    Case("hebrew.pdf", lambda: _html(
        "<p dir='rtl'>אני תומך בכלל המוצע ומבקש לדחות את תחילתו בשנה אחת.</p>"),
        must=("אני תומך בכלל המוצע", "בשנה אחת")),
    Case("chinese.pdf", lambda: _html("<p>我们支持这项规则，但请推迟一年实施。</p>"),
         must=("我们支持这项规则",), nospace=True),
    Case("incremental.pdf", _incremental, must=("Line 3 of the letter",),
         must_not=("An early draft.",)),
    Case("junk-before-header.pdf", lambda: b"\r\n\r\nX-Mailer: 7\r\n" + one_page(prose),
         must=("Line 4 of the letter",)),
    Case("pdf-named.docx", lambda: one_page(prose), must=("Line 4 of the letter",)),
    Case("locked.pdf", lambda: letter_pdf(load("cardiologist"), Lock()),
         must=("requires no clinical judgment",)),
    Case("password.pdf", lambda: letter_pdf(load("cardiologist"), Lock(user="heart")),
         "failed", "encrypted"),
    Case("truncated.pdf", lambda: truncated(_long(40), 0.8), must=("This is sheet 1 of",)),
    Case("truncated-early.pdf", lambda: truncated(letter_pdf(load("ombudsman")), 0.5),
         "failed", "corrupt"),
    Case("corrupt.pdf", corrupt, "failed", "corrupt"),
    Case("empty.pdf", bytes, "failed", "empty_file"),
    Case("header-only.pdf", lambda: b"%PDF-1.4\n", "failed"),
    Case("no-pages.pdf", _no_pages, "failed", "no_pages"),
)  # fmt: skip
