"""Records and strings of Excel's binary workbooks, versions 2 to 2003 ([MS-XLS])."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

CONTINUE = 0x003C
MAX_RECORDS = 3_000_000  # of one workbook; a full sheet of version 2003 has a million cells
MAX_STRINGS = 500_000  # shared strings kept


@dataclass(frozen=True)
class Record:
    """A record: its type, its data, and the data of the records that continue it."""

    kind: int
    data: bytes
    more: tuple[bytes, ...] = ()


def records(stream: bytes, start: int) -> Iterator[Record]:
    """Yield the records from offset `start` (bytes) on, each with its continuations."""
    at, count = start, 0
    while at + 4 <= len(stream) and count < MAX_RECORDS:
        kind, size = struct.unpack_from("<HH", stream, at)
        data = stream[at + 4 : at + 4 + size]
        at += 4 + size
        more: list[bytes] = []
        while at + 4 <= len(stream):
            following, size = struct.unpack_from("<HH", stream, at)
            if following != CONTINUE:
                break
            more.append(stream[at + 4 : at + 4 + size])
            at += 4 + size
            count += 1
        count += 1
        yield Record(kind, data, tuple(more))


def unicode_string(data: bytes, at: int, length: int) -> str:
    """Return the string of `length` characters whose flags stand at `at`; "" when there is none."""
    if at >= len(data):
        return ""
    flags = data[at]
    at += 1
    at += 2 * bool(flags & 8) + 4 * bool(flags & 4)  # counts of runs and of reading aids
    if flags & 1:
        return data[at : at + 2 * length].decode("utf-16-le", "replace")
    return data[at : at + length].decode("latin-1")


def shared_strings(record: Record) -> list[str]:
    """Return the strings of an SST record, which may be cut anywhere between its pieces."""
    reader = _Pieces([record.data, *record.more])
    reader.skip(4)
    count = min(reader.number(4), MAX_STRINGS)
    found: list[str] = []
    while len(found) < count and not reader.at_end():
        length = reader.number(2)
        flags = reader.number(1)
        runs = reader.number(2) if flags & 8 else 0
        aids = reader.number(4) if flags & 4 else 0
        found.append(reader.characters(length, bool(flags & 1)))
        reader.skip(4 * runs + aids)
    return found


def text_of_box(record: Record) -> str:
    """Return the text of a TXO record: text box, comment, button."""
    if len(record.data) < 12 or not record.more:
        return ""
    length = struct.unpack_from("<H", record.data, 10)[0]
    return _Pieces([b"", *record.more], open_string=True).characters(length, wide=False)


def rk_number(raw: int) -> float:
    """Return the number that 32 bits of an RK value stand for ([MS-XLS] 2.5.217)."""
    if raw & 2:
        value = float((raw >> 2) - (1 << 30 if raw & 0x80000000 else 0))
    else:
        value = struct.unpack("<d", struct.pack("<Q", (raw & 0xFFFFFFFC) << 32))[0]
    return value / 100 if raw & 1 else value


class _Pieces:
    """Reads on across continuations; within a string each of them begins with a flags byte."""

    def __init__(self, pieces: list[bytes], *, open_string: bool = False) -> None:
        self._pieces = pieces
        self._piece = 0
        self._at = 0
        self._open_string = open_string

    def at_end(self) -> bool:
        """Whether nothing is left."""
        while self._piece < len(self._pieces) and self._at >= len(self._pieces[self._piece]):
            self._piece += 1
            self._at = 0
        return self._piece >= len(self._pieces)

    def number(self, size: int) -> int:
        """The next unsigned number of `size` bytes; 0 at the end."""
        if self.at_end():
            return 0
        raw = self._pieces[self._piece][self._at : self._at + size]
        self._at += size
        return int.from_bytes(raw, "little")

    def skip(self, size: int) -> None:
        """Pass over `size` bytes."""
        while size > 0 and not self.at_end():
            step = min(size, len(self._pieces[self._piece]) - self._at)
            self._at += step
            size -= step

    def characters(self, length: int, wide: bool) -> str:
        """The next `length` characters, two bytes each when `wide`."""
        found: list[str] = []
        first = not self._open_string
        while length > 0:
            at_border = self._at >= len(self._pieces[self._piece]) if self._has_piece() else True
            if self.at_end():
                break
            if at_border or not first:
                wide = bool(self._pieces[self._piece][self._at] & 1)
                self._at += 1
            first = True
            size = 2 if wide else 1
            piece = self._pieces[self._piece]
            take = min(length, (len(piece) - self._at) // size)
            if take <= 0:
                self._at = len(piece)
                if self.at_end():
                    break
                continue
            raw = piece[self._at : self._at + take * size]
            found.append(raw.decode("utf-16-le", "replace") if wide else raw.decode("latin-1"))
            self._at += take * size
            length -= take
        return "".join(found)

    def _has_piece(self) -> bool:
        return self._piece < len(self._pieces)
