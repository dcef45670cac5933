"""Reading one attachment of any kind.

`read_document` tells the kind by content and calls its reader, `summarise` draws the status of
the file from what the reader found, `read_attachment` does both and never raises. Readers are
imported when their kind first turns up; `preload` imports the common ones.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from regcomments.read.members import MemberReader, Part, find_inside
from regcomments.read.options import ReadOptions
from regcomments.read.sniff import Kind, sniff
from regcomments.read.summary import document_text, summarise
from regcomments.records import Document, Extraction, UnreadableError
from regcomments.status import Reason, Status

__all__ = [
    "ReadOptions",
    "document_text",
    "documents_inside",
    "failure_of",
    "preload",
    "read_attachment",
    "read_document",
    "summarise",
]

# kind: module below this package, and its function (Path, ReadOptions) -> Document.
_READERS = {
    Kind.PDF: ("pdf", "read_pdf"),
    Kind.DOCX: ("word", "read_word"),
    Kind.TEXT: ("plain", "read_text"),
    Kind.HTML: ("hypertext", "read_html"),
    Kind.RTF: ("rtf", "read_rtf"),
    Kind.DOC: ("msdoc", "read_doc"),
    Kind.WPD: ("wordperfect", "read_wordperfect"),
    Kind.WPS: ("works", "read_works"),
    Kind.PPT: ("msppt", "read_ppt"),
    Kind.XML: ("markup", "read_markup"),
    Kind.EPUB: ("ebook", "read_epub"),
    Kind.XPS: ("ebook", "read_xps"),
    Kind.MSG: ("outlook", "read_msg"),
    Kind.EML: ("mail", "read_eml"),
    Kind.MHTML: ("mail", "read_mhtml"),
    Kind.ZIP: ("archive", "read_zip"),
    Kind.IMAGE: ("pictures", "read_picture"),
    Kind.PPTX: ("slides", "read_slides"),
    **dict.fromkeys((Kind.ODT, Kind.ODS, Kind.ODP), ("opendocument", "read_opendocument")),
    Kind.XLSX: ("xlsx", "read_xlsx"),
    Kind.XLS: ("xls", "read_xls"),
}
# Containers: module with parts(path) -> Iterator[Part], the documents inside under unique names.
_CONTAINERS = {
    Kind.PDF: "pdf_members",
    Kind.DOCX: "word",
    Kind.ZIP: "archive",
    **dict.fromkeys((Kind.EML, Kind.MHTML), "mail"),
    Kind.MSG: "outlook",
}
# LibreOffice reads WordPerfect's notes and styles, ours only its text; of the others some versions
# are beyond ours.
_OFFICE_FIRST = frozenset({Kind.WPD})
_OFFICE_TOO = frozenset({Kind.WPS, Kind.OFFICE_OTHER, Kind.IWORK})
_UNSUPPORTED = {
    Kind.NOT_A_DOCUMENT: Reason.NOT_A_DOCUMENT,
    Kind.UNKNOWN: Reason.UNKNOWN_KIND,
}
_PRELOADED = ("pdf", "word", "plain", "hypertext")
_CHUNK = 1 << 20  # bytes read at once when hashing


def read_document(path: Path, options: ReadOptions) -> Document:
    """Read `path` by its kind; documents inside are read too and come as `members`.

    Raises UnreadableError when there is no text to be had, OSError when the system refuses the
    file; a damaged file may raise anything else (see `read_attachment`).
    """
    size = path.stat().st_size
    if size == 0:
        raise UnreadableError(Status.FAILED, Reason.EMPTY_FILE, "zero bytes")
    if size > options.max_bytes:
        detail = f"{size} bytes, more than {options.max_bytes}"
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
    if options.read_member is None:
        reader = MemberReader(read_attachment, options)
        options = replace(options, read_member=reader, on_pages=reader.count_pages)
    kind = sniff(path)
    if kind == Kind.ENCRYPTED:
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    if kind == Kind.RIGHTS_MANAGED:
        raise UnreadableError(Status.FAILED, Reason.RIGHTS_MANAGED, "asks for a licence server")
    return replace(_read(kind, path, options), kind=kind.value)


def read_attachment(path: Path, options: ReadOptions) -> Extraction:
    """Return the outcome for `path`, whatever happens, with its SHA-256 and its size in bytes."""
    digest = size = None
    try:
        digest, size = _fingerprint(path)
        document = read_document(path, options)
        if options.on_document is not None:
            document = options.on_document(document, digest)
        extraction = summarise(document)
    except Exception as error:
        extraction = replace(failure_of(error), kind=_kind_if_told(path))
    return replace(extraction, sha256=digest, size=size)


def failure_of(error: Exception) -> Extraction:
    """Return the outcome that `error`, raised while reading a file, stands for."""
    if isinstance(error, UnreadableError):
        return Extraction(error.status, reason=error.reason, error=_one_line(error.detail) or None)
    reason = Reason.CORRUPT
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        reason = Reason.MEMORY
    elif isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
        # Damaged files make readers seek to impossible places, which the system calls EINVAL.
        reason = Reason.UNREADABLE
    detail = _one_line(f"{type(error).__name__}: {error}")
    return Extraction(Status.FAILED, reason=reason, error=detail)


def documents_inside(path: Path, inside: str) -> Iterator[bytes]:
    """Yield the bytes of each document in `path` that `inside` may mean, as a rule of one.

    `inside` holds names of members (`Member.name`), one per level, parted by slashes. A damaged
    container may raise anything.
    """
    return find_inside(path, inside, _parts_of)


def preload() -> None:
    """Import the readers of the common kinds, so that a forked worker starts with them."""
    for module in _PRELOADED:
        import_module(f"{__name__}.{module}")


def _read(kind: Kind, path: Path, options: ReadOptions) -> Document:
    """Read with our own reader, or with LibreOffice where that is installed and knows more."""
    if kind in _OFFICE_FIRST and _function("office", "program")():
        with contextlib.suppress(UnreadableError):
            return _function("office", "read_office")(path, options)
    unsupported = UnreadableError(
        Status.UNSUPPORTED, _UNSUPPORTED.get(kind, Reason.NO_READER), kind.value
    )
    if kind in _READERS:
        try:
            return _function(*_READERS[kind])(path, options)
        except UnreadableError as error:
            if error.status != Status.UNSUPPORTED:
                raise
            unsupported = error
    if kind in _OFFICE_TOO and _function("office", "program")():
        return _function("office", "read_office")(path, options)
    raise unsupported


def _kind_if_told(path: Path) -> str | None:
    try:
        return sniff(path).value if path.stat().st_size else None
    except Exception:  # the file is refused or damaged, and its outcome says so already
        return None


def _parts_of(path: Path) -> Iterator[Part]:
    module = _CONTAINERS.get(sniff(path))
    if module is None:
        raise LookupError(f"{path.name} holds no documents")
    return _function(module, "parts")(path)


def _function(module: str, name: str) -> Callable:
    return getattr(import_module(f"{__name__}.{module}"), name)


def _fingerprint(path: Path) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
