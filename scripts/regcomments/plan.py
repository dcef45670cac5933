"""What is to be done: pending comment folders, cut into shards of bounded cost.

A comment is pending while it has no combined.md. The plan costs two levels of `os.scandir` plus
one for each pending folder (164,000 folders: 0.4 s of CPU when all are done), so it runs in the
main process only, and only when a target asks for extraction.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regcomments import layout
from regcomments.layout import natural_key
from regcomments.redo import Redo

MIN_SHARD = 25  # comments; starting a shard costs 0.3 s, as much as reading 25 letters


@dataclass(frozen=True)
class PlanOptions:
    """What to plan. `limit` bounds the comments in all; `settle_seconds` leaves young folders."""

    docket: str | None = None
    limit: int | None = None
    redo: Redo | None = None
    shard_comments: int = 500
    shard_bytes: int = 256 << 20
    settle_seconds: int = 0


@dataclass(frozen=True)
class Shard:
    """The comments `first` to `last` (natural order) of one docket that are to be done."""

    docket: str
    first: str
    last: str
    comments: int
    attachments: int
    size: int


@dataclass(frozen=True)
class Plan:
    """The shards, and what is left for later: folders too young, comments beyond the limit."""

    shards: tuple[Shard, ...]
    settling: int = 0

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
    names = [options.docket] if options.docket else layout.dockets(state)
    left = options.limit if options.limit is not None else None
    settling = 0
    items: dict[str, list[tuple[str, int, int]]] = {}
    for docket in names:
        wanted: list[tuple[str, int, int]] = []
        try:
            found = list(wanted_comments(state, docket, options.redo))
        except OSError:
            # The job of this shard fails and says why; the other dockets go on.
            items[docket] = [("unreadable", 0, 0)]
            continue
        for comment in found:
            if left is not None and left <= 0:
                break
            spent = cost(state, docket, comment, options.settle_seconds)
            if spent is None:
                settling += 1
                continue
            wanted.append((comment, *spent))
            if left is not None:
                left -= 1
        if wanted:
            items[docket] = wanted
    total = sum(len(wanted) for wanted in items.values())
    # Small runs are cut finer, so that `-j 8` has work for eight.
    most = min(options.shard_comments, max(MIN_SHARD, total // 16))
    shards = [
        shard
        for docket, wanted in items.items()
        for shard in _cut(docket, wanted, most, options.shard_bytes)
    ]
    return Plan(tuple(shards), settling)


def wanted_comments(
    state: Path,
    docket: str,
    redo: Redo | None,
    first: str | None = None,
    last: str | None = None,
) -> Iterator[str]:
    """Yield the comments of `docket` to be done, in natural order, `first` to `last` if given.

    Without `redo` these are the ones that have no combined.md; with it the ones that have one
    which `redo` picks.
    """
    low = natural_key(first) if first is not None else None
    high = natural_key(last) if last is not None else None
    base = os.path.join(state, docket)
    for comment in layout.comments(state, docket):
        if low is not None and natural_key(comment) < low:
            continue
        if high is not None and natural_key(comment) > high:
            return
        folder = f"{base}/{comment}"
        done = os.access(f"{folder}/{layout.COMBINED}", os.F_OK)
        if redo is None:
            if not done:
                yield comment
        elif done and redo.picks(Path(folder)):
            yield comment


def cost(state: Path, docket: str, comment: str, settle: int) -> tuple[int, int] | None:
    """Return attachments and their bytes; None when a file is younger than `settle` seconds."""
    try:
        content = layout.scan_folder(f"{state}/{docket}/{comment}")
    except OSError:
        return 0, 0  # the shard will say what is wrong with it
    if settle:
        edge = time.time_ns() - settle * 1_000_000_000
        if any(item.mtime_ns > edge for item in content.attachments):
            return None
    return len(content.attachments), sum(item.size for item in content.attachments)


def _cut(
    docket: str, wanted: list[tuple[str, int, int]], most: int, most_bytes: int
) -> Iterator[Shard]:
    start = 0
    size = 0
    for index, (_, _, own) in enumerate(wanted):
        if index > start and (index - start >= most or size + own > most_bytes):
            yield _shard(docket, wanted[start:index])
            start, size = index, 0
        size += own
    yield _shard(docket, wanted[start:])


def _shard(docket: str, part: list[tuple[str, int, int]]) -> Shard:
    return Shard(
        docket,
        part[0][0],
        part[-1][0],
        len(part),
        sum(item[1] for item in part),
        sum(item[2] for item in part),
    )


def preview(plan: Plan, most_dockets: int = 40) -> list[str]:
    """Return lines that tell what the plan holds, per docket and in all."""
    lines = []
    by_docket: dict[str, Counter[str]] = {}
    for shard in plan.shards:
        counts = by_docket.setdefault(shard.docket, Counter())
        counts["comments"] += shard.comments
        counts["attachments"] += shard.attachments
        counts["bytes"] += shard.size
        counts["shards"] += 1
    ranked = sorted(by_docket.items(), key=lambda item: -item[1]["comments"])
    for docket, counts in ranked[:most_dockets]:
        lines.append(f"  {docket}: {_amounts(counts)}")
    if len(ranked) > most_dockets:
        lines.append(f"  and {len(ranked) - most_dockets} more dockets")
    total = sum((counts for _, counts in ranked), Counter())
    lines.append(f"pending in {len(ranked)} dockets: {_amounts(total)}")
    if plan.settling:
        lines.append(f"left for later, files still arriving: {plan.settling} comments")
    return lines


def _amounts(counts: Counter[str]) -> str:
    return (
        f"{counts['comments']} comments, {counts['attachments']} attachments, "
        f"{counts['bytes'] / 1e6:.1f} MB, {counts['shards']} shards"
    )
