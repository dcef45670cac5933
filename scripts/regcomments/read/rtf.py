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
_PICTURE = re.compile(rb"\\(?:png|jpeg)blip([^{}]{0,400}?)\s([0-9a-fA-F\s]{2000,})\}")
_MIN_PICTURE = 6000  # hexadecimal digits; smaller pictures are logos and signatures


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
    found = [_bytes(digits) for digits in _pictures(data)]
    pages = pages_of(found, len("".join(text.split())))
    warnings = () if is_whole else ("the file is cut off or damaged",)
    return Document("rtf", "rtf", body=text, pages=pages, warnings=warnings)


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of PNG or JPEG picture `number` (from 1). Raises LookupError."""
    found = _pictures(path.read_bytes())
    if not 1 <= number <= len(found):
        raise LookupError(f"no picture {number} in {path.name}")
    return _bytes(found[number - 1])


def _bytes(digits: bytes) -> bytes:
    digits = b"".join(digits.split())
    return bytes.fromhex(digits[: len(digits) // 2 * 2].decode("ascii"))


def _pictures(data: bytes) -> list[bytes]:
    return [match[2] for match in _PICTURE.finditer(data) if len(match[2]) >= _MIN_PICTURE][:100]
