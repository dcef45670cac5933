"""Characters of the Symbol and Wingdings fonts, which Word stores by their place in the font."""

from __future__ import annotations

import re

CHECKED, UNCHECKED = "☒", "☐"
# Word maps symbol fonts to the private use area at F000 (ECMA-376 part 1, 17.3.3.30).
PRIVATE = re.compile("[\uf020-\uf0ff]")
_OFFSET = 0xF000

# Adobe's Symbol encoding, from 0x20 and from 0xA0; a space where nothing readable stands.
_SYMBOL_LOW = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟ"
    "ΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼ "
)
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉"
    "∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪ ⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭ "
)
# Wingdings: only what letters and forms use; a picture of a telephone is not text.
_OTHERS = "20 4A☺4C☹AB★E0→DF←E1↑E2↓E8→E7←E9↑EA↓F0⇨F3⇔FB✗FC✓FE☑28☎2A✉22✂76➢D8➢C4➢"
_WINGDINGS = {
    **dict.fromkeys((0x6C, 0x6E, 0x77, 0x9E, 0x9F, 0xA1, 0xA7), "•"),
    **dict.fromkeys((0x6F, 0x70, 0x71, 0x72, 0xA8), UNCHECKED),
    **dict.fromkeys((0x78, 0xFD), CHECKED),
    **{0x80 + digit: chr(0x2460 + digit - 1) for digit in range(1, 11)},
    **{0x8B + digit: chr(0x2776 + digit - 1) for digit in range(1, 11)},
    **{int(place, 16): char for place, char in re.findall("([0-9A-F]{2})(.)", _OTHERS)},
}
_WINGDINGS_2 = {
    **dict.fromkeys((0x2A, 0x30, 0x35, 0xA2, 0xA3), UNCHECKED),
    **dict.fromkeys((0x51, 0x53, 0x54, 0x56), CHECKED),
    **dict.fromkeys((0x95, 0x96, 0x97), "•"),
    **dict(zip((0x20, 0x50, 0x52, 0x4F), " ✓☑✗", strict=True)),
}
_WEBDINGS = {0x20: " ", 0x61: "✓", 0x63: UNCHECKED, 0x67: "•", 0x72: "✗", 0x3D: "•"}


def _symbol_table() -> dict[int, str]:
    low = {0x20 + index: char for index, char in enumerate(_SYMBOL_LOW)}
    return low | {0xA0 + index: char for index, char in enumerate(_SYMBOL_HIGH)}


_FONTS = {
    "symbol": _symbol_table(),
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "webdings": _WEBDINGS,
}


def symbol(font: str | None, code: str | None) -> str:
    """Return the character at hexadecimal place `code` of `font`; "" when it is a picture."""
    if not re.fullmatch(r"[0-9A-Fa-f]{1,6}", code or ""):
        return ""
    place = int(code or "", 16)
    if place >= 0x110000 or 0xD800 <= place < 0xE000:
        return ""
    table = _FONTS.get((font or "").strip().lower())
    if table is not None:
        return table.get(place & 0xFF, "")
    if _OFFSET <= place <= _OFFSET + 0xFF:
        return _FONTS["symbol"].get(place - _OFFSET, "")
    return chr(place) if place >= 0x20 else ""


def translate(text: str, font: str | None) -> str:
    """Return `text` with private-use characters of symbol fonts as what they look like."""
    known = (font or "").strip().lower()
    name = known if known in _FONTS else "symbol"
    return PRIVATE.sub(lambda match: symbol(name, f"{ord(match.group()):X}"), text)
