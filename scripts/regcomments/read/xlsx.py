"""Workbooks of Excel 2007 and later (xlsx, xlsm): sheets, comments, text boxes, pictures."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from regcomments.read.flow import cell_text, pipe_grid
from regcomments.read.number_format import BUILT_IN, show
from regcomments.read.options import ReadOptions
from regcomments.read.word_package import Package, open_package
from regcomments.read.word_pictures import picture_pages, raster_pictures
from regcomments.read.word_state import PictureUse
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_SHEETS = 200
MAX_CELLS = 500_000  # filled cells in all; beyond it a workbook is data, not a comment
MAX_PART = 200_000_000  # bytes of one sheet's XML
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_STRICT_ID = "{http://purl.oclc.org/ooxml/officeDocument/relationships}id"
_R_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
# Headers and footers: what is printed on odd, even and first pages, and whether above the cells.
_PRINTED = {
    f"{pages}{place}": place == "Header"
    for place in ("Header", "Footer")
    for pages in ("first", "odd", "even")
}
_FILLED_IN = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Za-z+-])')
_PAGE_NUMBER = re.compile(r"&[PN]")
_FEW_WORDS = 3  # "page … of …", and its like in other languages
_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})")


@dataclass(frozen=True)
class _Book:
    """What all sheets share: strings, number formats by style, the date system."""

    strings: list[str]
    formats: list[str]
    since_1904: bool


@dataclass
class _Budget:
    left: int = MAX_CELLS


def read_xlsx(path: Path, options: ReadOptions) -> Document:
    """Return the sheets of the workbook at `path` as pipe tables, each headed by its name.

    Numbers are shown in their format, dates in ISO form. Hidden sheets are read and named as
    such; headers and footers stand around their sheet, comments and text boxes below it. Raises
    UnreadableError: no_reader for the binary form (xlsb), encrypted, corrupt, too_large.
    """
    package = open_package(path)
    if package.has("xl/workbook.bin"):
        raise UnreadableError(Status.UNSUPPORTED, Reason.NO_READER, "xlsb")
    main = _main(package)
    root = package.root(main)
    if root is None:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no workbook part")
    book = _Book(_strings(package, main), _formats(package, main), _since_1904(root))
    budget, blocks, warnings = _Budget(), [], []
    for name, part, hidden in _sheets(package, main, root):
        try:
            table, above, after = _table(package.read(part, MAX_PART), book, budget)
        except etree.XMLSyntaxError as error:
            warnings.append(f"sheet {name!r} is damaged: {error}")
            continue
        below = [*after, *_comments(package, part), *_boxes(package, part)]
        if table or above or below:
            title = f"### {name}" + (" (hidden sheet)" if hidden else "")
            blocks += [title, *above, *filter(None, [table]), *below]
        if budget.left <= 0:
            warnings.append(f"cut after {MAX_CELLS} cells")
            break
    warnings += package.warnings
    if not blocks and warnings:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, warnings[0])
    body = "\n\n".join(blocks)
    pages = picture_pages(
        package, raster_pictures(package, _pictures(package)), len("".join(body.split()))
    )
    return Document("xlsx", "xlsx-xml", body=body, pages=pages, warnings=tuple(warnings[:20]))


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of raster picture `number` (from 1) of the workbook at `path`.

    Raises LookupError when there is none, UnreadableError as `read_xlsx` does.
    """
    package = open_package(path)
    for found in raster_pictures(package, _pictures(package)):
        if found.number == number:
            return package.read(found.use.part)
    raise LookupError(f"no picture {number} in {path.name}")


def _main(package: Package) -> str:
    for relation in package.relations("").values():
        if relation.kind == "officedocument" and package.has(relation.target):
            return relation.target
    return "xl/workbook.xml"


def _sheets(package: Package, main: str, root: etree._Element) -> Iterator[tuple[str, str, bool]]:
    """The worksheets in the order of their tabs: name, part, whether hidden."""
    relations = package.relations(main)
    for sheet in list(root.iter("{*}sheet"))[:MAX_SHEETS]:
        relation = relations.get(sheet.get(_R_ID) or sheet.get(_STRICT_ID) or "")
        if relation and relation.kind == "worksheet" and package.has(relation.target):
            hidden = sheet.get("state") in ("hidden", "veryHidden")
            yield sheet.get("name") or "Sheet", relation.target, hidden


def _related(package: Package, part: str, kind: str) -> list[str]:
    found = package.relations(part).values()
    return [r.target for r in found if r.kind == kind and not r.external and package.has(r.target)]


def _strings(package: Package, main: str) -> list[str]:
    for part in _related(package, main, "sharedstrings"):
        root = package.root(part)
        if root is not None:
            return [_rich(item) for item in root.iterchildren("{*}si")]
    return []


def _rich(item: etree._Element) -> str:
    """The runs of a string, without the reading aids of East Asian scripts."""
    texts = (node for node in item.iter("{*}t"))
    return "".join(
        node.text or "" for node in texts if not str(node.getparent().tag).endswith("}rPh")
    )


def _formats(package: Package, main: str) -> list[str]:
    for part in _related(package, main, "styles"):
        root = package.root(part)
        if root is None:
            continue
        own = {
            _int(node.get("numFmtId")): node.get("formatCode") or ""
            for node in root.iter("{*}numFmt")
        }
        styles = next(root.iter("{*}cellXfs"), [])
        numbers = (_int(style.get("numFmtId")) for style in styles)
        return [own.get(number, BUILT_IN.get(number, "")) for number in numbers]
    return []


