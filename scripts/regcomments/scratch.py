"""Folders for passing files, and the removal of those that killed processes left."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

_NAME = re.compile(r"regcomments-(?:[a-z]+-)?(\d+)-")
# A process of another container may be out of sight, but none runs a file for so long.
_OLD_SECONDS = 24 * 3600


def make_scratch(kind: str = "") -> Path:
    """Return a new folder in the temporary folder, named after `kind` and this process.

    The first call of a process removes what processes that were killed have left there. The
    caller removes the folder. Raises OSError.
    """
    _sweep_once(tempfile.gettempdir())
    middle = f"{kind}-" if kind else ""
    return Path(tempfile.mkdtemp(prefix=f"regcomments-{middle}{os.getpid()}-"))


def sweep(folder: str | Path) -> int:
    """Remove the scratch folders in `folder` whose process has gone, a day old; return how many."""
    removed = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.match(entry.name)
            if match and entry.is_dir(follow_symlinks=False) and _left(entry, int(match[1])):
                shutil.rmtree(entry.path, ignore_errors=True)
                removed += 1
    return removed


@cache
def _sweep_once(folder: str) -> int:
    return sweep(folder)


def _left(entry: os.DirEntry[str], process: int) -> bool:
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    if about.st_uid != os.getuid() or time.time() - about.st_mtime < _OLD_SECONDS:
        return False
    return not _alive(process)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
