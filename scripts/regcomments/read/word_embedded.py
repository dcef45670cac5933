"""Documents inside a Word document: imported chunks, embedded files and OLE objects."""

from __future__ import annotations

import io
import posixpath
import struct
from collections.abc import Callable, Iterator
from email import message_from_bytes, policy

import olefile

from regcomments.read.members import NameBook, Part
from regcomments.read.word_package import Package, package_from
from regcomments.read.word_state import WalkState
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

MAX_CHUNKS = 200  # imported parts read in one document, nested ones included
MAX_CHUNK_BYTES = 30_000_000
MAX_EMBEDDED_BYTES = 100_000_000  # of one embedded file, whatever the package says of its size
# OLE servers whose objects are equations, controls and pictures of themselves, not documents.
_NOT_DOCUMENTS = ("equation", "mathtype", "forms.", "shell.", "paint.", "msphoto", "chart")
_STREAM_KINDS = {"worddocument": ".doc", "workbook": ".xls", "book": ".xls"}
_STREAM_KINDS |= {"powerpoint document": ".ppt", "visiodocument": ".vsd"}


def read_chunk(state: WalkState, part: str) -> str:
    """Return an imported part (`altChunk`) as Markdown; "" with a warning when it can't be read."""
    if state.chunks >= MAX_CHUNKS or not state.package.has(part):
        state.package.warnings.append(f"imported part {part} was not read")
        return ""
    state.chunks += 1
    try:
        data = state.package.read(part)
        if len(data) > MAX_CHUNK_BYTES:
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"{len(data)} bytes")
        return _chunk_text(state, part, data)
    except (UnreadableError, ImportError, ValueError, LookupError) as error:
        state.package.warnings.append(f"imported part {part} could not be read: {error}"[:300])
        return ""


def _chunk_text(state: WalkState, part: str, data: bytes) -> str:
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith(b"pk\x03\x04"):
        return _nested_document(state, data)
    if head.startswith(b"{\\rtf"):
        return _reader("rtf_reader", "rtf_to_markdown")(data)
    if b"mime-version:" in head or b"content-type: multipart" in head:
        return _web_archive(data)
    if part.endswith((".txt", ".text")) and b"<html" not in head:
        return _reader("charset", "decode")(data)[0]
    return _reader("hypertext", "html_to_markdown")(data)


def _nested_document(state: WalkState, data: bytes) -> str:
    from regcomments.read.word import body_markdown  # not above: that module imports this one

    package = package_from(data, data[:1024])
    text, chunks = body_markdown(package, state.chunks)
    state.chunks = chunks
    state.package.warnings.extend(package.warnings)
    return text


def _web_archive(data: bytes) -> str:
    message = message_from_bytes(data, policy=policy.default)
    for kind in ("text/html", "text/plain"):
        for part in message.walk():
            if part.get_content_type() == kind:
                payload = part.get_payload(decode=True) or b""
                charset = part.get_content_charset()
                if kind == "text/html":
                    return _reader("hypertext", "html_to_markdown")(payload, charset)
                return _reader("charset", "decode")(payload, charset)[0]
    return ""


def _reader(module: str, function: str) -> Callable:
    from importlib import import_module

    return getattr(import_module(f"regcomments.read.{module}"), function)


def embedded_parts(package: Package, objects: dict[str, str]) -> Iterator[Part]:
    """Yield the embedded documents among `objects` (part to OLE server name), in order."""
    book = NameBook()
    for target, server in objects.items():
        if not package.has(target) or server.lower().startswith(_NOT_DOCUMENTS):
            continue
        base = posixpath.basename(target)
        if not base.lower().endswith(".bin"):
            yield Part(book.name(base), _loader(package, target), package.size(target))
            continue
        try:
            found = ole_payload(package.read(target, MAX_EMBEDDED_BYTES))
        except UnreadableError:
            found = None
        if found is not None:
            suffix, payload = found
            name = suffix if not suffix.startswith(".") else base[:-4] + suffix
            yield Part(book.name(name), lambda payload=payload: payload, len(payload))


def ole_payload(data: bytes) -> tuple[str, bytes] | None:
    """Return the name (or only ".suffix") and bytes of the file in an OLE object, else None."""
    if not data.startswith(olefile.MAGIC):
        return None
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            streams = {"/".join(entry).lower(): entry for entry in ole.listdir()}
            for name, suffix in (("package", ".docx"), ("contents", ".pdf")):
                if name in streams:
                    content = ole.openstream(streams[name]).read()
                    if name == "package" or content.startswith(b"%PDF"):
                        return suffix, content
            if "\x01ole10native" in streams:
                return _native(ole.openstream(streams["\x01ole10native"]).read())
            for name, suffix in _STREAM_KINDS.items():
                if name in streams:
                    return suffix, data
    except (OSError, ValueError, IndexError, TypeError, AttributeError, RecursionError):
        return None
    return None


def _native(stream: bytes) -> tuple[str, bytes] | None:
    """Take the file out of an Ole10Native stream ([MS-OLEDS] 2.3.6 and the packager's layout)."""
    # size, flags, label\0, path\0, two words, path size, path\0, data size, data
    label_end = stream.find(b"\0", 6)
    path_end = stream.find(b"\0", label_end + 1)
    if label_end < 0 or path_end < 0 or len(stream) < path_end + 9:
        return None
    (temp_size,) = struct.unpack_from("<I", stream, path_end + 5)
    start = path_end + 9 + temp_size
    if len(stream) < start + 4:
        return None
    (size,) = struct.unpack_from("<I", stream, start)
    content = stream[start + 4 : start + 4 + size]
    label = stream[6:label_end].decode("cp1252", "replace")
    return (label.replace("\\", "/").rsplit("/", 1)[-1].lstrip("."), content) if content else None


def _loader(package: Package, target: str) -> Callable[[], bytes]:
    return lambda: package.read(target, MAX_EMBEDDED_BYTES)
