"""Pictures that lie as JPEG or PNG inside files without a table of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from regcomments.read.word_package import Package
from regcomments.read.word_pictures import picture_pages, raster_pictures
from regcomments.read.word_state import PictureUse
from regcomments.records import Page

MIN_BYTES = 20_000  # smaller ones are logos and signatures
MIN_PIXELS = 300  # a side; a photographed or scanned letter has more
MAX_FOUND = 100
_PNG, _PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xae\x42\x60\x82"
_JPEG, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"


def large_pictures(streams: Iterable[bytes]) -> list[bytes]:
    """Return the distinct large pictures in `streams`, in their order there."""
    found: dict[bytes, None] = {}
    for data in streams:
        at = 0
        while len(found) < MAX_FOUND:
            starts = [s for s in (data.find(_PNG, at), data.find(_JPEG, at)) if s >= 0]
            if not starts:
                break
            start = min(starts)
            raw = _cut(data, start)
            at = start + max(len(raw), 4)
            if len(raw) >= MIN_BYTES and _is_large(raw):
                found[raw] = None
    return list(found)


def pages_of(pictures: Sequence[bytes], chars: int) -> tuple[Page, ...]:
    """Return those `pictures` that hold writing, numbered from 1, as pages that want OCR.

    `chars` is the length of the document's own text; the rule is that of DOCX.
    """
    parts = {f"{number}.png": data for number, data in enumerate(pictures, 1)}
    package = Package(parts)
    uses = {name: PictureUse(name) for name in parts}
    return picture_pages(package, raster_pictures(package, uses), chars)


def _cut(data: bytes, start: int) -> bytes:
    if data.startswith(_PNG, start):
        end = data.find(_PNG_END, start)
        return data[start : end + len(_PNG_END)] if end > 0 else b""
    # The end mark may stand in a thumbnail as well: take the last one before the next picture.
    following = data.find(_JPEG, start + 1000)
    limit = following if following > 0 else len(data)
    end = data.rfind(_JPEG_END, start, limit)
    return data[start : end + 2] if end > 0 else b""


def _is_large(raw: bytes) -> bool:
    if raw.startswith(_PNG):
        width, height = struct.unpack_from(">II", raw, 16)
        return min(width, height) >= MIN_PIXELS
    return True  # of JPEG the size in bytes says enough
