"""The running text of a Word paragraph: runs, fields, links, notes, symbols, drawings."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from lxml import etree

from regcomments.read.word_controls import (
    CX,
    alternative,
    control_content,
    form_field_text,
)
from regcomments.read.word_drawings import points, read_chart, read_diagram, shape_size
from regcomments.read.word_math import math_text
from regcomments.read.word_state import WalkState
from regcomments.read.word_styles import Style, is_hidden, is_on
from regcomments.read.word_symbols import PRIVATE, symbol, translate
from regcomments.read.word_xml import DGM, MC, RID, VAL, A, C, M, O, R, V, W

# Nesting of wrappers inside a paragraph (insertions, links, controls); below it text is read flat.
MAX_DEPTH = 100
_URL = re.compile(r"(?:https?|ftp)://\S{1,2000}|mailto:\S{1,300}", re.IGNORECASE)
_HYPERLINK = re.compile(r'\s*HYPERLINK\s+(?!\\)(?:"([^"]*)"|(\S+))', re.IGNORECASE)
_SYMBOL_FIELD = re.compile(
    r'\s*SYMBOL\s+(0x[0-9a-f]+|\d+)(?:.*?\\f\s+"?([^"\\]+))?', re.IGNORECASE | re.DOTALL
)
_FORM_BLANKS = re.compile("\u2002{2,}")  # what Word shows in an empty text field
T, RUN, RUN_PROPERTIES = W + "t", W + "r", W + "rPr"
STRUCK = "~~"
_STRUCK_JOIN = re.compile(r"~~(\s*)~~")  # between runs that are struck one after the other
# Elements without text of their own, or whose text is no longer part of the document.
_SKIPPED = """
    del moveFrom delText delInstrText rPr pPr tblPr tcPr trPr sectPr sdtPr sdtEndPr tblGrid proofErr
    bookmarkStart bookmarkEnd lastRenderedPageBreak commentRangeStart commentRangeEnd
    commentReference annotationRef footnoteRef endnoteRef separator continuationSeparator
    softHyphen permStart permEnd control smartTagPr customXmlPr moveFromRangeStart
    moveFromRangeEnd moveToRangeStart moveToRangeEnd
