"""The index of the last time, read in step with a walk over the state folder.

Rows of the Parquet twins come in the order of the walk: dockets sorted, comments in natural
order. So a walk can take them one by one, in constant memory, and knows where a new row belongs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import duckdb

from regcomments.index_rows import (
    ATTACHMENT_TWIN,
    COMMENT_TWIN,
    INDEX_VERSION,
)
from regcomments.index_sql import file_literal, parquet_source
from regcomments.layout import natural_key

VERSION_KEY = "regcomments_index"
_BATCH = 2048  # rows fetched at once; DuckDB's own vector size


class Cached(NamedTuple):
    """What the index knew of one comment.

    `mtime_ns` and `size` (bytes) are those of the combined.md it was read from, `files` the
    attachments that it lists with their sizes then.
    """

    mtime_ns: int
    size: int
    files: list[tuple[str, int | None]]


class Cache:
    """Reader of the last index; `take` must be called in the order of the walk.

    `current` is the next row: docket, comment, mtime_ns, size of combined.md, and how many
    attachments it lists; None at the end. `comments` are the rows after it.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, comments: Path, attachments: Path, *, full: bool
    ) -> None:
        """Open both twins, or neither: a missing, damaged or outdated one gives an empty cache.

        So does `full`. `valid` tells which.
        """
        self.comments: Iterator[tuple] = iter(())
        self._attachments: Iterator[tuple] = iter(())
        self.valid = False
        if not full:
            with suppress(duckdb.Error):
                self._open(con, comments, attachments)
                self.valid = True
        self.current = next(self.comments, None)
        self._attachment = next(self._attachments, None)
        self._files: list[tuple] | None = None  # those of `current`, once asked for
        self.position = -1  # of the last comment passed, in the twin
        self.attachment_position = -1
        self.dropped: list[tuple[str, str]] = []

    def _open(self, con: duckdb.DuckDBPyConnection, comments: Path, attachments: Path) -> None:
        _check(con, comments, COMMENT_TWIN)
        _check(con, attachments, ATTACHMENT_TWIN)
        self.comments = _rows(
            con.cursor(),
            "SELECT docket_id, comment_id, mtime_ns, size, n_attachments + n_members "
            f"FROM {parquet_source(comments)}",
        )
        self._attachments = _rows(
            con.cursor(),
            "SELECT docket_id, comment_id, file, bytes, mtime_ns "
            f"FROM {parquet_source(attachments)}",
        )

    def take(self, docket: str, comment: str) -> Cached | None:
        """Return what was known of a comment; comments before it are noted as dropped."""
        row = self.current
        if row is not None and (row[1] != comment or row[0] != docket):
            self._pass_to(docket, comment)
            row = self.current
        if row is None or row[1] != comment or row[0] != docket:
            return None
        rows = self._advance()
        _, _, mtime_ns, size, entries = row
        if len(rows) != entries:
            mtime_ns = -1  # the twins are of different runs: read the file again
        for item in rows:
            if item[-1] != mtime_ns:
                mtime_ns = -1
        return Cached(mtime_ns, size, [item[2:4] for item in rows])

    def files(self) -> list[tuple]:
        """Return the rows of the current comment's attachments.

        They hold docket, comment, file, its bytes, and the mtime_ns of combined.md.
        """
        if self._files is None:
            docket, comment = self.current[:2]
            self._files = []
            item = self._attachment
            while item is not None and item[1] == comment and item[0] == docket:
                self._files.append(item)
                item = self._attachment = next(self._attachments, None)
        return self._files

    def clear_files(self) -> int:
        """Forget the `files` of the current comment, which is passed over; returns their number."""
        count = len(self._files or ())
        self._files = None
        return count

    def pass_over(self, comments: int, files: int) -> None:
        """Note that so many comments and files were taken from `comments` and `files`."""
        self.position += comments
        self.attachment_position += files

    def finish(self) -> None:
        """Note all that is left as dropped."""
        while self.current is not None:
            self._drop()

    def _pass_to(self, docket: str, comment: str) -> None:
        key = None
        while (row := self.current) is not None and not (row[1] == comment and row[0] == docket):
            key = key or (docket, natural_key(comment))
            if (row[0], natural_key(row[1])) > key:
                return
            self._drop()

    def _drop(self) -> None:
        self.dropped.append(self.current[:2])
        self._advance()

    def _advance(self) -> list[tuple]:
        rows = self.files()
        self._files = None
        self.pass_over(1, len(rows))
        self.current = next(self.comments, None)
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
