"""The vocabulary of RTF: code pages, characters, and groups of a kind of their own."""

from __future__ import annotations

import codecs
import re

from regcomments.read.word_symbols import CHECKED, UNCHECKED

# \fcharsetN: the code page of a font (RTF 1.9.1, "Font Table").
FONT_CODE_PAGES = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
SYMBOL_CHARSET = 2
# Places of Symbol and Wingdings that commenters meet: bullets, arrows and tick boxes.
SYMBOLS = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐", 0x72: "☐", 0x76: "❖", 0xA7: "▪", 0xA8: "☐",
    0xB7: "•", 0xD8: "➢", 0xE0: "→", 0xF0: "⇨", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑", 0x78: "☒",
    0xA3: "≤", 0xB3: "≥", 0xB0: "°", 0xB1: "±", 0xAE: "→", 0xDE: "⇒",
}  # fmt: skip
# Groups whose text is no part of the document, or that repeat what stands elsewhere.
_SKIPPED = frozenset(
    [
        *("colortbl", "stylesheet", "info", "pict", "objdata", "objclass", "themedata", "xe", "tc"),
        *("revtbl", "listtable", "listoverridetable", "rsidtbl", "generator", "filetbl", "sp"),
        *("shprslt", "nonshppict", "nonesttables", "bkmkstart", "bkmkend", "datastore", "pgdsctbl"),
        *("latentstyles", "colorschememapping", "private", "template", "ftnsep", "ftnsepc", "rxe"),
        *("ftncn", "aftnsep", "aftnsepc", "aftncn", "atnid", "atnauthor", "atrfstart", "atrfend"),
        *("atndate", "atnref", "mmathPr", "wgrffmtfilter", "picprop", "pn", "falt", "panose"),
        *("userprops", "xmlnstbl", "docvar", "keycode", "fontemb", "fontfile", "background"),
    ]
)
# Ignorable groups ("\*") that hold text all the same.
_TEXT_GROUPS = frozenset(
    [
        *("shpinst", "shptxt", "ud", "nesttableprops", "fldinst", "htmltag", "annotation"),
        *("footnote", "do"),  # `do`: drawings of Word 95, with text boxes
        *("mmath", "moMath", "moMathPara"),
    ]
)
_FORMULA_SETTING = re.compile(r"m\w+Pr")  # as `mfPr`, `mctrlPr`
HEADERS = frozenset(["header", "headerl", "headerr", "headerf"])
FOOTERS = frozenset(["footer", "footerl", "footerr", "footerf"])
CHARACTERS = {
    "emdash": "—",
    "endash": "–",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "zwnj": "\u200c",
    "zwj": "\u200d",
    "ltrmark": "",
    "rtlmark": "",
    "tab": " ",
    "~": "\u00a0",
    "_": "-",
    "-": "",
    ":": "",
    "|": "",
    "\\": "\\",
    "{": "{",
    "}": "}",
    # Parts of formulas: below a fraction line, lower, upper.
    "mden": "/",
    "msub": "_",
    "msup": "^",
}


def is_skipped(word: str, ignorable: bool) -> bool:
    """Return whether the group that `word` begins is left out; "\\*" makes it ignorable."""
    if word in _SKIPPED or _FORMULA_SETTING.fullmatch(word):
        return True
    return ignorable and word not in _TEXT_GROUPS


def form_mark(instruction: str) -> str:
    """Return the mark of a tick box from the instruction of its field, "" for other fields.

    The numbers of the form field stand in it as `\\ffres1`; 25 means that of `\\ffdefres` (RTF
    1.9.1, "Form Fields").
    """
    if "FORMCHECKBOX" not in instruction:
        return ""
    numbers = dict(re.findall(r"\\(ffres|ffdefres)(\d{1,3})", instruction))
    result = numbers.get("ffres", "25")
    ticked = numbers.get("ffdefres") if result == "25" else result
    return CHECKED if ticked == "1" else UNCHECKED


def code_page(number: int) -> str:
    """Return the Python codec of Windows code page `number`, CP1252 when there is none."""
    name = {10000: "mac_roman", 65001: "utf-8", 936: "gbk", 1361: "johab", 708: "iso8859_6"}.get(
        number, f"cp{number}"
    )
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name


def symbol(code: int) -> str:
    """Return the character at `code` of a symbol font, a bullet when it is unknown."""
    code &= 0xFF
    return SYMBOLS.get(code, chr(code) if code < 0x60 else "•")
