"""Inline bodies: what people typed into the web form, from the SQLite database of comments.

Another program is writing that database. It is opened read-only for one query at a time, so no
lock of ours outlasts a query, and nothing is created in its place when it is missing.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from regcomments.bib_html import body_text
from regcomments.errors import UserError

__all__ = ["Bib", "BibError", "body_text", "open_bib"]

BUSY_SECONDS = 30.0  # a writer's transaction of a backfill takes seconds at most
_CHUNK = 10_000  # ids in one query; SQLite takes 32,766 parameters since 3.32


class BibError(UserError):
    """The database of inline bodies can't serve: one line with what is wrong and what to do."""


@dataclass(frozen=True)
class Bib:
    """A checked database. `indexed` is False when looking up an id means reading every row."""

    path: Path
    table: str
    id_column: str
    body_column: str
    indexed: bool = True

    def bodies(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the bodies of those `ids` that have a row, as text; NULL gives "".

        Of several rows for one id the longest body wins. Raises BibError.
        """
        out: dict[str, str] = {}
        # SQLite text is UTF-8: a name with stray bytes can't be in it.
        wanted = iter([name for name in dict.fromkeys(ids) if _is_utf8(name)])
        with _connection(self.path) as connection:
            while chunk := list(islice(wanted, _CHUNK)):
                marks = ",".join("?" * len(chunk))
                query = (
                    f"SELECT CAST({_quoted(self.id_column)} AS TEXT), "
                    f"CAST({_quoted(self.body_column)} AS TEXT) "
                    f"FROM {_quoted(self.table)} WHERE {_quoted(self.id_column)} IN ({marks})"
                )
                for name, raw in connection.execute(query, chunk):
                    text = body_text(raw or "")
                    if (len(text), text) >= (len(out.get(name, "")), out.get(name, "")):
                        out[name] = text
        return out

    def close(self) -> None:
        """Do nothing: no connection outlasts a query."""


def open_bib(
    path: Path, table: str = "items", id_column: str = "id", body_column: str = "abstract"
) -> Bib:
    """Check the database at `path` and return it.

    Raises BibError when the file is missing, can't be read, is no SQLite database, or lacks the
    table or a column.
    """
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise BibError(
            f"the database of inline bodies {path} {what}: give its path with --config bib=FILE, "
            "or bib=none to go without"
        )
    with _connection(path) as connection:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({_quoted(table)})")]
        if not columns:
            names = _names(connection)
            raise BibError(
                f"{path} has no table {table!r} (it has: {', '.join(names) or 'none'}): set "
                "bib_columns.table in config/config.yaml, or bib to another file"
            )
        known = {name.lower() for name in columns}
        for key, column in (("id", id_column), ("body", body_column)):
            if column.lower() not in known:
                raise BibError(
                    f"table {table!r} of {path} has no column {column!r} (it has: "
                    f"{', '.join(columns)}): set bib_columns.{key} in config/config.yaml"
                )
        plan = connection.execute(
            f"EXPLAIN QUERY PLAN SELECT 1 FROM {_quoted(table)} "
            f"WHERE {_quoted(id_column)} IN (?, ?)",
            ("a", "b"),
        ).fetchall()
        indexed = not any(str(row[3]).startswith("SCAN") for row in plan)
    return Bib(path, table, id_column, body_column, indexed)


@contextmanager
def _connection(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a read-only connection; every error of SQLite becomes a BibError."""
    try:
        with closing(_connect(path)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield connection
    except sqlite3.Error as error:
        raise BibError(f"{path}: {_explain(error)}") from error


def _connect(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri() + "?mode=ro"
    # A database in WAL mode that nobody has open wants its -wal and -shm files made, which a
    # reader should not do (and can't in a folder of somebody else). As nothing is in the log
    # then, the file alone is the whole truth.
    if _is_wal(path) and not path.with_name(path.name + "-wal").exists():
        uri += "&immutable=1"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS)


def _is_wal(path: Path) -> bool:
    """True when the header of the file says write-ahead log (file format, section 1.3)."""
    try:
        with open(path, "rb") as handle:
            head = handle.read(20)
    except OSError as error:
        raise BibError(f"{path} can't be read: {error.strerror}: mend its permissions") from error
    return head[18:20] == b"\x02\x02"


def _explain(error: sqlite3.Error) -> str:
    text = " ".join(str(error).split())
    if "not a database" in text:
        return "is not an SQLite database: set bib to the right file"
    if "locked" in text or "busy" in text:
        return (
            f"another program has kept it locked for {BUSY_SECONDS:.0f} s: run the same command "
            "again when it is done"
        )
    if "malformed" in text:
        return f"is damaged ({text}): restore it, or set bib=none to go without"
    return f"SQLite can't read it ({text}): check the file and its permissions"


def _names(connection: sqlite3.Connection) -> list[str]:
    query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name LIMIT 20"
    return [row[0] for row in connection.execute(query)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_utf8(name: str) -> bool:
    return not re.search("[\ud800-\udfff]", name)
