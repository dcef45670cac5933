"""Small state folders for tests: comments with a combined.md of given entries."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from regcomments.combined import Combined, Entry, FrontMatter, OcrNote, render
from regcomments.status import Reason, Status

STAMP = "2026-04-23T13:45:00Z"
OLD_NS = 1_700_000_000_000_000_000


def entry(file: str = "attachment_1.pdf", status: str = "ok", chars: int = 0, **more) -> Entry:
    """Return an entry; `reason` may be a string."""
    if more.get("reason"):
        more["reason"] = Reason(more["reason"])
    return Entry(file, Status(status), chars, **more)


def write_comment(
    state: Path, docket: str, comment: str, *entries: Entry, inline: str = "I agree.", **more
) -> Path:
    """Write a comment folder with its attachments (10 bytes each) and combined.md; return it.

    Attachments get an old time, so that nothing is stale. `more` goes into the front matter.
    """
    folder = state / docket / comment
    folder.mkdir(parents=True, exist_ok=True)
    chars = len(inline) + sum(item.chars for item in entries if item.same_as is None)
    for item in entries:
        if not item.is_member:
            path = folder / item.file
            path.write_bytes(b"0123456789")
            os.utime(path, ns=(OLD_NS, OLD_NS))
    head = FrontMatter(
        comment, docket, more.pop("extracted_at", STAMP), chars, tuple(entries), **more
    )
    texts = {item.file: "x" * item.chars for item in entries}
    path = folder / "combined.md"
    path.write_bytes(render(Combined(head, inline, texts)).encode("utf-8"))
    return folder


def sample_state(state: Path) -> Path:
    """Write two dockets with every status, a document inside another, OCR, a rendition."""
    write_comment(state, "D-1", "D-1-0002", inline="")
    write_comment(
        state,
        "D-1",
        "D-1-0010",
        entry(chars=100, pages=2, method="pymupdf", sha256="a" * 64),
        entry("attachment_2.pdf", "ocr_needed", 0, reason="scanned", pages=3, ocr_pages=(1, 2, 3)),
        entry("attachment_10.pdf", "failed", 0, reason="corrupt", error='no "xref", at all'),
        tool="regcomments 0.1.0",
    )
    write_comment(
        state,
        "D-1",
        "D-1-10000",
        entry(chars=50, pages=4, ocr=OcrNote("tesseract", "5.5.0", (1, 3, 4))),
        entry("attachment_1.docx", "ok", 48, same_as="attachment_1.pdf"),
        entry("attachment_2.zip", "ok", 0),
        entry("attachment_2.zip/a, b.txt", "ok", 7),
        inline_missing=True,
        warnings=("hidden text",),
    )
    write_comment(state, "D-2", "D-2-0001", entry("attachment_1.mp3", "unsupported"))
    return state


def digests(state: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below `state`, by its path there."""
    return {
        str(path.relative_to(state)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(state.rglob("*"))
        if path.is_file()
    }
