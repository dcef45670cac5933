"""Presentations (pptx): a page per slide with its text, tables, diagrams, charts and notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from regcomments.read.flow import Flow
from regcomments.read.options import ReadOptions
from regcomments.read.word_package import Package, open_package
from regcomments.read.word_pictures import picture_pages, raster_pictures
from regcomments.read.word_state import PictureUse
from regcomments.records import Document, Page, UnreadableError
from regcomments.status import Reason, Status

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Strict OOXML uses other names for the presentation vocabulary (ISO/IEC 29500-4, annex A); those
# of drawings are put right by the package.
_STRICT_P = "{http://purl.oclc.org/ooxml/presentationml/main}"
_PLACEHOLDER_NOISE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_TITLES = frozenset({"title", "ctrTitle"})
_RASTER = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")
# A slide whose text is shorter than this and whose largest picture covers this share of it says
# what it says in the picture.
SHORT_TEXT = 200
PICTURE_SHARE = 0.25


@dataclass
class _Slide:
    """What was found on one slide."""

    flow: Flow = field(default_factory=Flow)
    pictures: list[tuple[float, str]] = field(default_factory=list)  # area in EMU², part


def read_slides(path: Path, options: ReadOptions) -> Document:
    """Return the slides of the presentation at `path` as pages, notes below their slide.

    A slide that says it all in a picture wants OCR (`image`). Raises UnreadableError: encrypted,
    rights_managed, corrupt, no_pages, too_large.
    """
    package = open_package(path)
    names, width, height = _slide_parts(package)
    if not names:
        if package.warnings:
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, package.warnings[0])
        raise UnreadableError(Status.FAILED, Reason.NO_PAGES, "no slides")
    if len(names) > options.max_pages:
        detail = f"{len(names)} slides, more than {options.max_pages}"
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
    if options.on_pages is not None:
        options.on_pages(len(names))
    area = max(width * height, 1)
    pages = tuple(_page(package, number, name, area) for number, name in enumerate(names, 1))
    if not any(page.text or page.needs_ocr for page in pages) and package.warnings:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, package.warnings[0])
    warnings = tuple(dict.fromkeys(package.warnings))[:20]
    return Document("pptx", "pptx-xml", pages=pages, paged=True, warnings=warnings)


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of the largest picture on slide `number` (from 1). Raises LookupError."""
    package = open_package(path)
    names, _, _ = _slide_parts(package)
    if not 1 <= number <= len(names):
        raise LookupError(f"no slide {number} in {path.name}")
    slide = _read_slide(package, names[number - 1])
    if not slide.pictures:
        raise LookupError(f"no picture on slide {number} of {path.name}")
    return package.read(max(slide.pictures)[1])


def _slide_parts(package: Package) -> tuple[list[str], int, int]:
    """The slides in the order shown, and the slide size in EMU."""
    main = package.main_part() if _has_main(package) else "ppt/presentation.xml"
    root = package.root(main)
    if root is None:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no presentation part")
    relations = package.relations(main)
    names: list[str] = []
    for entry in root.iter(_P + "sldId", _STRICT_P + "sldId"):
        relation = relations.get(entry.get(_R + "id") or "")
        if relation and not relation.external and package.has(relation.target):
            names.append(relation.target)
    size = next(root.iter(_P + "sldSz", _STRICT_P + "sldSz"), None)
    if size is None:
        return names, 9_144_000, 6_858_000  # 10 x 7.5 inches, the default
    return names, _int(size.get("cx")), _int(size.get("cy"))


def _has_main(package: Package) -> bool:
    relations = package.relations("").values()
    return any(r.kind == "officedocument" and package.has(r.target) for r in relations)


def _page(package: Package, number: int, name: str, area: int) -> Page:
    slide = _read_slide(package, name)
    text = slide.flow.markdown()
    notes = _notes(package, name)
    covered = min(max((found[0] for found in slide.pictures), default=0.0) / area, 1.0)
    needs_ocr = (
        covered >= PICTURE_SHARE
        and len(text) < SHORT_TEXT
        and holds_writing(package, max(slide.pictures)[1], len(text))
    )
    facts = {"chars": len(text), "image_share": round(covered, 3)}
    return Page(
        number=number,
        text="\n\n".join(block for block in (text, notes and f"Notes: {notes}") if block),
        needs_ocr=needs_ocr,
        reason=Reason.IMAGE if needs_ocr else (None if text or notes else Reason.BLANK),
        facts=facts,
    )


