"""The look at every comment folder: which are pending, and how much lies in them.

One system call tells whether a comment is done, five times cheaper than a listing of its folder.
So in a docket with many pending comments only every 16th folder is listed, and the others are taken
to hold as much on average: it weighs shards against each other and previews, nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from regcomments import layout
from regcomments.redo import Redo, is_stale

_MAY_BE_STALE_NS = 1_000_000_000  # a folder's time is set by the rename, just after the file's
# Every 16th listing costs less than the rest of the look. At one comment in five with attachments
# 128 folders judge a stretch of 2,048 within a quarter, and 164,000 comments in all within 1/20.
_SAMPLE_STEP = 16
_SAMPLE_STRETCH = 2048
# A smaller docket is listed in shorter steps, one with less than twice as many pending in full.
_FEWEST_SAMPLES = 64
_COMBINED = "/" + layout.COMBINED


@dataclass(frozen=True)
class PlanOptions:
    """What to plan.

    `limit` bounds the comments in all; `settle_seconds` leaves young folders; `slots` is how many
    jobs run at a time; `stale` asks for a count of finished comments with newer files.
    """

    docket: str | None = None
    limit: int | None = None
    redo: Redo | None = None
    shard_comments: int = 4000
    shard_bytes: int = 512 << 20
    settle_seconds: int = 0
    slots: int = 1
    stale: bool = False


class Item(NamedTuple):
    """A comment to be done, with its attachments and their bytes in all.

    Or a run of `comments` neighbours, from `comment` to `last`, whose attachments are estimated.
    """

    docket: str
    comment: str
    attachments: int
    size: int
    comments: int = 1
    last: str = ""


class Scan:
    """One pass over the state folder: `items` yields, the counts are complete afterwards.

    `settling` comments are too young, `stale` ones have newer files than their combined.md, and
    `sampled` are the dockets of which not every pending folder was listed.
    """

    def __init__(self, state: Path, options: PlanOptions) -> None:
        self._state = state
        self._options = options
        # A count that was asked for is kept exactly; young files are found by listing only.
        self._may_sample = not (options.redo or options.settle_seconds or options.limit is not None)
        self.settling = self.stale = 0
        self.sampled: set[str] = set()

    def items(self) -> Iterator[Item]:
        """Yield what is to be done in order; a docket that can't be read has no comment."""
        options = self._options
        left = options.limit
        for docket in [options.docket] if options.docket else layout.dockets(self._state):
            try:
                names = layout.comments(self._state, docket)
                folder = os.open(self._state / docket, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError:
                yield Item(docket, "", 0, 0)
                continue
            try:
                for item in self._docket(docket, names, folder):
                    if left is not None:
                        if left <= 0:
                            return
                        left -= 1
                    yield item
            finally:
                os.close(folder)

    def _docket(self, docket: str, names: list[str], dir_fd: int) -> Iterator[Item]:
        redo = self._options.redo
        base = f"{self._state}/{docket}/"
        if redo is not None:
            wanted = (
                name
                for name in names
                if _has_combined(name, dir_fd) and redo.picks(Path(base + name))
            )
            return self._listed(docket, wanted)
        pending = self._pending(base, names, dir_fd)
        if self._may_sample and len(pending) >= 2 * _FEWEST_SAMPLES:
            return self._estimated(docket, pending)
        return self._listed(docket, pending)

    def _pending(self, base: str, names: list[str], dir_fd: int) -> list[str]:
        """Return the names without combined.md; with `stale` count which of the others are.

        A finished folder is looked into only when it changed after its combined.md was put there.
        A file overwritten in place is left to `stats`.
        """
        exists = os.access
        if not self._options.stale:
            return [name for name in names if not exists(name + _COMBINED, os.F_OK, dir_fd=dir_fd)]
        pending = []
        stat = os.stat
        missing = False  # the last one's? Neighbours are alike, and an exception costs two looks
        for name in names:
            if missing and not exists(name + _COMBINED, os.F_OK, dir_fd=dir_fd):
                pending.append(name)
                continue
            try:
                written = stat(name + _COMBINED, dir_fd=dir_fd).st_mtime_ns
                missing = False
                changed = stat(name, dir_fd=dir_fd).st_mtime_ns
            except OSError:
                missing = not exists(name + _COMBINED, os.F_OK, dir_fd=dir_fd)
                if missing:
                    pending.append(name)
                continue
            if changed > written + _MAY_BE_STALE_NS:
                self.stale += is_stale(Path(base + name))
        return pending

    def _listed(self, docket: str, names: Iterable[str]) -> Iterator[Item]:
        settle = self._options.settle_seconds
        for name in names:
            found = self._attachments(docket, name)
            if settle and _is_young((stat.st_mtime_ns for stat in found), settle):
                self.settling += 1
                continue
            yield Item(docket, name, len(found), sum(stat.st_size for stat in found))

    def _estimated(self, docket: str, names: Sequence[str]) -> Iterator[Item]:
        step = min(_SAMPLE_STEP, len(names) // _FEWEST_SAMPLES)
        stretches = -(-len(names) // _SAMPLE_STRETCH)
        ends = [len(names) * number // stretches for number in range(stretches + 1)]
        for start, end in pairwise(ends):
            stretch = names[start:end]
            files = size = 0
            sample = stretch[step // 2 :: step]
            for name in sample:
                found = self._attachments(docket, name)
                files += len(found)
                size += sum(stat.st_size for stat in found)
            files, size = (amount / len(sample) for amount in (files, size))
            most = min(
                self._options.shard_bytes / size if size else end, self._options.shard_comments
            )
            if most < _SAMPLE_STEP:  # shards so small that a run would not fit in
                yield from self._listed(docket, stretch)
                continue
            self.sampled.add(docket)
            for first in range(0, len(stretch), _SAMPLE_STEP):
                run = stretch[first : first + _SAMPLE_STEP]
                last = first + len(run)
                own = round(files * last) - round(files * first)
                yield Item(docket, run[0], own, round(size * len(run)), len(run), run[-1])

    def _attachments(self, docket: str, comment: str) -> list[os.stat_result]:
        folder = f"{self._state}/{docket}/{comment}"
        try:
            return layout.attachment_stats(folder, os.listdir(folder))
        except OSError:
            return []  # the shard will say what is wrong with it


def is_settling(state: Path, docket: str, comment: str, settle: int) -> bool:
    """True when the folder holds a file younger than `settle` seconds."""
    if not settle:
        return False
    try:
        content = layout.scan_folder(f"{state}/{docket}/{comment}")
    except OSError:
        return False  # the job will say what is wrong with it
    return _is_young((item.mtime_ns for item in content.attachments), settle)


def _has_combined(comment: str, dir_fd: int) -> bool:
    return os.access(comment + _COMBINED, os.F_OK, dir_fd=dir_fd)


def _is_young(times_ns: Iterable[int], settle: int) -> bool:
    edge = time.time_ns() - settle * 1_000_000_000
    return any(stamp > edge for stamp in times_ns)
