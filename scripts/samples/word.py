"""Sets a letter as a DOCX package: real lists, tables, footnotes, tracked changes, text boxes."""

from __future__ import annotations

import io
import zipfile
from xml.sax.saxutils import escape

from samples.letter import Box, Bullets, Grid, Heading, Letter, Paragraph, notes_of, revisions

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_REL = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_NAMESPACES = (
    f'xmlns:w="{_W}" xmlns:r="{_R}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
_AUTHOR = 'w:author="M. Thibodeaux" w:date="2031-05-20T10:00:00Z"'
_ZIP_DATE = (2031, 3, 1, 12, 0, 0)
_EMU = 914400  # English metric units in an inch

# Part name: content type. The others have the default of their extension.
PART_TYPES = {
    "word/document.xml": f"{_OFFICE}.document.main+xml",
    "word/styles.xml": f"{_OFFICE}.styles+xml",
    "word/numbering.xml": f"{_OFFICE}.numbering+xml",
    "word/footnotes.xml": f"{_OFFICE}.footnotes+xml",
    "word/header1.xml": f"{_OFFICE}.header+xml",
    "word/footer1.xml": f"{_OFFICE}.footer+xml",
}
_RELATIONS = {
    "word/styles.xml": ("rId1", "styles"),
    "word/numbering.xml": ("rId2", "numbering"),
    "word/footnotes.xml": ("rId3", "footnotes"),
    "word/header1.xml": ("rId4", "header"),
    "word/footer1.xml": ("rId5", "footer"),
    "word/media/image1.jpg": ("rId6", "image"),
}
_STYLES = "".join(
    f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
    for key, name in (
        ("Normal", "Normal"),
        ("Heading2", "heading 2"),
        ("Caption", "caption"),
        ("FootnoteText", "footnote text"),
    )
)


def zip_bytes(files: dict[str, bytes]) -> bytes:
    """Return a zip archive of `files`, in their order, with fixed dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _ZIP_DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 0  # the same bytes on every system
            archive.writestr(info, data)
    return buffer.getvalue()


def package(
    body: str, parts: dict[str, str] | None = None, media: dict[str, bytes] | None = None
) -> bytes:
    """Return a DOCX whose document body is the XML `body`.

    `parts` are further parts of PART_TYPES, by name, as the XML inside their root element;
    `media` are binary parts.
    """
    inner = {"word/styles.xml": _STYLES, **(parts or {})}
    files: dict[str, bytes] = {}
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{PART_TYPES[name]}"/>'
        for name in ["word/document.xml", *inner]
    )
    files["[Content_Types].xml"] = _xml(
        f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="jpg" ContentType="image/jpeg"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f"{overrides}</Types>"
    )
    files["_rels/.rels"] = _xml(
        f'<Relationships xmlns="{_REL}"><Relationship Id="rId1" '
        f'Type="{_R}/officeDocument" Target="word/document.xml"/></Relationships>'
    )
    relations = "".join(
        f'<Relationship Id="{_RELATIONS[name][0]}" Type="{_R}/{_RELATIONS[name][1]}" '
        f'Target="{name.removeprefix("word/")}"/>'
        for name in [*inner, *(media or {})]
    )
    files["word/_rels/document.xml.rels"] = _xml(
        f'<Relationships xmlns="{_REL}">{relations}</Relationships>'
    )
    section = "".join(
        f'<w:{kind}Reference w:type="default" r:id="{_RELATIONS[name][0]}"/>'
        for kind, name in (("header", "word/header1.xml"), ("footer", "word/footer1.xml"))
        if name in inner
    )
    files["word/document.xml"] = _xml(
        f"<w:document {_NAMESPACES}><w:body>{body}<w:sectPr>{section}"
        '<w:pgSz w:w="12240" w:h="15840"/></w:sectPr></w:body></w:document>'
    )
    roots = {"header1": "hdr", "footer1": "ftr"}
    for name, xml in inner.items():
        stem = name.rpartition("/")[2].removesuffix(".xml")
        root = roots.get(stem, stem)
        files[name] = _xml(f"<w:{root} {_NAMESPACES}>{xml}</w:{root}>")
    return zip_bytes(files | (media or {}))


def run(text: str, properties: str = "", tag: str = "t") -> str:
    """Return a run of `text`."""
    style = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{style}<w:{tag} xml:space="preserve">{escape(text)}</w:{tag}></w:r>'


def paragraph(inner: str, style: str = "", properties: str = "") -> str:
    """Return a paragraph that holds the XML `inner`."""
    if style:
        properties = f'<w:pStyle w:val="{style}"/>{properties}'
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inner}</w:p>"


def table(rows: tuple[tuple[str, ...], ...]) -> str:
    """Return a table of plain text cells."""
    xml = "".join(
        "<w:tr>"
        + "".join(
            f"<w:tc><w:tcPr><w:tcW w:w='2000' w:type='dxa'/></w:tcPr>{paragraph(run(cell))}</w:tc>"
            for cell in row
        )
        + "</w:tr>"
        for row in rows
    )
    grid = "<w:gridCol w:w='2000'/>" * len(rows[0])
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{xml}</w:tbl>"


def text_box(text: str) -> str:
    """Return a paragraph with a text box, in the two copies that Word writes."""
    content = f"<w:txbxContent>{paragraph(run(text))}</w:txbxContent>"
    return paragraph(
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor>'
        f'<wp:extent cx="{4 * _EMU}" cy="{_EMU}"/><wp:docPr id="7" name="Text Box 7"/>'
        '<a:graphic><a:graphicData uri="http://schemas.microsoft.com/office/word/2010/'
        f'wordprocessingShape"><wps:wsp><wps:txbx>{content}</wps:txbx><wps:bodyPr/></wps:wsp>'
        "</a:graphicData></a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict>"
        f'<v:shape style="width:288pt;height:72pt"><v:textbox>{content}</v:textbox></v:shape>'
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )


def picture(relation: str, inches: tuple[float, float]) -> str:
    """Return a paragraph with the picture part of `relation`, `inches` wide and high."""
    cx, cy = (round(side * _EMU) for side in inches)
    return paragraph(
        f'<w:r><w:drawing><wp:inline><wp:extent cx="{cx}" cy="{cy}"/>'
        '<wp:docPr id="1" name="Picture 1"/><a:graphic><a:graphicData '
        'uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>'
        '<pic:cNvPr id="1" name="image1.jpg"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>'
        f'<a:blip r:embed="{relation}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="{cx}" cy="{cy}"/></a:xfrm>'
        '<a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r>"
    )


def letter_docx(letter: Letter) -> bytes:
    """Return the letter as a DOCX."""
    body = [paragraph(run(line, "<w:b/>")) for line in letter.sender]
    body += [paragraph(run(letter.date)), paragraph(run(f"Re: {letter.subject}", "<w:b/>"))]
    notes: list[str] = []
    lists = 0
    for block in letter.blocks:
        match block:
            case Heading(text):
                body.append(paragraph(run(text), "Heading2"))
            case Paragraph(text):
                body.append(paragraph(_inline(text, notes)))
            case Box(text):
                body.append(text_box(text))
            case Bullets(items, numbered):
                lists += 1
                number = f'<w:ilvl w:val="0"/><w:numId w:val="{2 * lists + numbered}"/>'
                for item in items:
                    properties = f"<w:numPr>{number}</w:numPr>"
                    body.append(paragraph(_inline(item, notes), properties=properties))
            case Grid(rows, caption):
                if caption:
                    body.append(paragraph(run(caption), "Caption"))
                body += [table(rows), paragraph("")]
    body += [paragraph(run(line)) for line in ("Sincerely,", *letter.signed)]
    parts = {"word/numbering.xml": _numbering(lists)}
    if notes:
        parts["word/footnotes.xml"] = _footnotes(notes)
    parts["word/header1.xml"] = paragraph(run(f"{letter.sender[0]} — {letter.date}"))
    if letter.footer:
        page = '<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>'
        parts["word/footer1.xml"] = paragraph(run(f"{letter.footer} · page ") + page)
    return package("".join(body), parts)


def picture_docx(lines: tuple[str, ...], jpeg: bytes, inches: tuple[float, float]) -> bytes:
    """Return a DOCX with a few `lines` of text above one picture."""
    body = "".join(paragraph(run(line)) for line in lines) + picture("rId6", inches)
    return package(body, media={"word/media/image1.jpg": jpeg})


def _inline(text: str, notes: list[str]) -> str:
    body, found = notes_of(text)
    out = []
    for kind, piece in revisions(body):
        runs = []
        for index, part in enumerate(piece.split("\0")):
            if index:
                notes.append(found.pop(0))
                runs.append(f'<w:r><w:footnoteReference w:id="{len(notes)}"/></w:r>')
            if part:
                runs.append(run(part, tag="delText" if kind == "del" else "t"))
        inner = "".join(runs)
        out.append(
            inner
            if kind == "plain"
            else f'<w:{kind} w:id="{len(out)}" {_AUTHOR}>{inner}</w:{kind}>'
        )
    return "".join(out)


def _numbering(lists: int) -> str:
    def level(kind: str, text: str) -> str:
        return (
            '<w:lvl w:ilvl="0"><w:start w:val="1"/>'
            f'<w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
        )

    kinds = (("bullet", "•"), ("decimal", "%1."))
    abstract = "".join(
        f'<w:abstractNum w:abstractNumId="{i}">{level(*kind)}</w:abstractNum>'
        for i, kind in enumerate(kinds)
    )
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    numbers = "".join(
        f'<w:num w:numId="{2 * n + i}"><w:abstractNumId w:val="{i}"/>{restart}</w:num>'
        for n in range(1, lists + 1)
        for i in (0, 1)
    )
    return abstract + numbers


def _footnotes(notes: list[str]) -> str:
    separators = "".join(
        f'<w:footnote w:type="{kind}" w:id="{number}"><w:p><w:r><w:{tag}/></w:r></w:p></w:footnote>'
        for kind, number, tag in (
            ("separator", -1, "separator"),
            ("continuationSeparator", 0, "continuationSeparator"),
        )
    )
    return separators + "".join(
        f'<w:footnote w:id="{number}">'
        + paragraph("<w:r><w:footnoteRef/></w:r>" + run(f" {note}"), "FootnoteText")
        + "</w:footnote>"
        for number, note in enumerate(notes, 1)
    )


def _xml(text: str) -> bytes:
    return ('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' + text).encode("utf-8")
