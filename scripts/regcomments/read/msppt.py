"""PowerPoint files before 2007 (ppt): a page per slide, its notes below it.

Record types and layouts are those of [MS-PPT].
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import olefile

from regcomments.read.flow import pipe_table
from regcomments.read.ole_pictures import large_pictures, pages_of
from regcomments.read.options import ReadOptions
from regcomments.records import Document, Page, UnreadableError
from regcomments.status import Reason, Status

MAX_STREAM = 200_000_000  # bytes
MAX_RECORDS = 500_000  # looked at in one file
MAX_EDITS = 1000  # saves that were appended to the file
_DOCUMENT, _SLIDE, _NOTES = 0x03E8, 0x03EE, 0x03F0
_SLIDE_LIST, _SLIDE_ENTRY = 0x0FF0, 0x03F3
_USER_EDIT, _DIRECTORY = 0x0FF5, 0x1772
_CHARS, _BYTES = 0x0FA0, 0x0FA8
_TEXT_BOX, _SHAPE, _SHAPE_DATA = 0xF00D, 0xF004, 0xF011
_GROUP, _CHILD_ANCHOR, _MORE_OPTIONS, _TABLE_PROPERTY = 0xF003, 0xF00F, 0xF122, 0x039F
_ENCRYPTED_TOKEN = 0xF3D1C4DF
_SLIDES, _NOTES_LIST = 0, 2  # instances of the list
_PARAGRAPHS = str.maketrans({"\r": "\n", "\x0b": "\n"})


@dataclass(frozen=True)
class _Record:
    kind: int
    instance: int
    start: int  # of the content
    end: int
    is_container: bool


def read_ppt(path: Path, options: ReadOptions) -> Document:
    """Return the slides of the presentation at `path` as pages.

    Of a presentation without any text the pages are its large pictures with writing (which slide
    shows which isn't looked up). Raises UnreadableError: encrypted, corrupt, no_pages.
    """
    with olefile.OleFileIO(path) as ole:
        data = _stream(ole, "PowerPoint Document")
        current = _stream(ole, "Current User")
    if len(current) >= 20 and struct.unpack_from("<I", current, 12)[0] == _ENCRYPTED_TOKEN:
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    if not data:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no PowerPoint stream")
    offset = struct.unpack_from("<I", current, 16)[0] if len(current) >= 20 else -1
    texts = _Presentation(data, offset).slides()
    if not texts:
        raise UnreadableError(Status.FAILED, Reason.NO_PAGES, "no slides")
    if len(texts) > options.max_pages:
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"{len(texts)} slides")
    if not any(texts):
        return Document("ppt", "ms-ppt", pages=pages_of(_pictures(path), 0))
    pages = tuple(Page(number, text) for number, text in enumerate(texts, 1))
    return Document("ppt", "ms-ppt", pages=pages, paged=True)


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of large picture `number` (from 1). Raises LookupError."""
    found = _pictures(path)
    if not 1 <= number <= len(found):
        raise LookupError(f"no picture {number} in {path.name}")
    return found[number - 1]


def _pictures(path: Path) -> list[bytes]:
    with olefile.OleFileIO(path) as ole:
        return large_pictures([_stream(ole, "Pictures")])


def _stream(ole: olefile.OleFileIO, name: str) -> bytes:
    return ole.openstream(name).read(MAX_STREAM) if ole.exists(name) else b""


class _Presentation:
    """The records of the stream, found through its directory of the newest versions."""

    def __init__(self, data: bytes, edit: int) -> None:
        self._data = data
        self._left = MAX_RECORDS
        self._offsets, self._document = self._directory(edit)

    def slides(self) -> list[str]:
        """Return the text of each slide, outline first, then boxes, then notes."""
        document = self._record(self._offsets.get(self._document, -1))
        if document is None or document.kind != _DOCUMENT:
            document = next(
                (r for r in self._records(0, len(self._data)) if r.kind == _DOCUMENT), None
            )
        if document is None:
            return self._loose()
        notes = {
            slide: self._boxes(reference, _NOTES)
            for reference, slide, _ in self._entries(document, _NOTES_LIST)
        }
        found = []
        for reference, _, outline in self._entries(document, _SLIDES):
            shown = self._boxes(reference, _SLIDE)
            pieces = [*outline, *(text for text in shown if text not in outline)]
            below = [text for text in notes.get(self._notes_of(reference), []) if text.strip("*")]
            if below:
                pieces.append("Notes: " + "\n".join(below))
            found.append("\n\n".join(piece for piece in pieces if piece.strip()))
        return found or self._loose()

    def _loose(self) -> list[str]:
        """Without a readable document record: the text of every slide record in the stream."""
        slides = [r for r in self._records(0, len(self._data)) if r.kind == _SLIDE]
        return ["\n\n".join(self._texts(slide)) for slide in slides]

    def _entries(self, document: _Record, instance: int) -> Iterator[tuple[int, int, list[str]]]:
        """The slides of a list: persist reference, slide id, texts of the outline."""
        for listing in self._records(document.start, document.end):
            if listing.kind != _SLIDE_LIST or listing.instance != instance:
                continue
            entry: tuple[int, int] | None = None
            texts: list[str] = []
            for record in self._records(listing.start, listing.end):
                if record.kind == _SLIDE_ENTRY and record.end - record.start >= 16:
                    if entry is not None:
                        yield (*entry, texts)
                    reference, _, _, slide = struct.unpack_from("<IIiI", self._data, record.start)
                    entry, texts = (reference, slide), []
                else:
                    texts += self._text(record)
            if entry is not None:
                yield (*entry, texts)

    def _boxes(self, reference: int, kind: int) -> list[str]:
        record = self._record(self._offsets.get(reference, -1))
        return [] if record is None or record.kind != kind else self._texts(record)

    def _notes_of(self, reference: int) -> int:
        """The id of the notes page of a slide, from its SlideAtom; 0 for none."""
        record = self._record(self._offsets.get(reference, -1))
        if record is None or record.kind != _SLIDE:
            return 0
        atom = next(self._records(record.start, record.end), None)
        if atom is None or atom.kind != 0x03EF or atom.end - atom.start < 20:
            return 0
        return struct.unpack_from("<I", self._data, atom.start + 16)[0]

    def _texts(self, record: _Record) -> list[str]:
        """The texts of the boxes below `record`, in drawing order."""
        found: list[str] = []
        stack = [iter(self._records(record.start, record.end))]
        while stack:
            inner = next(stack[-1], None)
            if inner is None:
                stack.pop()
            elif inner.kind == _GROUP and (table := self._table(inner)):
                found.append(table)
            elif inner.is_container and len(stack) < 40:
                stack.append(iter(self._records(inner.start, inner.end)))
            elif inner.kind == _TEXT_BOX:
                for atom in self._records(inner.start, inner.end):
                    found += self._text(atom)
            else:
                found += self._text(inner)
        return [text for text in found if text.strip() and text.strip() != "*"]

    def _table(self, group: _Record) -> str:
        """A group of boxes as a pipe table by their corners, "" when it isn't one."""
        cells: dict[tuple[int, int], str] = {}
        is_table = False
        for shape in self._records(group.start, group.end):
            corner, texts = None, []
            for part in self._records(shape.start, shape.end):
                if part.kind == _MORE_OPTIONS:
                    is_table |= self._says_table(part)
                elif part.kind == _CHILD_ANCHOR and part.end - part.start >= 16:
                    left, top = struct.unpack_from("<ii", self._data, part.start)
                    corner = (top, left)
                elif part.kind == _TEXT_BOX:
                    for atom in self._records(part.start, part.end):
                        texts += self._text(atom)
            if corner is not None and texts:
                cells[corner] = " ".join(texts)
        if not is_table:
            return ""
        columns = sorted({left for _, left in cells})
        rows = sorted({top for top, _ in cells})
        return pipe_table([[cells.get((row, column), "") for column in columns] for row in rows])

    def _says_table(self, options: _Record) -> bool:
        """Whether a shape's options hold the table property ([MS-ODRAW] 2.3.4.37)."""
        last = min(options.end, options.start + 6 * options.instance)
        places = range(options.start, last - 5, 6)
        return any(
            struct.unpack_from("<H", self._data, at)[0] & 0x3FFF == _TABLE_PROPERTY for at in places
        )

    def _text(self, record: _Record) -> list[str]:
        raw = self._data[record.start : record.end]
        if record.kind == _CHARS:
            return [raw.decode("utf-16-le", "replace").translate(_PARAGRAPHS)]
        if record.kind == _BYTES:
            return [raw.decode("latin-1").translate(_PARAGRAPHS)]
        return []

    def _directory(self, edit: int) -> tuple[dict[int, int], int]:
        """Offsets by persist reference, newest first, and the reference of the document."""
        offsets: dict[int, int] = {}
        document, seen = 0, set()
        while edit not in seen and len(seen) < MAX_EDITS:
            seen.add(edit)
            record = self._record(edit)
            if record is None or record.kind != _USER_EDIT or record.end - record.start < 20:
                break
            _, _, last, listing, reference = struct.unpack_from("<I4sIII", self._data, record.start)
            document = document or reference
            if record.end - record.start >= 32:  # [MS-PPT] 2.3.3: only when encrypted
                raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
            directory = self._record(listing)
            if directory is not None and directory.kind == _DIRECTORY:
                for key, value in self._directory_entries(directory):
                    offsets.setdefault(key, value)
            edit = last
        return offsets, document

    def _directory_entries(self, record: _Record) -> Iterator[tuple[int, int]]:
        at = record.start
        while at + 4 <= record.end:
            head = struct.unpack_from("<I", self._data, at)[0]
            first, count = head & 0xFFFFF, head >> 20
            at += 4
            for step in range(count):
                if at + 4 > record.end:
                    return
                yield first + step, struct.unpack_from("<I", self._data, at)[0]
                at += 4

    def _records(self, start: int, end: int) -> Iterator[_Record]:
        at = start
        while at + 8 <= end and self._left > 0:
            record = self._record(at)
            if record is None:
                return
            self._left -= 1
            yield record
            at = record.end

    def _record(self, at: int) -> _Record | None:
        if not 0 <= at <= len(self._data) - 8:
            return None
        head, kind, size = struct.unpack_from("<HHI", self._data, at)
        end = min(at + 8 + size, len(self._data))
        return _Record(kind, head >> 4, at + 8, end, head & 0xF == 0xF and kind != _TEXT_BOX)
