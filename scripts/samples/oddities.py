"""Files that go wrong, and kinds of PDF beyond the letter: forms, blanks, junk."""

from __future__ import annotations

import random

from samples.pdfwriter import Canvas, PdfWriter, literal


def blank_pdf(pages: int = 1) -> bytes:
    """Return a PDF of empty pages."""
    writer = PdfWriter("blank")
    for _ in range(pages):
        writer.add_page(b"")
    return writer.to_bytes()


def line_pdf(text: str) -> bytes:
    """Return a PDF of one page that says `text`."""
    writer = PdfWriter(text[:40])
    canvas = Canvas()
    canvas.text(72, 90, text, "helv", 11)
    writer.add_page(canvas.content())
    return writer.to_bytes()


def truncated(data: bytes, share: float = 0.6) -> bytes:
    """Return the first `share` of `data`, as an upload that broke off."""
    return data[: int(len(data) * share)]


def corrupt(seed: int = 3) -> bytes:
    """Return a file that begins as a PDF and goes on as noise, beyond repair."""
    return b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n" + random.Random(seed).randbytes(6000)


def junk(seed: int = 4, size: int = 4096) -> bytes:
    """Return bytes of no known kind."""
    return b"\x00\x01XYZ\x7f" + random.Random(seed).randbytes(size)


def form_pdf(title: str, fields: list[tuple[str, str]]) -> bytes:
    """Return a filled form (AcroForm): a label and a text field for each of `fields`.

    The values stand in the fields alone, not in the page's content, as in any filled form.
    """
    writer = PdfWriter(title)
    canvas = Canvas()
    canvas.text(72, 84, title, "hebo", 14)
    widgets = []
    for index, (label, value) in enumerate(fields):
        y = 130 + 44 * index
        canvas.text(72, y, label, "helv", 11)
        box = (72.0, 792 - y - 26, 540.0, 792 - y - 8)
        look = b"/Tx BMC q BT /helv 10 Tf 0 g 4 5 Td %s Tj ET Q EMC" % literal(value)
        stream = writer.add(
            b"<</Type/XObject/Subtype/Form/BBox[0 0 %g %g]/Resources<</Font %d 0 R>>>>"
            % (box[2] - box[0], box[3] - box[1], writer.fonts),
            look,
            deflate=True,
        )
        widgets.append(
            writer.add(
                b"<</Type/Annot/Subtype/Widget/FT/Tx/F 4/T%s/V%s/DA(/helv 10 Tf 0 g)"
                b"/Rect[%g %g %g %g]/AP<</N %d 0 R>>>>"
                % (literal(f"field{index + 1}"), literal(value), *box, stream)
            )
        )
    refs = b" ".join(b"%d 0 R" % number for number in widgets)
    writer.add_page(canvas.content(), extra=b"/Annots[%s]" % refs)
    writer.catalog_extra = b"/AcroForm<</Fields[%s]/DA(/helv 10 Tf 0 g)/DR<</Font %d 0 R>>>>" % (
        refs,
        writer.fonts,
    )
    return writer.to_bytes()
