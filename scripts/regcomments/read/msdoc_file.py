"""The binary layer of Word files before 2007: header, piece table, properties of runs.

Offsets and codes are those of [MS-DOC] (Word 97 to 2003) and, for Word 6 and 95, of the binary
format description that Microsoft published with Word 97.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import olefile

from regcomments.read.msdoc_lists import Lists
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

MAX_STREAM = 200_000_000  # bytes of one stream
MAX_CHARS = 30_000_000  # characters of all stories together
_PAGE = 512  # bytes of a formatted disk page
_WORD97 = 193  # nFib from which the newer layout holds (Word 97)
# Sizes of operands by the top three bits of a property code ([MS-DOC] 2.6.1); 6 is variable.
_OPERAND = (1, 1, 2, 4, 2, 2, 0, 3)
_DEFINE_TABLE, _CHANGE_TABS = 0xD608, 0xC615
IN_TABLE, ROW_END, _LIST_LEVEL, _LIST = 0x2416, 0x2417, 0x260A, 0x460B
_HUGE = 0x6646  # sprmPHugePapx: the properties lie in the data stream
DELETED, HIDDEN = 0x0800, 0x083C
# The stories of a document, in the order in which their characters follow each other.
STORIES = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "head_boxes")


@dataclass(frozen=True)
class Paragraph:
    """The number of a paragraph's style (1 to 9 are the headings), its place in a table, and
    the list (from 1, 0 for none) and level (from 0) that it is an item of."""

    style: int = 0
    in_table: bool = False
    row_end: bool = False
    list: int = 0
    level: int = 0


@dataclass(frozen=True)
class _Piece:
    start: int  # first character position
    end: int
    offset: int  # of its first byte in the stream
    width: int  # bytes per character


class WordFile:
    """The characters of a document and what is known of its runs.

    `text` holds all stories; `spans` gives the character range of each by name. `pictures` are
    the streams in which pictures may lie.
    """

    def __init__(self, path: Path) -> None:
        with olefile.OleFileIO(path) as ole:
            self._main = _stream(ole, "WordDocument")
            if len(self._main) < 0x60:
                raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no document stream")
            ident, self._nfib, flags = struct.unpack_from("<HH6xH", self._main)
            if ident not in (0xA5EC, 0xA5DC) and not 101 <= self._nfib <= 400:
                raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no Word header")
            if flags & 0x8100:
                raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
            self.modern = self._nfib >= _WORD97
            name = "1Table" if flags & 0x0200 else "0Table"
            self._table = _stream(ole, name) if self.modern else self._main
            if self.modern and not self._table:
                other = "0Table" if flags & 0x0200 else "1Table"
                self._table = _stream(ole, other)
            self._data = _stream(ole, "Data")
            self.pictures = [self._data, self._main]
        self._complex = bool(flags & 0x0004)
        self._pieces = self._read_pieces()
        self.text = "".join(self._characters())
        self.spans = self._read_spans()

    def paragraph_marks(self) -> dict[int, Paragraph]:
        """Return what is known of each paragraph, by the position of its last character."""
        marks: dict[int, Paragraph] = {}
        for _, end, raw in self._runs(0x102, paragraph=True):
            style = int.from_bytes(raw[:2], "little")
            properties = _properties(raw[2:])
            if _HUGE in properties:
                properties |= self._huge(properties[_HUGE])
            on = {code for code, value in properties.items() if value}
            marks[end - 1] = Paragraph(
                style,
                IN_TABLE in on,
                ROW_END in on,
                properties.get(_LIST, 0),
                properties.get(_LIST_LEVEL, 0),
            )
        return marks

    def _huge(self, offset: int) -> dict[int, int]:
        """Properties too long for a page, as rows of many cells have them ([MS-DOC] 2.6.2)."""
        size = int.from_bytes(self._data[offset : offset + 2], "little")
        return _properties(self._data[offset + 2 : offset + 2 + size])

    def lists(self) -> Lists:
        """Return the lists of the document, for numbering its items once."""
        if not self.modern or len(self._main) < 0x2F2:
            return Lists(b"", (0, 0), (0, 0))
        places = struct.unpack_from("<IIII", self._main, 0x2E2)
        return Lists(self._table, places[:2], places[2:])

    def left_out(self) -> list[tuple[int, int]]:
        """Return the character ranges that are deleted revisions or hidden text, in order."""
        found = []
        for start, end, raw in self._runs(0xFA, paragraph=False):
            properties = _properties(raw)
            if properties.get(DELETED) == 1 or properties.get(HIDDEN) == 1:
                found.append((start, end))
        return sorted(found)

    def header_stories(self) -> list[tuple[int, int]]:
        """Return the ranges of the headers and footers, six to a section after six separators."""
        first, last = self.spans["headers"]
        plc = self._lcb(0xF2) if self.modern else b""
        ends = [first + position for position in _integers(plc)]
        ranges = [(a, b) for a, b in pairwise(ends) if first <= a <= b <= last]
        return ranges or ([(first, last)] if last > first else [])

    def _read_pieces(self) -> list[_Piece]:
        if self.modern:
            clx = self._lcb(0x1A2)
        elif self._complex:
            offset, size = struct.unpack_from("<II", self._main, 0x160)
            clx = self._main[offset : offset + size]
        else:
            first, last = struct.unpack_from("<II", self._main, 0x18)
            return [_Piece(0, min(max(last - first, 0), len(self._main)), first, 1)]
        pieces = list(self._pieces_of(_piece_table(clx)))
        if not pieces:
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no piece table")
        return pieces

    def _pieces_of(self, table: bytes) -> Iterator[_Piece]:
        count = (len(table) - 4) // 12
        positions = struct.unpack_from(f"<{count + 1}I", table) if count > 0 else ()
        total = 0
        for at in range(count):
            start, end = positions[at], positions[at + 1]
            raw = struct.unpack_from("<I", table, 4 * (count + 1) + 8 * at + 2)[0]
            width, offset = (1, raw) if not self.modern else (2, raw)
            if self.modern and raw & 0x40000000:
                width, offset = 1, (raw & 0x3FFFFFFF) // 2
            # A damaged table could claim the same bytes over and over.
            end = min(end, start + max(len(self._main) - offset, 0) // width)
            total += max(end - start, 0)
            if end > start and total <= MAX_CHARS:
                yield _Piece(start, end, offset, width)

    def _characters(self) -> Iterator[str]:
        position = 0
        mac = not self.modern and self._main[0x12] == 1
        for piece in self._pieces:
            if piece.start != position:  # pieces must follow each other
                break
            size = (piece.end - piece.start) * piece.width
            raw = self._main[piece.offset : piece.offset + size]
            if piece.width == 2:
                text = raw.decode("utf-16-le", "replace")
                # Positions count UTF-16 units: a character outside the first plane takes two.
                text = "".join(char if char < "\U00010000" else char + "\0" for char in text)
            else:
                text = raw.decode("mac_roman" if mac else "cp1252", "replace")
            yield text.ljust(piece.end - piece.start, "\0")
            position = piece.end

    def _read_spans(self) -> dict[str, tuple[int, int]]:
        start = 0x4C if self.modern else 0x34
        spans, position = {}, 0
        for at, name in enumerate(STORIES):
            size = struct.unpack_from("<i", self._main, start + 4 * at)[0]
            end = min(position + max(size, 0), len(self.text))
            spans[name] = (position, end)
            position = end
        if spans["text"] == (0, 0):
            spans["text"] = (0, len(self.text))
        return spans

    def _runs(self, place: int, *, paragraph: bool) -> Iterator[tuple[int, int, bytes]]:
        """Ranges of characters with their raw properties, from the pages that hold them."""
        if not self.modern:
            return
        plc = self._lcb(place)
        count = (len(plc) - 4) // 8
        for at in range(max(count, 0)):
            number = struct.unpack_from("<I", plc, 4 * (count + 1) + 4 * at)[0] & 0x3FFFFF
            page = self._main[number * _PAGE : (number + 1) * _PAGE]
            if len(page) == _PAGE:
                for first, last, raw in _page_runs(page, paragraph):
                    yield from ((a, b, raw) for a, b in self._positions(first, last))

    def _positions(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Byte offsets of the stream as character positions; a range may touch many pieces."""
        for piece in self._pieces:
            begin = max(first, piece.offset)
            end = min(last, piece.offset + (piece.end - piece.start) * piece.width)
            if begin < end:
                yield (
                    piece.start + (begin - piece.offset) // piece.width,
                    piece.start + (end - piece.offset + piece.width - 1) // piece.width,
                )

    def _lcb(self, place: int) -> bytes:
        """The bytes of the table stream that the pair at `place` of the header points to."""
        if len(self._main) < place + 8:
            return b""
        offset, size = struct.unpack_from("<II", self._main, place)
        return self._table[offset : offset + size]


