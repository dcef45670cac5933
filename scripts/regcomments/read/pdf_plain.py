"""The quick way to the lines of an ordinary page: one on which no text can be hidden.

MuPDF's dictionary of spans tells colour and render mode but costs 10 to 20 microseconds a span,
up to twice what reading the page took. Its XML without characters gives lines and boxes alone, at
the price of the plain text. So the page's drawing code is looked through first for the operators
that can hide text: a page without them has none to hide.
"""

from __future__ import annotations

import re
from functools import lru_cache

import pymupdf
from pymupdf import mupdf

from regcomments.read.pdf_line import TINY, TINY_SIZE, UPRIGHT, Line
from regcomments.read.pdf_parts import PageParts
from regcomments.read.pdf_printed import PrintedPage, printed

_BLOCK_OR_LINE = re.compile(
    r'<(?:block |line bbox="([^"]*)" wmode="(\d)" dir="([^"]*)"[^>]*? text="([^"]*)")'
)
_UNMAPPED = ("&#xfffd;", "\ufffd")
# The entity for "&" comes last, or it would make new ones.
_NAMED = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
# Text render modes 3 (invisible) and 4 to 7 (clipping).
_RENDER_MODE = re.compile(rb"Tr\b")
_HIDING_MODES = frozenset(range(3, 8))
# Operators that set the colour of what is filled (grey, RGB, CMYK, a colour space of one of
# these), each after the white space that ends its last operand. Looked for one by one: a search
# for all as one pattern took 50 times as long.
_OPERANDS = {b"rg": 3, b"g": 1, b"k": 4}
_FILLS = tuple(space + name for name in (*_OPERANDS, b"sc") for space in (b" ", b"\n", b"\r"))
_OPERAND_BYTES = 60  # four numbers of up to 14 characters
# Of 1. Text of 0.97 is faint but there; from 0.98 no eye and no printer tells it from paper.
_WHITE, _NO_INK = 0.98, 0.02
_STEPS = re.compile(rb"\b(?:rg|g|k|scn?|q|Q|T[jJ])\b|['\"]")
_SHOWS_TEXT = frozenset((b"Tj", b"TJ", b"'", b'"'))
_STEPS_FOLLOWED = 500
_OPACITY = re.compile(r"/ca\s+0?\.?0")  # written in place, below 0.1
_INDIRECT = re.compile(r"(\d+) \d+ R")
_FAINT = 0.04  # of 1; text fainter than this leaves no trace on paper
_WHITE_TEXT = re.compile(rb"color:#f[0-9a-f]f[0-9a-f]f[0-9a-f]")
# A line's box is 1.0 to 1.4 times as high as its type size; its foot lies this share below the
# baseline.
_HEIGHT, _DESCENT = 1.2, 0.2


def may_hide_text(
    page: pymupdf.Page, textpage: pymupdf.TextPage, parts: PageParts | None = None
) -> bool:
    """Tell whether some text of `page` could be invisible or white; False is certain.

    Raises what MuPDF raises on damaged pages.
    """
    if not PrintedPage.can_print:
        return True
    parts = parts or PageParts(page)
    code = parts.code
    modes = _RENDER_MODE.finditer(code) if b"Tr" in code else ()
    if any(_hides(code, match.start()) for match in modes):
        return True
    if b" Do" in code and parts.forms:
        return True  # code inside code, not looked through
    if b" gs" in code and _has_transparent_state(page):
        return True
    if _may_write_white(code):
        html = printed(mupdf.fz_print_stext_page_as_html, textpage)
        return _WHITE_TEXT.search(html) is not None
    return False


def _hides(code: bytes, at: int) -> bool:
    """Tell whether the operand in front of a `Tr` at `at` is a mode that hides text."""
    words = code[max(at - 12, 0) : at].split()
    try:
        return not words or int(float(words[-1])) in _HIDING_MODES
    except (ValueError, OverflowError):
        return True


def _may_write_white(code: bytes) -> bool:
    """Tell whether text is shown while the fill colour may be white."""
    for fill in _FILLS:
        start = code.find(fill)
        while start >= 0:
            end = start + len(fill)
            name = fill[1:]
            if name == b"sc" and code[end : end + 1] == b"n":
                end += 1
            before = code[max(start - _OPERAND_BYTES, 0) : start]
            if _is_white(before, name) and _text_follows(code, end):
                return True
            start = code.find(fill, end)
    return False


