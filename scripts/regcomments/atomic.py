"""Writes that never leave half a file behind."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

SUFFIX = ".tmp"


def write_atomic(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write `data` to `path` through a temporary file in the same folder and `os.replace`.

    `durable` asks for an fsync before the rename; a lost combined.md is made again by the next
    run, so only files that cannot be made again want it. On any error the old file stays as it
    was and the temporary one is removed. Raises OSError.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    # Bytes, not characters: a name has 255 of them at most. Mode 0666 leaves it to the umask
    # who may read the file.
    stem = path.name.encode("utf-8", "surrogateescape")[:80].decode("utf-8", "ignore")
    name = path.parent / f".{stem}.{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(fd, "wb") as handle:
            handle.write(raw)
            if durable:
                handle.flush()
                os.fsync(handle.fileno())
        os.replace(name, path)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
