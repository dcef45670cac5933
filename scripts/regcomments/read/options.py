"""What a reader is told: limits, choices, and how to read a document inside a document."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from regcomments.records import Document, Extraction


@dataclass(frozen=True)
class ReadOptions:
    """Limits and choices for reading one file; the same record goes down to its members.

    `max_pages` counts pages, `max_bytes` and `max_member_bytes` bytes, `max_member_depth` how
    deep documents may lie in documents (0: none are read), `depth` how deep this one lies.
    `on_pages` is called with the page count as soon as it is known, so that the worker's
    deadline can grow with it. `read_member` reads an embedded document: name inside the file,
    its bytes, and these options one level deeper; None means that members are only named.
    `on_document` may change a document before its status is drawn (OCR results go in there); it
    gets the SHA-256 of the file's content too. `scratch` is a folder for temporary files; None
    leaves the choice to `tempfile`.
    """

    max_pages: int = 5000
    max_bytes: int = 500_000_000
    max_members: int = 50
    max_member_depth: int = 3  # a mail in a zip in a mail is real, deeper nesting is a bomb
    max_member_bytes: int = 100_000_000
    depth: int = 0
    pdf_tables: Literal["pipe", "text"] = "pipe"
    on_pages: Callable[[int], None] | None = None
    read_member: Callable[[str, bytes, ReadOptions], Extraction] | None = None
    on_document: Callable[[Document, str], Document] | None = None
    scratch: Path | None = None

    def deeper(self) -> ReadOptions:
        """Return these options for a document one level further inside."""
        return replace(self, depth=self.depth + 1)
