"""The columns of the index, and the rows that one combined.md gives."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from regcomments.combined import Entry, FrontMatter, one_line
from regcomments.status import Status

# Raise it when the meaning of a column changes: an index of another version is built anew.
INDEX_VERSION = "1"

COMMENT_COLUMNS = {
    "comment_id": "VARCHAR",
    "docket_id": "VARCHAR",
    "extracted_at": "TIMESTAMP",
    "chars": "BIGINT",
    "n_attachments": "INTEGER",
    "n_ok": "INTEGER",
    "n_ocr_needed": "INTEGER",
    "n_failed": "INTEGER",
    "n_unsupported": "INTEGER",
    "n_members": "INTEGER",
    "n_pages": "INTEGER",
    "n_ocr_pages": "INTEGER",
    "inline_chars": "BIGINT",
    "inline_missing": "BOOLEAN",
    "n_warnings": "INTEGER",
    "tool": "VARCHAR",
}
ATTACHMENT_COLUMNS = {
    "docket_id": "VARCHAR",
    "comment_id": "VARCHAR",
    "file": "VARCHAR",
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "chars": "BIGINT",
    "pages": "INTEGER",
    "n_ocr_pages": "INTEGER",
    "method": "VARCHAR",
    "sha256": "VARCHAR",
    "bytes": "BIGINT",
    "error": "VARCHAR",
    "same_as": "VARCHAR",
    "ocr_engine": "VARCHAR",
    "n_ocr_read": "INTEGER",
    "ocr_pages": "VARCHAR",
}
# The Parquet twins say besides which state of combined.md (in ns and bytes) a row was read from.
COMMENT_TWIN = {**COMMENT_COLUMNS, "mtime_ns": "BIGINT", "size": "BIGINT"}
ATTACHMENT_TWIN = {**ATTACHMENT_COLUMNS, "mtime_ns": "BIGINT"}


_NONE = dict.fromkeys(Status, 0)
_MOST = 2**31 - 1  # what an INTEGER column holds; no comment has more of anything
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def comment_row(docket: str, comment: str, head: FrontMatter) -> tuple:
    """Return the row of `COMMENT_COLUMNS` for a comment. Raises ValueError on absurd values.

    Ids are those of the folder, which is where a reader finds the body. Counts by status are of
    files; documents inside files are counted by `n_members`.
    """
    counts = _NONE.copy()
    members = pages = ocr_pages = own = 0
    for entry in head.attachments:
        if entry.is_member:
            members += 1
        else:
            counts[entry.status] += 1
        pages += entry.pages or 0
        ocr_pages += len(entry.ocr_pages)
        if entry.same_as is None:
            own += entry.chars
    return (
        comment,
        docket,
        _stamp(head.extracted_at),
        _count(head.chars),
        len(head.attachments) - members,
        counts[Status.OK],
        counts[Status.OCR_NEEDED],
        counts[Status.FAILED],
        counts[Status.UNSUPPORTED],
        members,
        _count(pages),
        ocr_pages,
        max(0, head.chars - own),
        head.inline_missing,
        len(head.warnings),
        _text(head.tool),
    )


def attachment_row(docket: str, comment: str, entry: Entry, size: int | None) -> tuple:
    """Return the row of `ATTACHMENT_COLUMNS` for one entry; `size` is the file's, in bytes."""
    return (
        docket,
        comment,
        file_of(entry),
        str(entry.status),
        None if entry.reason is None else str(entry.reason),
        _count(entry.chars),
        None if entry.pages is None else _count(entry.pages),
        len(entry.ocr_pages),
        _text(entry.method),
        _text(entry.sha256),
        size,
        _text(entry.error),
        _text(entry.same_as),
        None if entry.ocr is None else _text(f"{entry.ocr.engine} {entry.ocr.version}"),
        0 if entry.ocr is None else len(entry.ocr.pages),
        format_pages(entry.ocr_pages),
    )


def file_of(entry: Entry) -> str:
    """Return the file name of an entry as it stands in the index: no line ends, no controls."""
    return _UNSAFE.sub("\ufffd", entry.file)


def format_pages(pages: Iterable[int]) -> str | None:
    """Return page numbers as `1-3 7`, or None when there are none."""
    parts: list[str] = []
    first = last = None
    for page in sorted(set(pages)):
        if last is not None and page == last + 1:
            last = page
            continue
        if first is not None:
            parts.append(f"{first}-{last}" if last > first else str(first))
        first = last = page
    if first is not None:
        parts.append(f"{first}-{last}" if last > first else str(first))
    return " ".join(parts) or None


def parse_pages(text: str | None) -> tuple[int, ...]:
    """Return the page numbers in what `format_pages` wrote."""
    pages: list[int] = []
    for part in (text or "").split():
        first, _, last = part.partition("-")
        pages.extend(range(int(first), int(last or first) + 1))
    return tuple(pages)


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError(f"not a count: {value!r}")
    return value


def _text(value: str | None) -> str | None:
    if value is None:
        return None
    if len(value) <= 100 and value.isascii() and value.isprintable() and "  " not in value:
        return value.strip() or None  # what one_line would say, ten times as fast
    return one_line(value) or None


def _stamp(text: str) -> str:
    """Return a time in UTC as front matter has it. Raises ValueError."""
    if not _STAMP.fullmatch(text):
        raise ValueError(f"extracted_at is not a time in UTC: {text[:40]!r}")
    datetime.fromisoformat(text)
    return text
