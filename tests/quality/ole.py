"""Writes OLE compound files (MS-CFB, version 3): the container of old Office files and mails."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_SECTOR, _MINI = 512, 64  # bytes
_CUTOFF = 4096  # bytes; smaller streams lie in the mini stream
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_ROOT, _STORAGE, _STREAM = 5, 1, 2

Tree = dict[str, "bytes | Tree"]


@dataclass
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    child: int = _FREE
    right: int = _FREE
    start: int = _END
    size: int = 0
    children: list[int] = field(default_factory=list)


def compound_file(tree: Tree) -> bytes:
    """Return the compound file of `tree`: names to bytes (streams) or trees (storages)."""
    entries = [_Entry("Root Entry", _ROOT)]
    _add(entries, 0, tree)
    fat: list[int] = []
    body = bytearray()
    mini_fat: list[int] = []
    mini = bytearray()
    for entry in entries:
        if entry.kind == _STREAM:
            entry.size = len(entry.data)
            if len(entry.data) >= _CUTOFF:
                entry.start = _chain(fat, body, entry.data, _SECTOR)
            elif entry.data:
                entry.start = _chain(mini_fat, mini, entry.data, _MINI)
    root = entries[0]
    root.size = len(mini)
    root.start = _chain(fat, body, bytes(mini), _SECTOR) if mini else _END
    mini_start = _chain(fat, body, _table(mini_fat), _SECTOR) if mini_fat else _END
    directory = b"".join(map(_pack, entries))
    directory += _pack(_Entry("", 0)) * (-len(entries) % 4)
    directory_start = _chain(fat, body, directory, _SECTOR)
    # The table of sectors lists itself too: it grows until it holds its own sectors.
    count = 1
    while count * (_SECTOR // 4) < len(fat) + count:
        count += 1
    first = len(fat)
    fat += [_FAT] * count
    body += _table(fat)
    header = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"",
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        0,
        count,
        directory_start,
        0,
        _CUTOFF,
        mini_start,
        -(-len(mini_fat) * 4 // _SECTOR),
        _END,
        0,
    )
    difat = [*range(first, first + count), *[_FREE] * (109 - count)]
    return (header + struct.pack("<109I", *difat)).ljust(_SECTOR, b"\0") + bytes(body)


def _add(entries: list[_Entry], parent: int, tree: Tree) -> None:
    # Siblings form a search tree by length and name; a chain to the right is a valid one.
    previous = None
    for name in sorted(tree, key=lambda key: (len(key), key.upper())):
        value = tree[name]
        index = len(entries)
        kind = _STORAGE if isinstance(value, dict) else _STREAM
        entries.append(_Entry(name, kind, b"" if kind == _STORAGE else value))
        if previous is None:
            entries[parent].child = index
        else:
            entries[previous].right = index
        previous = index
        if isinstance(value, dict):
            _add(entries, index, value)


def _chain(table: list[int], body: bytearray, data: bytes, unit: int) -> int:
    start, count = len(table), -(-len(data) // unit)
    table += [*range(start + 1, start + count), _END]
    body += data.ljust(count * unit, b"\0")
    return start


def _table(cells: list[int]) -> bytes:
    raw = struct.pack(f"<{len(cells)}I", *cells)
    return raw + b"\xff" * (-len(raw) % _SECTOR)


def _pack(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    length = len(name) + 2 if entry.name else 0
    return struct.pack(
        "<64sHBBIII16sI8s8sIQ",
        name,
        length,
        entry.kind,
        1,
        _FREE,
        entry.right,
        entry.child,
        b"",
        0,
        b"",
        b"",
        entry.start if entry.kind else 0,
        entry.size,
    )
