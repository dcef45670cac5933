"""WordPerfect documents (wpd, wp): versions 4.2, 5.x and 6 and later.

The codes were published by WordPerfect Corporation in its file format developer's kits; text is
what lies between them, so a code that is skipped by its length can do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regcomments.read.flow import Flow
from regcomments.read.options import ReadOptions
from regcomments.read.wordperfect_text import INTERNATIONAL, character
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_BYTES = 100_000_000
_MAGIC = b"\xffWPC"
_WP6_FIXED = (4, 5, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 8, 8)  # bytes of F0 to FE
_WP5_FIXED = (4, 9, 11, 3, 3, 5, 6, 7, 4, 5, 6, 6, 8, 10, 10, 12)  # bytes of C0 to CF
_TEXT_PACKET = 8  # in the index of WordPerfect 6: text of notes, headers, boxes
# Bytes of C0 to F6 in version 4.2, which repeats a code's first byte as its last; 0: to be found.
_WP4_FIXED = (
    *(6, 4, 3, 5, 5, 6, 4, 6, 8, 42, 3, 6, 4, 3, 4, 3),  # C0
    *(6, 0, 0, 4, 4, 4, 6, 0, 4, 4, 4, 4, 0, 24, 4, 0),  # D0
    *(4, 3, 0, 150, 6, 23, 11, 3, 3, 0, 0, 0, 4, 0, 44, 18),  # E0
    *(6, 106, 0, 100, 4, 0, 5),  # F0
)
_WP4_REACH = 8000  # bytes searched for the end of a note or a header


@dataclass(frozen=True)
class _Event:
    """A piece of the text: characters, or a break of the given kind."""

    kind: str  # text, line, cell, row, table_end, note
    text: str = ""


_Code = Callable[[bytes, int], tuple[int, Iterable[_Event]]]


def read_wordperfect(path: Path, options: ReadOptions) -> Document:
    """Return the text of the document at `path`, tables as pipe tables.

    Raises UnreadableError: encrypted, corrupt, too_large.
    """
    with path.open("rb") as handle:
        data = handle.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"more than {MAX_BYTES} bytes")
    at = data.find(_MAGIC, 0, 1024)
    if at < 0:
        if not looks_like_wordperfect4(data[:16_384]):
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no WordPerfect header")
        return Document("wpd", "wordperfect/4", body=_laid_out(_version4(data)))
    data = data[at:]
    if len(data) < 16:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "cut off in the header")
    if data[12:14] != b"\0\0":
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    start = int.from_bytes(data[4:8], "little")
    if data[10] >= 2:
        blocks = [_laid_out(_version6(data[start:]))]
        blocks += [_laid_out(_version6(text)) for text in _packets(data)]
        body = "\n\n".join(dict.fromkeys(block for block in blocks if block))
        return Document("wpd", "wordperfect/6", body=body)
    return Document("wpd", "wordperfect/5", body=_laid_out(_version5(data[start:])))


def looks_like_wordperfect4(head: bytes) -> bool:
    """Whether `head` is text with codes that close with the byte that opened them."""
    codes = closed = at = letters = 0
    while at < len(head):
        byte = head[at]
        if 0xC0 <= byte <= 0xFE:
            size = _version4_size(head, at)
            codes += 1
            closed += size > 1
            at += size
            continue
        letters += byte in b" \n\r\t" or 0x41 <= (byte & 0xDF) <= 0x5A
        at += 1
    return closed >= 3 and closed >= 0.9 * codes and letters > 20


def _laid_out(events: Iterator[_Event]) -> str:
    flow = Flow()
    in_table = in_row = in_cell = False
    notes: list[str] = []
    for event in events:
        if event.kind == "note":
            notes.append(f"[{len(notes) + 1}]: {event.text}")
            flow.text(f"[{len(notes)}]")
        elif event.kind == "text":
            flow.text(event.text)
        elif event.kind == "line":
            flow.end_block() if not in_cell else flow.text(" ")
        elif event.kind in ("cell", "row"):
            if in_cell:
                flow.end_cell()
            if not in_table:
                flow.begin_table()
                in_table, in_row = True, False
            if event.kind == "row" or not in_row:
                flow.begin_row()
                in_row = True
            flow.begin_cell()
            in_cell = True
        elif in_table:
            if in_cell:
                flow.end_cell()
            flow.end_table()
            in_table = in_row = in_cell = False
    return "\n\n".join(block for block in (flow.markdown(), *notes) if block)


def _variable_size(data: bytes, at: int) -> int:
    """Bytes of a code of version 6 that tells its length, 1 when its end doesn't agree."""
    size = int.from_bytes(data[at + 2 : at + 4], "little")
    end = at + size
    if size < 7 or data[end - 3 : end] != data[at + 2 : at + 4] + data[at : at + 1]:
        return 1
    return size


def _fixed_size(data: bytes, at: int, size: int) -> int:
    """`size`, or 1 when the code at `at` doesn't end as it began."""
    return size if data[at + size - 1 : at + size] == data[at : at + 1] else 1


def _version6(data: bytes) -> Iterator[_Event]:
    at = 0
    while at < len(data):
        byte = data[at]
        size = 1
        if byte <= 0x20:
            yield _Event("text", INTERNATIONAL[byte - 1] if byte else "")
        elif byte < 0x7F:
            end = at
            while end < len(data) and 0x21 <= data[end] < 0x7F:
                end += 1
            yield _Event("text", data[at:end].decode("ascii"))
            size = end - at
        elif byte < 0xD0:
            yield from _version6_single(byte)
        elif byte < 0xF0:
            size = _variable_size(data, at)
            if byte == 0xD0 and size > 1:
                yield from _line_end(data[at + 1])
            elif byte == 0xE0 and size > 1:  # tabs, indents
                yield _Event("text", " ")
        elif byte < 0xFF:
            size = _fixed_size(data, at, _WP6_FIXED[byte - 0xF0])
            if byte == 0xF0 and size > 1:
                yield _Event("text", character(data[at + 2], data[at + 1]))
        at += size


