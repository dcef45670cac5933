"""Is extracted text language at all? Counts that hold for any script, taken in well under 1 ms."""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import dataclass

# Glyphs without a Unicode value reach us as controls (MuPDF gives the glyph's number), as
# U+FFFD or as private-use characters.
_BAD = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")

# Punctuation that does not stand between two letters of a word in any orthography; the
# apostrophe, hyphen, dot, slash, ampersand and underscore do, so do @ and : in addresses.
_SYMBOLS = '<>{}|~^\\*=#$%"!?;()[]«»+•¤¦§©®°±¶'


def _byte_table(classes: dict[str, str], other: str) -> bytes:
    table = [ord(other)] * 256
    for name, members in classes.items():
        for char in members:
            table[char.encode("cp1252")[0]] = ord(name)
    return bytes(table)


_WESTERN = [bytes([i]).decode("cp1252", "replace") for i in range(256)]
_LOWER = "".join(c for c in _WESTERN if unicodedata.category(c) == "Ll")
_UPPER = "".join(c for c in _WESTERN if unicodedata.category(c) == "Lu")
_SPACE = string.whitespace + "\u00a0"
# Unmappable characters (other scripts) are encoded as "?" and so fall under "other": neutral.
_SHAPES = _byte_table(
    {"a": _LOWER, "A": _UPPER, "0": string.digits, "#": _SYMBOLS.replace("?", ""), " ": _SPACE},
    ".",
)
_VOWELS = "".join(c for c in _LOWER if unicodedata.normalize("NFD", c)[0] in "aeiouyæøœ")
_SOUNDS = _byte_table({"v": _VOWELS, "c": "".join(c for c in _LOWER if c not in _VOWELS)}, " ")
# In code page 1252 accented letters are the bytes from 0xC0 on.
_PLAIN = bytes(range(0xC0))
_BAD_BYTES = bytes(k for k in range(128) if _BAD.match(chr(k)))
_ODD_INSIDE = re.compile(rb"a[A]|[aA]#+[aA]|[aA]0+[aA]")
_LETTERS = re.compile(rb"[aA].*[aA]")
_ADDRESS = re.compile(r"://|@|www\.|\w\(")
# What filing systems and fax machines print across a page: a court's header ("Case: 21-1298
# Document: 42 Page: 1 Date Filed: 08/31/2022"), a Bates number, the line of a fax.
_STAMP = re.compile(
    r"(?:\S+ ){0,2}case\W{0,3}(?:no\W{0,2})?\d.{0,60}\bdoc(?:ument)?\W{0,3}\d.{0,60}"
    r"\b(?:filed|page|pg)\b.{0,40}"
    r"|[a-z]{2,12}[-_ ]?\d{5,10}"
    r"|(?=.*\bfax\b)(?=.*\d\d?:\d\d)(?=.*\b(?:p|pg|page)\b[. ]{0,2}\d).{10,120}",
    re.IGNORECASE,
)
# A page that says more than a few stamps is read for what it says.
_MOST_STAMPED = 300


@dataclass(frozen=True)
class TextSanity:
    """Counts over one page's text.

    `chars` are characters other than white space, `bad_chars` those that no font maps to a
    letter, `tokens` the pieces between white space, `single_tokens` those of one character,
    `words` those with two Western letters or more, `odd_words` those of them with a symbol,
    a digit or a change from small to capital letter inside; `small_letters` are Western small
    letters (capitals make acronyms), `small_vowels` those of them that are vowels, y too;
    `accented` are Western letters beyond A to Z;
    `symbols` the characters of `_SYMBOLS`, `symbol_kinds` how many different ones there are;
    `stamp_chars` the characters of lines that a filing system or a fax machine printed, counted
    on short pages only.
    """

    chars: int = 0
    bad_chars: int = 0
    tokens: int = 0
    single_tokens: int = 0
    words: int = 0
    odd_words: int = 0
    small_letters: int = 0
    small_vowels: int = 0
    accented: int = 0
    symbols: int = 0
    symbol_kinds: int = 0
    stamp_chars: int = 0


def bad_characters(text: str) -> int:
    """Return how many characters of `text` stand for glyphs without a Unicode value."""
    return len(_BAD.findall(text))


def stamp_characters(text: str) -> int:
    """Return how many characters of `text`, white space left out, stand in stamped lines."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return sum(len(line.replace(" ", "")) for line in lines if _STAMP.fullmatch(line))


def text_sanity(text: str) -> TextSanity:
    """Return the counts for `text`, which must still hold its control characters."""
    tokens = text.split()
    lengths = list(map(len, tokens))
    plain = text.isascii()
    western = text.encode("ascii") if plain else text.encode("cp1252", "replace")
    shapes = western.translate(_SHAPES)
    hits = shapes.count(b"aA") + shapes.count(b"#a") + shapes.count(b"0a")
    words, odd = len(tokens) - lengths.count(1), 0
    symbols = shapes.count(b"#")
    sounds = western.translate(_SOUNDS)
    vowels = sounds.count(b"v")
    chars = sum(lengths)
    # Exact counts only where a rough one says that something may be wrong.
    if hits > 0.1 * len(tokens) or symbols > 0.2 * chars:
        pieces = [(token, token.encode("cp1252", "replace").translate(_SHAPES)) for token in tokens]
        worded = [(token, shape) for token, shape in pieces if _LETTERS.search(shape)]
        words = len(worded)
        odd = sum(
            1 for token, shape in worded if _ODD_INSIDE.search(shape) and not _ADDRESS.search(token)
        )
    return TextSanity(
        chars=chars,
        # Where nothing but real question marks became one, code page 1252 holds every character.
        bad_chars=len(western) - len(western.translate(None, _BAD_BYTES))
        if plain or western.count(b"?") == text.count("?")
        else bad_characters(text),
        tokens=len(tokens),
        single_tokens=lengths.count(1),
        words=words,
        odd_words=odd,
        small_letters=vowels + sounds.count(b"c"),
        small_vowels=vowels,
        accented=0 if plain else len(western.translate(None, _PLAIN)),
        symbols=symbols,
        symbol_kinds=sum([symbol in text for symbol in _SYMBOLS]) if symbols else 0,
        stamp_chars=stamp_characters(text) if chars < _MOST_STAMPED else 0,
    )
