"""OpenDocument: texts, workbooks and presentations (odt, ods, odp)."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from regcomments.read.flow import MAX_SPAN, Flow, list_number
from regcomments.read.options import ReadOptions
from regcomments.read.slides import PICTURE_SHARE, SHORT_TEXT, holds_writing
from regcomments.read.word_package import Package, open_package
from regcomments.read.word_pictures import Picture, picture_pages, raster_pictures
from regcomments.read.word_state import PictureUse
from regcomments.records import Document, Page, UnreadableError
from regcomments.status import Reason, Status

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_SVG = "{urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0}"
_SLIDE_AREA = 720.0 * 540.0  # points; 10 x 7.5 inches, the default
_EMPTY_NOTES = re.compile(r"\s*\bNotes:\s*\Z")
_UNITS = {"in": 72.0, "cm": 72 / 2.54, "mm": 7.2 / 2.54, "pt": 1.0, "px": 0.75}  # in points
_XLINK = "{http://www.w3.org/1999/xlink}"
_MAX_REPEAT = 100  # copies made of a repeated cell or row that holds text
_MAX_COLUMNS = 16_384  # of a sheet
# Left out: deleted text of tracked changes, who wrote a note and when, settings of forms, what a
# cell asks of those who fill it in.
_SKIPPED = frozenset(
    {
        _TEXT + "tracked-changes",
        _TABLE + "tracked-changes",
        _TABLE + "content-validations",
        _TEXT + "note-citation",
        _TEXT + "page-number",
        _TEXT + "sequence-decls",
        _TEXT + "variable-decls",
        _TEXT + "user-field-decls",
        _OFFICE + "forms",
        _OFFICE + "binary-data",
        "{http://purl.org/dc/elements/1.1/}creator",
        "{http://purl.org/dc/elements/1.1/}date",
        _TEXT + "table-of-content-source",
        _TEXT + "index-title-template",
        _SVG + "title",
        _SVG + "desc",
    }
)
_CELLS = frozenset({_TABLE + "table-cell", _TABLE + "covered-table-cell"})

_Styles = dict[tuple[str, int], tuple[str, str]]  # (list style, level): number format, suffix


def read_opendocument(path: Path, options: ReadOptions) -> Document:
    """Return the text of the document at `path`; of a presentation, a page per slide.

    Headers and footers come once, footnotes at the end. Raises UnreadableError: encrypted,
    corrupt, too_large.
    """
    package = open_package(path)
    manifest = "meta-inf/manifest.xml"
    if package.has(manifest) and b"encryption-data" in package.read(manifest, 2_000_000):
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    root = package.root("content.xml")
    if root is None:
        detail = package.warnings[0] if package.warnings else "no content.xml"
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, detail)
    warnings = tuple(package.warnings)
    styles = package.root("styles.xml")
    lists = _list_styles(styles) | _list_styles(root)
    _mark_hidden(root, styles)
    slides = list(root.iter(_DRAW + "page"))
    if slides:
        if len(slides) > options.max_pages:
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"{len(slides)} slides")
        texts = [_EMPTY_NOTES.sub("", _Walker(lists).run(slide)) for slide in slides]
        pages = tuple(
            _slide_page(package, number, slide, text)
            for number, (slide, text) in enumerate(zip(slides, texts, strict=True), 1)
        )
        return Document("odp", "odf-xml", pages=pages, paged=True, warnings=warnings)
    # A workbook's styles hold the headers that it would be printed with, sheet by sheet.
    is_workbook = next(root.iter(_OFFICE + "spreadsheet"), None) is not None
    heads, feet = ("", "") if is_workbook or styles is None else _margins(styles, lists)
    body = _Walker(lists).run(next(root.iter(_OFFICE + "body"), root))
    text = "\n\n".join(block for block in (heads, body, feet) if block)
    chars = len("".join(text.split()))
    pages = picture_pages(package, raster_pictures(package, _pictures(root)), chars)
    return Document("odt", "odf-xml", body=text, pages=pages, warnings=tuple(package.warnings))


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of raster picture `number` (from 1) of the text document at `path`, or of
    the largest one on slide `number` of a presentation.

    Raises LookupError when there is none, UnreadableError as `read_opendocument` does.
    """
    package = open_package(path)
    root = package.root("content.xml")
    slides = [] if root is None else list(root.iter(_DRAW + "page"))
    if slides and 1 <= number <= len(slides):
        found = raster_pictures(package, _pictures(slides[number - 1]))
        if found:
            return package.read(max(found, key=_area).use.part)
    elif root is not None and not slides:
        for found_picture in raster_pictures(package, _pictures(root)):
            if found_picture.number == number:
                return package.read(found_picture.use.part)
    raise LookupError(f"no picture {number} in {path.name}")


