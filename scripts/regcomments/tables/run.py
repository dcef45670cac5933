"""Tables of whole dockets: what the rule `tables` does, without Snakemake.

    <state>/_tables/<docket>/<first>..<last>.<digest>.tsv    which files were looked at

A tables.json lies only beside files that have tables, so a note is kept of the others: name,
size, time of every file looked at, and which way. A file that changed since is looked at again,
and one that could not be read for reasons that do not lie in it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from regcomments import layout
from regcomments.atomic import write_atomic
from regcomments.config import Settings
from regcomments.errors import UserError, disk_is_full, full_disk
from regcomments.layout import Attachment, natural_key
from regcomments.names import quote_name
from regcomments.progress import BEAT_SECONDS
from regcomments.read import ReadOptions, failure_of
from regcomments.read.worker import Worker, WorkerFailure
from regcomments.records import Extraction
from regcomments.status import Reason
from regcomments.tables.store import write_tables

NOTES_FOLDER = "_tables"
KINDS = frozenset({"pdf", "docx", "docm"})
# Raised when files must be looked at anew, because the same ones give other tables. 2: words that
# a page does not show are in no cell.
FINDER_VERSION = 2
SHARD_FILES = 200  # half a minute of one core at 20 ms a page and some pages a file


@dataclass(frozen=True)
class TableShard:
    """The comments `first` to `last` of a docket, with so many files to look at."""

    docket: str
    first: str
    last: str
    files: int


@dataclass
class TableCounts:
    """Files looked at, tables found, files that could not be read."""

    files: int = 0
    tables: int = 0
    failed: int = 0


@dataclass(frozen=True)
class Unread:
    """Why no tables were read; whether that lies in the file; whether the disk is full."""

    why: str
    lasting: bool = True
    full: bool = False


def plan_tables(state: Path, docket: str | None = None) -> list[TableShard]:
    """Return the shards of files that were not looked at yet."""
    out: list[TableShard] = []
    for name in [docket] if docket else layout.dockets(state):
        part: list[str] = []
        files = 0
        for comment, attachments in wanted(state, name):
            part.append(comment)
            files += len(attachments)
            if files >= SHARD_FILES:
                out.append(TableShard(name, part[0], part[-1], files))
                part, files = [], 0
        if part:
            out.append(TableShard(name, part[0], part[-1], files))
    return out


def wanted(
    state: Path, docket: str, first: str | None = None, last: str | None = None
) -> Iterator[tuple[str, list[Attachment]]]:
    """Yield comments of `docket`, `first` to `last`, with their files that want a look."""
    known = _notes(state, docket)
    low = natural_key(first) if first is not None else None
    high = natural_key(last) if last is not None else None
    for comment in layout.comments(state, docket):
        key = natural_key(comment)
        if (low is not None and key < low) or (high is not None and key > high):
            continue
        try:
            content = layout.scan_folder(state / docket / comment)
        except OSError:
            continue
        left = [
            item
            for item in content.attachments
            if item.ext in KINDS and item.size and _note(comment, item) not in known
        ]
        if left:
            yield comment, left


def run_tables(
    settings: Settings,
    docket: str,
    first: str,
    last: str,
    say: Callable[[str], None] = print,
) -> TableCounts:
    """Write tables.json beside the files of one shard that have tables, and note all of them.

    Raises UserError on a full disk; what was done is noted if there is room for that.
    """
    state = Path(settings.state)
    counts = TableCounts()
    notes: list[str] = []
    started = beat = time.monotonic()
    try:
        with Worker(settings.limits(), settings.options(), task=find_tables, fork=True) as worker:
            for comment, attachments in wanted(state, docket, first, last):
                for item in attachments:
                    path = state / docket / comment / item.name
                    try:
                        result = worker.run(path)
                    except WorkerFailure as failure:
                        result = Unread(failure.detail)
                    counts.files += 1
                    if isinstance(result, int):
                        counts.tables += result
                        notes.append(_note(comment, item))
                        continue
                    if result.full:
                        raise UserError(full_disk(path.parent))
                    counts.failed += 1
                    say(f"{docket}/{comment}/{item.name}: no tables read: {result.why}")
                    if result.lasting:
                        notes.append(_note(comment, item))
                if time.monotonic() - beat >= BEAT_SECONDS:
                    beat = time.monotonic()
                    speed = counts.files / (beat - started)
                    say(f"tables {docket}: {counts.files} files, {speed:.1f} files/s, at {comment}")
    except UserError:
        with suppress(OSError):
            _write_notes(state, docket, first, last, notes)
        raise
    try:
        _write_notes(state, docket, first, last, notes)
    except OSError as error:
        if disk_is_full(error):
            raise UserError(full_disk(state / NOTES_FOLDER)) from error
        raise
    return counts


def find_tables(path: Path, options: ReadOptions) -> int | Unread:
    """Write the tables of `path` beside it; return their number, or why it can't be read."""
    del options
    try:
        return len(write_tables(path))
    except Exception as error:  # a damaged file may raise anything
        outcome: Extraction = failure_of(error)
        return Unread(
            f"{outcome.reason}: {outcome.error or ''}",
            lasting=outcome.reason != Reason.UNREADABLE,
            full=isinstance(error, OSError) and disk_is_full(error),
        )


def _note(comment: str, item: Attachment) -> str:
    return f"{comment}\t{item.name}\t{item.size}\t{item.mtime_ns}\t{FINDER_VERSION}"


def _notes(state: Path, docket: str) -> set[str]:
    known: set[str] = set()
    for path in sorted((state / NOTES_FOLDER / docket).glob("*.tsv")):
        try:
            known.update(path.read_text("utf-8").split("\n"))
        except (OSError, UnicodeDecodeError):
            continue  # the files in it are looked at once more
    return known


def _write_notes(state: Path, docket: str, first: str, last: str, notes: list[str]) -> None:
    if not notes:
        return
    folder = state / NOTES_FOLDER / docket
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join(notes) + "\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    write_atomic(folder / f"{quote_name(first)}..{quote_name(last)}.{digest}.tsv", text)
