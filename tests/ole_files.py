"""Writes OLE compound files for the tests: a header, one FAT, a directory, streams."""

from __future__ import annotations

import struct

_SECTOR = 512
_END, _FREE, _FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
_NONE = 0xFFFFFFFF
_CUTOFF = 4096  # smaller streams would go into the mini stream, so they are padded to this


def ole_file(tree: dict[str, object]) -> bytes:
    """Return a compound file with `tree`: names to bytes (streams) or to trees (storages).

    Streams shorter than 4096 bytes are padded with zeros, since there is no mini stream.
    """
    entries: list[list] = [["Root Entry", 5, None, _NONE, _NONE, _NONE]]
    _add(entries, 0, tree)
    sectors: list[bytes] = []
    fat: list[int] = []
    starts: dict[int, tuple[int, int]] = {}
    for index, entry in enumerate(entries):
        if entry[1] == 2:
            data = entry[2].ljust(_CUTOFF, b"\0")
            starts[index] = (_store(sectors, fat, data), len(data))
    directory = b"".join(
        _entry(entry, *starts.get(index, (_END if entry[1] == 5 else 0, 0)))
        for index, entry in enumerate(entries)
    )
    directory_start = _store(sectors, fat, directory)
    fat_sectors = 1
    while (len(sectors) + fat_sectors) * 4 > fat_sectors * _SECTOR:
        fat_sectors += 1
    fat_start = len(sectors)
    fat += [_FAT] * fat_sectors
    table = b"".join(struct.pack("<I", value) for value in fat)
    table = table.ljust(fat_sectors * _SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6s9I",
        bytes.fromhex("d0cf11e0a1b11ae1"),
        bytes(16),
        *(0x3E, 3, 0xFFFE, 9, 6, bytes(6), 0, fat_sectors, directory_start, 0),
        *(_CUTOFF, _END, 0, _END, 0),
    )
    pointers = [fat_start + at for at in range(fat_sectors)]
    pointers += [_FREE] * (109 - len(pointers))
    return (header + struct.pack("<109I", *pointers)) + b"".join(sectors) + table


def _add(entries: list[list], parent: int, tree: dict[str, object]) -> None:
    """Append the children of `parent`, chained to the right: readers don't need balance."""
    previous = None
    for name, value in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
        index = len(entries)
        is_stream = isinstance(value, bytes)
        entries.append([name, 2 if is_stream else 1, value if is_stream else None, *[_NONE] * 3])
        if previous is None:
            entries[parent][5] = index
        else:
            entries[previous][4] = index
        previous = index
        if not is_stream:
            _add(entries, index, value)