def _slide_page(package: Package, number: int, slide: etree._Element, text: str) -> Page:
    """A slide; one that says it all in a picture wants OCR (the rule of slides.py)."""
    found = raster_pictures(package, _pictures(slide))
    largest = max(found, key=_area, default=None)
    if (
        largest is not None
        and len(text) < SHORT_TEXT
        and _area(largest) >= PICTURE_SHARE * _SLIDE_AREA
        and holds_writing(package, largest.use.part, len(text))
    ):
        return Page(number, text, needs_ocr=True, reason=Reason.IMAGE)
    return Page(number, text, reason=None if text else Reason.BLANK)


def _area(picture: Picture) -> float:
    return picture.use.width * picture.use.height


def _pictures(root: etree._Element) -> dict[str, PictureUse]:
    uses: dict[str, PictureUse] = {}
    for frame in root.iter(_DRAW + "frame"):
        for image in frame.iterchildren(_DRAW + "image"):
            part = (image.get(_XLINK + "href") or "").removeprefix("./")
            if part and part not in uses:
                size = (_points(frame.get(_SVG + "width")), _points(frame.get(_SVG + "height")))
                uses[part] = PictureUse(part, *size)
    return uses


def _points(length: str | None) -> float:
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)(in|cm|mm|pt|px)", length or "")
    return float(match[1]) * _UNITS[match[2]] if match else 0.0


def _mark_hidden(root: etree._Element, styles: etree._Element | None) -> None:
    """Give what a style hides the attribute that hides sections."""
    hidden = {
        style.get(_STYLE + "name")
        for source in (root, styles)
        for style in (source.iter(_STYLE + "style") if source is not None else ())
        for text in style.iterchildren(_STYLE + "text-properties")
        if text.get(_TEXT + "display") == "none"
    }
    for node in root.iter(_TEXT + "span", _TEXT + "p", _TEXT + "h") if hidden else ():
        if node.get(_TEXT + "style-name") in hidden:
            node.set(_TEXT + "display", "none")


def _margins(styles: etree._Element, lists: _Styles) -> tuple[str, str]:
    """Headers and footers of all page styles, each text once."""
    found: list[list[str]] = [[], []]
    for side, name in enumerate(("header", "footer")):
        for kind in (name, f"{name}-first", f"{name}-left"):
            for node in styles.iter(_STYLE + kind):
                text = _Walker(lists).run(node)
                if text and text not in found[side]:
                    found[side].append(text)
    return "\n\n".join(found[0]), "\n\n".join(found[1])


