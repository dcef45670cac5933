"""The numbers of list items in Word files before 2007 ([MS-DOC] 2.4.6.3 and 2.9.131 to 2.9.150)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from regcomments.read.flow import list_number

_LIST_SIZE, _OVERRIDE_SIZE, _LEVEL_SIZE = 28, 16, 28  # bytes of LSTF, LFO, LVLF
_LEVELS = 9
MAX_LISTS = 5000
_BULLET, _NOTHING = 23, 255
_STYLES = {1: "I", 2: "i", 3: "A", 4: "a"}  # number formats as HTML list styles


@dataclass(frozen=True)
class _Level:
    start: int
    form: int
    text: str  # characters below U+0009 stand for the numbers of the levels


@dataclass
class _List:
    levels: list[_Level]
    numbers: list[int | None] = field(default_factory=lambda: [None] * _LEVELS)


class Lists:
    """The lists of one document; `label` counts on with each item asked for."""

    def __init__(self, table: bytes, lists: tuple[int, int], overrides: tuple[int, int]) -> None:
        self._lists = _read_lists(table, *lists)
        self._overrides = _read_overrides(table, *overrides)
        self._begun: set[int] = set()

    def label(self, override: int, level: int) -> str | None:
        """Return the label of the next item of list `override` (from 1) at `level` (from 0).

        "-" for bullets, None when there is no such list.
        """
        if not 1 <= override <= len(self._overrides):
            return None
        identity, starts = self._overrides[override - 1]
        found = self._lists.get(identity)
        if found is None or not 0 <= level < len(found.levels):
            return None
        if override not in self._begun:
            self._begun.add(override)
            for at, start in starts.items():
                found.numbers[at] = start - 1
        form = found.levels[level]
        before = found.numbers[level]
        found.numbers[level] = form.start if before is None else before + 1
        found.numbers[level + 1 :] = [None] * (_LEVELS - level - 1)
        if form.form == _BULLET:
            return "-"
        return self._filled(found, form)

    @staticmethod
    def _filled(found: _List, form: _Level) -> str | None:
        pieces = []
        for char in form.text:
            at = ord(char)
            if at >= _LEVELS:
                pieces.append(char)
            elif at < len(found.levels) and found.levels[at].form != _NOTHING:
                number = found.numbers[at]
                shown = found.levels[at].start if number is None else number
                pieces.append(list_number(shown, _STYLES.get(found.levels[at].form, "1")))
        return "".join(pieces).strip() or None


def _read_lists(table: bytes, offset: int, size: int) -> dict[int, _List]:
    """Lists by their identity; the levels follow behind the table of lists."""
    head = table[offset : offset + size]
    count = min(int.from_bytes(head[:2], "little"), MAX_LISTS, max(len(head) - 2, 0) // _LIST_SIZE)
    found: dict[int, _List] = {}
    at = offset + size
    for number in range(count):
        entry = head[2 + number * _LIST_SIZE :][:_LIST_SIZE]
        levels: list[_Level] = []
        for _ in range(1 if entry[26] & 1 else _LEVELS):
            level, at = _read_level(table, at)
            if level is None:
                return found
            levels.append(level)
        found[int.from_bytes(entry[:4], "little")] = _List(levels)
    return found


def _read_level(table: bytes, at: int) -> tuple[_Level | None, int]:
    if at + _LEVEL_SIZE + 2 > len(table):
        return None, at
    start, form = struct.unpack_from("<iB", table, at)
    characters, paragraph = table[at + 24], table[at + 25]
    at += _LEVEL_SIZE + characters + paragraph
    length = int.from_bytes(table[at : at + 2], "little")
    text = table[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace")
    return _Level(start, form, text), at + 2 + 2 * length


def _read_overrides(table: bytes, offset: int, size: int) -> list[tuple[int, dict[int, int]]]:
    """For each use of a list: its identity, and the numbers at which levels begin anew."""
    data = table[offset : offset + size]
    count = min(
        int.from_bytes(data[:4], "little"), MAX_LISTS, max(len(data) - 4, 0) // _OVERRIDE_SIZE
    )
    at = 4 + count * _OVERRIDE_SIZE
    found: list[tuple[int, dict[int, int]]] = []
    for number in range(count):
        entry = data[4 + number * _OVERRIDE_SIZE :][:_OVERRIDE_SIZE]
        starts: dict[int, int] = {}
        at += 4
        for _ in range(entry[12]):
            if at + 8 > len(data):
                break
            start, flags = struct.unpack_from("<iI", data, at)
            at += 8
            if flags & 0x10 and flags & 0xF < _LEVELS:
                starts[flags & 0xF] = start
            if flags & 0x20:  # a level of its own follows
                _, at = _read_level(data, at)
        found.append((int.from_bytes(entry[:4], "little"), starts))
    return found
