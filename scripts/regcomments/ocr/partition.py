"""Which host reads which part of the queue, without a cluster.

Every host draws the same plan from the same queue and the same host files: pieces of work,
longest first, each to the host that would be done with it first (LPT for machines of unlike
speed; Graham 1969, Gonzalez, Ibarra and Sahni 1977).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from regcomments.errors import UserError
from regcomments.ocr.queue import Row, order, split_row

# A piece larger than this part of the slowest host's fair share is split. With a hundredth the
# last piece given out moves the end of the run by under 1 %.
_PIECE_SHARE = 0.2
# Pages below which a file isn't split: opening it on two hosts costs about as much.
_MIN_PIECE = 25


@dataclass(frozen=True)
class Host:
    """A host that reads pages: its name, speed in pages a second, and whether it takes part."""

    name: str
    speed: float
    active: bool = True
    gpu: str | None = None


@dataclass(frozen=True)
class Share:
    """One host's part of the queue; `hours` at its speed."""

    host: Host
    rows: tuple[Row, ...]

    @property
    def pages(self) -> int:
        """Pages to read."""
        return sum(len(row.pages) for row in self.rows)

    @property
    def hours(self) -> float:
        """Hours that they take at the host's speed."""
        return self.pages / self.host.speed / 3600


def host_of(facts: Mapping[str, Any]) -> Host:
    """Return the host that `facts` (of hosts.load_facts) describe."""
    return Host(facts["name"], facts["pages_per_second"], facts["active"], facts.get("gpu"))


def partition(rows: Iterable[Row], hosts: Sequence[Host]) -> dict[str, tuple[Row, ...]]:
    """Return the rows of each active host, by its name; every page goes to exactly one.

    Comments stay whole where they can. One that is large against the slowest host's fair share
    is split by attachment, and so is an attachment by page ranges. The result depends on the
    rows and hosts only, not on their order. Raises UserError when no host is active.
    """
    active = sorted((host for host in hosts if host.active), key=lambda host: host.name)
    if not active:
        raise UserError("no host is active: set `active: true` in a file of config/hosts")
    rows = sorted(rows, key=order)
    pieces = _pieces(rows, active)
    pieces.sort(key=lambda piece: (-_pages(piece), order(piece[0])))
    load = dict.fromkeys((host.name for host in active), 0)
    given: dict[str, list[Row]] = {host.name: [] for host in active}
    for piece in pieces:
        pages = _pages(piece)
        best = min(active, key=lambda host: ((load[host.name] + pages) / host.speed, host.name))
        load[best.name] += pages
        given[best.name].extend(piece)
    return {name: tuple(_joined(part)) for name, part in given.items()}


def _pieces(rows: Sequence[Row], hosts: Sequence[Host]) -> list[list[Row]]:
    total = sum(len(row.pages) for row in rows)
    slowest = min(host.speed for host in hosts) / sum(host.speed for host in hosts)
    if len(hosts) == 1:
        return [[row] for row in rows]
    limit = max(1, int(_PIECE_SHARE * slowest * total))
    by_comment: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        by_comment[row.comment_key].append(row)
    pieces: list[list[Row]] = []
    for group in by_comment.values():
        if _pages(group) <= limit:
            pieces.append(group)
            continue
        for row in group:
            pieces += [[part] for part in split_row(row, max(limit, _MIN_PIECE))]
    return pieces


def _joined(rows: Iterable[Row]) -> list[Row]:
    """Return `rows` in natural order, the parts of one file on one host put together again."""
    files: dict[str, Row] = {}
    for row in rows:
        known = files.get(row.sha256)
        if known is not None:
            pages = tuple(sorted({*known.pages, *row.pages}))
            row = Row(row.docket, row.comment, row.file, row.sha256, pages, row.n_pages)
        files[row.sha256] = row
    return sorted(files.values(), key=order)


def shares(rows: Iterable[Row], hosts: Sequence[Host]) -> list[Share]:
    """Return `partition` as shares, by host name."""
    by_name = {host.name: host for host in hosts}
    return [Share(by_name[name], part) for name, part in sorted(partition(rows, hosts).items())]


def remaining(share: Iterable[Row], rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return what of `share` is still among `rows`.

    Hosts start at different times: each draws the partition over all wanted pages, which stays
    the same, and then leaves out those that are read.
    """
    left = {row.sha256: set(row.pages) for row in rows}
    parts = (
        replace(row, pages=tuple(page for page in row.pages if page in left.get(row.sha256, ())))
        for row in share
    )
    return tuple(part for part in parts if part.pages)


def makespan(pages: Mapping[str, int], speeds: Mapping[str, float]) -> float:
    """Return the seconds until the last host is done with its `pages`."""
    return max((count / speeds[name] for name, count in pages.items()), default=0.0)


def plan_text(parts: Sequence[Share]) -> str:
    """Return the plan for people: files, pages and hours by host, and the end against the ideal.

    The ideal is all pages at the sum of the speeds, as if pages could be shared out freely.
    """
    lines = [f"{'host':<12}{'files':>8}{'pages':>9}{'hours':>8}  pages/s"]
    for part in parts:
        lines.append(
            f"{part.host.name:<12}{len(part.rows):>8}{part.pages:>9}{part.hours:>8.2f}"
            f"  {part.host.speed:g}"
        )
    total = sum(part.pages for part in parts)
    ideal = total / sum(part.host.speed for part in parts) / 3600 if parts else 0.0
    speeds = {part.host.name: part.host.speed for part in parts}
    last = makespan({part.host.name: part.pages for part in parts}, speeds) / 3600
    ratio = f", {last / ideal:.2f} of the ideal {ideal:.2f} h" if ideal else ""
    lines.append(f"{total} pages, the last host is done after {last:.2f} h{ratio}")
    return "\n".join(lines)


def _pages(rows: Iterable[Row]) -> int:
    return sum(len(row.pages) for row in rows)
