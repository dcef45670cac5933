"""RTF: text, tables, notes and links, in the order of the document."""

from __future__ import annotations

import re
from pathlib import Path

from regcomments.read.ole_pictures import pages_of
from regcomments.read.options import ReadOptions
from regcomments.read.rtf_reader import read
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_BYTES = 200_000_000  # pictures are written in hexadecimal, so files are large
# After the kind come sizes and, as Word writes it, a group with an identifier; then the bytes, in
# hexadecimal or as they are.
_PICTURE = re.compile(
    rb"\\(?:png|jpeg)blip(?:\{[^{}]{0,200}\}|\\(?!bin)[a-z]{1,32}-?\d{0,10} ?|\s){0,60}+"
    rb"(?:\\bin(\d{1,9}) ?|([0-9a-fA-F\s]{2000,}+)\})"
)
_MIN_PICTURE = 3000  # bytes; smaller pictures are logos and signatures
_MOST_PICTURES = 100


def read_rtf(path: Path, options: ReadOptions) -> Document:
    """Return the document at `path`; its notes come at the end, headers and footers once.

    Embedded objects are left out; pictures that hold writing want OCR.
    Raises UnreadableError (`corrupt`, `too_large`).
    """
    with path.open("rb") as handle:
        data = handle.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"more than {MAX_BYTES} bytes")
    text, is_whole = read(data)
    pages = pages_of(_pictures(data), len("".join(text.split())))
    warnings = () if is_whole else ("the file is cut off or damaged",)
    return Document("rtf", "rtf", body=text, pages=pages, warnings=warnings)


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of PNG or JPEG picture `number` (from 1). Raises LookupError."""
    found = _pictures(path.read_bytes())
    if not 1 <= number <= len(found):
        raise LookupError(f"no picture {number} in {path.name}")
    return found[number - 1]


def _pictures(data: bytes) -> list[bytes]:
    found: list[bytes] = []
    for match in _PICTURE.finditer(data):
        if match[1] is not None:
            raw = data[match.end() : match.end() + int(match[1])]
        else:
            digits = b"".join(match[2].split())
            raw = bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))
        if len(raw) >= _MIN_PICTURE and len(found) < _MOST_PICTURES:
            found.append(raw)
    return found
