"""Paragraph and character styles of a Word document: headings, numbering, hidden text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from regcomments.read.word_xml import VAL, W

_HEADING_NAME = re.compile(r"heading\s*([1-9])", re.IGNORECASE)
_TITLES = {"title": 1, "subtitle": 2}
_OFF = {"0", "false", "off", "none"}
# Styles that a chain of `basedOn` may pass through; Word itself stops at 11.
_MAX_CHAIN = 20


@dataclass(frozen=True)
class Style:
    """What matters of one style, inherited values filled in.

    `heading` is 1 to 9, 0 for none. `num_id` and `level` are its numbering (None: none of its
    own), `hidden` whether its text is hidden.
    """

    heading: int = 0
    num_id: str | None = None
    level: int | None = None
    hidden: bool = False


PLAIN = Style()


class Styles:
    """The styles of a document by id, each worked out when it is first asked for."""

    def __init__(self, root: etree._Element | None = None) -> None:
        nodes = root.iterchildren(W + "style") if root is not None else ()
        self._raw = {node.get(W + "styleId") or "": node for node in nodes}
        self._known: dict[str | None, Style] = {None: PLAIN}
        self.may_hide = root is not None and next(root.iter(W + "vanish"), None) is not None

    def get(self, style_id: str | None) -> Style:
        """Return the style called `style_id`; a plain one when there is none of that id."""
        style = self._known.get(style_id)
        if style is None:
            style = self._known[style_id] = _resolve(style_id or "", self._raw)
        return style

    def placeholders(self) -> frozenset[str]:
        """Return the ids of the style that Word gives to prompts in empty content controls."""
        found = {"PlaceholderText"}
        for style_id, node in self._raw.items():
            name = node.find(W + "name")
            if name is not None and (name.get(VAL) or "").lower() == "placeholder text":
                found.add(style_id)
        return frozenset(found)


def _resolve(style_id: str, raw: dict[str, etree._Element]) -> Style:
    heading: int | None = None
    num_id = level = hidden = None
    current: str | None = style_id
    for _ in range(_MAX_CHAIN):
        node = raw.get(current or "")
        if node is None:
            break
        name = based = None
        for child in node:
            tag = child.tag
            if tag == W + "name":
                name = child.get(VAL)
            elif tag == W + "basedOn":
                based = child.get(VAL)
            elif tag == W + "pPr":
                outline = child.find(W + "outlineLvl")
                if heading is None and outline is not None:
                    heading = outline_heading(outline.get(VAL))
                numbering = child.find(W + "numPr")
                if numbering is not None:
                    own_id, own_level = numbering_of(numbering)
                    num_id = num_id if num_id is not None else own_id
                    level = level if level is not None else own_level
            elif tag == W + "rPr" and hidden is None:
                hidden = is_hidden(child)
        if heading is None:
            heading = _named_heading(name)
        current = based
    return Style(heading or 0, num_id, level, bool(hidden))


def _named_heading(name: str | None) -> int | None:
    if not name:
        return None
    match = _HEADING_NAME.fullmatch(name.strip())
    return int(match.group(1)) if match else _TITLES.get(name.strip().lower())


def outline_heading(value: str | None) -> int:
    """Return the heading level of an outline level, "0" to "8"; 0 (body text) for any other."""
    return int(value) + 1 if value in {"0", "1", "2", "3", "4", "5", "6", "7", "8"} else 0


def numbering_of(node: etree._Element) -> tuple[str | None, int | None]:
    """Return the numbering id and level that a `numPr` element states, None for what it doesn't."""
    num_id = level = None
    for child in node:
        if child.tag == W + "numId":
            num_id = child.get(VAL)
        elif child.tag == W + "ilvl":
            level = small_int(child.get(VAL))
    return num_id, level


def is_hidden(properties: etree._Element) -> bool | None:
    """Return whether run properties hide their text; None when they don't say.

    The hidden mark of a style separator (`specVanish`) hides a paragraph mark, not text.
    """
    node = properties.find(W + "vanish")
    if node is None:
        return None
    if properties.find(W + "specVanish") is not None:
        return None
    return is_on(node)


def is_on(node: etree._Element) -> bool:
    """Return the value of an on-off property; the mere element means on."""
    return (node.get(VAL) or "true").lower() not in _OFF


def small_int(value: str | None, default: int | None = None) -> int | None:
    """Return `value` as an integer of at most nine digits, else `default`."""
    text = (value or "").strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,9}", text) else default
