"""The numbers of list paragraphs, counted as Word counts them (ECMA-376 part 1, 17.9)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from lxml import etree

from regcomments.read.word_styles import Style, Styles, is_on, numbering_of, small_int
from regcomments.read.word_xml import VAL, W

MAX_LEVELS = 9  # ECMA-376: levels 0 to 8
_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc")),
    *((50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_WORDS = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
"""
_ONES, _TENS = _WORDS.split()[:20], _WORDS.split()[20:]
_IRREGULAR = {"one": "first", "two": "second", "three": "third", "five": "fifth"}
_IRREGULAR |= {"eight": "eighth", "nine": "ninth", "twelve": "twelfth"}
_IDEOGRAPHS = "〇一二三四五六七八九"
_PLACEHOLDER = re.compile(r"%([1-9])")
BULLET = "-"


@dataclass(frozen=True)
class Level:
    """One level of a list: number format, text with `%1` placeholders, start, restart rule.

    `restart` is the level (from 1) whose step restarts this one; None means any higher level,
    0 never.
    """

    format: str = "decimal"
    text: str = ""
    start: int = 1
    restart: int | None = None
    legal: bool = False
    style: str | None = None


class Numbering:
    """All lists of a document, and their counters as the document is walked in order."""

    def __init__(self, root: etree._Element | None, styles: Styles) -> None:
        self._abstract: dict[str, dict[int, Level]] = {}
        self._lists: dict[str, tuple[str, dict[int, Level]]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        self._counters: dict[str, list[int | None]] = {}
        self._seen: set[str] = set()
        if root is not None:
            self._read(root, styles)

    def level_for_style(self, num_id: str, style: str) -> int | None:
        """Return the level of list `num_id` that is linked to paragraph style `style`, or None."""
        _, levels = self._lists.get(num_id, ("", {}))
        return next((number for number, level in levels.items() if level.style == style), None)

    def step(self, num_id: str, number: int) -> str:
        """Count one paragraph of list `num_id` at level `number` (from 0) and return its label.

        The label is `-` for a bullet, "" for none. A list that isn't defined counts as bullets.
        """
        number = min(max(number, 0), MAX_LEVELS - 1)
        if num_id not in self._lists:
            return BULLET
        abstract, levels = self._lists[num_id]
        counters = self._counters.setdefault(abstract, [None] * MAX_LEVELS)
        if num_id not in self._seen:
            self._seen.add(num_id)
            for restarted in self._restarts.get(num_id, {}):
                counters[restarted] = None
        level = levels.get(number) or Level(text=f"%{number + 1}.")
        value = counters[number]
        counters[number] = level.start if value is None else value + 1
        for deeper in range(number + 1, MAX_LEVELS):
            rule = levels[deeper].restart if deeper in levels else None
            if rule is None or number < rule:
                counters[deeper] = None
        if level.format == "bullet":
            return BULLET
        if level.format == "none" and not level.text:
            return ""
        return self._label(level, levels, counters)

    def _label(self, level: Level, levels: dict[int, Level], counters: list[int | None]) -> str:
        def number_of(match: re.Match[str]) -> str:
            index = int(match.group(1)) - 1
            own = levels.get(index) or Level()
            value = counters[index]
            if value is None:
                # A level that was skipped counts as begun, as in Word.
                value = counters[index] = own.start
            return format_number(value, "decimal" if level.legal else own.format)

        return _PLACEHOLDER.sub(number_of, level.text).strip()

    def _read(self, root: etree._Element, styles: Styles) -> None:
        links: dict[str, str] = {}
        for node in root.iterchildren(W + "abstractNum"):
            abstract = node.get(W + "abstractNumId") or ""
            self._abstract[abstract] = dict(map(_read_level, node.iterchildren(W + "lvl")))
            link = node.find(W + "numStyleLink")
            if link is not None:
                links[abstract] = link.get(VAL) or ""
        instances = list(root.iterchildren(W + "num"))
        target = {
            node.get(W + "numId") or "": _child_value(node, "abstractNumId") for node in instances
        }
        for node in instances:
            num_id = node.get(W + "numId") or ""
            abstract = target[num_id]
            if abstract in links:  # the list is defined by a numbering style
                linked = target.get(styles.get(links[abstract]).num_id or "")
                abstract = linked if linked in self._abstract else abstract
            levels, restarts = dict(self._abstract.get(abstract, {})), {}
            for override in node.iterchildren(W + "lvlOverride"):
                number = small_int(override.get(W + "ilvl"), 0) or 0
                own = override.find(W + "lvl")
                if own is not None:
                    levels[number] = _read_level(own)[1]
                start = small_int(_child_value(override, "startOverride") or None)
                if start is not None:
                    restarts[number] = start
                    levels[number] = replace(levels.get(number) or Level(), start=start)
            self._lists[num_id] = (abstract, levels)
            self._restarts[num_id] = {n: s for n, s in restarts.items() if 0 <= n < MAX_LEVELS}


def paragraph_numbering(
    properties: etree._Element | None, style_id: str | None, style: Style, numbering: Numbering
) -> tuple[str, int] | None:
    """Return the list id and level of a paragraph, from its own properties or its style."""
    num_id = level = None
    if properties is not None:
        node = properties.find(W + "numPr")
        if node is not None:
            num_id, level = numbering_of(node)
    if num_id is None and style.num_id is not None:
        num_id = style.num_id
        if level is None:
            level = numbering.level_for_style(num_id, style_id or "")
    if level is None:
        level = style.level or 0
    if num_id is None or num_id == "0":
        return None
    return num_id, level


def format_number(value: int, style: str) -> str:
    """Return `value` in a number format of OOXML; unknown formats count in decimals."""
    formatter = _FORMATS.get(style)
    return formatter(value) if formatter and 0 <= value < 100_000 else str(value)


def _read_level(node: etree._Element) -> tuple[int, Level]:
    number = small_int(node.get(W + "ilvl"), 0) or 0
    found: dict[str, str | None] = {}
    legal = False
    for child in node.iter(
        W + "start", W + "numFmt", W + "lvlText", W + "lvlRestart", W + "pStyle"
    ):
        found[child.tag] = child.get(VAL)
    mark = node.find(W + "isLgl")
    if mark is not None:
        legal = is_on(mark)
    return number, Level(
        format=found.get(W + "numFmt") or "decimal",
        text=found.get(W + "lvlText") or "",
        start=small_int(found.get(W + "start"), 0) or 0,  # 17.9.25: zero when not stated
        restart=small_int(found.get(W + "lvlRestart")),
        legal=legal,
        style=found.get(W + "pStyle"),
    )


def _child_value(node: etree._Element, name: str) -> str:
    child = node.find(W + name)
    return (child.get(VAL) or "") if child is not None else ""


def _roman(value: int) -> str:
    if not 0 < value < 4000:
        return str(value)
    text = ""
    for size, letters in _ROMAN:
        text += letters * (value // size)
        value %= size
    return text


def _letter(value: int) -> str:
    # Word doubles the letter after z: aa, bb, not aa, ab.
    if value < 1:
        return str(value)
    return chr(ord("a") + (value - 1) % 26) * min(1 + (value - 1) // 26, 20)


def _ordinal(value: int) -> str:
    if value % 100 in (11, 12, 13):
        return f"{value}th"
    return str(value) + {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")


def _cardinal_words(value: int) -> str:
    if value < 20:
        return _ONES[value]
    if value < 100:
        tens, ones = divmod(value, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    return str(value)


def _ordinal_words(value: int) -> str:
    words = _cardinal_words(value)
    if words.isdigit():
        return _ordinal(value)
    head, dash, last = words.rpartition("-")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return head + dash + last


def _enclosed(value: int) -> str:
    return chr(0x2460 + value - 1) if 1 <= value <= 20 else str(value)


def _chicago(value: int) -> str:
    return "*†‡§"[(value - 1) % 4] * min(1 + (value - 1) // 4, 9) if value > 0 else str(value)


def _ideograph(value: int) -> str:
    return "".join(_IDEOGRAPHS[int(digit)] for digit in str(value))


def _chinese(value: int) -> str:
    if not 0 < value < 100:
        return _ideograph(value)
    tens, ones = divmod(value, 10)
    head = ("" if tens == 1 else _IDEOGRAPHS[tens]) + "十" if tens else ""
    return head + (_IDEOGRAPHS[ones] if ones else "")


_FORMATS: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda value: f"{value:02d}",
    "lowerRoman": _roman,
    "upperRoman": lambda value: _roman(value).upper(),
    "lowerLetter": _letter,
    "upperLetter": lambda value: _letter(value).upper(),
    "ordinal": _ordinal,
    "cardinalText": lambda value: _cardinal_words(value).capitalize(),
    "ordinalText": lambda value: _ordinal_words(value).capitalize(),
    "numberInDash": lambda value: f"- {value} -",
    "hex": lambda value: f"{value:X}",
    "chicago": _chicago,
    "decimalEnclosedCircle": _enclosed,
    "decimalEnclosedCircleChinese": _enclosed,
    "ideographDigital": _ideograph,
    "japaneseDigitalTenThousand": _ideograph,
    "japaneseCounting": _chinese,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "none": lambda value: "",
    "bullet": lambda value: "",
}
