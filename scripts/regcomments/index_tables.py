"""Put the changes of a walk into the tables of the index."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import duckdb

from regcomments import layout
from regcomments.index_cache import VERSION_KEY
from regcomments.index_rows import (
    ATTACHMENT_COLUMNS,
    ATTACHMENT_TWIN,
    COMMENT_COLUMNS,
    COMMENT_TWIN,
    INDEX_VERSION,
    parse_pages,
)
from regcomments.index_sql import csv_source, literal, parquet_source
from regcomments.index_write import export_csv, replace_changed, temporary
from regcomments.status import Reason, Status

FAILURES_CSV = "failures.csv"
DAMAGED_REASON = "damaged_combined"
UNREADABLE_REASON = "unreadable_folder"
FAILURE_COLUMNS = {
    "docket_id": "VARCHAR",
    "comment_id": "VARCHAR",
    "file": "VARCHAR",
    "page": "INTEGER",
    "status": "VARCHAR",
    "reason": "VARCHAR",
    "error": "VARCHAR",
}

# Where a changed row belongs: after the old row at `place`, in the order of `turn`.
_PLACE = {"place": "BIGINT", "turn": "BIGINT"}
_KEY = {"docket_id": "VARCHAR", "comment_id": "VARCHAR"}
_STAMP = "strftime(extracted_at, '%Y-%m-%dT%H:%M:%SZ') AS extracted_at"


@dataclass(frozen=True)
class Problem:
    """A combined.md that could not be read, or a docket folder (then `comment` is None)."""

    docket: str
    comment: str | None
    detail: str

    @property
    def path(self) -> str:
        """The path below the state folder."""
        if self.comment is None:
            return self.docket
        return f"{self.docket}/{self.comment}/{layout.COMBINED}"


class Delta:
    """The rows that changed since the last index, kept in files until they are merged."""

    def __init__(self) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="regcomments-")
        names = ("comments", "attachments", "gone")
        columns = (
            {**COMMENT_TWIN, **_PLACE},
            {**ATTACHMENT_TWIN, **_PLACE},
            _KEY,
        )
        self.sources = {}
        self._handles, self._writers = {}, {}
        self.turn = 0
        self.counts = dict.fromkeys(names, 0)
        for name, fields in zip(names, columns, strict=True):
            path = Path(self._scratch.name, f"{name}.csv")
            # Front matter may hold escapes of lone surrogates, which UTF-8 cannot.
            handle = open(  # noqa: SIM115 - closed by close()
                path, "w", newline="", encoding="utf-8", errors="backslashreplace"
            )
            self._handles[name] = handle
            self._writers[name] = csv.writer(handle, lineterminator="\n")
            self._writers[name].writerow(fields)
            self.sources[name] = csv_source(path, fields)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._scratch.cleanup()

    def close(self) -> None:
        """Finish writing; the sources can be read."""
        for handle in self._handles.values():
            handle.close()

    def add_comment(self, row: tuple, mtime_ns: int, size: int, place: int) -> None:
        """Add a row of COMMENT_COLUMNS after the old row at `place`."""
        self._add("comments", (*row, mtime_ns, size, place))

    def add_attachment(self, row: tuple, mtime_ns: int, place: int) -> None:
        """Add a row of ATTACHMENT_COLUMNS after the old row at `place`."""
        self._add("attachments", (*row, mtime_ns, place))

    def remove(self, docket: str, comment: str) -> None:
        """Remove the old rows of a comment and of its attachments."""
        self._writers["gone"].writerow((docket, comment))
        self.counts["gone"] += 1

    def _add(self, name: str, row: tuple) -> None:
        self.turn += 1
        self._writers[name].writerow((*row, self.turn))
        self.counts[name] += 1


def write_tables(
    con: duckdb.DuckDBPyConnection, state: Path, twins: tuple[Path, Path], delta: Delta, fresh: bool
) -> bool:
    """Merge `delta` into the Parquet twins and write both CSV files; tell whether any changed.

    `twins` are those of comments and of attachments; `fresh` leaves out what they hold. The one
    of attachments goes first: a crash between the two leaves comments whose attachments are
    younger, which the next walk sees and reads again.
    """
    changed = False
    for name, twin, columns, target, table in (
        ("attachments", twins[1], ATTACHMENT_TWIN, ATTACHMENT_COLUMNS, layout.ATTACHMENTS_CSV),
        ("comments", twins[0], COMMENT_TWIN, COMMENT_COLUMNS, layout.INDEX_CSV),
    ):
        if fresh or delta.counts[name] or delta.counts["gone"]:
            changed |= _write_twin(con, twin, columns, delta, name, fresh)
        fields = ", ".join(_STAMP if field == "extracted_at" else field for field in target)
        query = f"SELECT {fields} FROM {parquet_source(twin)}"
        changed |= export_csv(con, query, state / table)
    return changed


def _write_twin(
    con: duckdb.DuckDBPyConnection,
    twin: Path,
    columns: dict[str, str],
    delta: Delta,
    name: str,
    fresh: bool,
) -> bool:
    fields = ", ".join(columns)
    query = f"SELECT {fields}, place, turn FROM {delta.sources[name]}"
    order = ""  # the rows of a walk come in order, and nothing is held when they are not sorted
    if not fresh:
        order = " ORDER BY place, turn"
        old = parquet_source(twin, file_row_number="true")
        query += (
            f" UNION ALL SELECT {fields}, file_row_number AS place, 0 AS turn FROM {old} AS old "
            f"ANTI JOIN {delta.sources['gone']} AS gone USING (docket_id, comment_id)"
        )
    with temporary(twin) as made:
        con.execute(
            f"COPY (SELECT {fields} FROM ({query}){order}) TO {literal(made)} "
            f"(FORMAT parquet, COMPRESSION zstd, "
            f"KV_METADATA {{{VERSION_KEY}: {literal(INDEX_VERSION)}}})"
        )
        return replace_changed(made, twin)


def write_failures(
    con: duckdb.DuckDBPyConnection, state: Path, attachments: Path, problems: Sequence[Problem]
) -> bool:
    """Write failures.csv: failed attachments, pages given up, damaged files; tell if it changed."""
    folder = state / layout.RUNS_FOLDER
    folder.mkdir(exist_ok=True)
    rows = con.execute(
        "SELECT docket_id, comment_id, file, status, reason, error, ocr_pages "
        f"FROM {parquet_source(attachments)} "
        f"WHERE status = {literal(Status.FAILED)} OR reason = {literal(Reason.OCR_FAILED)}"
    ).fetchall()
    target = folder / FAILURES_CSV
    with temporary(target) as made:
        with open(made, "w", newline="", encoding="utf-8", errors="backslashreplace") as handle:
            writer = csv.writer(handle, lineterminator="\n")
            writer.writerow(FAILURE_COLUMNS)
            for docket, comment, file, status, reason, error, pages in rows:
                # A page that OCR gave up is a line of its own; a file that failed is one line.
                numbers = parse_pages(pages) if status != Status.FAILED else ()
                for page in numbers or (None,):
                    writer.writerow((docket, comment, file, page, status, reason, error))
            writer.writerows(_problem_row(problem) for problem in problems)
        return replace_changed(made, target)


def _problem_row(problem: Problem) -> tuple:
    if problem.comment is None:
        file, reason = None, UNREADABLE_REASON
    else:
        file, reason = layout.COMBINED, DAMAGED_REASON
    return (
        problem.docket,
        problem.comment,
        file,
        None,
        Status.FAILED.value,
        reason,
        problem.detail,
    )
