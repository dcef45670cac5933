"""What is to be done: pending comment folders, cut into shards of bounded cost.

A comment is pending while it has no combined.md. The plan looks once at every comment folder, in
the main process only, and only when a target asks for extraction. A shard is a stretch of the
state folder in the order of dockets and comments: it may begin in one docket and end in another,
since most dockets are far smaller than what is worth starting a process for.
"""

from __future__ import annotations

import os
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from regcomments import layout
from regcomments.layout import natural_key
from regcomments.redo import Redo, is_stale

# Expected seconds of one core: a mean letter of 2.7 pages at 10 ms; a comment's listing, database
# row and combined.md. Only their proportion to each other and to a start matters.
FILE_SECONDS = 0.03
COMMENT_SECONDS = 0.001
# A shard costs a second of CPU to start (Snakemake's job, the readers' imports) and reads anew what
# another has read, so it should have at least this much to do (2,000 comments at -j 2: 24 s of CPU
# in 7 shards of 3, 17 s in 2 of 10); and so many for each process of a run let all end together.
MIN_SECONDS = 10.0
FEWEST_SECONDS = 3.0  # where there is less to do than that for each process of a run
SHARDS_A_SLOT = 3
# A longer one would be lost work for a scheduler that starts jobs anew, and a silent one.
MAX_SECONDS = 600.0
# What is never divided, so that the plan of millions needs no list of them: half a second of work.
_PIECE_COMMENTS, _PIECE_FILES = 100, 15
_MAY_BE_STALE_NS = 1_000_000_000  # a folder's time is set by the rename, just after the file's


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
    """One comment to be done, with its attachments and their bytes in all."""

    docket: str
    comment: str
    attachments: int
    size: int


@dataclass(frozen=True)
class Shard:
    """The comments to be done from `first` of `docket` to `last` of docket `through`.

    Dockets go in the order of their names, comments in natural order.
    """

    docket: str
    first: str
    through: str
    last: str
    comments: int
    attachments: int
    size: int

    @property
    def seconds(self) -> float:
        """The expected work in seconds of one core."""
        return self.attachments * FILE_SECONDS + self.comments * COMMENT_SECONDS


@dataclass(frozen=True)
class Plan:
    """The shards, counts per docket, and what is left for later.

    `dockets` maps names to comments, attachments and bytes. `settling` folders are too young,
    `stale` finished comments have newer files (None: not looked for).
    """

    shards: tuple[Shard, ...]
    settling: int = 0
    stale: int | None = None
    dockets: dict[str, tuple[int, int, int]] = field(default_factory=dict)

    @property
    def comments(self) -> int:
        """Comments in all shards."""
        return sum(shard.comments for shard in self.shards)

    @property
    def attachments(self) -> int:
        """Attachments in all shards."""
        return sum(shard.attachments for shard in self.shards)

    @property
    def size(self) -> int:
        """Bytes of attachments in all shards."""
        return sum(shard.size for shard in self.shards)


def make_plan(state: Path, options: PlanOptions) -> Plan:
    """Return the shards of `state` under `options`; an absent state folder has none."""
    scan = _Scan(state, options)
    shards, dockets = cut(scan.items(), options)
    return Plan(shards, scan.settling, scan.stale if options.stale else None, dockets)


def cut(
    items: Iterable[Item], options: PlanOptions
) -> tuple[tuple[Shard, ...], dict[str, tuple[int, int, int]]]:
    """Return `items`, which come in order, as shards, and the sums per docket.

    An item without a comment is a docket that can't be read: a shard of its own, whose job fails
    and says why.
    """
    pieces: list[Shard] = []
    sums: dict[str, list[int]] = {}
    for docket, group in groupby(items, key=itemgetter(0)):
        pieces += _pieces(docket, group, options, sums.setdefault(docket, [0, 0, 0]))
    total = sum(piece.seconds for piece in pieces)
    # Small runs are cut finer, so that `-j 8` has work for eight.
    least = min(MIN_SECONDS, max(FEWEST_SECONDS, total / options.slots))
    most = min(MAX_SECONDS, max(least, total / (SHARDS_A_SLOT * options.slots)))
    shards = tuple(_joined(pieces, options, most))
    return shards, {docket: tuple(counts) for docket, counts in sums.items() if counts[0]}


def wanted_comments(
    state: Path,
    docket: str,
    redo: Redo | None,
    first: str | None = None,
    last: str | None = None,
) -> Iterator[str]:
    """Yield the comments of `docket` to be done, in natural order, `first` to `last` if given.

    Without `redo` these are the ones that have no combined.md; with it the ones that have one
    which `redo` picks. Raises OSError.
    """
    names = layout.comments(state, docket)
    low = 0 if first is None else bisect_left(names, natural_key(first), key=natural_key)
    high = len(names) if last is None else bisect_right(names, natural_key(last), key=natural_key)
    base = os.path.join(state, docket)
    for comment in names[low:high]:
        folder = f"{base}/{comment}"
        done = os.access(f"{folder}/{layout.COMBINED}", os.F_OK)
        if (not done) if redo is None else (done and redo.picks(Path(folder))):
            yield comment


def dockets_between(state: Path, docket: str, through: str) -> list[str]:
    """Return the dockets from `docket` to `through`, both included whether they exist or not."""
    between = [name for name in layout.dockets(state) if docket < name < through]
    return [docket, *between, through] if through != docket else [docket]


