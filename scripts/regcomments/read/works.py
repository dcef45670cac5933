"""Microsoft Works documents (wps): the text without its formatting."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import olefile

from regcomments.read.options import ReadOptions
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_STREAM = 100_000_000  # bytes
# Works 4: where the text begins and ends stands in the header of the stream.
_BOUNDS_AT, _HEADER = 0x22, 0x100
# Works 2000 and later: entries of the chunk index, "TEXT" as name and as type.
_CHUNK = re.compile(rb"\x18\x00TEXT.{6}TEXT(.{4})(.{4})", re.DOTALL)


def read_works(path: Path, options: ReadOptions) -> Document:
    """Return the text of the document at `path`.

    Raises UnreadableError: no_reader for versions with another layout, corrupt.
    """
    with olefile.OleFileIO(path) as ole:
        for name in ("MN0", "CONTENTS"):
            if ole.exists(name):
                data = ole.openstream(name).read(MAX_STREAM)
                text = _old_text(data) if name == "MN0" else _new_text(data)
                if text.strip():
                    return Document("wps", "ms-works", body=text)
    raise UnreadableError(Status.UNSUPPORTED, Reason.NO_READER, "Works document without text part")


def _old_text(data: bytes) -> str:
    if len(data) < _HEADER:
        return ""
    start, end = struct.unpack_from("<II", data, _BOUNDS_AT)
    if not _HEADER <= start < end <= len(data):
        return ""
    return data[start:end].rstrip(b"\0").decode("cp1252", "replace")


def _new_text(data: bytes) -> str:
    pieces = []
    for match in _CHUNK.finditer(data[:100_000]):
        offset, size = (int.from_bytes(raw, "little") for raw in match.groups())
        pieces.append(data[offset : offset + size].decode("utf-16-le", "replace"))
    return "\n".join(pieces)
