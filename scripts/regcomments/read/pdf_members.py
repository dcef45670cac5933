"""Files embedded in a PDF: attachments, portfolio documents, files pinned to a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pymupdf
from pymupdf import mupdf

from regcomments.read.members import NameBook, Part
from regcomments.read.options import ReadOptions
from regcomments.read.pdf_open import MUPDF_ERRORS, open_pdf
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

_PAGES_SEARCHED = 500  # for files pinned to a page; the name tree is searched whole
_NAME = pymupdf.PDF_NAME
_FIRST_READ = 1 << 16  # bytes set aside at first when an embedded file is unpacked


def parts(path: Path) -> Iterator[Part]:
    """Return the files embedded in the PDF at `path`; see `document_parts`."""
    document = open_pdf(path)
    try:
        yield from document_parts(document)
    finally:
        document.close()


def document_parts(
    document: pymupdf.Document,
    pinned: Iterable[int] | None = None,
    limit: int = ReadOptions.max_member_bytes,
) -> Iterator[Part]:
    """Return the files embedded in `document`, first those of its name tree, then pinned ones.

    `pinned` are the pages, from 0, that have files pinned to them; None when nobody has looked.
    Sizes are those declared, in bytes; `load` works while the document is open, and raises
    UnreadableError (too_large) rather than unpack more than `limit` bytes.
    """
    names = NameBook()
    for index, (key, specification) in enumerate(_named(document)):
        yield _part(specification, names, key or f"embedded {index + 1}", limit)
    if pinned is None:
        pinned = range(min(document.page_count, _PAGES_SEARCHED))
    for number in pinned:
        for specification in _pinned(document, number):
            yield _part(specification, names, f"pinned to page {number + 1}", limit)


def _named(document: pymupdf.Document) -> list[tuple[str, mupdf.PdfObj]]:
    """Return the entries of the name tree; PyMuPDF's own list misses those of its branches."""
    try:
        pdf = mupdf.pdf_document_from_fz_document(document.this)
        tree = mupdf.pdf_load_name_tree(pdf, _NAME("EmbeddedFiles"))
        return [
            (
                mupdf.pdf_to_name(mupdf.pdf_dict_get_key(tree, k)),
                mupdf.pdf_dict_get_val(tree, k),
            )
            for k in range(mupdf.pdf_dict_len(tree))
        ]
    except MemoryError:
        raise
    except MUPDF_ERRORS:
        return []


def _pinned(document: pymupdf.Document, number: int) -> list[mupdf.PdfObj]:
    try:
        page = document[number]
        return [
            mupdf.pdf_dict_get(mupdf.pdf_annot_obj(page.load_annot(xref).this), _NAME("FS"))
            for xref, kind, _ in page.annot_xrefs()
            if kind == pymupdf.PDF_ANNOT_FILE_ATTACHMENT
        ]
    except MemoryError:
        raise
    except MUPDF_ERRORS:
        return []


def _part(specification: mupdf.PdfObj, names: NameBook, fallback: str, limit: int) -> Part:
    name, size = "", 0
    try:
        for key in ("UF", "F", "Unix", "DOS"):
            name = name or mupdf.pdf_dict_get_text_string(specification, _NAME(key))
        declared = mupdf.pdf_dict_getl(_stream(specification), _NAME("Params"), _NAME("Size"))
        size = mupdf.pdf_to_int(declared)
    except MemoryError:
        raise
    except MUPDF_ERRORS:
        size = 0  # `load` will fail as well, and say so
    return Part(
        names.name(name, fallback),
        lambda: _unpack(_stream(specification), limit),
        size if size > 0 else None,
    )


def _stream(specification: mupdf.PdfObj) -> mupdf.PdfObj:
    files = mupdf.pdf_dict_get(specification, _NAME("EF"))
    stream = mupdf.pdf_dict_get(files, _NAME("F"))
    return stream if stream.m_internal else mupdf.pdf_dict_get(files, _NAME("UF"))


def _unpack(stream: mupdf.PdfObj, limit: int) -> bytes:
    if not mupdf.pdf_is_stream(stream):
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "the embedded file has no content")
    # MuPDF stops at the limit or at 100 MiB, whichever is more, and what a damaged stream gave
    # before it broke may still be read: so the answer that it was cut short is not asked for.
    buffer, _ = mupdf.fz_read_best(mupdf.pdf_open_stream(stream), _FIRST_READ, limit)
    data = buffer.fz_buffer_extract()
    if len(data) > limit:
        detail = f"unpacks to more than {limit} bytes"
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
    return data
