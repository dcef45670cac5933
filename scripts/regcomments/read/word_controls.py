"""Content controls, form fields and alternatives of a Word document: which of it is text."""

from __future__ import annotations

import re

from lxml import etree

from regcomments.read.word_styles import is_on, small_int
from regcomments.read.word_symbols import CHECKED, UNCHECKED
from regcomments.read.word_xml import DGM, MC, VAL, W14, A, C, M, V, W

# Extended charts (Office 2016); their fallback says only that the chart can't be shown.
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_CHOICE_CONTENT = (
    *(W + "t", A + "blip", A + "t", C + "chart", CX + "chart", DGM + "relIds", M + "t"),
    *(W + "sym", W + "footnoteReference"),
)
_FALLBACK_CONTENT = (W + "t", V + "imagedata", V + "textpath")
# What Word and its templates put into an empty control, where it carries no placeholder style.
_PROMPT = re.compile(
    r"\W*(?:(?:click|tap) .{0,30}\bto (?:enter|add|insert|choose|select)\b.{0,60}"
    r"|(?:click|tap|choose|select|enter|type|insert|pick|add)\b.{0,60}"
    r"\b(?:text|here|item|date|name|title|subtitle|heading|address|option|value|number|comments?"
    r"|organization|company|phone|e-?mail|city|state|response|answer)\b\W*"
    r"|\[[^\]]{0,120}\]\W*)",
    re.IGNORECASE | re.DOTALL,
)


def alternative(node: etree._Element) -> etree._Element | None:
    """Return the one branch of an AlternateContent element to read; both tell the same.

    The first choice that holds text or a picture; else the fallback if that does.
    """
    choices = list(node.iterchildren(MC + "Choice"))
    for choice in choices:
        if next(choice.iter(*_CHOICE_CONTENT), None) is not None:
            return choice
    fallback = node.find(MC + "Fallback")
    if fallback is not None and next(fallback.iter(*_FALLBACK_CONTENT), None) is not None:
        return fallback
    return choices[0] if choices else fallback


def control_content(
    node: etree._Element, placeholder_styles: frozenset[str]
) -> etree._Element | str | None:
    """Return what a content control (`sdt`) shows: its content element, a check mark, or None.

    None when it holds only the prompt to fill it in.
    """
    content = node.find(W + "sdtContent")
    properties = node.find(W + "sdtPr")
    if properties is None:
        return content
    box = properties.find(W14 + "checkbox")
    if box is not None:
        state = box.find(W14 + "checked")
        on = state is not None and (state.get(W14 + "val") or "1").lower() in ("1", "true", "on")
        return CHECKED if on else UNCHECKED
    flag = properties.find(W + "showingPlcHdr")
    if flag is None or not is_on(flag) or content is None:
        return content
    return None if _is_prompt(content, placeholder_styles) else content


def _is_prompt(content: etree._Element, placeholder_styles: frozenset[str]) -> bool:
    """Tell a prompt from a text that a program filled in without clearing the flag."""
    texts: list[str] = []
    styled = True
    for text in content.iter(W + "t"):
        texts.append(text.text or "")
        run = text.getparent()
        style = run.find(f"{W}rPr/{W}rStyle") if run is not None else None
        styled = styled and style is not None and style.get(VAL) in placeholder_styles
    return styled or bool(_PROMPT.fullmatch("".join(texts).strip()))


def form_field_text(begin: etree._Element) -> str:
    """Return what a legacy form field shows that isn't in its result: check mark, chosen entry."""
    data = begin.find(W + "ffData")
    if data is None:
        return ""
    box = data.find(W + "checkBox")
    if box is not None:
        state = box.find(W + "checked")
        if state is None:
            state = box.find(W + "default")
        return CHECKED if state is not None and is_on(state) else UNCHECKED
    choice = data.find(W + "ddList")
    if choice is None:
        return ""
    entries = [entry.get(VAL) or "" for entry in choice.iterchildren(W + "listEntry")]
    result = choice.find(W + "result")
    if result is None:
        result = choice.find(W + "default")
    index = small_int(result.get(VAL), 0) if result is not None else 0
    return entries[index] if index is not None and 0 <= index < len(entries) else ""


def repair_fields(root: etree._Element) -> None:
    """Mark the begins of complex fields that never end, so that they don't swallow what follows."""
    open_fields: list[etree._Element] = []
    for node in root.iter(W + "fldChar"):
        kind = node.get(W + "fldCharType")
        if kind == "begin":
            open_fields.append(node)
        elif kind == "end" and open_fields:
            if any(True for _ in node.iterancestors(W + "del", W + "moveFrom")):
                continue  # the walker never sees this end
            open_fields.pop()
    for node in open_fields:
        node.set("broken", "1")
