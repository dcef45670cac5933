"""The index of the last time, read in step with a walk over the state folder.

Rows of the Parquet twins come in the order of the walk: dockets sorted, comments in natural
order. So a walk can take them one by one, in constant memory, and knows where a new row belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from regcomments.index_rows import (
    ATTACHMENT_TWIN,
    COMMENT_TWIN,
    INDEX_VERSION,
)
from regcomments.index_sql import connect, file_literal, parquet_source
from regcomments.layout import natural_key

VERSION_KEY = "regcomments_index"
_BATCH = 2048  # rows fetched at once; DuckDB's own vector size


@dataclass(frozen=True)
class Cached:
    """What the index knew of one comment.

    `mtime_ns` and `size` (bytes) are those of the combined.md it was read from, `rows` the
    attachments in the columns of `ATTACHMENT_COLUMNS`.
    """

    mtime_ns: int
    size: int
    rows: list[tuple]


class Cache:
    """Reader of the last index; `take` must be called in the order of the walk."""

    def __init__(self, comments: Path | None, attachments: Path | None) -> None:
        """Open both twins, or neither: a missing, damaged or outdated one gives an empty cache."""
        self._con: duckdb.DuckDBPyConnection | None = None
        self._comments: Iterator[tuple] = iter(())
        self._attachments: Iterator[tuple] = iter(())
        if comments is not None and attachments is not None:
            try:
                self._open(comments, attachments)
            except (duckdb.Error, OSError):
                self.close()
        self.valid = self._con is not None
        self._comment = next(self._comments, None)
        self._attachment = next(self._attachments, None)
        self.position = -1  # of the last comment passed, in the twin
        self.attachment_position = -1
        self.dropped: list[tuple[str, str]] = []

    def _open(self, comments: Path, attachments: Path) -> None:
        self._con = connect()
        _check(self._con, comments, COMMENT_TWIN)
        _check(self._con, attachments, ATTACHMENT_TWIN)
        self._comments = _rows(
            self._con.cursor(),
            "SELECT docket_id, comment_id, mtime_ns, size, n_attachments + n_members "
            f"FROM {parquet_source(comments)}",
        )
        columns = ", ".join(
            "mtime_ns" if name == "mtime_ns" else f'"{name}"' for name in ATTACHMENT_TWIN
        )
        self._attachments = _rows(
            self._con.cursor(), f"SELECT {columns} FROM {parquet_source(attachments)}"
        )

    def close(self) -> None:
        """Close the twins."""
        if self._con is not None:
            self._con.close()
            self._con = None

    def take(self, docket: str, comment: str) -> Cached | None:
        """Return what was known of a comment; comments before it are noted as dropped."""
        self._pass_to(docket, comment)
        row = self._comment
        if row is None or row[1] != comment or row[0] != docket:
            return None
        rows = self._advance()
        _, _, mtime_ns, size, entries = row
        if len(rows) != entries or any(item[-1] != mtime_ns for item in rows):
            mtime_ns = -1  # the twins are of different runs: read the file again
        return Cached(mtime_ns, size, [item[:-1] for item in rows])

    def finish(self) -> None:
        """Note all that is left as dropped."""
        while self._comment is not None:
            self._drop()

    def _pass_to(self, docket: str, comment: str) -> None:
        key = None
        while (row := self._comment) is not None and not (row[1] == comment and row[0] == docket):
            key = key or (docket, natural_key(comment))
            if (row[0], natural_key(row[1])) > key:
                return
            self._drop()

    def _drop(self) -> None:
        self.dropped.append(self._comment[:2])
        self._advance()

    def _advance(self) -> list[tuple]:
        docket, comment = self._comment[:2]
        rows = []
        while (item := self._attachment) is not None and item[1] == comment and item[0] == docket:
            rows.append(item)
            self._attachment = next(self._attachments, None)
            self.attachment_position += 1
        self._comment = next(self._comments, None)
        self.position += 1
        return rows


def _check(con: duckdb.DuckDBPyConnection, path: Path, columns: dict[str, str]) -> None:
    """Raise duckdb.Error unless `path` has these columns and was written by this version."""
    source = parquet_source(path)
    found = {row[0]: row[1] for row in con.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    metadata = con.execute(
        f"SELECT decode(key), decode(value) FROM parquet_kv_metadata({file_literal(path)})"
    ).fetchall()
    if list(found.items()) != list(columns.items()) or (VERSION_KEY, INDEX_VERSION) not in metadata:
        raise duckdb.InvalidInputException("an index of another version")


def _rows(cursor: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple]:
    cursor.execute(query)
    while batch := cursor.fetchmany(_BATCH):
        yield from batch
