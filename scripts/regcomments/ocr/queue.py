"""The OCR queue: which pages of which files are still to be read, and how they make jobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

from regcomments import layout
from regcomments.atomic import write_atomic
from regcomments.combined import Entry, FrontMatter
from regcomments.digest import sha256_of
from regcomments.ocr.engines import MAX_ATTEMPTS, Engine, engine_key
from regcomments.ocr.store import FileResult, lookup

PAGES_PER_SHARD = 300  # about five minutes of one GPU
_natural = lru_cache(maxsize=1 << 16)(layout.natural_key)  # names recur in every sort


@dataclass(frozen=True)
class Row:
    """The pages (from 1) wanted of one file; `file` may lead into a container.

    `docket` and `comment` name the first comment that has this content and still its file.
    `n_pages` is the page count of the file, None for a document whose pages are its pictures.
    """

    docket: str
    comment: str
    file: str
    sha256: str
    pages: tuple[int, ...]
    n_pages: int | None = None

    @property
    def comment_key(self) -> tuple[str, str]:
        """Docket and comment."""
        return self.docket, self.comment


@dataclass(frozen=True)
class Queue:
    """What is to be read and what is to be merged.

    `rows` are files with pages to read, each content once; `wanted` are the same before the pages
    that the store holds were taken out (the ground of partition, which must not move while hosts
    work; not written to the queue file). `comments` are all comments, as
    (docket, comment), whose combined.md wants pages that are to be read or read already.
    `stored`, `unreadable` and `exhausted` count wanted pages that are not queued: done in the
    store, beyond this engine, or tried as often as allowed. `problems` are entries that can't be
    queued and damaged files of the store.
    """

    engine: str
    rows: tuple[Row, ...] = ()
    comments: tuple[tuple[str, str], ...] = ()
    stored: int = 0
    unreadable: int = 0
    exhausted: int = 0
    problems: tuple[str, ...] = ()
    wanted: tuple[Row, ...] = ()

    @property
    def pages(self) -> int:
        """Pages to read."""
        return sum(len(row.pages) for row in self.rows)


def build_queue(
    heads: Iterable[tuple[Path, FrontMatter]],
    state: Path,
    engine: Engine,
    max_attempts: int = MAX_ATTEMPTS,
) -> Queue:
    """Return the queue for `engine` out of the front matters of the comments.

    `heads` are paths of combined.md (or of their folders) with their front matter, as
    index.heads yields them. Only pages named in `ocr_pages` are wanted. Rows are in natural
    order of docket, comment and file, whatever the order of `heads`.
    """
    wanted: dict[str, Row] = {}
    owners: dict[str, list[tuple[str, str]]] = {}
    there: dict[str, bool] = {}
    problems: list[str] = []
    found = []
    for path, head in heads:
        if any(entry.ocr_pages for entry in head.attachments):
            folder = path.parent if path.name == layout.COMBINED else path
            found.append((folder.parent.name, folder.name, folder, head))
    found.sort(key=lambda item: (layout.natural_key(item[0]), layout.natural_key(item[1])))
    for docket, comment, folder, head in found:
        for entry in head.attachments:
            if not entry.ocr_pages:
                continue
            sha256 = entry.sha256 or _hash(folder, entry)
            if sha256 is None:
                problems.append(f"{docket}/{comment}/{entry.file}: not there to be read")
                continue
            owners.setdefault(sha256, []).append((docket, comment))
            row = wanted.get(sha256)
            if row is None:
                pages = tuple(sorted(set(entry.ocr_pages)))
                wanted[sha256] = Row(docket, comment, entry.file, sha256, pages, entry.pages)
                continue
            if sha256 not in there:
                first = state / row.docket / row.comment
                there[sha256] = _attachment(first, row.file).exists()
            if not there[sha256] and _attachment(folder, entry.file).exists():
                # The first comment has lost its file; here it is still.
                row = replace(row, docket=docket, comment=comment, file=entry.file)
                wanted[sha256], there[sha256] = row, True
            if not set(entry.ocr_pages) <= set(row.pages):
                # The same content may have been graded by two versions.
                pages = tuple(sorted({*row.pages, *entry.ocr_pages}))
                wanted[sha256] = replace(row, pages=pages)
    return _without_stored(wanted, owners, problems, state, engine_key(engine), max_attempts)


def _without_stored(
    wanted: dict[str, Row],
    owners: dict[str, list[tuple[str, str]]],
    problems: list[str],
    state: Path,
    key: str,
    max_attempts: int,
) -> Queue:
    rows: list[Row] = []
    comments: list[tuple[str, str]] = []
    stored = unreadable = exhausted = 0
    for sha256, row in wanted.items():
        result = lookup(state, sha256, key) or FileResult(sha256)
        problems.extend(result.problems)
        done, given_up, worn_out = split_pages(row.pages, result, key, max_attempts)
        stored, unreadable = stored + len(done), unreadable + len(given_up)
        exhausted += len(worn_out)
        left = tuple(p for p in row.pages if p not in done | given_up | worn_out)
        if left:
            rows.append(replace(row, pages=left))
        if left or any(number in result.pages for number in row.pages):
            comments.extend(owners[sha256])
    return Queue(
        key,
        tuple(rows),
        tuple(sorted(set(comments), key=lambda c: tuple(map(layout.natural_key, c)))),
        stored,
        unreadable,
        exhausted,
        tuple(problems),
        tuple(wanted.values()),
    )


def split_pages(
    pages: Iterable[int], result: FileResult, key: str, max_attempts: int
) -> tuple[set[int], set[int], set[int]]:
    """Return which of `pages` the engine `key` has done, can't read, and has tried in vain."""
    tries = result.attempts.get(key, {})
    done, given_up, worn_out = set(), set(), set()
    for number in pages:
        if number in result.done.get(key, ()):
            done.add(number)
        elif number in result.unreadable.get(key, ()):
            given_up.add(number)
        elif tries.get(number, 0) >= max_attempts:
            worn_out.add(number)
    return done, given_up, worn_out


