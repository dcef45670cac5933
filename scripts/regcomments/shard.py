"""One job of extraction: the comments of a shard, one after the other, and a receipt at the end."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from regcomments import layout
from regcomments.atomic import write_atomic
from regcomments.bib import Bib, open_bib
from regcomments.comment import Outcome, make_combined
from regcomments.config import Settings
from regcomments.errors import UserError, disk_is_full, full_disk
from regcomments.pagestore import append_facts, append_pairs
from regcomments.plan import cost, wanted_comments
from regcomments.read.worker import OcrLookup, Worker
from regcomments.records import Page
from regcomments.redo import Redo
from regcomments.renditions import Pair

BEAT_SECONDS = 15.0  # a line this often tells that a long shard is alive
KEEP_COMMENTS = 250  # comments whose page facts are written at once; a kill loses at most these


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


def bodies_of(settings: Settings, comments: list[str]) -> dict[str, str] | None:
    """Return the inline bodies of `comments` in one query, None without a database.

    Raises BibError.
    """
    if settings.bib == "none":
        return None
    if not comments:
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
    others go on. Raises UserError when the docket, the database of bodies or the reading process
    can't be used, or the disk is full.
    """
    state = Path(settings.state)
    started = beat = time.monotonic()
    try:
        names = list(wanted_comments(state, docket, redo, first, last))
    except OSError as error:
        raise UserError(f"docket {docket} can't be read: {error.strerror or error}") from error
    if not (state / docket).is_dir():
        raise UserError(f"docket {docket} is not in {state} any more: is the disk mounted?")
    wanted = [
        name
        for name in names
        if not settings.settle_seconds
        or cost(state, docket, name, settings.settle_seconds) is not None
    ][:limit]
    bodies = bodies_of(settings, wanted)
    counts = Counts()
    keeper = _Keeper(state, f"{docket}.{first}.{last}")
    ocr = None
    if (state / layout.OCR_FOLDER).is_dir():
        ocr = OcrLookup(state, settings.ocr.get("engine"), settings.ocr.get("max_attempts", 3))
    with keeper, Worker(settings.limits(), settings.options(), ocr, fork=True) as worker:
        for number, comment in enumerate(wanted, start=1):
            folder = state / docket / comment
            try:
                outcome = make_combined(folder, bodies, worker)
            except UserError:
                raise
            except Exception as error:  # one comment's trouble must not end the shard
                if isinstance(error, OSError) and disk_is_full(error):
                    raise UserError(full_disk(folder)) from error
                if isinstance(error, FileNotFoundError) and not folder.is_dir():
                    continue  # the folder went while we worked
                say(f"{docket}/{comment}: {type(error).__name__}: {error}")
                counts.failed_comments += 1
                continue
            _count(counts, outcome)
            keeper.add(docket, comment, outcome)
            if time.monotonic() - beat >= BEAT_SECONDS:
                beat = time.monotonic()
                speed = counts.attachments / (beat - started)
                say(f"{docket}: {number}/{len(wanted)} comments, {speed:.1f} files/s, at {comment}")
    counts.seconds = round(time.monotonic() - started, 3)
    return counts


class _Keeper:
    """Keeps page facts and pairs of a shard, a part at a time, so that a kill loses little."""

    def __init__(self, state: Path, name: str) -> None:
        self._state, self._name = state, name
        self._facts: dict[str, Sequence[Page]] = {}
        self._pairs: list[tuple[str, str, Pair]] = []
        self._held = 0

    def __enter__(self) -> _Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self._flush()

    def add(self, docket: str, comment: str, outcome: Outcome) -> None:
        """Keep what is worth keeping of one comment."""
        self._facts.update(outcome.page_facts)
        self._pairs += [(docket, comment, pair) for pair in outcome.pairs]
        self._held += 1
        if self._held >= KEEP_COMMENTS:
            self._flush()

    def _flush(self) -> None:
        try:
            append_facts(self._state, self._name, self._facts)
            append_pairs(self._state, self._name, self._pairs)
        except OSError as error:
            if disk_is_full(error):
                raise UserError(full_disk(self._state)) from error
            raise
        self._facts, self._pairs, self._held = {}, [], 0


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