class _Walker:
    """Turns a part of a content tree into Markdown; iterative."""

    def __init__(self, styles: _Styles) -> None:
        self._flow = Flow()
        self._notes: list[etree._Element] = []
        self._lists: list[list] = []  # [style name, next number]
        self._styles = styles
        self._tables = 0
        self._blank: list[int] = []  # empty cells since the last text, by open row
        self._label = False  # the next paragraph goes on behind a label
        self._inline = 0  # open paragraphs; elsewhere white space is only the layout of the XML

    def run(self, node: etree._Element) -> str:
        """Return the Markdown of `node`, its footnotes and comments at the end."""
        self._walk(node)
        text = self._flow.markdown()
        notes: list[str] = []
        for number, note in enumerate(self._notes, 1):
            inner = _Walker(self._styles)
            inner._walk(note)
            mark = _citation(note) or str(number)
            label = "Comment" if note.tag == _OFFICE + "annotation" else f"[{mark}]"
            notes.append(f"{label}: {inner._flow.markdown()}".replace("\n\n", "\n"))
        return "\n\n".join(block for block in (text, *notes) if block)

    def _walk(self, top: etree._Element) -> None:
        walker = etree.iterwalk(top, events=("start", "end", "comment", "pi"))
        skipped: etree._Element | None = None
        for event, node in walker:
            if event in ("comment", "pi"):
                self._flow.text(node.tail or "")
            elif event == "start":
                if node is not top and self._leaves_out(node):
                    skipped = node
                    walker.skip_subtree()
                    continue
                self._start(node)
                if node.text and self._inline:
                    self._flow.text(node.text)
            else:
                if node is skipped:
                    skipped = None
                else:
                    self._end(node)
                if node is not top and node.tail and self._inline:
                    self._flow.text(node.tail)

    def _leaves_out(self, node: etree._Element) -> bool:
        if node.tag in (_TEXT + "note", _OFFICE + "annotation"):
            if node.tag == _TEXT + "note":
                self._flow.text(f"[{_citation(node) or len(self._notes) + 1}]")
            self._notes.append(node)
            return True
        # `display` is an attribute of sections and of variables as well.
        hidden = (node.get(_TEXT + "display"), node.get(_TEXT + "is-hidden"))
        return node.tag in _SKIPPED or hidden[0] == "none" or hidden[1] == "true"

    def _start(self, node: etree._Element) -> None:
        tag, flow = node.tag, self._flow
        if tag in (_TEXT + "p", _TEXT + "h"):
            if not self._label:
                flow.end_block()
            self._label = False
            self._inline += 1
        if tag == _PRESENTATION + "notes":
            flow.end_block()
            flow.text("Notes: ")
            self._label = True
        if tag == _TEXT + "h":
            flow.heading(_int(node.get(_TEXT + "outline-level"), 1))
        elif tag == _TEXT + "s":
            flow.raw(" " * min(_int(node.get(_TEXT + "c"), 1), 100))
        elif tag == _TEXT + "tab":
            flow.text(" ")
        elif tag == _TEXT + "line-break":
            flow.line_break()
        elif tag == _TEXT + "list":
            inherited = self._lists[-1][0] if self._lists else None
            style = node.get(_TEXT + "style-name") or inherited
            self._lists.append([style, 1])
        elif tag == _TEXT + "list-item":
            self._item(node)
        elif tag == _TABLE + "table":
            self._tables += 1
            if node.getparent().tag == _OFFICE + "spreadsheet":
                flow.heading(1)
                flow.text(node.get(_TABLE + "name") or "Sheet")
            flow.begin_table()
        elif tag == _TABLE + "table-row" and self._tables:
            flow.begin_row()
            self._blank.append(0)
        elif tag in _CELLS and self._blank:
            if _is_blank(node):
                # Written only when text follows: sheets end in thousands of them.
                self._blank[-1] += _int(node.get(_TABLE + "number-columns-repeated"), 1)
            else:
                self._fill_blanks()
                flow.begin_cell()
        elif tag == _TEXT + "a":
            address = node.get(_XLINK + "href") or ""
            if address.startswith(("http://", "https://")) and address not in "".join(
                node.itertext()
            ):
                flow.link(address)

    def _end(self, node: etree._Element) -> None:
        tag, flow = node.tag, self._flow
        if tag in (_TEXT + "p", _TEXT + "h"):
            flow.end_block()
            self._inline -= 1
        elif tag == _TEXT + "list-item":
            flow.end_item()
        elif tag == _TEXT + "list" and self._lists:
            self._lists.pop()
        elif tag == _TABLE + "table" and self._tables:
            self._tables -= 1
            flow.end_table()
        elif tag == _TABLE + "table-row" and self._blank:
            self._blank.pop()
            repeat = _int(node.get(_TABLE + "number-rows-repeated"), 1)
            if repeat > 1 and not _is_blank(node):
                flow.repeat_row(min(repeat, _MAX_REPEAT) - 1)
        elif tag in _CELLS and self._blank and not _is_blank(node):
            repeat = _int(node.get(_TABLE + "number-columns-repeated"), 1)
            flow.end_cell()  # cells that a span covers are written out
            for _ in range(min(repeat, _MAX_REPEAT) - 1):
                flow.begin_cell()
                flow.text(" ".join("".join(node.itertext()).split()))
                flow.end_cell()

    def _fill_blanks(self) -> None:
        """Write the empty cells before a cell with text, so that it stands in its column."""
        left, self._blank[-1] = min(self._blank[-1], _MAX_COLUMNS), 0
        while left > 0:
            self._flow.begin_cell()
            self._flow.end_cell(columns=min(left, MAX_SPAN))
            left -= MAX_SPAN

    def _item(self, node: etree._Element) -> None:
        depth = max(len(self._lists), 1)
        marker = "-"
        if self._lists:
            style, number = self._lists[-1]
            number = _int(node.get(_TEXT + "start-value"), number)
            self._lists[-1][1] = number + 1
            form = self._styles.get((style or "", depth))
            if form is not None:
                marker = list_number(number, form[0]) + form[1]
        self._flow.item(marker, depth)


def _list_styles(root: etree._Element | None) -> _Styles:
    """Number format and suffix of the numbered levels: (style, level) -> (format, suffix)."""
    found: _Styles = {}
    for style in root.iter(_TEXT + "list-style") if root is not None else ():
        for level in style.iterchildren(_TEXT + "list-level-style-number"):
            form = level.get(_STYLE + "num-format")
            if form:
                key = (style.get(_STYLE + "name") or "", _int(level.get(_TEXT + "level"), 1))
                found[key] = (form, level.get(_STYLE + "num-suffix") or ".")
    return found


def _is_blank(node: etree._Element) -> bool:
    return not any(text.strip() for text in node.itertext())


def _citation(note: etree._Element) -> str:
    return next(
        (mark.text or "" for mark in note.iterchildren(_TEXT + "note-citation")), ""
    ).strip()


def _int(text: str | None, default: int) -> int:
    try:
        return int((text or "")[:9])
    except ValueError:
        return default