def shards(rows: Iterable[Row], pages_per_shard: int = PAGES_PER_SHARD) -> list[list[Row]]:
    """Return the rows as jobs of about `pages_per_shard` pages each, the longest job first.

    A file with more pages is split into parts. Jobs are filled longest first (first fit
    decreasing), so that they differ little; the same rows give the same jobs.
    """
    parts = [part for row in rows for part in split_row(row, pages_per_shard)]
    parts.sort(key=lambda row: (-len(row.pages), order(row)))
    jobs: list[list[Row]] = []
    room: list[int] = []
    first = 0  # jobs before this one are full
    for part in parts:
        for index in range(first, len(jobs)):
            if room[index] >= len(part.pages):
                break
        else:
            jobs.append([])
            room.append(pages_per_shard)
            index = len(jobs) - 1
        jobs[index].append(part)
        room[index] -= len(part.pages)
        while first < len(jobs) and room[first] <= 0:
            first += 1
    jobs.sort(key=lambda job: -sum(len(row.pages) for row in job))
    return jobs


def split_row(row: Row, pages: int) -> list[Row]:
    """Return `row` in parts of at most `pages` pages."""
    if len(row.pages) <= pages:
        return [row]
    return [
        replace(row, pages=row.pages[start : start + pages])
        for start in range(0, len(row.pages), pages)
    ]


def write_queue(path: Path, queue: Queue) -> None:
    """Write `queue` as JSON lines: the first holds all but the rows, then one row a line."""
    head = asdict(replace(queue, rows=(), wanted=()))
    lines = [head, *map(asdict, queue.rows)]
    write_atomic(path, "".join(map(_line, lines)))


def read_queue(path: Path) -> Queue:
    """Return the queue written to `path`. Raises OSError, ValueError."""
    head, *rows = _lines(path)
    raw = json.loads(head)
    raw["comments"] = tuple((docket, comment) for docket, comment in raw["comments"])
    raw["problems"] = tuple(raw["problems"])
    raw["wanted"] = ()
    raw["rows"] = tuple(row_from(line) for line in rows)
    return Queue(**raw)


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write `rows` (one job) as JSON lines."""
    write_atomic(path, "".join(_line(asdict(row)) for row in rows))


def read_rows(path: Path) -> list[Row]:
    """Return the rows written to `path`. Raises OSError, ValueError."""
    return [row_from(line) for line in _lines(path)]


def _line(content: dict) -> str:
    # In ASCII: a folder's name may have bytes that are no UTF-8, which come as lone surrogates.
    return json.dumps(content) + "\n"


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").rstrip("\n").split("\n") if path.stat().st_size else []


def row_from(line: str) -> Row:
    """Return the row in one JSON line. Raises ValueError, TypeError."""
    raw = json.loads(line)
    return Row(**{**raw, "pages": tuple(raw["pages"])})


def order(row: Row) -> tuple:
    """Return the sort key that puts rows into natural order."""
    return (*map(_natural, (row.docket, row.comment, row.file)), row.pages)


def _attachment(folder: Path, file: str) -> Path:
    return folder / file.partition("/")[0]


def _hash(folder: Path, entry: Entry) -> str | None:
    if entry.is_member:
        return None
    return sha256_of(folder / entry.file)
