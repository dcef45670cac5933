"""Which comments a changed grading rule touches, from the stored page facts alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from regcomments import layout
from regcomments.index import ATTACHMENTS_PARQUET, rebuild
from regcomments.index_sql import connect, parquet_source
from regcomments.regrade import Row, regrade

_BATCH = 10_000  # rows fetched at a time, some 20 MB


def comments_to_regrade(
    state: Path, docket: str | None = None
) -> tuple[int, list[tuple[str, str]]]:
    """Return the number of pages judged otherwise, and the comments (docket, comment) they are in.

    Brings the index up to date first, which gathers the facts of the last runs.
    """
    rebuild(state)
    if not (state / layout.PAGES_PARQUET).is_file():
        return 0, []
    pages = 0
    files: set[str] = set()
    for change in regrade(_rows(state)):
        pages += 1
        files.add(change.sha256)
    with connect() as connection:
        found = connection.execute(
            "SELECT DISTINCT docket_id, comment_id, sha256 FROM "
            f"{parquet_source(state / ATTACHMENTS_PARQUET)}"
        ).fetchall()
    comments = {
        (name, comment)
        for name, comment, sha256 in found
        if sha256 in files and docket in (None, name)
    }
    return pages, sorted(comments, key=lambda pair: tuple(map(layout.natural_key, pair)))


def _rows(state: Path) -> Iterator[Row]:
    with connect() as connection:
        cursor = connection.execute(
            f"SELECT * FROM {parquet_source(state / layout.PAGES_PARQUET)} ORDER BY sha256, page"
        )
        names = [column[0] for column in cursor.description]
        while batch := cursor.fetchmany(_BATCH):
            for values in batch:
                yield dict(zip(names, values, strict=True))
