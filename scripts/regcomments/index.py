"""The index of all comments: `_index.csv`, `_attachments.csv`, their Parquet twins, failures.csv.

It is drawn from the front matter of every combined.md. A second `rebuild` reads only the files
whose time or size changed since the last, and gives the same bytes as one from nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regcomments import layout
from regcomments.combined import CombinedError, FrontMatter, read_head
from regcomments.errors import UserError
from regcomments.index_cache import Cache
from regcomments.index_pages import gather
from regcomments.index_rows import BYTES, FILE, attachment_row, comment_row, file_of
from regcomments.index_sql import connect, parquet_source
from regcomments.index_survey import count_stale, stale
from regcomments.index_tables import Delta, Problem, write_failures, write_tables

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


@dataclass(frozen=True)
class Seen:
    """One comment folder as the walk met it, for an observer of `rebuild`.

    `mtime_ns` is that of combined.md, None while there is none; `rows` are its attachments in the
    columns of index_rows.ATTACHMENT_COLUMNS, None when combined.md is damaged or not there.
    """

    docket: str
    comment: str
    folder: str
    mtime_ns: int | None
    rows: list[tuple] | None


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
    comments, attachments = state / INDEX_PARQUET, state / ATTACHMENTS_PARQUET
    cache = Cache(None, None) if full else Cache(comments, attachments)
    with Delta() as delta:
        try:
            walk = _Walk(state, cache, delta, observer)
            walk.run()
        finally:
            cache.close()
        delta.close()
        changed = write_tables(state, comments, attachments, delta, fresh=not cache.valid)
    gathered = gather(state, attachments)
    changed |= write_failures(state, attachments, walk.problems)
    return IndexReport(
        comments=walk.comments,
        pending=walk.pending,
        read=walk.read,
        dropped=len(cache.dropped),
        problems=tuple(walk.problems),
        damaged_parts=gathered.damaged,
        changed=changed,
    )


class _Walk:
    """One pass over the state folder: what changed goes into `delta`."""

    def __init__(
        self,
        state: Path,
        cache: Cache,
        delta: Delta,
        observer: Callable[[Seen], None] | None,
    ) -> None:
        self.state = state
        self.cache = cache
        self.delta = delta
        self.observer = observer
        self.comments = self.pending = self.read = 0
        self.problems: list[Problem] = []

    def run(self) -> None:
        for docket in layout.dockets(self.state):
            try:
                names = layout.comments(self.state, docket)
            except OSError as error:
                self._problem(docket, None, error)
                continue
            base = f"{self.state}/{docket}/"
            for comment in names:
                self._visit(docket, comment, base + comment)
        self.cache.finish()
        for docket, comment in self.cache.dropped:
            self.delta.remove(docket, comment)

    def _visit(self, docket: str, comment: str, folder: str) -> None:
        known = self.cache.take(docket, comment)
        mtime_ns, rows = None, None
        path = f"{folder}/{layout.COMBINED}"
        try:
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode):
                raise CombinedError("not a regular file")
            mtime_ns = found.st_mtime_ns
            if known and known.mtime_ns == mtime_ns and known.size == found.st_size:
                rows = _with_sizes(folder, known.rows)
                if rows is not known.rows:
                    self._replace_sizes(docket, comment, rows, mtime_ns)
            else:
                rows = self._read(docket, comment, folder, found, known is not None)
            self.comments += 1
        except FileNotFoundError:
            self.pending += 1
            mtime_ns = None
        except (CombinedError, ValueError, OSError) as error:
            self._problem(docket, comment, error)
        if rows is None and known is not None:
            self.delta.remove(docket, comment)
        if self.observer is not None:
            self.observer(Seen(docket, comment, folder, mtime_ns, rows))

    def _read(
        self, docket: str, comment: str, folder: str, found: os.stat_result, known: bool
    ) -> list[tuple]:
        head = read_head(f"{folder}/{layout.COMBINED}")
        row = comment_row(docket, comment, head)
        rows = [
            attachment_row(docket, comment, entry, _size(folder, file_of(entry)))
            for entry in head.attachments
        ]
        if known:
            self.delta.remove(docket, comment)
        self.delta.add_comment(row, found.st_mtime_ns, found.st_size, self.cache.position)
        for item in rows:
            self.delta.add_attachment(item, found.st_mtime_ns, self.cache.attachment_position)
        self.read += 1
        return rows

    def _replace_sizes(self, docket: str, comment: str, rows: list[tuple], mtime_ns: int) -> None:
        self.delta.remove_attachments(docket, comment)
        for item in rows:
            self.delta.add_attachment(item, mtime_ns, self.cache.attachment_position)

    def _problem(self, docket: str, comment: str | None, error: Exception) -> None:
        self.problems.append(Problem(docket, comment, _one_line(error)))


def _size(folder: str, file: str) -> int | None:
    if "/" in file or "\0" in file:
        return None
    try:
        found = os.lstat(f"{folder}/{file}")
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _with_sizes(folder: str, rows: list[tuple]) -> list[tuple]:
    """Return `rows` with the sizes that the files have now; the same list when none changed."""
    sizes = [_size(folder, row[FILE]) for row in rows]
    if all(row[BYTES] == size for row, size in zip(rows, sizes, strict=True)):
        return rows
    return [(*row[:BYTES], size, *row[BYTES + 1 :]) for row, size in zip(rows, sizes, strict=True)]


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return " ".join(str(error).split())[:300]