def is_settling(state: Path, docket: str, comment: str, settle: int) -> bool:
    """True when the folder holds a file younger than `settle` seconds."""
    if not settle:
        return False
    try:
        content = layout.scan_folder(f"{state}/{docket}/{comment}")
    except OSError:
        return False  # the job will say what is wrong with it
    return _is_young((item.mtime_ns for item in content.attachments), settle)


class _Scan:
    """One pass over the state folder: `items` yields, the counts are complete afterwards."""

    def __init__(self, state: Path, options: PlanOptions) -> None:
        self._state = state
        self._options = options
        self.settling = self.stale = 0

    def items(self) -> Iterator[Item]:
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
        redo, settle = self._options.redo, self._options.settle_seconds
        base = f"{self._state}/{docket}"
        pending = True  # was the last one? Neighbours are alike, and a right guess saves a look
        for comment in names:
            folder = f"{base}/{comment}"
            inside = None
            if pending:
                inside = _names(folder)
                done = layout.COMBINED in inside and self._is_done(folder, comment, dir_fd)
            else:
                done = self._is_done(folder, comment, dir_fd)
            pending = not done
            if done if redo is None else not (done and redo.picks(Path(folder))):
                continue
            if inside is None:
                inside = _names(folder)
            found = layout.attachment_stats(folder, inside) if inside else ()
            if settle and _is_young((stat.st_mtime_ns for stat in found), settle):
                self.settling += 1
                continue
            yield Item(docket, comment, len(found), sum(stat.st_size for stat in found))

    def _is_done(self, folder: str, comment: str, dir_fd: int) -> bool:
        """True when there is a combined.md; counts the comment as stale when its files are newer.

        A folder is looked into only when it changed after its combined.md was put there. A file
        overwritten in place is left to `stats`.
        """
        path = f"{comment}/{layout.COMBINED}"
        if not self._options.stale:
            return os.access(path, os.F_OK, dir_fd=dir_fd)
        try:
            written = os.stat(path, dir_fd=dir_fd).st_mtime_ns
            changed = os.stat(comment, dir_fd=dir_fd).st_mtime_ns
        except OSError:
            return os.access(path, os.F_OK, dir_fd=dir_fd)
        if changed > written + _MAY_BE_STALE_NS:
            self.stale += is_stale(Path(folder))
        return True


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []  # the shard will say what is wrong with it


def _is_young(times_ns: Iterable[int], settle: int) -> bool:
    edge = time.time_ns() - settle * 1_000_000_000
    return any(stamp > edge for stamp in times_ns)


def _pieces(
    docket: str, items: Iterable[Item], options: PlanOptions, sums: list[int]
) -> Iterator[Shard]:
    """Yield the comments of one docket in small runs, and add them up in `sums`."""
    most, most_bytes = min(options.shard_comments, _PIECE_COMMENTS), options.shard_bytes
    first = last = ""
    comments = attachments = size = 0
    for _, comment, own, own_size in items:
        if comments and (
            comments >= most or attachments + own > _PIECE_FILES or size + own_size > most_bytes
        ):
            yield Shard(docket, first, docket, last, comments, attachments, size)
            comments = attachments = size = 0
        if not comments:
            first = comment
        last = comment
        comments += 1
        attachments += own
        size += own_size
        sums[1] += own
        sums[2] += own_size
        sums[0] += 1
    if not last:  # the docket can't be read
        comments = sums[0] = 0
    yield Shard(docket, first, docket, last, comments, attachments, size)


def _joined(pieces: Iterable[Shard], options: PlanOptions, most_seconds: float) -> Iterator[Shard]:
    """Yield neighbours joined as long as they stay within bounds."""
    joined: Shard | None = None
    for piece in pieces:
        if joined is not None:
            both = Shard(
                joined.docket,
                joined.first,
                piece.through,
                piece.last,
                joined.comments + piece.comments,
                joined.attachments + piece.attachments,
                joined.size + piece.size,
            )
            if (
                both.seconds <= most_seconds
                and both.comments <= options.shard_comments
                and both.size <= options.shard_bytes
                and joined.comments
                and piece.comments
            ):
                joined = both
                continue
            yield joined
        joined = piece
    if joined is not None:
        yield joined


def preview(plan: Plan, most_dockets: int = 40) -> list[str]:
    """Return lines that tell what the plan holds, per docket and in all."""
    ranked = sorted(plan.dockets.items(), key=lambda item: -item[1][0])
    lines = [f"  {docket}: {_amounts(*counts)}" for docket, counts in ranked[:most_dockets]]
    if len(ranked) > most_dockets:
        lines.append(f"  and {len(ranked) - most_dockets} more dockets")
    total = _amounts(plan.comments, plan.attachments, plan.size)
    lines.append(f"pending in {len(ranked)} dockets: {total}, {len(plan.shards)} shards")
    if plan.settling:
        lines.append(f"left for later, files still arriving: {plan.settling} comments")
    if plan.stale:
        lines.append(
            f"stale, files newer than combined.md: {plan.stale} comments; --config redo=stale"
        )
    return lines


def _amounts(comments: int, attachments: int, size: int) -> str:
    return f"{comments} comments, {attachments} attachments, {size / 1e6:.1f} MB"