def holds_writing(package: Package, part: str, chars: int) -> bool:
    """Whether the picture in `part` shows writing beside the `chars` characters of its slide."""
    use = PictureUse(part)
    return bool(picture_pages(package, raster_pictures(package, {part: use}), chars))


def _read_slide(package: Package, name: str) -> _Slide:
    slide = _Slide()
    root = package.root(name)
    if root is None:
        return slide
    reader = _Reader(package, name, slide)
    for background in root.iter(_P + "bg", _STRICT_P + "bg"):
        reader.pictures(background, 0)
    for tree in root.iter(_P + "spTree", _STRICT_P + "spTree"):
        reader.read(tree)
        break
    return slide


def _notes(package: Package, name: str) -> str:
    """The speaker's notes, without the page furniture of the notes page."""
    for relation in package.relations(name).values():
        if relation.kind != "notesslide" or relation.external:
            continue
        root = package.root(relation.target)
        if root is None:
            continue
        flow = Flow()
        for shape in root.iter(_P + "sp", _STRICT_P + "sp"):
            if _placeholder(shape) not in _PLACEHOLDER_NOISE:
                _paragraphs(shape, flow)
        return flow.markdown()
    return ""


class _Reader:
    """Reads the shapes of one slide, in drawing order, without recursion."""

    def __init__(self, package: Package, name: str, slide: _Slide) -> None:
        self._package = package
        self._relations = package.relations(name)
        self._slide = slide

    def read(self, tree: etree._Element) -> None:
        """Read all shapes below `tree` into the slide."""
        stack = [tree]
        while stack:
            node = stack.pop()
            if not isinstance(node.tag, str):
                continue
            tag = etree.QName(node).localname
            if _is_hidden(node):
                continue
            if tag == "sp":
                self._shape(node)
            elif tag == "pic":
                self.pictures(node, _area(node))
            elif tag == "graphicFrame":
                self._frame(node)
            elif tag == "AlternateContent":
                # Two ways to draw one thing: the fallback only if there is no choice.
                choice = node.find(_MC + "Choice")
                chosen = choice if choice is not None else node.find(_MC + "Fallback")
                stack.extend(reversed(chosen if chosen is not None else []))
            elif tag in ("spTree", "grpSp", "Choice", "Fallback"):
                stack.extend(reversed(node))

    def pictures(self, node: etree._Element, area: float) -> None:
        """Note the pictures that `node` shows; area 0 means the whole slide."""
        for blip in node.iter(_A + "blip"):
            relation = self._relations.get(blip.get(_R + "embed") or "")
            if relation is None or relation.external:
                continue
            if relation.target.lower().endswith(_RASTER) and self._package.has(relation.target):
                self._slide.pictures.append((area or 1e18, relation.target))

    def _shape(self, shape: etree._Element) -> None:
        kind = _placeholder(shape)
        if kind in _PLACEHOLDER_NOISE:
            return
        if kind in _TITLES and "".join(shape.itertext(_A + "t")).strip():
            self._slide.flow.heading(1)
            words = [_text(paragraph) for paragraph in shape.iter(_A + "p")]
            self._slide.flow.text(" ".join(words))
            self._slide.flow.end_block()
        else:
            _paragraphs(shape, self._slide.flow)
        fill = shape.find("{*}spPr")
        if fill is not None:
            self.pictures(fill, _area(shape))

    def _frame(self, frame: etree._Element) -> None:
        flow = self._slide.flow
        for table in frame.iter(_A + "tbl"):
            _table(table, flow)
        for chart in frame.iter(_C + "chart"):
            self._chart(chart.get(_R + "id"))
        for ids in frame.iter(_DGM + "relIds"):
            self._diagram(ids.get(_R + "dm"))
        for picture in frame.iter(_P + "pic", _STRICT_P + "pic"):  # what an OLE object looks like
            self.pictures(picture, _area(frame))

    def _diagram(self, relation_id: str | None) -> None:
        root = self._part(relation_id)
        if root is None:
            return
        for point in root.iter(_DGM + "t"):
            _paragraphs(point, self._slide.flow)

    def _chart(self, relation_id: str | None) -> None:
        """A chart as its title and a table of categories and series."""
        root = self._part(relation_id)
        if root is None:
            return
        flow = self._slide.flow
        for title in root.iter(_C + "title"):
            _paragraphs(title, flow)
        columns: list[list[str]] = []
        for series in root.iter(_C + "ser"):
            if not columns:
                columns.append(["", *_values(series, "cat")])
            columns.append([" ".join(_values(series, "tx")), *_values(series, "val")])
        flow.begin_table()
        for at in range(min(max(map(len, columns), default=0), 200)):
            flow.begin_row()
            for column in columns[:50]:
                flow.begin_cell()
                flow.text(column[at] if at < len(column) else "")
                flow.end_cell()
        flow.end_table()

    def _part(self, relation_id: str | None) -> etree._Element | None:
        relation = self._relations.get(relation_id or "")
        if relation is None or relation.external:
            return None
        return self._package.root(relation.target)


