"""Small files of every kind that the readers know, written by the tests themselves."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage

from ole_files import excel_file, message_file, powerpoint_file, word_file
from PIL import Image, ImageDraw

LETTER = "The hospital association supports the proposed rule on outpatient payment."
_CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{}</Types>'
)
_OVERRIDE = '<Override PartName="{}" ContentType="application/vnd.{}+xml"/>'
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    "{}</Relationships>"
)
_RELATION = (
    '<Relationship Id="{}" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/{}" Target="{}"/>'
)


def zipped(members: dict[str, bytes | str], *, stored: bool = False) -> bytes:
    """Return a zip archive with these members, in this order."""
    out = io.BytesIO()
    method = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def presentation(
    slides: list[str], notes: dict[int, str] | None = None, media: dict[str, bytes] | None = None
) -> bytes:
    """Return a PPTX whose slides have these shape trees (inner XML); notes by slide from 0.

    A slide may show `media` through relationships named like the files.
    """
    spaces = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    )
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in range(len(slides)))
    parts: dict[str, bytes | str] = {
        "[Content_Types].xml": _CONTENT_TYPES.format(
            _OVERRIDE.format(
                "/ppt/presentation.xml",
                "openxmlformats-officedocument.presentationml.presentation.main",
            )
        ),
        "_rels/.rels": _RELATIONS.format(
            _RELATION.format("r1", "officeDocument", "ppt/presentation.xml")
        ),
        "ppt/presentation.xml": f"<p:presentation {spaces}><p:sldIdLst>{ids}</p:sldIdLst>"
        '<p:sldSz cx="9144000" cy="6858000"/></p:presentation>',
        "ppt/_rels/presentation.xml.rels": _RELATIONS.format(
            "".join(
                _RELATION.format(f"s{n}", "slide", f"slides/slide{n}.xml")
                for n in range(len(slides))
            )
        ),
    }
    for number, inner in enumerate(slides):
        parts[f"ppt/slides/slide{number}.xml"] = (
            f"<p:sld {spaces}><p:cSld><p:spTree>{inner}</p:spTree></p:cSld></p:sld>"
        )
        relations = "".join(_RELATION.format(m, "image", f"../media/{m}") for m in media or {})
        if notes and number in notes:
            relations += _RELATION.format("n", "notesSlide", f"../notes/n{number}.xml")
            parts[f"ppt/notes/n{number}.xml"] = (
                f"<p:notes {spaces}><p:cSld><p:spTree>{shape(notes[number], 'body')}"
                f"{shape('7', 'sldNum')}</p:spTree></p:cSld></p:notes>"
            )
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = _RELATIONS.format(relations)
    for name, data in (media or {}).items():
        parts[f"ppt/media/{name}"] = data
    return zipped(parts)


def shape(text: str, placeholder: str = "") -> str:
    """Return a shape with `text`, a paragraph per line."""
    mark = f'<p:nvPr><p:ph type="{placeholder}"/></p:nvPr>' if placeholder else "<p:nvPr/>"
    paragraphs = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("\n"))
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="1" name="x"/>{mark}</p:nvSpPr>'
        f"<p:txBody>{paragraphs}</p:txBody></p:sp>"
    )


def opendocument(body: str, kind: str = "text", extra: dict[str, str] | None = None) -> bytes:
    """Return an OpenDocument file with `body` as the XML inside office:text."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "text", "table", "style", "presentation")
    )
    spaces += (
        ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    content = (
        f"<office:document-content {spaces}><office:body><office:{kind}>{body}"
        f"</office:{kind}></office:body></office:document-content>"
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content,
            **(extra or {}),
        },
        stored=True,
    )