"""
SKIP = frozenset(W + name for name in _SKIPPED.split())


class Inline(NamedTuple):
    """The text of a paragraph, the URLs behind its links, and what floats beside it.

    `extras` are text boxes, as elements still to be read, and texts of charts and diagrams.
    """

    text: str
    links: dict[str, None]
    extras: list[etree._Element | str]


class _Field:
    """A complex field that has begun: its instruction, and where its result starts."""

    def __init__(self, mark: int) -> None:
        self.instruction: list[str] = []
        self.in_result = False
        self.mark = mark


class InlineReader:
    """Reads paragraphs of one story (body, header, note) in order; fields may span them."""

    def __init__(
        self, state: WalkState, part: str, *, watch_hidden: bool = True, watch_struck: bool = True
    ) -> None:
        """Make a reader for `part`; what is watched for costs time where there is none of it."""
        self._state = state
        self._relations = state.package.relations(part)
        self._watch_hidden = watch_hidden
        self._watch_struck = watch_struck
        self._fields: list[_Field] = []
        self._muted = 0
        self._hidden_paragraph = False
        self._size = (0.0, 0.0)
        self._start()

    def _start(self) -> None:
        self._out: list[str] = []
        self._links: dict[str, None] = {}
        self._extras: list[etree._Element | str] = []
        for field in self._fields:
            field.mark = 0

    def read(self, node: etree._Element, style: Style) -> Inline:
        """Return the inline content of a paragraph (or any element that holds runs)."""
        self._start()
        self._hidden_paragraph = style.hidden
        self._children(node, 0)
        text = "".join(self._out)
        if self._watch_struck:
            text = _STRUCK_JOIN.sub(r"\1", text)
        return Inline(text, self._links, self._extras)

    def apart(self) -> tuple[list[_Field], int]:
        """Set the open fields aside while a text box is read; returns them for `resume`."""
        saved = self._fields, self._muted
        self._fields, self._muted = [], 0
        return saved

    def resume(self, saved: tuple[list[_Field], int]) -> None:
        """Take the open fields up again."""
        self._fields, self._muted = saved

    def _children(self, node: etree._Element, depth: int) -> None:
        if depth > MAX_DEPTH:
            self._out.append(flat_text(node))
            return
        for child in node:
            tag = child.tag
            if tag == T:
                self._text(child)
            elif tag == RUN:
                if self._watch_hidden and self._is_hidden(child):
                    self._hidden_run(child)
                elif self._watch_struck and _is_struck(child):
                    self._struck_run(child, depth)
                else:
                    self._children(child, depth + 1)
            elif tag not in SKIP:
                handler = _HANDLERS.get(tag)
                if handler is not None:
                    handler(self, child, depth)
                elif len(child):
                    self._children(child, depth + 1)

    def _emit(self, text: str) -> None:
        if not self._muted:
            self._out.append(text)

    def _text(self, node: etree._Element) -> None:
        text = node.text
        if not text or self._muted:
            return
        if "\n" in text:
            text = _unwrapped(text)
        if not text.isascii():
            text = text.replace("\xad", "")
            if PRIVATE.search(text):
                text = translate(text, _font(node))
            if "\u2002" in text:
                text = _FORM_BLANKS.sub(" ", text)
        self._out.append(text)

    def _is_hidden(self, run: etree._Element) -> bool:
        properties = run.find(RUN_PROPERTIES)
        if properties is not None:
            direct = is_hidden(properties)
            if direct is not None:
                return direct
            style = properties.find(W + "rStyle")
            if style is not None:
                return self._state.styles.get(style.get(VAL)).hidden or self._hidden_paragraph
        return self._hidden_paragraph

    def _hidden_run(self, run: etree._Element) -> None:
        """Count the text of a hidden run; fields that begin or end in it still do."""
        for child in run:
            if child.tag == T:
                self._state.hidden += len(child.text or "")
            elif child.tag == W + "fldChar":
                self._field_char(child, 0)
            elif child.tag == W + "instrText":
                self._instruction(child, 0)

    def _struck_run(self, run: etree._Element, depth: int) -> None:
        """Mark text that is struck through: commenters redline the words of a rule by hand."""
        mark = len(self._out)
        self._children(run, depth + 1)
        text = "".join(self._out[mark:])
        bare = text.strip()
        if bare:
            before, after = text.split(bare, 1)
            self._out[mark:] = [f"{before}{STRUCK}{bare}{STRUCK}{after}"]

    def _field_char(self, node: etree._Element, depth: int) -> None:
        kind = node.get(W + "fldCharType")
        if kind == "begin":
            self._emit(form_field_text(node))
            if node.get("broken") is None:
                self._fields.append(_Field(len(self._out)))
                self._muted += 1
        elif kind == "separate" and self._fields:
            field = self._fields[-1]
            if not field.in_result:
                field.in_result = True
                field.mark = len(self._out)
                self._muted -= 1
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            if not field.in_result:
                self._muted -= 1
            self._end_field("".join(field.instruction), field)

    def _end_field(self, instruction: str, field: _Field) -> None:
        link = _HYPERLINK.match(instruction)
        if link:
            self._link(link.group(1) or link.group(2) or "", field.mark)
            return
        match = None if field.in_result else _SYMBOL_FIELD.match(instruction)
        if match:
            code = match.group(1).lower()
            number = int(code, 16) if code.startswith("0x") else min(int(code[:7]), 0x10FFFF)
            self._emit(symbol(match.group(2), f"{number:X}"))

    def _instruction(self, node: etree._Element, depth: int) -> None:
        if self._fields and not self._fields[-1].in_result:
            self._fields[-1].instruction.append(node.text or "")

    def _simple_field(self, node: etree._Element, depth: int) -> None:
        mark = len(self._out)
        self._children(node, depth + 1)
        link = _HYPERLINK.match(node.get(W + "instr") or "")
        if link:
            self._link(link.group(1) or link.group(2) or "", mark)

    def _hyperlink(self, node: etree._Element, depth: int) -> None:
        mark = len(self._out)
        self._children(node, depth + 1)
        relation = self._relations.get(node.get(RID) or "")
        if relation is not None and relation.external:
            self._link(relation.target, mark)

    def _link(self, url: str, mark: int) -> None:
        """Remember a URL that its own link text doesn't show."""
        url = url.strip()
        if self._muted or not _URL.fullmatch(url):
            return
        shown = re.sub(r"\s", "", "".join(self._out[mark:])).lower()
        bare = re.sub(r"^(?:\w+://|mailto:)", "", url, flags=re.IGNORECASE)
        bare = bare.partition("?subject=")[0].rstrip("/").lower()
        if shown and bare not in shown:
            self._links[url.removeprefix("mailto:")] = None

    def _note(self, node: etree._Element, depth: int) -> None:
        kind, prefix = ("footnote", "") if node.tag == W + "footnoteReference" else ("endnote", "e")
        if not self._muted:
            self._out.append(
                f"[^{prefix}{self._state.note_number(kind, node.get(W + 'id') or '')}]"
            )

    def _control(self, node: etree._Element, depth: int) -> None:
        content = control_content(node, self._state.placeholder_styles)
        if isinstance(content, str):
            self._emit(content)
        elif content is not None:
            self._children(content, depth + 1)

    def _alternative(self, node: etree._Element, depth: int) -> None:
        branch = alternative(node)
        if branch is not None:
            self._children(branch, depth + 1)

    def _ruby(self, node: etree._Element, depth: int) -> None:
        """A reading above its base: the base stays whole, the reading follows in brackets."""
        base, reading = node.find(W + "rubyBase"), node.find(W + "rt")
        if base is not None:
            self._children(base, depth + 1)
        text = "".join(t.text or "" for t in reading.iter(T)) if reading is not None else ""
        if text.strip():
            self._emit(f" ({text.strip()})")

    def _symbol(self, node: etree._Element, depth: int) -> None:
        self._emit(symbol(node.get(W + "font"), node.get(W + "char")))

    def _drawing(self, node: etree._Element, depth: int) -> None:
        extent = next(node.iter("{*}extent"), None)
        if extent is not None:
            self._size = (points(extent.get("cx")), points(extent.get("cy")))
        self._children(node, depth + 1)

    def _shape(self, node: etree._Element, depth: int) -> None:
        size = shape_size(node.get("style"))
        if size != (0.0, 0.0):
            self._size = size
        self._children(node, depth + 1)

    def _picture(self, node: etree._Element, depth: int) -> None:
        for key in (R + "embed", RID, O + "relid", R + "pict"):
            relation = self._relations.get(node.get(key) or "")
            if relation is not None and not relation.external:
                self._state.add_picture(relation.target, *self._size)
                return

    def _object(self, node: etree._Element, depth: int) -> None:
        relation = self._relations.get(node.get(RID) or "")
        if relation is not None and not relation.external:
            self._state.objects.setdefault(relation.target, node.get("ProgID") or "")

    def _chart(self, node: etree._Element, depth: int) -> None:
        relation = self._relations.get(node.get(RID) or "")
        if relation is not None:
            self._extras.append(read_chart(self._state.package.root(relation.target)))

    def _diagram(self, node: etree._Element, depth: int) -> None:
        relation = self._relations.get(node.get(R + "dm") or "")
        if relation is not None:
            self._extras.append(read_diagram(self._state.package.root(relation.target)))

    def _text_box(self, node: etree._Element, depth: int) -> None:
        self._extras.append(node)

    def _word_art(self, node: etree._Element, depth: int) -> None:
        self._extras.append((node.get("string") or "").strip())

    def _drawing_text(self, node: etree._Element, depth: int) -> None:
        self._emit((node.text or "") + " ")

    def _math(self, node: etree._Element, depth: int) -> None:
        self._emit(math_text(node))

    def _tab(self, node: etree._Element, depth: int) -> None:
        self._emit("\t")

    def _break(self, node: etree._Element, depth: int) -> None:
        self._emit("\n")

    def _hyphen(self, node: etree._Element, depth: int) -> None:
        self._emit("-")