def _store(sectors: list[bytes], fat: list[int], data: bytes) -> int:
    start = len(sectors)
    count = max(1, -(-len(data) // _SECTOR))
    for at in range(count):
        sectors.append(data[at * _SECTOR : (at + 1) * _SECTOR].ljust(_SECTOR, b"\0"))
        fat.append(start + at + 1 if at + 1 < count else _END)
    return start


def _entry(entry: list, start: int, size: int) -> bytes:
    name, kind, _, left, right, child = entry
    raw = name.encode("utf-16-le") + b"\0\0"
    return struct.pack(
        "<64sHBBIII16sIQQIQ",
        raw,
        len(raw),
        kind,
        1,
        left,
        right,
        child,
        bytes(16),
        0,
        0,
        0,
        start,
        size,
    )


def word_file(
    text: str,
    *,
    encrypted: bool = False,
    rows: tuple[int, ...] = (),
    headings: tuple[int, ...] = (),
    inside: tuple[int, ...] = (),
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """Return a Word 97 file with `text` as its main story, paragraphs ending in a carriage return.

    `rows` are the positions of characters that end a table row, `headings` those that end a
    paragraph in the style Heading 1; `\\x07` ends a cell; `inside` are the ends of
    other paragraphs in cells. `extra` are further streams.
    """
    main = bytearray(2048)
    struct.pack_into(
        "<HHHHHH", main, 0, 0xA5EC, 193, 0, 0, 0, 0x0200 | (0x0100 if encrypted else 0)
    )
    raw = text.encode("utf-16-le")
    struct.pack_into("<i", main, 0x4C, len(raw) // 2)
    start = len(main)
    main += raw + bytes(-len(raw) % 512)
    page = _paragraph_page(text, start, rows, headings, inside)
    number = len(main) // 512
    main += page
    pieces = struct.pack("<II", 0, len(raw) // 2) + struct.pack("<HIH", 0, start, 0)
    table = b"\x02" + struct.pack("<I", len(pieces)) + pieces
    struct.pack_into("<II", main, 0x1A2, 0, len(table))
    bins = struct.pack("<III", start, start + len(raw), number)
    struct.pack_into("<II", main, 0x102, len(table), len(bins))
    streams = {"WordDocument": bytes(main), "1Table": table + bins}
    return ole_file({**streams, **(extra or {})})


def _paragraph_page(
    text: str,
    start: int,
    rows: tuple[int, ...],
    headings: tuple[int, ...],
    inside: tuple[int, ...],
) -> bytes:
    ends = [at for at, char in enumerate(text) if char in "\r\x07"]
    page = bytearray(512)
    offset = 510
    bounds = [start, *(start + 2 * (end + 1) for end in ends)]
    struct.pack_into(f"<{len(bounds)}I", page, 0, *bounds)
    for at, end in enumerate(ends):
        style = 1 if end in headings else 0
        codes = b"\x16\x24\x01" if text[end] == "\x07" or end in inside else b""
        codes += b"\x17\x24\x01" if end in rows else b""
        body = struct.pack("<H", style) + codes
        body += bytes(-len(body) % 2 + 1)  # with its length byte an even number
        raw = bytes([(len(body) + 1) // 2]) + body
        offset = (offset - len(raw)) // 2 * 2
        page[offset : offset + len(raw)] = raw
        page[4 * len(bounds) + 13 * at] = offset // 2
    page[511] = len(ends)
    return bytes(page)


def message_file(
    texts: dict[int, str],
    *,
    html: bytes | None = None,
    rtf: bytes | None = None,
    attachments: tuple[tuple[str, object], ...] = (),
) -> bytes:
    """Return an Outlook message with text properties, bodies, and attachments.

    An attachment is a name and its bytes, or a name and the tree of a message inside.
    """
    return ole_file(message_tree(texts, html=html, rtf=rtf, attachments=attachments))


def message_tree(
    texts: dict[int, str],
    *,
    html: bytes | None = None,
    rtf: bytes | None = None,
    attachments: tuple[tuple[str, object], ...] = (),
    header: int = 32,
) -> dict[str, object]:
    """Return the storages of a message, for `message_file` or to be put inside another."""
    # Streams are padded with NUL, which text properties end with anyway.
    tree: dict[str, object] = {"__properties_version1.0": bytes(header)}
    for tag, text in texts.items():
        tree[f"__substg1.0_{tag:04X}001F"] = text.encode("utf-16-le")
    if html is not None:
        tree["__substg1.0_10130102"] = html
    if rtf is not None:
        tree["__substg1.0_10090102"] = rtf
    for at, (name, content) in enumerate(attachments):
        inner: dict[str, object] = {"__substg1.0_3707001F": name.encode("utf-16-le")}
        if isinstance(content, bytes):
            inner["__substg1.0_37010102"] = content
        else:
            inner["__substg1.0_3701000D"] = content
        tree[f"__attach_version1.0_#{at:08X}"] = inner
    return tree


def powerpoint_file(slides: tuple[tuple[str, ...], ...]) -> bytes:
    """Return a PowerPoint 97 file whose slides have these texts in their outline."""
    texts = b""
    for number, slide in enumerate(slides):
        texts += _record(0x03F3, struct.pack("<IIiII", number + 2, 0, 0, 256 + number, 0))
        for text in slide:
            texts += _record(0x0FA0, text.encode("utf-16-le"))
    document = _record(0x03E8, _record(0x0FF0, texts, container=True), container=True)
    directory = _record(0x1772, struct.pack("<II", 1 << 20 | 1, 0))
    edit_at = len(document) + len(directory)
    edit = _record(
        0x0FF5, struct.pack("<I4sIIII", 256, b"\0\0\0\3", 0, len(document), 1, 0) + bytes(4)
    )
    current = struct.pack("<IIII", 0, 20, 0xE391C05F, edit_at)
    return ole_file(
        {
            "PowerPoint Document": document + directory + edit,
            "Current User": struct.pack("<HHI", 0, 0x0FF6, 20) + current[4:],
        }
    )


def _record(kind: int, content: bytes, *, container: bool = False) -> bytes:
    return struct.pack("<HHI", 0xF if container else 0, kind, len(content)) + content


def excel_file(rows: list[list[str | float]], *, locked: bool = False) -> bytes:
    """Return an Excel 97 file with one sheet; `locked` says that a password is asked for."""
    globals_begin = _biff(0x0809, struct.pack("<HHHHII", 0x0600, 5, 0, 0, 0, 0x06))
    if locked:
        globals_begin += _biff(0x002F, struct.pack("<HHH", 0, 0x1234, 0x5678))
    name = b"Costs"
    end = _biff(0x000A, b"")
    place = len(globals_begin) + 4 + 8 + len(name) + len(end)
    listing = _biff(0x0085, struct.pack("<IHBB", place, 0, len(name), 0) + name)
    sheet = _biff(0x0809, struct.pack("<HHHHII", 0x0600, 0x10, 0, 0, 0, 0x06))
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            if isinstance(value, str):
                raw = value.encode("latin-1")
                body = struct.pack("<HHHHB", row, column, 0, len(raw), 0) + raw
                sheet += _biff(0x0204, body)
            else:
                sheet += _biff(0x0203, struct.pack("<HHHd", row, column, 0, value))
    return ole_file({"Workbook": globals_begin + listing + end + sheet + end})


def _biff(kind: int, content: bytes) -> bytes:
    return struct.pack("<HH", kind, len(content)) + content
