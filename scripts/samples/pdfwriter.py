"""A small PDF writer: objects, streams and pages with the standard fonts, the same bytes each time.

PyMuPDF would write these files too, but its encryption draws random numbers, and the samples must
not change from run to run. The structure and the encryption follow ISO 32000-1 (7.5 and 7.6).
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from functools import cache, lru_cache

import pymupdf

LETTER = (612, 792)  # points: 8.5 x 11 inches
FONTS = {
    "helv": "Helvetica",
    "hebo": "Helvetica-Bold",
    "tiro": "Times-Roman",
    "tibo": "Times-Bold",
    "cour": "Courier",
}
# ISO 32000-1, 7.6.3.3: the padding of passwords.
_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_DATE = b"(D:20310301120000Z)"


@dataclass(frozen=True)
class Lock:
    """Passwords of an encrypted file; without a `user` password it opens, but is locked."""

    user: str = ""
    owner: str = "owner"
    permissions: int = -3904  # printing, copying, changing all refused


def literal(text: str) -> bytes:
    """Return `text` as a PDF string in Windows-1252, the encoding of the fonts here."""
    raw = text.encode("cp1252", "replace")
    return b"(" + raw.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


@cache
def _advance(font: str, char: str) -> float:
    return _font(font).glyph_advance(ord(char))


@cache
def _font(font: str) -> pymupdf.Font:
    return pymupdf.Font(font)


def width(text: str, font: str, size: float) -> float:
    """Return the width of `text` in points."""
    return size * _unit_width(text, font)


@lru_cache(maxsize=1 << 15)  # words come again
def _unit_width(text: str, font: str) -> float:
    return sum(_advance(font, char) for char in text)


class Canvas:
    """The content of one page; points from the top left corner, as people read."""

    def __init__(self, height: float = LETTER[1]) -> None:
        self._height = height
        self._ops: list[bytes] = []

    def text(self, x: float, y: float, text: str, font: str, size: float, extra: str = "") -> None:
        """Write `text` with its baseline at `y`; `extra` are operators put before it."""
        place = f"BT {extra} /{font} {size:g} Tf 1 0 0 1 {x:.2f} {self._height - y:.2f} Tm "
        self._ops.append(place.encode("ascii") + literal(text) + b" Tj ET")

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.5) -> None:
        """Draw a straight line."""
        h = self._height
        op = f"{width:g} w {x0:.2f} {h - y0:.2f} m {x1:.2f} {h - y1:.2f} l S"
        self._ops.append(op.encode("ascii"))

    def raw(self, operators: str | bytes) -> None:
        """Add operators as they are."""
        self._ops.append(operators.encode("ascii") if isinstance(operators, str) else operators)

    def image(self, name: str, x: float, y: float, w: float, h: float) -> None:
        """Paint the image resource `name` with its top left corner at (x, y)."""
        self.raw(f"q {w:.2f} 0 0 {h:.2f} {x:.2f} {self._height - y - h:.2f} cm /{name} Do Q")

    def content(self) -> bytes:
        """Return the content stream."""
        return b"\n".join(self._ops)


class PdfWriter:
    """Collects the objects of one file. Object numbers count from 1."""

    def __init__(self, title: str = "") -> None:
        self._objects: list[tuple[bytes, bytes | None]] = []
        self._pages: list[int] = []
        self._images: dict[bytes, int] = {}
        self.catalog_extra = b""
        self._catalog = self.add(b"")
        self._tree = self.add(b"")
        self._info = self.add(
            b"<</Title %s/Producer (sample letters)/CreationDate %s/ModDate %s>>"
            % (literal(title), _DATE, _DATE)
        )
        fonts = b"".join(
            b"/%s %d 0 R" % (key.encode(), self._add_font(name)) for key, name in FONTS.items()
        )
        self.fonts = self.add(b"<<%s>>" % fonts)

    def _add_font(self, name: str) -> int:
        return self.add(
            b"<</Type/Font/Subtype/Type1/BaseFont/%s/Encoding/WinAnsiEncoding>>" % name.encode()
        )

    @property
    def page_count(self) -> int:
        """The number of pages added so far."""
        return len(self._pages)

    def add(self, body: bytes, stream: bytes | None = None, *, deflate: bool = False) -> int:
        """Add an object and return its number. `body` of a stream is its dictionary."""
        if stream is not None:
            if deflate:
                stream = zlib.compress(stream, 6)
                body = body[:-2] + b"/Filter/FlateDecode>>"
            body = body[:-2] + b"/Length %d>>" % len(stream)
        self._objects.append((body, stream))
        return len(self._objects)

    def replace(self, number: int, body: bytes) -> None:
        """Give the object `number` another body; for objects that refer to later ones."""
        self._objects[number - 1] = (body, self._objects[number - 1][1])

    def add_jpeg(self, jpeg: bytes, size: tuple[int, int], *, gray: bool = True) -> int:
        """Add a JPEG image of `size` pixels and return its object number; once for same bytes."""
        if jpeg not in self._images:
            space = b"/DeviceGray" if gray else b"/DeviceRGB"
            self._images[jpeg] = self.add(
                b"<</Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace%s"
                b"/BitsPerComponent 8/Filter/DCTDecode>>" % (*size, space),
                jpeg,
            )
        return self._images[jpeg]

    def add_page(
        self,
        content: bytes,
        *,
        images: dict[str, int] | None = None,
        size: tuple[float, float] = LETTER,
        rotate: int = 0,
        extra: bytes = b"",
    ) -> int:
        """Add a page and return its object number. `images` are resource names and objects."""
        stream = self.add(b"<<>>", content, deflate=True)
        pictures = b"".join(b"/%s %d 0 R" % (n.encode(), x) for n, x in (images or {}).items())
        body = (
            b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 %g %g]/Contents %d 0 R"
            b"/Resources<</Font %d 0 R/XObject<<%s>>>>"
            % (self._tree, *size, stream, self.fonts, pictures)
        )
        if rotate:
            body += b"/Rotate %d" % rotate
        page = self.add(body + extra + b">>")
        self._pages.append(page)
        return page

    def to_bytes(self, lock: Lock | None = None) -> bytes:
        """Return the file, encrypted with RC4 of 128 bits when there is a `lock`."""
        kids = b" ".join(b"%d 0 R" % page for page in self._pages)
        self.replace(self._tree, b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, len(self._pages)))
        self.replace(
            self._catalog,
            b"<</Type/Catalog/Pages %d 0 R%s>>" % (self._tree, self.catalog_extra),
        )
        objects = list(self._objects)
        digest = hashlib.md5(repr(objects).encode(), usedforsecurity=False).digest()
        trailer = b"/Root %d 0 R/ID[<%s><%s>]" % (
            self._catalog,
            *(digest.hex().encode(),) * 2,
        )
        if lock:
            key, entry = _encryption(lock, digest)
            # The information dictionary alone holds strings; without it only streams are secret.
            objects[self._info - 1] = (b"<<>>", None)
            objects = [
                (body, stream if stream is None else _rc4(_object_key(key, number), stream))
                for number, (body, stream) in enumerate(objects, 1)
            ]
            objects.append((entry, None))
            trailer += b"/Encrypt %d 0 R" % len(objects)
        else:
            trailer += b"/Info %d 0 R" % self._info
        return _serialise(objects, trailer)


def _serialise(objects: list[tuple[bytes, bytes | None]], trailer: bytes) -> bytes:
    out = bytearray(b"%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, (body, stream) in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\n" % (number, body)
        if stream is not None:
            out += b"stream\n" + stream + b"\nendstream\n"
        out += b"endobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    out += b"trailer\n<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start)
    return bytes(out)


def _md5(*parts: bytes) -> bytes:
    return hashlib.md5(b"".join(parts), usedforsecurity=False).digest()


def _rc4(key: bytes, data: bytes) -> bytes:
    box, j = list(range(256)), 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) & 255
        box[i], box[j] = box[j], box[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) & 255
        j = (j + box[i]) & 255
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) & 255])
    return bytes(out)


def _rc4_rounds(key: bytes, data: bytes) -> bytes:
    for count in range(20):
        data = _rc4(bytes(byte ^ count for byte in key), data)
    return data


def _object_key(key: bytes, number: int) -> bytes:
    return _md5(key, number.to_bytes(3, "little"), b"\0\0")[:16]


def _encryption(lock: Lock, file_id: bytes) -> tuple[bytes, bytes]:
    """Return the file key and the encryption dictionary (ISO 32000-1, algorithms 2, 3 and 5)."""
    user = (lock.user.encode("latin-1") + _PAD)[:32]
    key = (lock.owner.encode("latin-1") + _PAD)[:32]
    for _ in range(51):
        key = _md5(key)
    owner_entry = _rc4_rounds(key, user)
    permissions = (lock.permissions & 0xFFFFFFFF).to_bytes(4, "little")
    key = _md5(user, owner_entry, permissions, file_id)
    for _ in range(50):
        key = _md5(key)
    user_entry = _rc4_rounds(key, _md5(_PAD, file_id)) + bytes(16)
    entry = b"<</Filter/Standard/V 2/R 3/Length 128/P %d/O<%s>/U<%s>>>" % (
        lock.permissions,
        owner_entry.hex().encode(),
        user_entry.hex().encode(),
    )
    return key, entry