def _stream(ole: olefile.OleFileIO, name: str) -> bytes:
    if not ole.exists(name):
        return b""
    return ole.openstream(name).read(MAX_STREAM)


def _piece_table(clx: bytes) -> bytes:
    """The piece table behind the property modifiers of a CLX ([MS-DOC] 2.9.38)."""
    at = 0
    while at + 3 <= len(clx):
        if clx[at] == 1:
            at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
        elif clx[at] == 2 and at + 5 <= len(clx):
            size = struct.unpack_from("<I", clx, at + 1)[0]
            return clx[at + 5 : at + 5 + size]
        else:
            break
    return b""


def _page_runs(page: bytes, paragraph: bool) -> Iterator[tuple[int, int, bytes]]:
    """The runs of one formatted disk page ([MS-DOC] 2.9.33 and 2.9.175)."""
    count = page[-1]
    stride = 13 if paragraph else 1
    if 4 * (count + 1) + stride * count > _PAGE - 1:
        return
    offsets = struct.unpack_from(f"<{count + 1}I", page)
    for at in range(count):
        start = 2 * page[4 * (count + 1) + stride * at]
        raw = b""
        if start:
            size = page[start]
            if paragraph:
                size, start = (
                    (2 * page[start + 1], start + 1)
                    if size == 0 and start + 1 < _PAGE
                    else (
                        2 * size - 1,
                        start,
                    )
                )
            raw = page[start + 1 : start + 1 + max(size, 0)]
        yield offsets[at], offsets[at + 1], raw


def _properties(raw: bytes) -> dict[int, int]:
    """Property codes and their values; only short values are kept ([MS-DOC] 2.2.5.1)."""
    found: dict[int, int] = {}
    at = 0
    while at + 3 <= len(raw):
        code = struct.unpack_from("<H", raw, at)[0]
        size = _OPERAND[code >> 13]
        at += 2
        if size:
            found[code] = int.from_bytes(raw[at : at + size], "little")
        elif code == _DEFINE_TABLE:
            size = struct.unpack_from("<H", raw, at)[0] + 1 if at + 2 <= len(raw) else len(raw)
        elif code == _CHANGE_TABS and raw[at] == 255:
            break
        else:
            size = raw[at] + 1
        at += size
    return found


def _integers(plc: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(plc) // 4}I", plc[: len(plc) // 4 * 4])


def is_inside(position: int, ranges: list[tuple[int, int]]) -> bool:
    """Return whether `position` lies in one of `ranges`, which are in order."""
    at = bisect_right(ranges, (position, 1 << 60)) - 1
    return at >= 0 and position < ranges[at][1]
