"""From what a reader found to the status of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from regcomments.records import Document, Extraction, Member, Page
from regcomments.status import Reason, Status
from regcomments.textnorm import normalise

_READ = {Status.OK, Status.OCR_NEEDED}


def summarise(document: Document) -> Extraction:
    """Return the file-level outcome of `document`; the texts of members are not part of `text`.

    `ocr_needed` when at least one page or picture wants OCR; its reason is `mixed` when other
    pages have text, else what the wanting pages have in common. A container without text of its
    own is `ok` when one member could be read, else it fails for the commonest reason.
    """
    text = document_text(document)
    ocr_pages = tuple(page.number for page in document.pages if page.needs_ocr)
    if ocr_pages:
        status, reason = Status.OCR_NEEDED, _ocr_reason(document)
    else:
        status, reason = _read_status(document, text)
    return Extraction(
        status=status,
        text=text,
        reason=reason,
        pages=len(document.pages) if document.paged else None,
        ocr_pages=ocr_pages,
        ocr_read=tuple(page.number for page in document.pages if page.ocr_engine),
        ocr_engine=_ocr_engine(document),
        kind=document.kind,
        method=document.method,
        error=_members_error(document.members) if status not in _READ else None,
        warnings=document.warnings,
        # The text is above; twice would double what goes to the parent process.
        page_facts=tuple(replace(page, text="") for page in document.pages),
        members=document.members,
    )


def document_text(document: Document) -> str:
    """Return the body and the texts of the pages, parted by an empty line, in normal form.

    The text of a garbled page is left out: it is not language. That of another page that wants
    OCR stays, since it is what can be read on it today.
    """
    texts = [document.body, *(page.text for page in document.pages if _keep(page))]
    return normalise("\n\n".join(text for text in map(normalise, texts) if text))


def _keep(page: Page) -> bool:
    return not (page.needs_ocr and page.reason == Reason.GARBLED)


def _ocr_engine(document: Document) -> str | None:
    engines = Counter(page.ocr_engine for page in document.pages if page.ocr_engine)
    return engines.most_common(1)[0][0] if engines else None


def _ocr_reason(document: Document) -> Reason:
    if all(page.reason == Reason.OCR_FAILED for page in document.pages if page.needs_ocr):
        return Reason.OCR_FAILED
    if not document.paged:
        return Reason.IMAGE
    if any(not page.needs_ocr and page.text.strip() for page in document.pages):
        return Reason.MIXED
    reasons = {page.reason for page in document.pages if page.needs_ocr}
    if reasons <= {Reason.GARBLED} or reasons <= {Reason.IMAGE}:
        return reasons.pop() or Reason.SCANNED
    return Reason.SCANNED


def _read_status(document: Document, text: str) -> tuple[Status, Reason | None]:
    if document.members and not text:
        results = [member.result for member in document.members]
        if any(result.status in _READ for result in results):
            return Status.OK, document.reason
        failed = [result for result in results if result.status == Status.FAILED] or results
        return failed[0].status, Counter(result.reason for result in failed).most_common(1)[0][0]
    if document.reason is None and any(p.reason == Reason.OCR_DOUBTFUL for p in document.pages):
        return Status.OK, Reason.OCR_DOUBTFUL
    return Status.OK, document.reason or (None if text else Reason.BLANK)


def _members_error(members: Sequence[Member]) -> str:
    return f"none of the {len(members)} documents inside could be read"