def _since_1904(root: etree._Element) -> bool:
    return any(node.get("date1904") in ("1", "true") for node in root.iter("{*}workbookPr"))


def _table(data: bytes, book: _Book, budget: _Budget) -> tuple[str, list[str], list[str]]:
    """The filled cells of a sheet as a pipe table, and what is printed above and below it.

    Empty rows and columns are left out.
    """
    if b"<!DOCTYPE" in data[:4096]:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "an XML part declares a DTD")
    rows: list[dict[int, str]] = []
    printed: dict[bool, list[str]] = {True: [], False: []}  # above, below
    parser = etree.iterparse(
        io.BytesIO(data),
        tag=("{*}row", *("{*}" + name for name in _PRINTED)),
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
    )
    for _, row in parser:
        name = etree.QName(row).localname
        if name != "row":
            printed[_PRINTED[name]] += _printed(row.text or "")
            continue
        cells = dict(_cells(row, book))
        budget.left -= len(cells)
        row.clear()
        while row.getprevious() is not None:
            del row.getparent()[0]
        if cells:
            rows.append(cells)
        if budget.left <= 0:
            break
    return pipe_grid(rows), *(list(dict.fromkeys(printed[above])) for above in (True, False))


def _printed(code: str) -> Iterator[str]:
    """The words of a header or footer, a line for each of its sections (left, centre, right).

    Fonts, sizes, colours, and what Excel fills in by itself (page, date, file) are left out, and
    so are the few words around a page number.
    """
    for section in re.split(r"&[LCR]", code.replace("&&", "\0")):
        text = " ".join(_FILLED_IN.sub("", section).replace("\0", "&").split())
        counted = _PAGE_NUMBER.search(section) is not None
        if any(map(str.isalpha, text)) and not (counted and text.count(" ") < _FEW_WORDS):
            yield text


def _cells(row: etree._Element, book: _Book) -> Iterator[tuple[int, str]]:
    column = 0
    for cell in row.iterchildren("{*}c"):
        match = _REFERENCE.fullmatch(cell.get("r") or "")
        column = _column(match[1]) if match else column + 1
        text = cell_text(_value(cell, book))
        if text:
            yield column, text


def _value(cell: etree._Element, book: _Book) -> str:
    kind = cell.get("t") or "n"
    if kind == "inlineStr":
        return "".join(_rich(item) for item in cell.iterchildren("{*}is"))
    raw = next((node.text or "" for node in cell.iterchildren("{*}v")), "")
    if not raw:
        return ""
    if kind == "s":
        index = _int(raw)
        return book.strings[index] if 0 <= index < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if raw.strip() == "1" else "FALSE"
    if kind != "n":
        return raw
    try:
        number = float(raw)
    except ValueError:
        return raw
    style = _int(cell.get("s"))
    code = book.formats[style] if 0 <= style < len(book.formats) else ""
    return show(number, code, since_1904=book.since_1904)


def _comments(package: Package, sheet: str) -> Iterator[str]:
    for part in _related(package, sheet, "comments"):
        root = package.root(part)
        for comment in root.iter("{*}comment") if root is not None else ():
            text = " ".join("".join(_rich(comment)).split())
            if text:
                yield f"Comment ({comment.get('ref') or '?'}): {text}"


def _boxes(package: Package, sheet: str) -> Iterator[str]:
    """The texts of shapes drawn on the sheet, a paragraph per line, and the titles of charts."""
    for part in _related(package, sheet, "drawing"):
        root = package.root(part)
        for node in root.iter("{*}txBody", "{*}chart") if root is not None else ():
            if any(_is_second(fallback) for fallback in node.iterancestors("{*}Fallback")):
                continue
            if etree.QName(node).localname == "txBody":
                yield from filter(None, [_lines(node)])
                continue
            relation = package.relations(part).get(node.get(_R_ID) or "")
            chart = package.root(relation.target) if relation and not relation.external else None
            if chart is not None:
                yield from filter(None, map(_lines, chart.iter("{*}title")))


def _is_second(fallback: etree._Element) -> bool:
    """Whether a fallback repeats what one of its choices says."""
    choices = fallback.itersiblings("{*}Choice", preceding=True)
    return any("".join(choice.itertext("{*}t")).strip() for choice in choices)


def _lines(shape: etree._Element) -> str:
    """The paragraphs of a shape or title, a line each."""
    lines = []
    for paragraph in shape.iter("{*}p"):
        parts = paragraph.iter("{*}t", "{*}br")
        lines.append("".join(part.text or "" if part.tag[-2:] == "}t" else "\n" for part in parts))
    return "\n".join(line for line in lines if line.strip())


def _pictures(package: Package) -> dict[str, PictureUse]:
    uses: dict[str, PictureUse] = {}
    drawings = [n for n in package.names() if re.fullmatch(r"xl/drawings/[^/]+\.xml", n)]
    for drawing in drawings[:MAX_SHEETS]:
        root = package.root(drawing)
        relations = package.relations(drawing)
        for blip in root.iter("{*}blip") if root is not None else ():
            relation = relations.get(blip.get(_R_EMBED) or "")
            if relation and not relation.external:
                uses.setdefault(relation.target, PictureUse(relation.target))
    return uses


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _int(text: str | None) -> int:
    try:
        return int((text or "0").strip()[:9])
    except ValueError:
        return 0
