"""Files of the index: written beside their place, and put there only when they differ."""

from __future__ import annotations

import filecmp
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb

from regcomments.index_sql import literal

# Seconds; a rebuild of a million comments takes minutes, so an older file has lost its writer.
_ABANDONED = 6 * 3600


def sweep(folder: Path, names: Iterable[str]) -> None:
    """Remove what killed writers of the files `names` left in `folder` hours ago."""
    for name in names:
        for path in folder.glob(f".{name}.*.tmp"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink()


@contextmanager
def temporary(target: Path) -> Iterator[Path]:
    """Give a path beside `target` for a new version of it; what is left there is removed."""
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
    os.close(fd)
    path = Path(name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def replace_changed(made: Path, target: Path) -> bool:
    """Put `made` in the place of `target` unless their bytes are the same; tell whether it was."""
    try:
        if filecmp.cmp(made, target, shallow=False):
            return False
    except FileNotFoundError:
        pass  # the first version
    os.chmod(made, 0o644)
    os.replace(made, target)
    return True


def export_csv(con: duckdb.DuckDBPyConnection, query: str, target: Path) -> bool:
    """Write the rows of `query` to the CSV file `target`; tell whether it changed."""
    with temporary(target) as made:
        con.execute(f"COPY ({query}) TO {literal(made)} (FORMAT csv, HEADER)")
        return replace_changed(made, target)
