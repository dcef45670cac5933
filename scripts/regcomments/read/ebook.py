"""Electronic books (epub) and XPS documents."""

from __future__ import annotations

import posixpath
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pymupdf

from regcomments.read.hypertext import html_to_markdown
from regcomments.read.options import ReadOptions
from regcomments.read.word_package import Package, open_package
from regcomments.records import Document, Page, UnreadableError
from regcomments.status import Reason, Status

MAX_CHAPTERS = 2000


def read_epub(path: Path, options: ReadOptions) -> Document:
    """Return the text of the book at `path`, chapter after chapter.

    Raises UnreadableError: rights_managed, corrupt, too_large.
    """
    package = open_package(path)
    if package.has("meta-inf/rights.xml"):
        raise UnreadableError(Status.FAILED, Reason.RIGHTS_MANAGED, "asks for a licence")
    chapters = _spine(package)
    texts = [html_to_markdown(package.read(name)) for name in chapters[:MAX_CHAPTERS]]
    if not chapters:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no chapters")
    body = "\n\n".join(text for text in texts if text)
    return Document("epub", "epub-html", body=body, warnings=tuple(package.warnings))


def _spine(package: Package) -> list[str]:
    """The parts of the book in reading order (EPUB 3.3, sections 4.2 and 5.7)."""
    container = package.root("meta-inf/container.xml")
    book = None if container is None else next(container.iter("{*}rootfile"), None)
    name = "" if book is None else book.get("full-path") or ""
    root = package.root(name)
    if root is None:
        return []
    files = {item.get("id"): item.get("href") or "" for item in root.iter("{*}item")}
    found = []
    for entry in root.iter("{*}itemref"):
        href = unquote(files.get(entry.get("idref")) or "").partition("#")[0]
        part = posixpath.normpath(posixpath.join(posixpath.dirname(name), href))
        if href and package.has(part):
            found.append(part)
    return found


def read_xps(path: Path, options: ReadOptions) -> Document:
    """Return the pages of the XPS document at `path`. Raises UnreadableError."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = pymupdf.open(path, filetype="xps")
    except (RuntimeError, ValueError) as error:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, str(error)) from error
    with closing(document):
        count = document.page_count
        if count == 0:
            raise UnreadableError(Status.FAILED, Reason.NO_PAGES, "no pages")
        if count > options.max_pages:
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"{count} pages")
        if options.on_pages is not None:
            options.on_pages(count)
        pages = tuple(_page(page) for page in document)
    return Document("xps", "pymupdf", pages=pages, paged=True)


def _page(page: pymupdf.Page) -> Page:
    """A page without text that shows something wants OCR."""
    text = page.get_text()
    if text.strip():
        return Page(page.number + 1, text)
    if page.get_bboxlog():
        return Page(page.number + 1, needs_ocr=True, reason=Reason.SCANNED)
    return Page(page.number + 1, reason=Reason.BLANK)
