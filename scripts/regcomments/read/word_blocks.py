"""The blocks of a story of a Word document, in order: headings, paragraphs, lists, tables."""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from lxml import etree

from regcomments.read.flow import pipe_table
from regcomments.read.word_controls import alternative, control_content, repair_fields
from regcomments.read.word_embedded import read_chunk
from regcomments.read.word_inline import SKIP, Inline, InlineReader, flat_text
from regcomments.read.word_math import math_text
from regcomments.read.word_numbering import paragraph_numbering
from regcomments.read.word_state import WalkState
from regcomments.read.word_styles import PLAIN, Style, is_hidden, outline_heading
from regcomments.read.word_tables import grid, one_line, table_rows
from regcomments.read.word_xml import MC, RID, VAL, M, W

# Tables in tables, text boxes in text boxes: below this depth text is read flat.
MAX_DEPTH = 40
# Characters above which a paragraph in a heading style is a paragraph in a wrong style.
MAX_HEADING = 300
# combined.md keeps Markdown's levels 1 and 2 to itself.
HEADING_OFFSET = 2
_MAX_HASHES = 6
_BLOCK_LEVEL = (W + "p", W + "tbl", W + "altChunk")


class Block(NamedTuple):
    """A block of text: its kind (text, item, heading, table), what leads it, links beside it.

    A table has its cells in `rows` too, as plain text.
    """

    kind: str
    text: str
    lead: str = ""
    links: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


