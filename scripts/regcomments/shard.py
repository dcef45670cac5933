"""One job of extraction: the comments of a shard, one after the other, and a receipt at the end."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from regcomments import layout
from regcomments.atomic import write_atomic
from regcomments.bib import Bib, open_bib
from regcomments.comment import Outcome, make_combined
from regcomments.config import Settings
from regcomments.errors import UserError, disk_is_full
from regcomments.pagestore import append_facts, append_pairs
from regcomments.plan import wanted_comments
from regcomments.read.worker import OcrLookup, Worker
from regcomments.redo import Redo

BEAT_SECONDS = 15.0  # a line this often tells that a long shard is alive


@dataclass
class Counts:
    """What a shard did: comments, attachments, their bytes, statuses `status/reason`, seconds."""

    comments: int = 0
    written: int = 0
    attachments: int = 0
    bytes: int = 0
    failed_comments: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def to_json(self) -> str:
        """Return the counts on one line."""
        return json.dumps({**vars(self), "statuses": dict(self.statuses)}, sort_keys=True) + "\n"


def read_receipts(folder: Path) -> Counts:
    """Return the sum of all receipts below `folder`; a damaged one counts nothing."""
    total = Counts()
    for path in sorted(folder.rglob("*.json")):
        try:
            raw = json.loads(path.read_text("utf-8"))
            total.statuses.update(raw.pop("statuses"))
            for key, value in raw.items():
                setattr(total, key, getattr(total, key) + value)
        except (OSError, ValueError, AttributeError, TypeError):
            continue
    return total


def bodies_of(settings: Settings, comments: list[str]) -> dict[str, str]:
    """Return the inline bodies of `comments` in one query. Raises BibError."""
    if settings.bib == "none" or not comments:
        return {}
    columns = settings.bib_columns
    bib: Bib = open_bib(
        Path(settings.bib), table=columns.table, id_column=columns.id, body_column=columns.body
    )
    try:
        return bib.bodies(comments)
    finally:
        bib.close()


def run_shard(
    settings: Settings,
    *,
    docket: str,
    first: str,
    last: str,
    redo: Redo | None = None,
    limit: int | None = None,
    say: Callable[[str], None] = print,
) -> Counts:
    """Write combined.md for the wanted comments `first` to `last` of `docket`.

    A comment whose folder can't be read or written is told with `say`, counted and left; the
    others go on. Raises UserError when the database of bodies can't be read or the disk is full.
    """
    state = Path(settings.state)
    started = time.monotonic()
    wanted = list(wanted_comments(state, docket, redo, first, last))[:limit]
    bodies = bodies_of(settings, wanted)
    counts = Counts()
    facts: dict[str, object] = {}
    pairs: list[tuple[str, str, object]] = []
    beat = started
    ocr = OcrLookup(state, settings.ocr.get("engine")) if _has_ocr(state) else None
    with Worker(settings.limits(), settings.options(), ocr, fork=True) as worker:
        for number, comment in enumerate(wanted, start=1):
            try:
                outcome = make_combined(state / docket / comment, bodies, worker)
            except FileNotFoundError:
                continue  # the folder went while we worked
            except OSError as error:
                if disk_is_full(error):
                    raise UserError(
                        f"no space left while writing {state / docket / comment}: make room and "
                        "run the same command again; what is done stays done"
                    ) from error
                say(f"{docket}/{comment}: {error.strerror or error}: {error.filename or ''}")
                counts.failed_comments += 1
                continue
            _count(counts, outcome)
            facts.update(outcome.page_facts)
            pairs += [(docket, comment, pair) for pair in outcome.pairs]
            if time.monotonic() - beat >= BEAT_SECONDS:
                beat = time.monotonic()
                speed = counts.attachments / (beat - started)
                say(f"{docket}: {number}/{len(wanted)} comments, {speed:.1f} files/s, at {comment}")
    name = f"{docket}.{first}.{last}"
    append_facts(state, name, facts)
    append_pairs(state, name, pairs)
    counts.seconds = round(time.monotonic() - started, 3)
    return counts


def write_receipt(path: Path, counts: Counts) -> None:
    """Write the receipt that tells Snakemake that the shard is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, counts.to_json())


def progress_line(
    docket: str, counts: Counts, done: Counts, total_comments: int, started: float, now: float
) -> str:
    """Return the line for a finished shard.

    `done` sums the finished shards of this run, this one included; `started` and `now` are epoch
    seconds. The ETA supposes that the rest goes at the speed so far.
    """
    speed = counts.attachments / counts.seconds if counts.seconds else 0.0
    line = (
        f"{docket}: {counts.comments} comments, {counts.attachments} attachments, "
        f"{speed:.1f} files/s"
    )
    if total_comments:
        left = max(0, total_comments - done.comments)
        eta = left * (now - started) / done.comments if done.comments else 0.0
        line += f"; {done.comments} of {total_comments} comments, ETA {duration(eta)}"
    return line


def duration(seconds: float) -> str:
    """Return `seconds` as 42 s, 3 min or 2 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def summary_lines(total: Counts) -> list[str]:
    """Return a table of statuses and reasons with their counts."""
    lines = [f"{total.comments} comments, {total.attachments} attachments"]
    for key, count in sorted(total.statuses.items()):
        status, _, reason = key.partition("/")
        lines.append(f"  {status:<12} {reason:<16} {count:>8}")
    if total.failed_comments:
        lines.append(f"  {total.failed_comments} comment folders could not be read or written")
    return lines


def _count(counts: Counts, outcome: Outcome) -> None:
    counts.comments += 1
    counts.written += outcome.written
    for entry in outcome.combined.head.attachments:
        if not entry.is_member:
            counts.attachments += 1
        counts.statuses[f"{entry.status}/{entry.reason or ''}"] += 1


def _has_ocr(state: Path) -> bool:
    return (state / layout.OCR_FOLDER).is_dir()
