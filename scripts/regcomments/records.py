"""Records that readers, grading, OCR and combined.md exchange. All are frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from regcomments.status import Reason, Status


class UnreadableError(Exception):
    """A reader's verdict that a file yields no text.

    Carries the status (failed or unsupported), a reason of the closed vocabulary, and one line
    of detail for people. Readers raise it; anything else they raise counts as `corrupt`.
    """

    def __init__(self, status: Status, reason: Reason, detail: str = "") -> None:
        super().__init__(status, reason, detail)
        self.status = status
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        return f"{self.status}: {self.reason}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Page:
    """One page of a paged format, or one picture of a flowing one (then `text` is empty).

    `number` counts from 1. `needs_ocr` is the verdict of grading, `reason` its ground, `facts`
    the numbers it was drawn from (see pagefacts.PageFacts.to_dict), kept for `regrade`.
    `ocr_engine` names the engine and version when `text` came from OCR.
    """

    number: int
    text: str = ""
    needs_ocr: bool = False
    reason: Reason | None = None
    facts: Mapping[str, float | int | str | bool] | None = None
    ocr_engine: str | None = None


@dataclass(frozen=True)
class Document:
    """What a reader makes of one file.

    A paged format (PDF, image, presentation) fills `pages`; a flowing one (DOCX, text, HTML)
    fills `body`, and `pages` only with those pictures that may hold text. `paged` tells which
    count goes into `pages:` of the front matter. `members` are the documents found inside
    (PDF attachments, zip members, mail attachments), by their name inside the file.
    """

    kind: str
    method: str
    body: str = ""
    pages: tuple[Page, ...] = ()
    paged: bool = False
    reason: Reason | None = None
    warnings: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()


@dataclass(frozen=True)
class Member:
    """A document inside a document: its name there, and what reading it gave."""

    name: str
    result: Extraction


@dataclass(frozen=True)
class Extraction:
    """The outcome for one attachment, as it goes into combined.md.

    `text` is normalised (regcomments.textnorm). `ocr_pages` are the pages, from 1, that still
    want OCR. `pages` is the page count, None for formats without pages. `ocr_read` are the
    pages whose text came from OCR, `ocr_engine` the engine that read them.
    """

    status: Status
    text: str = ""
    reason: Reason | None = None
    pages: int | None = None
    ocr_pages: tuple[int, ...] = ()
    ocr_read: tuple[int, ...] = ()
    ocr_engine: str | None = None
    kind: str | None = None
    method: str | None = None
    sha256: str | None = None
    size: int | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    page_facts: tuple[Page, ...] = ()
    members: tuple[Member, ...] = field(default=())
