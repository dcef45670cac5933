"""The SHA-256 of a file: what makes two attachments the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of the content of `path` in hex. Raises OSError."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def sha256_of(path: Path) -> str | None:
    """Return the SHA-256 of the content of `path`, None when it can't be read."""
    try:
        return file_sha256(path)
    except OSError:
        return None
