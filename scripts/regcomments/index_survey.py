"""What does not fit together in a state folder: stale, pending, orphaned, unexpected."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from regcomments import layout
from regcomments.combined import CombinedError, read_head
from regcomments.index_sql import connect, parquet_source
from regcomments.index_walk import Seen

EXAMPLES = 5  # of each kind of finding, for people
# combined.md is written before its folder's time is set by the rename, by less than this.
_RENAME_NS = 2_000_000_000
_STORE_NAME = re.compile(r"([0-9a-f]{64})\.")


@dataclass
class Tally:
    """A count, and its first few examples: paths below the state folder."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(example)


@dataclass(frozen=True)
class Survey:
    """Findings about a state folder.

    `pending` comments have no combined.md; `stale` ones have attachments that are newer than
    theirs, or that it does not list; `orphaned` entries have lost their file; `unexpected` names
    are neither dockets, comments nor attachments; `orphaned_ocr` are results in the OCR store
    whose file no comment has any more.
    """

    pending: Tally = field(default_factory=Tally)
    stale: Tally = field(default_factory=Tally)
    orphaned: Tally = field(default_factory=Tally)
    unexpected: Tally = field(default_factory=Tally)
    orphaned_ocr: Tally = field(default_factory=Tally)

    def see(self, seen: Seen) -> None:
        """Look into one comment folder."""
        name = f"{seen.docket}/{seen.comment}"
        try:
            content = layout.scan_folder(seen.folder)
        except FileNotFoundError:
            return
        except OSError:
            self.unexpected.add(f"{name} (can't be read)")
            return
        for other in content.others:
            self.unexpected.add(f"{name}/{other}")
        if seen.mtime_ns is None:
            self.pending.add(name)
            return
        if seen.files is None:
            return
        files = set(seen.files)
        there = {item.name for item in content.attachments}
        if there - files or any(item.mtime_ns > seen.mtime_ns for item in content.attachments):
            self.stale.add(name)
        for file in sorted(files - there, key=layout.natural_key):
            self.orphaned.add(f"{name}/{file}")

    def finish(self, state: Path, attachments: Path) -> None:
        """Look at the upper levels and at the OCR store, once the comments have been seen."""
        for name in layout.unexpected(state):
            self.unexpected.add(name)
        for name in orphaned_ocr(state, attachments):
            self.orphaned_ocr.add(name)


def stale(
    state: Path,
    docket: str | None = None,
    on_error: Callable[[Path, Exception], None] | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield docket and comment whose attachments are newer than combined.md, or not listed there.

    A listed file that has gone is no ground: to read again would lose its text. A damaged
    combined.md or a folder that can't be read is told to `on_error`.
    """
    for name in [docket] if docket is not None else layout.dockets(state):
        for comment in layout.comments(state, name):
            folder = state / name / comment
            try:
                if _is_stale(folder):
                    yield name, comment
            except FileNotFoundError:
                continue
            except (CombinedError, OSError) as error:
                if on_error is not None:
                    on_error(folder, error)


def count_stale(state: Path, docket: str | None = None) -> int:
    """Return how many comments are stale, at the cost of two `stat` for most.

    Only folders into which something was put after combined.md are looked into, so files that
    were overwritten in place are missed; `stale` finds these too.
    """
    count = 0
    for name in [docket] if docket is not None else layout.dockets(state):
        with suppress(OSError):
            folder = os.open(state / name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                for comment in layout.item_folders(state / name):
                    if _may_be_stale(comment, folder):
                        with suppress(CombinedError, FileNotFoundError):
                            count += _is_stale(state / name / comment)
            finally:
                os.close(folder)
    return count


def _may_be_stale(comment: str, dir_fd: int) -> bool:
    """True when something was put into the folder after combined.md."""
    try:
        changed = os.stat(comment, dir_fd=dir_fd).st_mtime_ns
        return changed > os.stat(f"{comment}/combined.md", dir_fd=dir_fd).st_mtime_ns + _RENAME_NS
    except OSError:
        return False


def orphaned_ocr(state: Path, attachments: Path) -> list[str]:
    """Return the files of the OCR store, below `state`, whose content no attachment has."""
    stored: dict[str, list[str]] = {}
    for path in sorted((state / layout.OCR_FOLDER).glob("[0-9a-f][0-9a-f]/*.json")):
        match = _STORE_NAME.match(path.name)
        if match:
            stored.setdefault(match[1], []).append(str(path.relative_to(state)))
    if stored and attachments.exists():
        with connect() as con:
            con.execute(f"SELECT DISTINCT sha256 FROM {parquet_source(attachments)}")
            while rows := con.fetchmany(2048):
                for (sha256,) in rows:
                    stored.pop(sha256, None)
    return [name for names in stored.values() for name in names]


def _is_stale(folder: Path) -> bool:
    """Raises OSError, CombinedError."""
    content = layout.scan_folder(folder)
    if content.combined_mtime_ns is None:
        return False
    if any(item.mtime_ns > content.combined_mtime_ns for item in content.attachments):
        return True
    if not content.attachments:
        return False
    listed = {entry.file for entry in read_head(folder / layout.COMBINED).attachments}
    return not listed.issuperset(item.name for item in content.attachments)