_Handler = Callable[[InlineReader, etree._Element, int], None]
_HANDLERS: dict[str, _Handler] = {
    W + "tab": InlineReader._tab,
    W + "ptab": InlineReader._tab,
    W + "br": InlineReader._break,
    W + "cr": InlineReader._break,
    W + "noBreakHyphen": InlineReader._hyphen,
    W + "sym": InlineReader._symbol,
    W + "fldChar": InlineReader._field_char,
    W + "instrText": InlineReader._instruction,
    W + "fldSimple": InlineReader._simple_field,
    W + "hyperlink": InlineReader._hyperlink,
    W + "footnoteReference": InlineReader._note,
    W + "endnoteReference": InlineReader._note,
    W + "footnote": InlineReader._text_box,  # in Word 2003's XML notes stand in their run
    W + "endnote": InlineReader._text_box,
    W + "sdt": InlineReader._control,
    W + "ruby": InlineReader._ruby,
    W + "drawing": InlineReader._drawing,
    W + "txbxContent": InlineReader._text_box,
    MC + "AlternateContent": InlineReader._alternative,
    V + "shape": InlineReader._shape,
    V + "rect": InlineReader._shape,
    V + "imagedata": InlineReader._picture,
    V + "fill": InlineReader._picture,
    V + "textpath": InlineReader._word_art,
    A + "blip": InlineReader._picture,
    A + "t": InlineReader._drawing_text,
    O + "OLEObject": InlineReader._object,
    C + "chart": InlineReader._chart,
    CX + "chart": InlineReader._chart,
    DGM + "relIds": InlineReader._diagram,
    M + "oMath": InlineReader._math,
}


def flat_text(node: etree._Element) -> str:
    """Return all text below `node` without structure, a line per paragraph."""
    pieces = []
    for child in node.iter(T, W + "p", W + "tab", W + "br"):
        pieces.append(child.text or "" if child.tag == T else "\n" if child.tag == W + "p" else " ")
    return "".join(pieces)


def _is_struck(run: etree._Element) -> bool:
    properties = run.find(RUN_PROPERTIES)
    if properties is None:
        return False
    return any(map(is_on, properties.iterchildren(W + "strike", W + "dstrike")))


def _unwrapped(text: str) -> str:
    """Return a text that was broken into lines by pretty-printing as one line."""
    lines = text.split("\n")
    return " ".join([lines[0].rstrip(), *map(str.strip, lines[1:-1]), lines[-1].lstrip()])


def _font(text: etree._Element) -> str | None:
    run = text.getparent()
    fonts = run.find(f"{RUN_PROPERTIES}/{W}rFonts") if run is not None else None
    if fonts is None:
        return None
    return fonts.get(W + "ascii") or fonts.get(W + "hAnsi") or fonts.get(W + "cs")
