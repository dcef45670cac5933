"""Workbooks of Excel before 2007 (xls): every sheet as a pipe table, text boxes below it."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

import olefile

from regcomments.read.biff import Record, records, rk_number, shared_strings, text_of_box
from regcomments.read.biff import unicode_string as unicode_at
from regcomments.read.flow import cell_text, pipe_grid
from regcomments.read.number_format import BUILT_IN, show
from regcomments.read.options import ReadOptions
from regcomments.read.rtf_text import code_page
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_STREAM = 300_000_000  # bytes
MAX_CELLS = 500_000  # filled cells in all; beyond it a workbook is data, not a comment
MAX_SHEETS = 200
_BOF = frozenset({0x0009, 0x0209, 0x0409, 0x0809})
_EOF, _SHEET, _FILE_PASS, _CODE_PAGE, _DATE_MODE = 0x000A, 0x0085, 0x002F, 0x0042, 0x0022
_STRINGS, _BOX = 0x00FC, 0x01B6
_FORMATS = frozenset({0x001E, 0x041E})
_STYLES = {0x00E0: (2, 2), 0x0443: (1, 1), 0x0243: (1, 1)}  # offset and size of the format number
_NUMBER, _RK, _MANY_RK, _BOOL = 0x0203, 0x027E, 0x00BD, 0x0205
_LABEL, _RICH_LABEL, _SHARED_LABEL = 0x0204, 0x00D6, 0x00FD
_FORMULAS = frozenset({0x0006, 0x0206, 0x0406})
_RESULTS = frozenset({0x0007, 0x0207})
_OLD_INTEGER, _OLD_NUMBER, _OLD_LABEL, _OLD_BOOL = 0x0002, 0x0003, 0x0004, 0x0005
_ERRORS = {
    0: "#NULL!",
    7: "#DIV/0!",
    15: "#VALUE!",
    23: "#REF!",
    29: "#NAME?",
    36: "#NUM!",
    42: "#N/A",
}


@dataclass
class _Book:
    """What the head of a workbook says for all its sheets."""

    version: int = 8
    charset: str = "cp1252"
    since_1904: bool = False
    strings: list[str] = field(default_factory=list)
    codes: dict[int, str] = field(default_factory=dict)
    styles: list[int] = field(default_factory=list)
    sheets: list[tuple[str, int, bool]] = field(default_factory=list)  # name, offset, hidden

    def format(self, style: int) -> str:
        """The format code of cells in `style`."""
        number = self.styles[style] if 0 <= style < len(self.styles) else 0
        return self.codes.get(number, BUILT_IN.get(number, ""))


@dataclass
class _Sheet:
    """One sheet while it is read."""

    cells: dict[int, dict[int, str]] = field(default_factory=dict)  # row: column: text
    boxes: list[str] = field(default_factory=list)
    waiting: tuple[int, int] | None = None  # a formula whose text result follows
    count: int = 0

    def put(self, row: int, column: int, text: str) -> None:
        """Keep the text of a cell."""
        text = cell_text(text)
        if text:
            self.cells.setdefault(row, {})[column] = text
            self.count += 1


def read_xls(path: Path, options: ReadOptions) -> Document:
    """Return the sheets of the workbook at `path`, each headed by its name.

    Numbers are shown in their format, dates in ISO form; hidden sheets are read and named as
    such. Raises UnreadableError: encrypted, corrupt.
    """
    stream = _stream(path)
    book = _head(stream)
    blocks: list[str] = []
    warnings: list[str] = []
    left = MAX_CELLS
    for name, offset, hidden in book.sheets[:MAX_SHEETS]:
        sheet = _read_sheet(stream, offset, book, left)
        left -= sheet.count
        table = pipe_grid([cells for _, cells in sorted(sheet.cells.items())])
        if table or sheet.boxes:
            title = f"### {name}" + (" (hidden sheet)" if hidden else "")
            blocks += [title, *filter(None, [table]), *sheet.boxes]
        if left <= 0:
            warnings.append(f"cut after {MAX_CELLS} cells")
            break
    return Document("xls", "ms-xls", body="\n\n".join(blocks), warnings=tuple(warnings))


def _stream(path: Path) -> bytes:
    with path.open("rb") as handle:
        head = handle.read(8)
    if head != olefile.MAGIC:
        return path.read_bytes()[:MAX_STREAM]  # versions 2 to 4 have no OLE shell
    with olefile.OleFileIO(path) as ole:
        for name in ("Workbook", "Book"):
            if ole.exists(name):
                return ole.openstream(name).read(MAX_STREAM)
    raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no workbook stream")


def _head(stream: bytes) -> _Book:
    book = _Book()
    for at, record in enumerate(records(stream, 0)):
        if at == 0:
            if record.kind not in _BOF:
                raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no Excel header")
            book.version = _version(record)
            if book.version < 5:  # one sheet, without a name
                book.sheets.append(("Sheet", 0, False))
        elif record.kind == _FILE_PASS:
            raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
        elif record.kind == _EOF:
            break
        else:
            _note(record, book)
    return book


def _version(record: Record) -> int:
    if record.kind != 0x0809:
        return {0x0009: 2, 0x0209: 3, 0x0409: 4}[record.kind]
    return 8 if record.data[:2] == b"\x00\x06" else 5


def _note(record: Record, book: _Book) -> None:
    data = record.data
    if record.kind == _SHEET and len(data) >= 8:
        offset, state, kind = struct.unpack_from("<IBB", data)
        if kind == 0:
            book.sheets.append((_short_text(data, 6, book) or "Sheet", offset, state & 3 != 0))
    elif record.kind == _STRINGS:
        book.strings = shared_strings(record)
    elif record.kind in _FORMATS and len(data) > 3:
        if book.version == 8:
            number, length = struct.unpack_from("<HH", data)
            book.codes[number] = unicode_at(data, 4, length)
        elif book.version == 5:
            book.codes[struct.unpack_from("<H", data)[0]] = _bytes(data, 2, book)
        else:
            book.codes[len(book.codes)] = _bytes(data, 2 if book.version == 4 else 0, book)
    elif record.kind in _STYLES:
        at, size = _STYLES[record.kind]
        book.styles.append(int.from_bytes(data[at : at + size], "little"))
    elif record.kind == _CODE_PAGE and len(data) >= 2:
        number = struct.unpack_from("<H", data)[0]
        # Apple's and Windows's standard charsets have numbers of their own.
        book.charset = code_page({0x8000: 10000, 0x8001: 1252}.get(number, number))
    elif record.kind == _DATE_MODE:
        book.since_1904 = data[:1] == b"\x01"


def _read_sheet(stream: bytes, offset: int, book: _Book, limit: int) -> _Sheet:
    sheet = _Sheet()
    depth = 0
    for record in records(stream, offset):
        if record.kind in _BOF:
            depth += 1
        elif record.kind == _EOF:
            depth -= 1
            if depth <= 0:
                break
        elif depth == 1:
            if book.version < 5:  # has no head: the sheet holds its formats and styles
                _note(record, book)
            try:
                _read_cell(record, book, sheet)
            except struct.error:
                continue  # a record cut short
            if sheet.count >= limit:
                break
    return sheet


def _read_cell(record: Record, book: _Book, sheet: _Sheet) -> None:
    kind, data = record.kind, record.data
    if kind == _NUMBER:
        row, column, style, value = struct.unpack_from("<HHHd", data)
        sheet.put(row, column, _shown(value, style, book))
    elif kind == _RK:
        row, column, style, raw = struct.unpack_from("<HHHI", data)
        sheet.put(row, column, _shown(rk_number(raw), style, book))
    elif kind == _MANY_RK:
        row, column = struct.unpack_from("<HH", data)
        for at in range((len(data) - 6) // 6):
            style, raw = struct.unpack_from("<HI", data, 4 + 6 * at)
            sheet.put(row, column + at, _shown(rk_number(raw), style, book))
    elif kind == _SHARED_LABEL:
        row, column, _, index = struct.unpack_from("<HHHI", data)
        sheet.put(row, column, book.strings[index] if index < len(book.strings) else "")
    elif kind in (_LABEL, _RICH_LABEL):
        row, column, _, length = struct.unpack_from("<HHHH", data)
        wide = book.version == 8
        text = unicode_at(data, 8, length) if wide else _decoded(data[8 : 8 + length], book)
        sheet.put(row, column, text)
    elif kind == _BOOL:
        row, column, _, value, is_error = struct.unpack_from("<HHHBB", data)
        sheet.put(row, column, _flag(value, is_error))
    elif kind in _FORMULAS:
        _read_formula(data, book, sheet)
    elif kind in _RESULTS and sheet.waiting is not None:
        if book.version == 8:
            text = unicode_at(data, 2, struct.unpack_from("<H", data)[0])
        else:
            text = _decoded(data[1 if kind == 0x0007 else 2 :], book)
        sheet.put(*sheet.waiting, text)
        sheet.waiting = None
    elif kind == _BOX:
        text = text_of_box(record).strip()
        sheet.boxes += [text] if text else []
    elif book.version == 2:
        _read_old_cell(kind, data, book, sheet)


def _read_formula(data: bytes, book: _Book, sheet: _Sheet) -> None:
    start = 7 if book.version == 2 else 6
    row, column, style = struct.unpack_from("<HHH", data)
    result = data[start : start + 8]
    if result[6:8] != b"\xff\xff":
        value = struct.unpack("<d", result)[0]
        sheet.put(row, column, _shown(value, 0 if book.version == 2 else style, book))
    elif result[0] == 0:
        sheet.waiting = (row, column)
    elif result[0] in (1, 2):
        sheet.put(row, column, _flag(result[2], result[0] - 1))


def _read_old_cell(kind: int, data: bytes, book: _Book, sheet: _Sheet) -> None:
    """The cells of version 2, whose three bytes of attributes hold the format number."""
    if kind not in (_OLD_INTEGER, _OLD_NUMBER, _OLD_LABEL, _OLD_BOOL):
        return
    row, column, attributes = struct.unpack_from("<HH3s", data)
    code = book.codes.get(attributes[1] & 0x3F, "")
    if kind == _OLD_INTEGER:
        sheet.put(row, column, show(struct.unpack_from("<H", data, 7)[0], code))
    elif kind == _OLD_NUMBER:
        sheet.put(row, column, show(struct.unpack_from("<d", data, 7)[0], code))
    elif kind == _OLD_LABEL:
        sheet.put(row, column, _bytes(data, 7, book))
    else:
        sheet.put(row, column, _flag(data[7], data[8]))


def _shown(value: float, style: int, book: _Book) -> str:
    return show(value, book.format(style), since_1904=book.since_1904)


def _flag(value: int, is_error: int) -> str:
    return _ERRORS.get(value, "#ERROR") if is_error else ("TRUE" if value else "FALSE")


def _short_text(data: bytes, at: int, book: _Book) -> str:
    return unicode_at(data, at + 1, data[at]) if book.version == 8 else _bytes(data, at, book)


def _bytes(data: bytes, at: int, book: _Book) -> str:
    """A string with its length in one byte before it."""
    return _decoded(data[at + 1 : at + 1 + data[at]], book) if at < len(data) else ""


def _decoded(raw: bytes, book: _Book) -> str:
    return raw.decode(book.charset, "replace")
