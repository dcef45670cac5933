"""tables.json beside each file that has tables, and _cells.parquet over all of them."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from regcomments import __version__, layout
from regcomments.atomic import write_atomic
from regcomments.index_sql import literal, parquet_source
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status
from regcomments.tables import address
from regcomments.tables.files import file_sha256, tables_of_file
from regcomments.tables.items import Box, Cell, Table
from regcomments.tables.numbers import number_of

SCHEMA_VERSION = 1
SUFFIX = ".tables.json"
# More is neither written nor read: some 800,000 cells, a thousand dense pages.
MAX_JSON_BYTES = 200_000_000
# Of one table; readers of Word stop at a million (word_tables.MAX_CELLS).
_MOST_PLACES = 2_000_000
# Rows handed to DuckDB at a time: some 20 MB.
_BATCH = 50_000

CELL_COLUMNS = {
    "docket_id": "VARCHAR",
    "comment_id": "VARCHAR",
    "file": "VARCHAR",
    "page": "INTEGER",
    "table_index": "INTEGER",
    "row": "INTEGER",
    "col": "INTEGER",
    "row_span": "INTEGER",
    "col_span": "INTEGER",
    "text": "VARCHAR",
    "number": "DOUBLE",
    "x0": "DOUBLE",
    "y0": "DOUBLE",
    "x1": "DOUBLE",
    "y1": "DOUBLE",
    "address": "VARCHAR",
    "table_address": "VARCHAR",
    "continues": "VARCHAR",
    "ruled": "BOOLEAN",
}


@dataclass(frozen=True, slots=True)
class StoredTables:
    """What one tables.json holds: the file's name and sha256, its tables."""

    file: str
    sha256: str
    tables: tuple[Table, ...]


def tables_path(path: Path) -> Path:
    """Return where the tables of a file are kept: beside it."""
    return path.with_name(path.name + SUFFIX)


def tables_to_json(tables: Sequence[Table], file: str, sha256: str) -> str:
    """Return the tables of a file as JSON text; the same tables give the same text.

    Boxes are [left, top, right, bottom] in points, to a hundredth.
    """
    data = {
        "schema": SCHEMA_VERSION,
        "tool": f"regcomments {__version__}",
        "file": file,
        "sha256": sha256,
        "tables": [_table_to(t) for t in tables],
    }
    # A line a cell: with a line for each of its values a file is twice as large.
    found = data.pop("tables")
    head = json.dumps(data, ensure_ascii=False, indent=1).removesuffix("\n}")
    return f'{head},\n "tables": [' + ",".join([_table_text(t) for t in found]) + "]\n}\n"


def _table_text(table: dict[str, Any]) -> str:
    cells = table.pop("cells")
    head = json.dumps(table, ensure_ascii=False).removesuffix("}")
    rows = ",\n   ".join([json.dumps(cell, ensure_ascii=False) for cell in cells])
    return f'\n  {head}, "cells": [\n   {rows}]}}'


def _table_to(table: Table) -> dict[str, Any]:
    return {
        "address": table.address,
        "page": table.page,
        "index": table.index,
        "rows": table.n_rows,
        "cols": table.n_cols,
        "bbox": _box_to(table.bbox),
        "ruled": table.ruled,
        "continues": table.continues,
        "cells": [
            {
                "row": c.row,
                "col": c.col,
                "row_span": c.row_span,
                "col_span": c.col_span,
                "text": c.text,
                "number": number_of(c.text),
                "bbox": _box_to(c.bbox),
                "address": c.address,
            }
            for c in table.cells
        ],
    }


def _box_to(box: Box | None) -> list[float] | None:
    return None if box is None else [round(v, 2) for v in box]


def tables_from_json(text: str) -> StoredTables:
    """Return what `tables_to_json` wrote. Raises ValueError for anything else."""
    try:
        data = json.loads(text)
    except RecursionError as err:
        raise ValueError("not a tables file: nested too deeply") from err
    if not isinstance(data, dict) or data.get("schema") != SCHEMA_VERSION:
        raise ValueError(f"not a tables file of schema {SCHEMA_VERSION}")
    try:
        tables = tuple(_table_from(t) for t in data["tables"])
        return StoredTables(str(data["file"]), str(data["sha256"]), tables)
    except (KeyError, TypeError, AttributeError, OverflowError) as err:
        raise ValueError(f"a tables file lacks something: {err}") from err


def _table_from(data: dict[str, Any]) -> Table:
    cells = tuple(
        Cell(
            int(c["row"]),
            int(c["col"]),
            str(c["text"]),
            _box_from(c["bbox"]),
            int(c["row_span"]),
            int(c["col_span"]),
            str(c["address"]),
        )
        for c in data["cells"]
    )
    page, index, rows, cols = (int(data[name]) for name in ("page", "index", "rows", "cols"))
    continues = data["continues"]
    # An address has seven digits for each; every place has a cell, a merged one up to thousands.
    if not (0 <= page < 10**7 and 0 <= index < 10**7 and 0 <= rows * cols <= _MOST_PLACES):
        raise ValueError("a table of impossible size")
    if not (continues is None or isinstance(continues, str)):
        raise ValueError("a table that continues no address")
    if any(
        not (0 <= c.row < c.row + c.row_span <= rows and 0 <= c.col < c.col + c.col_span <= cols)
        for c in cells
    ):
        raise ValueError("a cell outside its table")
    return Table(
        *(page, index, rows, cols, cells),
        *(_box_from(data["bbox"]), str(data["address"]), continues, bool(data["ruled"])),
    )