def workbook(rows: list[list[str | float]], name: str = "Costs", hidden: bool = False) -> bytes:
    """Return an XLSX with one sheet of inline strings and numbers."""
    cells = "".join(
        f'<row r="{r}">'
        + "".join(
            f'<c r="{chr(64 + c)}{r}" t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c r="{chr(64 + c)}{r}"><v>{value}</v></c>'
            for c, value in enumerate(row, 1)
        )
        + "</row>"
        for r, row in enumerate(rows, 1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    state = ' state="hidden"' if hidden else ""
    return zipped(
        {
            "[Content_Types].xml": _CONTENT_TYPES.format(
                _OVERRIDE.format(
                    "/xl/workbook.xml", "openxmlformats-officedocument.spreadsheetml.sheet.main"
                )
            ),
            "_rels/.rels": _RELATIONS.format(
                _RELATION.format("r1", "officeDocument", "xl/workbook.xml")
            ),
            "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="http://schemas.'
            'openxmlformats.org/officeDocument/2006/relationships"><sheets>'
            f'<sheet name="{name}" sheetId="1"{state} r:id="s1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _RELATIONS.format(
                _RELATION.format("s1", "worksheet", "worksheets/sheet1.xml")
            ),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{cells}'
            "</sheetData></worksheet>",
        }
    )


def picture(words: str = "Dear Administrator", size: tuple[int, int] = (400, 120)) -> Image.Image:
    """Return a white picture with `words` in black; blank without words."""
    image = Image.new("RGB", size, "white")
    if words:
        ImageDraw.Draw(image).text((20, 40), words, fill="black")
    return image


def picture_bytes(form: str, words: str = "Dear Administrator", **save: object) -> bytes:
    """Return a picture in the Pillow format `form`."""
    out = io.BytesIO()
    picture(words).save(out, form, **save)
    return out.getvalue()


def message(**parts: object) -> bytes:
    """Return a mail with a plain body, and attachments by file name."""
    mail = EmailMessage()
    mail["From"], mail["To"] = "ann@example.org", "docket@example.gov"
    mail["Subject"], mail["Message-ID"] = "Our comment", "<1@example.org>"
    mail.set_content(str(parts.pop("body", LETTER)))
    html = parts.pop("html", None)
    if html:
        mail.add_alternative(str(html), subtype="html")
    for name, data in parts.items():
        mail.add_attachment(data, "application", "octet-stream", filename=name.replace("_", "."))
    return mail.as_bytes()


def wordperfect6(text: bytes) -> bytes:
    """Return a WordPerfect 6 document with this stream of text and codes."""
    header = b"\xffWPC" + (32).to_bytes(4, "little") + bytes([1, 10, 2, 1, 0, 0, 16, 0])
    return header + bytes(32 - len(header)) + text


def wordperfect5(text: bytes) -> bytes:
    """Return a WordPerfect 5.1 document with this stream of text and codes."""
    header = b"\xffWPC" + (16).to_bytes(4, "little") + bytes([1, 10, 0, 1, 0, 0, 0, 0])
    return header + text


def samples() -> dict[str, bytes]:
    """Return one good file of each kind, by a name with its usual suffix."""
    table = "<table><tr><th>Year<th>Cost</tr><tr><td>2024<td>$5</tr></table>"
    return {
        "a.txt": LETTER.encode(),
        "a.html": f"<html><body><p>{LETTER}</p>{table}</body></html>".encode(),
        "a.xml": f"<?xml version='1.0'?><comment><p>{LETTER}</p></comment>".encode(),
        "a.rtf": rb"{\rtf1\ansi{\fonttbl{\f0 Arial;}}\pard " + LETTER.encode() + rb"\par}",
        "a.doc": word_file(LETTER + "\r"),
        "a.ppt": powerpoint_file((("Outpatient payment", LETTER),)),
        "a.xls": excel_file([["Year", "Note"], [2024, LETTER]]),
        "a.msg": message_file({0x37: "Our comment", 0x1000: LETTER}),
        "a.eml": message(),
        "a.zip": zipped({"letter.txt": LETTER}),
        "a.pptx": presentation([shape("Payment", "title") + shape(LETTER)]),
        "a.xlsx": workbook([["Year", "Note"], [2024, LETTER]]),
        "a.odt": opendocument(f"<text:p>{LETTER}</text:p>"),
        "a.wpd": wordperfect6(LETTER.replace(" ", "\x80").encode("latin-1")),
        "a.png": picture_bytes("PNG"),
        "a.tif": picture_bytes("TIFF"),
        "a.jpg": picture_bytes("JPEG"),
        "a.epub": zipped(
            {
                "mimetype": "application/epub+zip",
                "META-INF/container.xml": '<container><rootfiles><rootfile full-path="b.opf"/>'
                "</rootfiles></container>",
                "b.opf": '<package><manifest><item id="c" href="c.xhtml"/></manifest>'
                '<spine><itemref idref="c"/></spine></package>',
                "c.xhtml": f"<html><body><p>{LETTER}</p></body></html>",
            },
            stored=True,
        ),
    }