def _values(series: etree._Element, name: str) -> list[str]:
    for holder in series.iterchildren(_C + name):
        return [value.text or "" for value in holder.iter(_C + "v")]
    return []


def _table(table: etree._Element, flow: Flow) -> None:
    flow.begin_table()
    for row in table.iterchildren(_A + "tr"):
        flow.begin_row()
        for cell in row.iterchildren(_A + "tc"):
            flow.begin_cell()
            # Covered cells are written out, empty, so that spans need no arithmetic.
            if not {cell.get("hMerge"), cell.get("vMerge")} & {"1", "true"}:
                _paragraphs(cell, flow)
            flow.end_cell()
    flow.end_table()


def _paragraphs(holder: etree._Element, flow: Flow) -> None:
    counts: dict[int, int] = {}
    for paragraph in holder.iter(_A + "p"):
        properties = paragraph.find(_A + "pPr")
        level = _int(properties.get("lvl")) if properties is not None else 0
        flow.end_block()
        if properties is not None and properties.find(_A + "buAutoNum") is not None:
            start = _int(properties.find(_A + "buAutoNum").get("startAt")) or 1
            counts[level] = counts.get(level, start - 1) + 1
            flow.item(f"{counts[level]}.", level + 1)
        elif level or (properties is not None and properties.find(_A + "buChar") is not None):
            flow.item("-", level + 1)
        for run in paragraph.iter(_A + "t", _A + "br", _A + "tab"):
            if run.tag == _A + "br":
                flow.line_break()
            else:
                flow.text(run.text or " ")
        flow.end_item()


def _text(paragraph: etree._Element) -> str:
    """The words of a title's paragraph on one line."""
    parts = paragraph.iter(_A + "t", _A + "br", _A + "tab")
    return "".join(part.text or "" if part.tag == _A + "t" else " " for part in parts)


def _placeholder(shape: etree._Element) -> str:
    mark = next(shape.iter(_P + "ph", _STRICT_P + "ph"), None)
    return "" if mark is None else mark.get("type") or "body"


def _is_hidden(node: etree._Element) -> bool:
    properties = next(node.iterchildren("{*}nvSpPr", "{*}nvPicPr", "{*}nvGrpSpPr"), None)
    if properties is None:
        return False
    named = next(properties.iterchildren("{*}cNvPr"), None)
    return named is not None and named.get("hidden") in ("1", "true")


def _area(shape: etree._Element) -> float:
    extent = next(shape.iter(_A + "ext"), None)
    if extent is None or not extent.get("cx"):
        extent = next((e for e in shape.iter(_A + "ext", "{*}ext") if e.get("cx")), None)
    if extent is None:
        return 1.0  # takes its place from the layout
    return float(_int(extent.get("cx")) * _int(extent.get("cy")))


def _int(text: str | None) -> int:
    try:
        return int((text or "0")[:12])
    except ValueError:
        return 0
