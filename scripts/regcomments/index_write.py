"""Files of the index: written beside their place, and put there only when they differ."""

from __future__ import annotations

import filecmp
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from regcomments.index_sql import literal


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
