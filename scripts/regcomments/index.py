"""The index of all comments: `_index.csv`, `_attachments.csv`, their Parquet twins, failures.csv.

It is drawn from the front matter of every combined.md. A second `rebuild` reads only the files
whose time or size changed since the last, and gives the same bytes as one from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regcomments import layout
from regcomments.combined import CombinedError, FrontMatter, read_head
from regcomments.errors import UserError
from regcomments.index_cache import Cache
from regcomments.index_pages import gather
from regcomments.index_sql import connect, parquet_source
from regcomments.index_survey import count_stale, stale
from regcomments.index_tables import Delta, Problem, write_failures, write_tables
from regcomments.index_walk import Seen, Walk
from regcomments.index_write import sweep

__all__ = [
    "IndexReport",
    "Problem",
    "Seen",
    "count_stale",
    "heads",
    "rebuild",
    "report_lines",
    "stale",
    "waiting_heads",
]

INDEX_PARQUET = "_index.parquet"
ATTACHMENTS_PARQUET = "_attachments.parquet"


@dataclass(frozen=True)
class IndexReport:
    """What `rebuild` found and did.

    `comments` are in the index, `pending` have no combined.md, `read` were read anew, `dropped`
    are in the index no longer. `problems` are damaged combined.md files and unreadable folders;
    `damaged_parts` are files of page facts that were set aside. `changed` tells whether any file
    of the index differs from before.
    """

    comments: int
    pending: int
    read: int
    dropped: int
    problems: tuple[Problem, ...]
    damaged_parts: tuple[str, ...]
    changed: bool


def heads(
    state: Path,
    docket: str | None = None,
    on_damaged: Callable[[Path, Exception], None] | None = None,
) -> Iterator[tuple[Path, FrontMatter]]:
    """Yield the path and front matter of every combined.md in natural order.

    Damaged files are left out, or told to `on_damaged`.
    """
    for name in [docket] if docket is not None else layout.dockets(state):
        for comment in layout.comments(state, name):
            path = state / name / comment / layout.COMBINED
            try:
                yield path, read_head(path)
            except FileNotFoundError:
                continue
            except (CombinedError, OSError) as error:
                if on_damaged is not None:
                    on_damaged(path, error)


def waiting_heads(state: Path, docket: str | None = None) -> Iterator[tuple[Path, FrontMatter]]:
    """Yield what `heads` does, of comments with pages that wait for OCR only.

    The index is brought up to date first, so that only these few files are read. Raises UserError
    as `rebuild` does.
    """
    rebuild(state)
    with connect() as con:
        con.execute(
            f"SELECT docket_id, comment_id FROM {parquet_source(state / INDEX_PARQUET)} "
            "WHERE n_ocr_pages > 0"
        )
        for name, comment in con.fetchall():
            path = state / name / comment / layout.COMBINED
            if docket is None or name == docket:
                with suppress(FileNotFoundError, CombinedError):
                    yield path, read_head(path)


def rebuild(
    state: Path, *, full: bool = False, observer: Callable[[Seen], None] | None = None
) -> IndexReport:
    """Bring the index in `state` up to date and return what was found.

    `full` reads every combined.md again. `observer` sees each comment folder on the way. Raises
    UserError when there is no state folder or the index can't be written.
    """
    if not state.is_dir():
        raise UserError(
            f"there is no state folder {state}: give the folder of dockets with --config state=DIR"
        )
    try:
        return _rebuild(state.absolute(), full, observer)
    except OSError as error:
        raise UserError(
            f"the index of {state} could not be written: {error.strerror or error} "
            f"({error.filename or state}): make room or mend the permissions, then run it again"
        ) from error


def report_lines(report: IndexReport) -> list[str]:
    """Return what to tell a person of a rebuilt index: a summary, then one line a problem."""
    lines = [
        f"{report.comments:,} comments in the index ({report.read:,} read anew, {report.dropped:,} "
        f"gone), {report.pending:,} pending" + ("" if report.changed else "; nothing changed")
    ]
    lines += [f"damaged: {problem.path}: {problem.detail}" for problem in report.problems]
    lines += [f"set aside as damaged: {name}" for name in report.damaged_parts]
    return lines


def _rebuild(state: Path, full: bool, observer: Callable[[Seen], None] | None) -> IndexReport:
    tables = (INDEX_PARQUET, ATTACHMENTS_PARQUET, layout.INDEX_CSV, layout.ATTACHMENTS_CSV)
    sweep(state, (*tables, layout.PAGES_PARQUET))
    twins = state / INDEX_PARQUET, state / ATTACHMENTS_PARQUET
    with connect() as con, Delta() as delta:
        cache = Cache(con, *twins, full=full)
        walk = Walk(state, cache, delta, observer)
        walk.run()
        delta.close()
        changed = write_tables(con, state, twins, delta, fresh=not cache.valid)
        gathered = gather(con, state, twins[1])
        changed |= write_failures(con, state, twins[1], walk.problems)
    return IndexReport(
        comments=walk.comments,
        pending=walk.pending,
        read=walk.read,
        dropped=len(cache.dropped),
        problems=tuple(walk.problems),
        damaged_parts=gathered.damaged,
        changed=changed,
    )
