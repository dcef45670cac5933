"""What is to be done: pending comment folders, cut into shards of bounded cost.

A comment is pending while it has no combined.md. The plan looks once at every comment folder
(plan_scan.py), in the main process only, and only when a target asks for extraction. A shard is a
stretch of the state folder in the order of dockets and comments: it may begin in one docket and
end in another, since most dockets are far smaller than what is worth starting a process for.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from regcomments import layout
from regcomments.layout import natural_key
from regcomments.plan_scan import Item, PlanOptions, Scan, is_settling
from regcomments.redo import Redo

__all__ = [
    "Item",
    "Plan",
    "PlanOptions",
    "Shard",
    "cut",
    "dockets_between",
    "is_settling",
    "make_plan",
    "preview",
    "wanted_comments",
]

# Expected seconds of one core: a mean letter of 2.7 pages at 10 ms, of which about half has been
# read before (a campaign's); a comment's listing, database row and combined.md. Only their
# proportion to each other and to a start matters.
FILE_SECONDS = 0.015
COMMENT_SECONDS = 0.001
# A shard costs a second of CPU to start (Snakemake's job, the readers' imports), so it should have
# at least this much to do; then so many for each process of a run let all end together. Fewer are
# a whole number for each process, or one process would work alone at the end.
MIN_SECONDS = 10.0
FEWEST_SECONDS = 3.0  # where there is less to do than that for each process of a run
SHARDS_A_SLOT = 3
# A longer one would be lost work for a scheduler that starts jobs anew, and a silent one.
MAX_SECONDS = 600.0
# What is never divided, so that the plan of millions needs no list of them: a third of a second.
_PIECE_COMMENTS, _PIECE_FILES = 100, 15
_PIECE_SECONDS = _PIECE_COMMENTS * COMMENT_SECONDS + _PIECE_FILES * FILE_SECONDS


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
    `stale` finished comments have newer files (None: not looked for). Attachments and bytes are
    estimates in the dockets `sampled`.
    """

    shards: tuple[Shard, ...]
    settling: int = 0
    stale: int | None = None
    dockets: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    sampled: frozenset[str] = frozenset()

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
    scan = Scan(state, options)
    shards, dockets = cut(scan.items(), options)
    stale = scan.stale if options.stale else None
    return Plan(shards, scan.settling, stale, dockets, frozenset(scan.sampled))


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
    shards = tuple(_joined(pieces, options, _most_seconds(total, options.slots)))
    return shards, {docket: tuple(counts) for docket, counts in sums.items() if counts[0]}


def _most_seconds(total: float, slots: int) -> float:
    """Return how many seconds of expected work a shard has at the most."""
    rounds = min(max(int(total / MIN_SECONDS) // slots, 1), SHARDS_A_SLOT)
    # Small runs are cut finer, so that `-j 8` has work for eight.
    # With room for one piece, or what each leaves over would make a shard of its own.
    return min(MAX_SECONDS, max(FEWEST_SECONDS, total / (rounds * slots)) + _PIECE_SECONDS)


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


def _pieces(
    docket: str, items: Iterable[Item], options: PlanOptions, sums: list[int]
) -> Iterator[Shard]:
    """Yield the comments of one docket in small runs, and add them up in `sums`."""
    most, most_bytes = min(options.shard_comments, _PIECE_COMMENTS), options.shard_bytes
    first = last = ""
    comments = attachments = size = 0
    for _, comment, own, own_size, run, end in items:
        if comments and (
            comments + run > most
            or attachments + own > _PIECE_FILES
            or size + own_size > most_bytes
        ):
            yield Shard(docket, first, docket, last, comments, attachments, size)
            comments = attachments = size = 0
        if not comments:
            first = comment
        last = end or comment
        comments += run
        attachments += own
        size += own_size
        sums[1] += own
        sums[2] += own_size
        sums[0] += run
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
    lines = [
        f"  {docket}: {_amounts(*counts, about=int(docket in plan.sampled))}"
        for docket, counts in ranked[:most_dockets]
    ]
    if len(ranked) > most_dockets:
        lines.append(f"  and {len(ranked) - most_dockets} more dockets")
    total = _amounts(plan.comments, plan.attachments, plan.size, about=2 * bool(plan.sampled))
    lines.append(f"pending in {len(ranked)} dockets: {total}, {len(plan.shards)} shards")
    if plan.settling:
        lines.append(f"left for later, files still arriving: {plan.settling} comments")
    if plan.stale:
        lines.append(
            f"stale, files newer than combined.md: {plan.stale} comments; --config redo=stale"
        )
    return lines


def _amounts(comments: int, attachments: int, size: int, *, about: int) -> str:
    """`about` is how many figures are known, 0: all."""
    if about:
        files, megabytes = _rounded(attachments, about), _rounded(size / 1e6, about)
        return f"{comments} comments, about {files} attachments, about {megabytes} MB"
    return f"{comments} comments, {attachments} attachments, {size / 1e6:.1f} MB"


def _rounded(amount: float, figures: int) -> str:
    text = f"{amount:.{figures}g}"  # `3e+03`
    return f"{float(text):.0f}" if amount >= 10 else f"{float(text):g}"
