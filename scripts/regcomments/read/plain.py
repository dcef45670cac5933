"""Plain text in any encoding."""

from __future__ import annotations

from pathlib import Path

from regcomments.read.options import ReadOptions
from regcomments.records import Document


def read_text(path: Path, options: ReadOptions) -> Document:
    """Return the text of `path` as it stands, decoded."""
    return Document(kind="txt", method="text", body=path.read_bytes().decode("utf-8", "replace"))