class StoryReader:
    """Reads one story (body, header, note …) of a document into blocks."""

    def __init__(self, state: WalkState, part: str, root: etree._Element) -> None:
        self._state = state
        self._part = part
        watch = state.styles.may_hide or next(root.iter(W + "vanish"), None) is not None
        struck = next(root.iter(W + "strike", W + "dstrike"), None) is not None
        self._inline = InlineReader(state, part, watch_hidden=watch, watch_struck=struck)
        self._carry = Inline("", {}, [])
        self._list_levels: list[int] = []
        repair_fields(root)

    def read(self, node: etree._Element) -> list[Block]:
        """Return the blocks below `node`."""
        return self._whole(node, 0)

    def _whole(self, node: etree._Element, depth: int) -> list[Block]:
        """Return the blocks of a body, a cell, a text box: paragraphs run on inside it only."""
        return self._blocks(node, depth) + self._flush(depth)

    def _flush(self, depth: int) -> list[Block]:
        """Return what waits for a next paragraph when there is none."""
        carry, self._carry = self._carry, Inline("", {}, [])
        return self._finish(carry, PLAIN, "", 0, "text", depth) if any(carry) else []

    def _blocks(self, node: etree._Element, depth: int) -> list[Block]:
        blocks: list[Block] = []
        if depth > MAX_DEPTH:
            text = flat_text(node).strip()
            return [Block("text", text)] if text else []
        for child in node:
            tag = child.tag
            if tag == W + "p":
                blocks += self._paragraph(child, depth)
            elif tag == W + "tbl":
                blocks += self._flush(depth)
                self._list_levels = []
                blocks += self._table(child, depth)
            elif tag == W + "sectPr":
                self._section(child)
            elif tag in SKIP or not isinstance(tag, str):
                continue
            elif tag == W + "sdt":
                content = control_content(child, self._state.placeholder_styles)
                if isinstance(content, str):
                    blocks.append(Block("text", content))
                elif content is not None:
                    blocks += self._blocks(content, depth + 1)
            elif tag == MC + "AlternateContent":
                branch = alternative(child)
                if branch is not None:
                    blocks += self._blocks(branch, depth + 1)
            elif tag == W + "altChunk":
                blocks += self._chunk(child)
            elif tag in (M + "oMath", M + "oMathPara"):
                blocks.append(Block("text", math_text(child)))
            elif tag == W + "r" or (len(child) and next(child.iter(*_BLOCK_LEVEL), None) is None):
                # Runs outside a paragraph: against the schema, but somebody's words.
                holder = etree.Element(W + "p")
                holder.append(deepcopy(child))  # appending itself would move it
                blocks += self._paragraph(holder, depth)
            elif len(child):
                blocks += self._blocks(child, depth + 1)
        return blocks

    def _paragraph(self, node: etree._Element, depth: int) -> list[Block]:
        properties = node.find(W + "pPr")
        style, style_id, heading, joined = PLAIN, None, None, False
        if properties is not None:
            for child in properties:
                tag = child.tag
                if tag == W + "pStyle":
                    style_id = child.get(VAL)
                    style = self._state.styles.get(style_id)
                elif tag == W + "outlineLvl":
                    heading = outline_heading(child.get(VAL))
                elif tag == W + "sectPr":
                    self._section(child)
                elif tag == W + "framePr":
                    # A big first letter is a paragraph of its own; its word goes on in the next.
                    joined = joined or child.get(W + "dropCap") in ("drop", "margin")
                elif tag == W + "rPr" and len(child):
                    joined = joined or (
                        child.find(W + "del") is not None
                        or child.find(W + "moveFrom") is not None
                        or child.find(W + "specVanish") is not None
                    )
        inline = self._inline.read(node, style)
        if any(self._carry):
            inline = Inline(
                self._carry.text + inline.text,
                self._carry.links | inline.links,
                self._carry.extras + inline.extras,
            )
            self._carry = Inline("", {}, [])
        if joined:  # its end is deleted: it runs on in the next paragraph
            self._carry = inline
            return []
        label, level, kind = "", 0, "text"
        listed = paragraph_numbering(properties, style_id, style, self._state.numbering)
        if listed is not None and not self._is_hidden_mark(properties, inline):
            label, level = self._state.numbering.step(*listed), listed[1]
            kind = "item"
        level_of_heading = style.heading if heading is None else heading
        if level_of_heading and 0 < len(inline.text.strip()) <= MAX_HEADING:
            kind, level = "heading", level_of_heading
        return self._finish(inline, style, label, level, kind, depth)

    def _is_hidden_mark(self, properties: etree._Element | None, inline: Inline) -> bool:
        """Return whether a paragraph is hidden as a whole, so that its number isn't counted."""
        mark = properties.find(W + "rPr") if properties is not None else None
        return mark is not None and not inline.text and bool(is_hidden(mark))

    def _finish(
        self, inline: Inline, style: Style, label: str, level: int, kind: str, depth: int = 0
    ) -> list[Block]:
        blocks: list[Block] = []
        text = inline.text.strip()
        if text:
            links = tuple(inline.links)
            if kind == "heading":
                text = " ".join(text.split())
                lead = "#" * min(level + HEADING_OFFSET, _MAX_HASHES) + " "
            elif kind == "item":
                lead = "  " * self._indent(level)
            else:
                lead = ""
            if kind != "item":
                self._list_levels = []
            blocks.append(Block(kind, f"{label} {text}" if label else text, lead, links))
        for extra in inline.extras:
            blocks += self._extra(extra, depth + 1)
        return blocks

    def _indent(self, level: int) -> int:
        """Return how deep a list item lies among the items right above it."""
        while self._list_levels and self._list_levels[-1] >= level:
            self._list_levels.pop()
        self._list_levels.append(level)
        return len(self._list_levels) - 1

    def _extra(self, extra: etree._Element | str, depth: int) -> list[Block]:
        if isinstance(extra, str):
            kind = "table" if extra.startswith("| ") else "text"
            return [Block(kind, extra)] if extra else []
        saved, levels, carry = self._inline.apart(), self._list_levels, self._carry
        self._list_levels, self._carry = [], Inline("", {}, [])
        blocks = self._whole(extra, depth)
        self._list_levels, self._carry = levels, carry
        self._inline.resume(saved)
        return blocks

    def _table(self, table: etree._Element, depth: int) -> list[Block]:
        places, hidden = table_rows(table)
        for row in hidden:
            self._state.hidden += sum(len(text.text or "") for text in row.iter(W + "t"))
        if sum(len(row) for row in places) == 1:  # a frame round a text, not a table
            return self._cell(places, depth)
        rows: list[list[tuple[int, str]]] = []
        inner: list[Block] = []
        links: dict[str, None] = {}
        for row in places:
            line: list[tuple[int, str]] = []
            for place in row:
                texts: list[str] = []
                for block in [] if place.covered else self._whole(place.element, depth + 1):
                    if block.kind == "table":
                        inner.append(block)
                        texts.append("[table below]")
                    else:
                        texts.append(block.text)
                    links.update(dict.fromkeys(block.links))
                line.append((place.column, one_line(texts)))
            rows.append(line)
        cells = grid(rows)
        text = pipe_table(cells)
        blocks = [Block("table", text, rows=tuple(map(tuple, cells)))] if text else []
        if links and blocks:
            blocks.append(Block("text", "", links=tuple(links)))
        return blocks + inner

    def _cell(self, places: list, depth: int) -> list[Block]:
        for row in places:
            for place in row:
                return self._whole(place.element, depth + 1)
        return []

    def _section(self, properties: etree._Element) -> None:
        relations = self._state.package.relations(self._part)
        for node in properties.iterchildren(W + "headerReference", W + "footerReference"):
            relation = relations.get(node.get(RID) or "")
            kind = "header" if node.tag == W + "headerReference" else "footer"
            parts = self._state.margins[kind]
            if relation is not None and not relation.external:
                parts[relation.target] = None

    def _chunk(self, node: etree._Element) -> list[Block]:
        relation = self._state.package.relations(self._part).get(node.get(RID) or "")
        if relation is None or relation.external:
            return []
        text = read_chunk(self._state, relation.target)
        return [Block("text", text)] if text else []


def to_markdown(blocks: list[Block]) -> str:
    """Return blocks as Markdown: list items on following lines, else an empty line between.

    The URLs behind links follow their paragraph, so that its words stay together.
    """
    pieces: list[str] = []
    previous = ""
    for block in blocks:
        if pieces:
            pieces.append("\n" if block.kind == previous == "item" else "\n\n")
        tail = " ".join(f"<{url}>" for url in block.links)
        text = block.text
        if block.kind == "item" and "\n" in text:
            text = text.replace("\n", "\n" + block.lead + "  ")
        pieces.append(block.lead + text + (" " + tail if text and tail else tail))
        previous = block.kind
    return "".join(pieces)
