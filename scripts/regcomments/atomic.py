"""Writes that never leave half a file behind."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomic(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write `data` to `path` through a temporary file in the same folder and `os.replace`.

    `durable` asks for an fsync before the rename; a lost combined.md is made again by the next
    run, so only files that cannot be made again want it. On any error the old file stays as it
    was and the temporary one is removed. Raises OSError.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:80]}.", suffix=".tmp")
    try:
        with open(fd, "wb") as handle:
            handle.write(raw)
            if durable:
                handle.flush()
                os.fsync(handle.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
