"""Reads a PDF: the text of its visible pages, filled fields, notes, embedded documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pymupdf

from regcomments.grade import judge_document
from regcomments.read.members import read_parts
from regcomments.read.options import ReadOptions
from regcomments.read.pagefacts import PageFacts, measure
from regcomments.read.pdf_forms import Markup, annotation_kinds, markup_of, place
from regcomments.read.pdf_layout import page_text
from regcomments.read.pdf_lines import letters_outside, printed_page
from regcomments.read.pdf_members import document_parts
from regcomments.read.pdf_open import MUPDF_ERRORS, one_line, open_pdf
from regcomments.read.pdf_parts import PageParts
from regcomments.read.pdf_shown import may_draw_lines, shown_lines, shown_words
from regcomments.read.pdf_tables import with_tables
from regcomments.records import Document, Member, Page, UnreadableError
from regcomments.status import Reason, Status

# Characters on the one page of a placeholder or cover sheet, with room for translations.
_NOTICE = 2500
# Every such notice names the program to get; the brand is the same in all languages.
_VIEWER = re.compile(r"(?i)adobe|acrobat|please wait|\bpdf (reader|viewer|portfolio|package)")


@dataclass(frozen=True)
class _Read:
    """One page as read: text, facts (None when it is damaged), what was left out, pinned files."""

    text: str
    facts: PageFacts | None
    hidden: int = 0
    repeated: int = 0
    outside: int = 0
    pins: bool = False
    error: str = ""


def read_pdf(path: Path, options: ReadOptions) -> Document:
    """Return the pages of the PDF at `path` as text, graded, and the documents inside it.

    `pages` count from 1; embedded documents become `members`. Raises UnreadableError:
    encrypted, rights_managed, xfa, portfolio, corrupt, no_pages, too_large.
    """
    with closing(open_pdf(path)) as document:
        count = document.page_count
        if count > options.max_pages:
            detail = f"{count} pages, more than {options.max_pages}"
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
        if options.on_pages is not None:
            options.on_pages(count)
        pictures: dict[int, float] = {}  # those already looked at, see pagefacts.measure
        read = [_read_page(document, number, pictures, options) for number in range(count)]
        if all(page.facts is None for page in read):
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, read[0].error)
        _refuse_placeholder(document, read)
        pinned = [number for number, page in enumerate(read) if page.pins]
        members, warnings = read_parts(
            document_parts(document, pinned, options.max_member_bytes), options
        )
        reason = _portfolio_reason(document, read, members)
        pages = _graded(read)
        if document.is_repaired and not members and _says_nothing(pages):
            # What a sheet held is lost with the other half of the file: not a blank sheet.
            detail = "damaged, nothing but blank pages could be recovered"
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, detail)
        return Document(
            kind="pdf",
            method="pymupdf",
            pages=pages,
            paged=True,
            reason=reason,
            warnings=(*_warnings(document, read), *warnings),
            members=members,
        )


def _read_page(
    document: pymupdf.Document, number: int, pictures: dict[int, float], options: ReadOptions
) -> _Read:
    try:
        page = document[number]
        parts = PageParts(page)
        kinds = annotation_kinds(page) if parts.has_annotations else frozenset()
        printed = printed_page(page, parts, contents_only=bool(kinds))
        textpage = printed.textpage
        markup = markup_of(page) if kinds else Markup()
        seen = shown_lines(page, parts, printed, markup.covers)
        lines = place(seen.lines, markup.entries) if markup.entries else seen.lines
        plain = text = "\n\n".join([page_text(lines), *markup.notes]).strip()
        if options.pdf_tables == "pipe":
            tabled = with_tables(
                page,
                lines,
                printed,
                markup.entries,
                drawn=bool(kinds) or may_draw_lines(printed, parts),
                words=lambda: shown_words(page, textpage, seen),
            )
            if tabled is not lines:
                text = "\n\n".join([page_text(tabled), *markup.notes]).strip()
        facts = measure(page, plain, textpage, pictures, parts)
        return _Read(
            text,
            facts,
            seen.hidden,
            seen.repeated,
            letters_outside(page, textpage) if parts.is_cropped and not kinds else 0,
            pymupdf.PDF_ANNOT_FILE_ATTACHMENT in kinds,
        )
    except MemoryError:
        raise
    except MUPDF_ERRORS as error:
        return _Read("", None, error=one_line(error))


def _graded(read: Sequence[_Read]) -> tuple[Page, ...]:
    verdicts = iter(judge_document([page.facts for page in read if page.facts is not None]))
    pages = []
    for number, page in enumerate(read, 1):
        if page.facts is None:
            pages.append(Page(number))
            continue
        verdict = next(verdicts)
        pages.append(
            Page(
                number,
                page.text if verdict.keep_text else "",
                verdict.needs_ocr,
                verdict.reason,
                page.facts.to_dict(),
            )
        )
    return tuple(pages)


def _says_nothing(pages: Sequence[Page]) -> bool:
    """Tell whether no page holds text, readable or to be recognised."""
    return not any(page.text or page.needs_ocr for page in pages)


def _refuse_placeholder(document: pymupdf.Document, read: Sequence[_Read]) -> None:
    """Raise UnreadableError when the file is a dynamic form and its page only says so."""
    if not _is_notice(read):
        return
    catalog = document.pdf_catalog()
    if document.xref_get_key(catalog, "AcroForm/XFA")[0] == "null":
        return
    dynamic = document.xref_get_key(catalog, "NeedsRendering")[1] == "true"
    if dynamic or not document.is_form_pdf:
        raise UnreadableError(Status.FAILED, Reason.XFA, "a dynamic form; its page is a notice")


def _portfolio_reason(
    document: pymupdf.Document, read: Sequence[_Read], members: Sequence[Member]
) -> Reason | None:
    """Return `portfolio` when the page is only the cover sheet of the documents inside.

    Raises UnreadableError when none of them can be read, because then nothing can.
    """
    if not _is_notice(read):
        return None
    catalog = document.pdf_catalog()
    if document.xref_get_key(catalog, "Collection")[0] == "null":
        return None
    if any(member.result.status in (Status.OK, Status.OCR_NEEDED) for member in members):
        return Reason.PORTFOLIO
    reasons = {member.result.reason for member in members}
    if Reason.RIGHTS_MANAGED in reasons:
        detail = "the document inside asks for a licence server"
        raise UnreadableError(Status.FAILED, Reason.RIGHTS_MANAGED, detail)
    names = ", ".join(member.name for member in members[:5])
    detail = f"a cover sheet only; documents inside: {names or 'none'}"
    raise UnreadableError(Status.FAILED, Reason.PORTFOLIO, detail)


def _is_notice(read: Sequence[_Read]) -> bool:
    """Tell whether all that the file shows is one short page about the viewer to be used."""
    return len(read) == 1 and len(read[0].text) <= _NOTICE and bool(_VIEWER.search(read[0].text))


def _warnings(document: pymupdf.Document, read: Sequence[_Read]) -> Iterable[str]:
    if document.is_repaired:
        yield "damaged file, repaired; parts may be missing"
    damaged = [str(n) for n, page in enumerate(read, 1) if page.facts is None]
    if damaged:
        yield f"pages that could not be read: {', '.join(damaged[:50])}"
    hidden = sum(page.hidden for page in read)
    if hidden:
        yield f"{hidden} characters of hidden text left out"
    outside = sum(page.outside for page in read)
    if outside:
        yield f"{outside} characters outside the pages left out"
    repeated = sum(page.repeated for page in read)
    if repeated:
        yield f"{repeated} characters printed twice counted once"
