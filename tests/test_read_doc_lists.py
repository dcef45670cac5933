"""Numbers of list items in Word files before 2007."""

from __future__ import annotations

import random
import struct

import pytest
from regcomments.read.msdoc_lists import Lists

_DECIMAL, _ROMAN, _LETTER, _BULLET = 0, 2, 4, 23


def _level(form: int, text: str, start: int = 1) -> bytes:
    raw = text.encode("utf-16-le")
    return (
        struct.pack("<iB", start, form)
        + bytes(19)
        + b"\2\3"
        + bytes(2)
        + bytes(5)
        + (struct.pack("<H", len(text)) + raw)
    )


def _lists(levels: list[bytes], overrides: list[bytes], *, simple: bool = False) -> Lists:
    entry = struct.pack("<I", 77) + bytes(22) + bytes([simple, 0])
    head = struct.pack("<H", 1) + entry
    uses = struct.pack("<I", len(overrides))
    uses += b"".join(struct.pack("<I8xB3x", 77, bool(o)) for o in overrides)
    uses += b"".join(b"\xff" * 4 + o for o in overrides)
    table = b"before" + head + b"".join(levels) + uses
    return Lists(table, (6, len(head)), (len(table) - len(uses), len(uses)))


def test_nested_numbers():
    levels = [
        _level(_DECIMAL, "\0."),
        _level(_LETTER, "(\1)"),
        _level(_ROMAN, "\0.\1.\2", start=3),
        *[_level(_BULLET, "\uf0b7")] * 6,
    ]
    lists = _lists(levels, [b""])
    asked = [(0, "1."), (0, "2."), (1, "(a)"), (1, "(b)"), (2, "2.b.iii"), (1, "(c)"), (0, "3.")]
    asked += [(1, "(a)"), (3, "-"), (8, "-")]
    assert [lists.label(1, level) for level, _ in asked] == [label for _, label in asked]


def test_a_second_use_goes_on_or_starts_anew():
    anew = struct.pack("<iI", 5, 0x10)
    lists = _lists([_level(_DECIMAL, "\0)")], [b"", b"", anew], simple=True)
    assert [lists.label(use, 0) for use in (1, 1, 2, 3, 3, 1)] == [
        "1)",
        "2)",
        "3)",
        "5)",
        "6)",
        "7)",
    ]


@pytest.mark.parametrize(("override", "level"), [(0, 0), (9, 0), (-2047, 0), (1, 1), (1, -1)])
def test_no_such_list(override, level):
    lists = _lists([_level(_DECIMAL, "\0.")], [b""], simple=True)
    assert lists.label(override, level) is None


def test_damaged_tables_end():
    source = random.Random(1)
    for _ in range(300):
        table = source.randbytes(source.randrange(400))
        places = [(source.randrange(300), source.randrange(300)) for _ in range(2)]
        lists = Lists(table, *places)
        assert all(isinstance(lists.label(at, at % 9), str | None) for at in range(20))
