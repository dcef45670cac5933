"""Builds small Word packages from XML fragments, for the tests of the Word reader."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from regcomments.read.options import ReadOptions
from regcomments.read.word import read_word
from regcomments.records import Document

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": OFFICE,
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
}
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_SPACES = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
Relation = tuple[
    str, str, str
]  # id, last word of the type, target; a target with "://" is external


def xml(tag: str, inner: str) -> str:
    """Return one XML part with root element `tag` and all prefixes declared."""
    return f"{DECLARATION}<{tag} {_SPACES}>{inner}</{tag}>"


def p(text: str = "", properties: str = "") -> str:
    """Return a paragraph with one run."""
    start = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f"<w:p>{start}{r(text) if text else ''}</w:p>"


def r(text: str, properties: str = "") -> str:
    """Return a run."""
    start = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{start}<w:t xml:space="preserve">{text}</w:t></w:r>'


def tc(inner: str, properties: str = "") -> str:
    """Return a table cell; plain text becomes a paragraph."""
    inner = inner if inner.startswith("<") else p(inner)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner}</w:tc>"


def tr(*cells: str, properties: str = "") -> str:
    """Return a table row of cells (elements, or texts)."""
    made = [cell if cell.startswith("<w:") else tc(cell) for cell in cells]
    start = f"<w:trPr>{properties}</w:trPr>" if properties else ""
    return f"<w:tr>{start}{''.join(made)}</w:tr>"


def tbl(*rows: str) -> str:
    """Return a table."""
    return f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(rows)}</w:tbl>"


def relations(items: Sequence[Relation]) -> str:
    """Return a relationships part."""
    rows = []
    for name, kind, target in items:
        mode = ' TargetMode="External"' if "://" in target or target.startswith("mailto:") else ""
        rows.append(
            f'<Relationship Id="{name}" Type="{OFFICE}/{kind}" '
            f'Target="{target.replace("&", "&amp;")}"{mode}/>'
        )
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'{DECLARATION}<Relationships xmlns="{space}">{"".join(rows)}</Relationships>'


def package(
    body: str,
    parts: Mapping[str, str | bytes] | None = None,
    links: Sequence[Relation] = (),
    styles: str = "",
    numbering: str = "",
) -> bytes:
    """Return a DOCX with the given children of `w:body`, further parts and relationships."""
    members: dict[str, str | bytes] = {
        "[Content_Types].xml": (
            f'{DECLARATION}<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            'content-types"><Default Extension="xml" ContentType="application/xml"/><Override '
            'PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
            'officedocument.wordprocessingml.document.main+xml"/></Types>'
        ),
        "_rels/.rels": relations([("rId1", "officeDocument", "word/document.xml")]),
        "word/document.xml": xml("w:document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": relations(links),
    }
    if styles:
        members["word/styles.xml"] = xml("w:styles", styles)
    if numbering:
        members["word/numbering.xml"] = xml("w:numbering", numbering)
    members |= parts or {}
    return zipped(members)


def zipped(members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip file of `members`."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def read(folder: Path, data: bytes, options: ReadOptions | None = None) -> Document:
    """Write `data` to a file in `folder` and read it."""
    path = folder / "letter.docx"
    path.write_bytes(data)
    return read_word(path, options or ReadOptions())
