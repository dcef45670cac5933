"""Files embedded in a PDF: attachments, portfolio documents, files pinned to a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pymupdf

from regcomments.read.members import NameBook, Part
from regcomments.read.pdf_open import MUPDF_ERRORS, open_pdf

_PAGES_SEARCHED = 500  # for files pinned to a page; the name tree is searched whole


def parts(path: Path) -> Iterator[Part]:
    """Return the files embedded in the PDF at `path`; see `document_parts`."""
    document = open_pdf(path)
    try:
        yield from document_parts(document)
    finally:
        document.close()


def document_parts(
    document: pymupdf.Document, pinned: Iterable[int] | None = None
) -> Iterator[Part]:
    """Return the files embedded in `document`, first those of its name tree, then pinned ones.

    `pinned` are the pages, from 0, that have files pinned to them; None when nobody has looked.
    Sizes are those declared, in bytes; `load` works while the document is open.
    """
    names = NameBook()
    try:
        count = document.embfile_count()
    except MemoryError:
        raise
    except MUPDF_ERRORS:
        count = 0
    for index in range(count):
        raw, size = None, None
        try:
            info = document.embfile_info(index)
            raw = info.get("ufilename") or info.get("filename") or info.get("name")
            size = info.get("length")
        except MemoryError:
            raise
        except MUPDF_ERRORS:
            pass  # `load` will fail as well, and say so
        yield Part(
            names.name(raw, f"embedded {index + 1}"),
            lambda index=index: document.embfile_get(index),
            size if isinstance(size, int) and size > 0 else None,
        )
    if pinned is None:
        pinned = range(min(document.page_count, _PAGES_SEARCHED))
    for page_number in pinned:
        yield from _pinned(document, page_number, names)


def _pinned(document: pymupdf.Document, page_number: int, names: NameBook) -> Iterator[Part]:
    try:
        page = document[page_number]
        xrefs = [
            x for x, kind, _ in page.annot_xrefs() if kind == pymupdf.PDF_ANNOT_FILE_ATTACHMENT
        ]
    except MemoryError:
        raise
    except MUPDF_ERRORS:
        return
    for xref in xrefs:
        try:
            annot = page.load_annot(xref)
            info = annot.file_info
            yield Part(
                names.name(info.get("filename"), f"pinned to page {page_number + 1}"),
                annot.get_file,
                info.get("size") if (info.get("size") or -1) > 0 else None,
            )
        except MemoryError:
            raise
        except MUPDF_ERRORS:
            continue