def _is_white(before: bytes, name: bytes) -> bool:
    """Tell whether the numbers at the end of `before` may be white to the operator `name`."""
    wanted = _OPERANDS.get(name, 4)
    numbers: list[float] = []
    for word in reversed(before.split()[-wanted:]):
        try:
            numbers.append(float(word))
        except ValueError:
            break
    if not numbers or (name in _OPERANDS and len(numbers) < wanted):
        return False
    light = name != b"k" and all(number >= _WHITE for number in numbers)
    bare = len(numbers) == 4 and all(number <= _NO_INK for number in numbers)
    # A tint of one colorant, of which none is no ink at all.
    untinted = name == b"sc" and len(numbers) == 1 and numbers[0] <= _NO_INK
    return light or bare or untinted


def _text_follows(code: bytes, start: int) -> bool:
    """Tell whether text is shown in the colour set in front of `start`.

    Follows the code to the next operator that sets another colour, or to the end of the graphics
    state that this one was set in.
    """
    depth, other = 0, None  # states saved since; the one in which another colour was set
    for count, match in enumerate(_STEPS.finditer(code, start)):
        step = match[0]
        if step == b"q":
            depth += 1
        elif step == b"Q":
            depth -= 1
            if depth < 0:
                return False
            if other is not None and depth < other:
                other = None
        elif step in _SHOWS_TEXT:
            if other is None:
                return True
        elif depth == 0:
            return False
        elif other is None:
            other = depth
        if count > _STEPS_FOLLOWED:
            return True
    return False


def _has_transparent_state(page: pymupdf.Page) -> bool:
    """Tell whether the page may set an opacity of next to nothing for what it fills."""
    document = page.parent
    kind, states = document.xref_get_key(page.xref, "Resources/ExtGState")
    if kind == "xref":
        states = document.xref_object(int(states.split()[0]))
    elif kind != "dict":
        return True  # inherited from the page tree, not looked up
    if _OPACITY.search(states):
        return True
    opacities = (document.xref_get_key(int(x), "ca") for x in _INDIRECT.findall(states))
    return any(kind in ("int", "float") and float(value) < _FAINT for kind, value in opacities)


def plain_lines(page: PrintedPage) -> list[Line] | None:
    """Return the lines of a page that hides nothing, size and baseline estimated from the boxes.

    Coordinates are those of the unrotated page, as in pdf_lines. None when the text holds control
    characters, which XML cannot spell: they tell a font without a character map from a real gap.
    """
    xml = page.xml
    if any(spelling in xml for spelling in _UNMAPPED):
        return None
    # Numbers stand for characters beyond ASCII only, so they can be put in before tags are read.
    if "&#x" in xml:
        first, *rest = xml.split("&#x")
        pieces = [first]
        for piece in rest:
            code, _, text = piece.partition(";")
            pieces += (_character(code), text)
        xml = "".join(pieces)
    lines: list[Line] = []
    block = -1
    for box, wmode, direction, text in _BLOCK_OR_LINE.findall(xml):
        if not box:
            block += 1
            continue
        if "&" in text:
            for name, char in _NAMED:
                text = text.replace(name, char)
        stripped = text.strip()
        if not stripped:
            continue
        x0, y0, x1, y1 = map(float, box.split())
        if direction == "1 0":  # nearly all lines
            height = y1 - y0
            dx, dy, ox, oy = 1.0, 0.0, x0, y1 - _DESCENT * height
        elif abs(dx := float(direction.split()[0])) >= abs(dy := float(direction.split()[1])):
            height = y1 - y0
            ox, oy = x0, y1 - _DESCENT * height if dx > 0 else y0 + _DESCENT * height
        else:
            height = x1 - x0
            ox, oy = (x0 + _DESCENT * height if dy > 0 else x1 - _DESCENT * height), y0
        size = height / _HEIGHT
        if len(stripped) < len(text) and dx > UPRIGHT:
            # The box holds the spaces too; they would hide the gap to the next piece.
            step = (x1 - x0) / len(text)
            x0 += step * (len(text) - len(text.lstrip()))
            x1 -= step * (len(text) - len(text.rstrip()))
        marks = TINY if size < TINY_SIZE else 0
        lines.append(
            Line(stripped, x0, y0, x1, y1, size, ox, oy, dx, dy, block, marks, wmode != "0")
        )
    return lines


@lru_cache(maxsize=4096)
def _character(code: str) -> str:
    """Return the character of a hexadecimal number."""
    number = int(code, 16)
    return chr(number) if number < 0x110000 else "\ufffd"