def _version6_single(byte: int) -> Iterator[_Event]:
    if byte in (0x80, 0x81):
        yield _Event("text", " ")
    elif byte == 0x84:
        yield _Event("text", "-")
    elif byte >= 0xB7:
        yield from _line_end(0xD0 - byte)


def _line_end(kind: int) -> Iterator[_Event]:
    """The ways in which a line of WordPerfect 6 can end, by subgroup of code D0."""
    if kind in (1, 2, 3):  # soft
        yield _Event("text", " ")
    elif 4 <= kind <= 9 or 0x14 <= kind <= 0x19:
        yield _Event("line")
    elif kind == 0x0A:
        yield _Event("cell")
    elif 0x0B <= kind <= 0x10:
        yield _Event("row")
    elif 0x11 <= kind <= 0x13:
        yield _Event("table_end")


def _packets(data: bytes) -> Iterator[bytes]:
    """The text packets of WordPerfect 6, where notes, headers and boxes are kept."""
    index = int.from_bytes(data[14:16], "little")
    count = int.from_bytes(data[index + 2 : index + 4], "little")
    for number in range(1, min(count, 10_000)):
        entry = data[index + 14 * number : index + 14 * (number + 1)]
        if len(entry) < 14 or entry[1] != _TEXT_PACKET:
            continue
        offset = int.from_bytes(entry[10:14], "little")
        blocks = int.from_bytes(data[offset : offset + 2], "little")
        first = 6 + 4 * blocks
        sizes = data[offset + 6 : offset + 6 + 4 * min(blocks, 1000)]
        total = sum(int.from_bytes(sizes[k : k + 4], "little") for k in range(0, len(sizes), 4))
        yield data[offset + first : offset + first + total]


def _coded(data: bytes, code: _Code) -> Iterator[_Event]:
    """Yield the events of versions 4 and 5: text, control codes, and what `code` makes of others.

    `code` gets the data and where a byte from 0xC0 on stands; it returns its length and its events.
    """
    at = 0
    while at < len(data):
        byte = data[at]
        size = 1
        if 0x20 <= byte < 0x7F:
            end = at
            while end < len(data) and 0x20 <= data[end] < 0x7F:
                end += 1
            yield _Event("text", data[at:end].decode("ascii"))
            size = end - at
        elif byte < 0xC0:
            yield from _low_code(byte)
        else:
            size, events = code(data, at)
            yield from events
        at += size


def _version5(data: bytes) -> Iterator[_Event]:
    return _coded(data, _version5_code)


def _version5_code(data: bytes, at: int) -> tuple[int, Iterable[_Event]]:
    byte = data[at]
    if byte < 0xD0:
        size = _fixed_size(data, at, _WP5_FIXED[byte - 0xC0])
        if byte == 0xC0 and size > 1:
            return size, [_Event("text", character(data[at + 2], data[at + 1]))]
        return size, [_Event("text", " ")] if byte in (0xC1, 0xC2) else ()
    size = 4 + int.from_bytes(data[at + 2 : at + 4], "little")
    tail = data[at + size - 4 : at + size]
    if tail != data[at + 2 : at + 4] + data[at + 1 : at + 2] + data[at : at + 1]:
        return 1, ()
    return size, _version5_group(data[at : at + size])


def _version5_group(group: bytes) -> Iterator[_Event]:
    """The codes of version 5 that break lines of tables or hold notes."""
    kind, part = group[0], group[1]
    if kind == 0xDC:  # at the end of a line
        yield _Event(("cell", "row", "table_end")[min(part, 2)])
    elif kind == 0xDD:  # at the end of a page
        yield _Event("row" if part < 2 else "table_end")
    elif kind == 0xD6 and part in (0, 1) and len(group) > 12:
        # A footnote tells on how many pages its lines lie; an endnote has four bytes there.
        start = 7 + (1 + 2 * (group[7] + 1) + 9 if part == 0 else 4)
        text = _laid_out(_version5(group[start:-4]))
        if text:
            yield _Event("note", text)


def _version4(data: bytes) -> Iterator[_Event]:
    return _coded(data, _version4_code)


def _version4_code(data: bytes, at: int) -> tuple[int, Iterable[_Event]]:
    size = _version4_size(data, at)
    if data[at] == 0xE1 and size == 3:
        return size, [_Event("text", bytes([data[at + 1]]).decode("cp437"))]
    return size, ()


def _version4_size(data: bytes, at: int) -> int:
    """Bytes of the code at `at`; 1 when it isn't closed."""
    mark = data[at]
    size = _WP4_FIXED[mark - 0xC0] if mark - 0xC0 < len(_WP4_FIXED) else 0
    if size and at + size <= len(data) and data[at + size - 1] == mark:
        return size
    end = data.find(data[at : at + 1], at + 2, at + _WP4_REACH)
    return end - at + 1 if end > 0 else 1


def _low_code(byte: int) -> Iterator[_Event]:
    """Single bytes below C0, alike in versions 4 and 5."""
    if byte in (0x0A, 0x0C, 0x8C, 0x99):
        yield _Event("line")
    elif byte in (0x09, 0x0B, 0x0D, 0xA0):
        yield _Event("text", " ")
    elif 0xA9 <= byte <= 0xAB:
        yield _Event("text", "-")
