"""Opening a PDF and telling at once when there is nothing to read in it."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

import pymupdf

from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

# PyMuPDF raises every kind of exception on damaged files, Exception itself among them. MemoryError
# is not the file's fault alone, so those who catch this let it through first.
MUPDF_ERRORS = Exception

# Security handlers that ask a licence server: Microsoft IRM, Adobe LiveCycle, FileOpen, Adobe DRM.
_RIGHTS_HANDLER = re.compile(
    rb"/Filter\s*/(MicrosoftIRMServices|Adobe\.APS|FOPN_[A-Za-z]+|EBX_HANDLER|DRM[A-Za-z]*)"
)


def open_pdf(path: Path) -> pymupdf.Document:
    """Return the open PDF, its empty password tried. The caller closes it.

    Raises UnreadableError: corrupt, encrypted, rights_managed, no_pages.
    """
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    pymupdf.TOOLS.reset_mupdf_warnings()
    try:
        document = pymupdf.open(path, filetype="pdf")
    except MemoryError:
        raise
    except MUPDF_ERRORS as error:
        if _foreign_security(path):
            raise UnreadableError(
                Status.FAILED, Reason.RIGHTS_MANAGED, "needs a licence server"
            ) from error
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, one_line(error)) from error
    try:
        _check(document, path)
    except BaseException:
        document.close()
        raise
    return document


def one_line(error: BaseException) -> str:
    """Return what `error` says, on one line, without the folder the file lies in."""
    text = " ".join(str(error).split()) or type(error).__name__
    path = r"(?:\bfile )?(?:'[^'\s/]*/[^']*'|(?:/[^/\s']+)+/[^/\s']*)"
    return re.sub(path, "file", text)[:200]


def _check(document: pymupdf.Document, path: Path) -> None:
    try:
        # MuPDF has tried the empty password already; asking again derives the key again (5 ms).
        locked = document.is_encrypted and not document.authenticate("")
        pages = 0 if locked else document.page_count
        repaired = document.is_repaired
    except MemoryError:
        raise
    except MUPDF_ERRORS as error:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, one_line(error)) from error
    if locked:
        if _foreign_security(path):
            raise UnreadableError(Status.FAILED, Reason.RIGHTS_MANAGED, "needs a licence server")
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    if pages <= 0:
        if repaired:
            detail = "damaged, no page could be recovered"
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, detail)
        raise UnreadableError(Status.FAILED, Reason.NO_PAGES, "holds no page")


def _foreign_security(path: Path) -> bool:
    """Tell whether a rights-management handler guards the file, by the names such handlers have."""
    if path.stat().st_size == 0:
        return False
    with path.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"/Encrypt") >= 0 and _RIGHTS_HANDLER.search(data) is not None
