"""DuckDB as the index uses it: one thread, no network, names and paths quoted."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import duckdb

# One thread writes rows in one order, so that the same rows give the same bytes; it also leaves
# the other cores to a run that is going on.
_CONFIG = {
    "threads": "1",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "memory_limit": "1GB",
}
_GLOB = str.maketrans({"[": "[[]", "*": "[*]", "?": "[?]"})


def connect() -> duckdb.DuckDBPyConnection:
    """Return a connection in memory that writes the same bytes for the same rows."""
    # DuckDB makes this folder when it must spill, and removes it in the end.
    spill = Path(tempfile.gettempdir()) / f"regcomments-duckdb-{os.getuid()}-{os.getpid()}"
    return duckdb.connect(config={**_CONFIG, "temp_directory": str(spill)})


def literal(text: str | Path) -> str:
    """Return `text` as an SQL string."""
    return "'" + str(text).replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return `name` as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def file_literal(path: Path) -> str:
    """Return `path` as an SQL string for a table function, which would expand `*`, `?`, `[`."""
    return literal(str(path).translate(_GLOB))


def csv_source(path: Path, columns: Mapping[str, str]) -> str:
    """Return the `read_csv` call for a CSV file with exactly these columns and types."""
    types = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns.items())
    return (
        f"read_csv({file_literal(path)}, header = true, auto_detect = false, delim = ',', "
        f"quote = '\"', escape = '\"', nullstr = '', max_line_size = 16777216, "
        f"columns = {{{types}}})"
    )


def parquet_source(path: Path, **options: str) -> str:
    """Return the `read_parquet` call for one file."""
    more = "".join(f", {name} = {value}" for name, value in options.items())
    return f"read_parquet({file_literal(path)}{more})"


def empty_source(columns: Mapping[str, str]) -> str:
    """Return a query without rows that has these columns and types."""
    fields = ", ".join(f"NULL::{kind} AS {identifier(name)}" for name, kind in columns.items())
    return f"(SELECT {fields} WHERE false)"