def _box_from(values: Any) -> Box | None:
    return None if values is None else Box(*map(float, values))


def read_tables(path: Path) -> StoredTables:
    """Return the stored tables of a tables.json file. Raises OSError and ValueError."""
    if path.stat().st_size > MAX_JSON_BYTES:
        raise ValueError(f"{path.name} is above {MAX_JSON_BYTES} bytes")
    return tables_from_json(path.read_text(encoding="utf-8"))


def write_tables(path: Path) -> list[Table]:
    """Find the tables of a PDF or DOCX and write them beside it; return them.

    A file without tables gets none, and loses the one of an earlier run. Raises UnreadableError,
    also for more tables than `read_tables` takes, and OSError, also when the file was replaced
    meanwhile.
    """
    tables = tables_of_file(path)
    target = tables_path(path)
    if tables:
        sha256 = file_sha256(path)
        if not sha256.startswith(address.parse(tables[0].address).digest):
            raise OSError(errno.ESTALE, "changed while its tables were read", path.name)
        data = tables_to_json(tables, path.name, sha256).encode("utf-8", "replace")
        if len(data) > MAX_JSON_BYTES:
            detail = f"{len(data)} bytes of tables, more than {MAX_JSON_BYTES}"
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
        write_atomic(target, data)
    else:
        target.unlink(missing_ok=True)
    return tables


def stored(state: Path) -> Iterator[tuple[str, str, Path]]:
    """Yield docket, comment and path of every tables.json below the state folder, in order."""
    for docket in layout.dockets(state):
        for comment in layout.comments(state, docket):
            with os.scandir(state / docket / comment) as entries:
                names = sorted(
                    e.name
                    for e in entries
                    if e.name.endswith(SUFFIX) and e.is_file(follow_symlinks=False)
                )
            for name in names:
                yield docket, comment, state / docket / comment / name


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What `rebuild_cells` did: files and cells taken, and the files it could not read."""

    files: int
    cells: int
    damaged: tuple[str, ...]


def rebuild_cells(state: Path) -> Rebuilt:
    """Write _cells.parquet anew from every tables.json; the same files give the same bytes.

    Rows stand in the order docket, comment, file, page, table, row, column. A damaged file is
    named in the result and left out. Raises OSError and duckdb.Error.
    """
    files = cells = 0
    damaged: list[str] = []
    target = state / layout.CELLS_PARQUET
    with tempfile.TemporaryDirectory(dir=state, prefix=".cells.") as folder:
        con = duckdb.connect(
            f"{folder}/cells.duckdb",
            config={"threads": "1", "memory_limit": "1GB", "temp_directory": folder},
        )
        try:
            columns = ", ".join(f'"{name}" {kind}' for name, kind in CELL_COLUMNS.items())
            con.execute(f"CREATE TABLE cells ({columns})")
            rows: list[tuple] = []
            for docket, comment, path in stored(state):
                try:
                    found = read_tables(path)
                except (OSError, ValueError) as err:
                    damaged.append(f"{docket}/{comment}/{path.name}: {err}")
                    continue
                files += 1
                rows.extend(_cell_rows(docket, comment, path.name.removesuffix(SUFFIX), found))
                if len(rows) >= _BATCH:
                    cells += _append(con, rows)
            cells += _append(con, rows)
            made = Path(folder) / "cells.parquet"
            con.execute(f"COPY cells TO {literal(made)} (FORMAT parquet, COMPRESSION zstd)")
        finally:
            con.close()
        os.replace(made, target)
    return Rebuilt(files, cells, tuple(damaged))


def _append(con: duckdb.DuckDBPyConnection, rows: list[tuple]) -> int:
    if not rows:
        return 0
    import pandas as pd  # a fifth of a second; only the job that gathers cells needs it

    con.append("cells", pd.DataFrame.from_records(rows, columns=list(CELL_COLUMNS)))
    count = len(rows)
    rows.clear()
    return count


def _cell_rows(docket: str, comment: str, file: str, found: StoredTables) -> Iterator[tuple]:
    for t in found.tables:
        for c in t.cells:
            box = c.bbox or (None, None, None, None)
            yield (
                *(docket, comment, file, t.page or None, t.index),
                *(c.row, c.col, c.row_span, c.col_span, c.text, number_of(c.text)),
                *box,
                *(c.address, t.address, t.continues, t.ruled),
            )


def register_views(con: duckdb.DuckDBPyConnection, state: Path) -> None:
    """Create the views `cells` and `tables` on a connection, by absolute path, explicitly typed.

    Without a _cells.parquet both are empty.
    """
    path = (state / layout.CELLS_PARQUET).absolute()
    if path.exists():
        typed = ", ".join(f'"{n}"::{kind} AS "{n}"' for n, kind in CELL_COLUMNS.items())
        source = f"SELECT {typed} FROM {parquet_source(path)}"
    else:
        nulls = ", ".join(f'NULL::{kind} AS "{n}"' for n, kind in CELL_COLUMNS.items())
        source = f"SELECT {nulls} WHERE false"
    con.execute(f"CREATE OR REPLACE VIEW cells AS {source}")
    con.execute(
        "CREATE OR REPLACE VIEW tables AS SELECT docket_id, comment_id, file, page, table_index,"
        " table_address AS address, max(row + row_span)::INTEGER AS n_rows,"
        " max(col + col_span)::INTEGER AS n_cols, count(*) FILTER (text <> '')::BIGINT AS n_filled,"
        " count(number)::BIGINT AS n_numbers, any_value(continues) AS continues,"
        " any_value(ruled) AS ruled FROM cells GROUP BY ALL"
    )
