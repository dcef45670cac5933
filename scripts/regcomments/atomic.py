"""Writes that never leave half a file behind."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

SUFFIX = ".tmp"
_MOST_STEM = 80  # bytes of the name that the temporary file shares


def write_atomic(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Write `data` to `path` through a temporary file in the same folder and `os.replace`.

    `durable` asks for an fsync before the rename; a lost combined.md is made again by the next
    run, so only files that cannot be made again want it. On any error the old file stays as it
    was and the temporary one is removed. Raises OSError.
    """
    raw = data.encode("utf-8") if isinstance(data, str) else data
    # Strings: at 164,000 files, joining paths takes as long as writing them.
    folder, name = os.path.split(path)
    # Bytes, not characters: a name has 255 of them at most.
    if not name.isascii() or len(name) > _MOST_STEM:
        name = os.fsencode(name)[:_MOST_STEM].decode("utf-8", "ignore")
    passing = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}{SUFFIX}")
    # Mode 0666 leaves it to the umask who may read the file.
    handle = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            left = memoryview(raw)
            while left:  # one write takes 2 GB at most, and less on a disk that fills up
                left = left[os.write(handle, left) :]
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(passing, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(passing)
        raise
