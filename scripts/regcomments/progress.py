"""How far a run is: counts of jobs, their receipts, and lines for people.

    <work>/extract/<gen>/<dockets>/<first>..<last>.json       receipt of a finished job
    <work>/extract/<gen>/<dockets>/<first>..<last>.running    how far a job at work is

A log gets plain lines, one after the other. A terminal gets a line a job that rewrites itself: the
jobs write how far they are, the main process draws them (see live).
"""

from __future__ import annotations

import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regcomments.atomic import write_atomic

BEAT_SECONDS = 10.0  # a line this often tells that a long job is alive
SLOW_SECONDS = 5.0  # a file in hand for so long is named; a letter takes a tenth of a second
SURE_SECONDS = 3.0  # before that a guess of the time left is worth nothing
LIVE_SECONDS = 1.0  # between two writings of where a job is, while the main process draws it
LOST_SECONDS = (
    60.0  # a job that wrote nothing for so long was killed; its clock may differ a little
)
RUNNING = ".running"
LIVE_VARIABLE = "REGCOMMENTS_RUN_LIVE"  # set for jobs whose progress the main process draws


@dataclass
class Counts:
    """What a shard did: comments, attachments, statuses `status/reason`, seconds.

    `repeated` attachments had the bytes of an earlier one and were not read again.
    """

    comments: int = 0
    written: int = 0
    attachments: int = 0
    repeated: int = 0
    failed_comments: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, object]:
        """Return the counts as JSON takes them."""
        return {**vars(self), "statuses": dict(self.statuses)}

    def to_json(self) -> str:
        """Return the counts on one line."""
        return json.dumps(self.to_dict(), sort_keys=True) + "\n"

    def add(self, raw: Mapping[str, Any]) -> None:
        """Add counts that `to_dict` gave. Raises ValueError, TypeError, AttributeError."""
        raw = dict(raw)
        self.statuses.update(raw.pop("statuses"))
        for key, value in raw.items():
            setattr(self, key, getattr(self, key) + value)


@dataclass(frozen=True)
class Running:
    """How far a job at work is: `counts` of `total` comments, `at` which comment or file.

    `slow` are the seconds that the file is in hand, `beat` the epoch second of this record, 0 when
    the job was broken off.
    """

    title: str
    total: int
    at: str
    slow: float
    beat: float
    counts: Counts

    def to_json(self) -> str:
        """Return the record on one line."""
        return json.dumps({**vars(self), "counts": self.counts.to_dict()}) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Running:
        """Return what `to_json` wrote. Raises ValueError, TypeError, AttributeError, KeyError."""
        raw = json.loads(text)
        counts = Counts()
        counts.add(raw.pop("counts"))
        return cls(**raw, counts=counts)

    @property
    def lost(self) -> bool:
        """True when the job has told nothing for so long that it must have been killed."""
        return time.time() - self.beat > LOST_SECONDS

    def text(self) -> str:
        """Return `A-1: 359/1023 comments, 5.9 files/s, ETA 2 min, at A-1-360`."""
        done, spent = self.counts.comments, max(self.counts.seconds, 1e-6)
        text = f"{self.title}: {done}/{self.total} comments"
        text += f", {self.counts.attachments / spent:.1f} files/s"
        if 0 < done < self.total and spent >= SURE_SECONDS:
            text += f", ETA {duration((self.total - done) * spent / done)}"
        text += f", at {self.at}"
        return text + (f" for {self.slow:.0f} s" if self.slow >= SLOW_SECONDS else "")


class Receipts:
    """The receipts below the folder of one generation; finished ones are read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._done: dict[str, Counts] = {}

    def look(self) -> tuple[Counts, list[Running]]:
        """Return the sum of the finished jobs, and the jobs at work by title, as they are now.

        A damaged receipt counts nothing.
        """
        running: dict[str, Running] = {}
        for path in _files(self._folder):
            try:
                if path.endswith(".json") and path not in self._done:
                    counts = Counts()
                    counts.add(json.loads(Path(path).read_text("utf-8")))
                    self._done[path] = counts
                elif path.endswith(RUNNING):
                    running[path] = Running.from_json(Path(path).read_text("utf-8"))
            except (OSError, ValueError, AttributeError, TypeError, KeyError):
                continue
        total = Counts()
        for counts in self._done.values():
            total.add(counts.to_dict())
        # A job that ends between the looks has both for a moment.
        at_work = [
            item
            for path, item in running.items()
            if f"{path.removesuffix(RUNNING)}.json" not in self._done
        ]
        return total, sorted(at_work, key=lambda item: item.title)


def read_receipts(folder: Path, *, running: bool = False) -> Counts:
    """Return the sum of all receipts below `folder`; a damaged one counts nothing.

    With `running` the jobs at work count too, as far as they last told.
    """
    total, at_work = Receipts(folder).look()
    for job in at_work if running else ():
        total.add(job.counts.to_dict())
    return total


def jobs_at_work(work: Path) -> list[Running]:
    """Return the jobs that extract at this moment, of all runs with the folder `work`."""
    jobs = [
        job
        for generation in sorted(work.glob("extract/*"))
        for job in Receipts(generation).look()[1]
    ]
    return [job for job in jobs if not job.lost]


def _files(folder: Path) -> list[str]:
    found = []
    for base, _, names in os.walk(folder):
        found += [os.path.join(base, name) for name in sorted(names)]
    return found


def write_receipt(path: Path, counts: Counts) -> None:
    """Write the receipt that tells Snakemake that the shard is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, counts.to_json())


class Progress:
    """Tells now and then how far one job is, and with the others of its run in all.

    `title` names the job, `total` is its number of comments, `receipt` the file it will write,
    `planned` and `started` the comments of the run and the epoch second of its start (0: unknown).
    `note` takes the lines that tell no more than that time passes; `say` if not given.
    """

    def __init__(
        self,
        title: str,
        say: Callable[[str], None],
        receipt: Path | None = None,
        planned: int = 0,
        started: float = 0.0,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self.title = title
        self.say = say
        self.total = 0
        self._note = note or say
        self._receipt = receipt
        self._planned = planned
        self.run_started = started
        self._started = self._shown = time.monotonic()
        self._beat = LIVE_SECONDS if os.environ.get(LIVE_VARIABLE) else BEAT_SECONDS
        self._written = -math.inf
        self._last: tuple[Counts, str] | None = None

    def show(self, counts: Counts, at: str, slow: float = 0.0) -> None:
        """Write and print what is due: the job works on `at`, for `slow` seconds by now."""
        now = time.monotonic()
        self._last = counts, at
        if now - self._written < self._beat and now - self._shown < BEAT_SECONDS:
            return
        counts.seconds = round(now - self._started, 3)
        state = Running(self.title, self.total, at, slow, time.time(), counts)
        if self._receipt is not None:
            self._written = now
            running = self._receipt.with_suffix(RUNNING)
            running.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(running, state.to_json())
        if now - self._shown >= BEAT_SECONDS:
            self._shown = now
            self._note(state.text() + self._in_all())

    def finish(self, counts: Counts) -> None:
        """Write the receipt and print the job's last line."""
        if self._receipt is None:
            return
        write_receipt(self._receipt, counts)
        self.withdraw()
        speed = counts.attachments / counts.seconds if counts.seconds else 0.0
        self.say(
            f"{self.title}: done, {counts.comments} comments, {counts.attachments} attachments, "
            f"{speed:.1f} files/s{self._in_all()}"
        )

    def break_off(self) -> None:
        """Leave on record what was done, as a job that is no longer at work."""
        if self._receipt is None or self._last is None:
            return
        counts, at = self._last
        counts.seconds = round(time.monotonic() - self._started, 3)
        state = Running(self.title, self.total, at, 0.0, 0.0, counts)
        running = self._receipt.with_suffix(RUNNING)
        running.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(running, state.to_json())

    def withdraw(self) -> None:
        """Count no longer as a job at work."""
        if self._receipt is not None:
            self._receipt.with_suffix(RUNNING).unlink(missing_ok=True)

    def _in_all(self) -> str:
        if not self._planned or self._receipt is None:
            return ""
        done = read_receipts(self._receipt.parents[1], running=True)
        return f"; {in_all_text(done, self._planned, self.run_started)}"


def in_all_text(done: Counts, planned: int, started: float) -> str:
    """Return `in all 400 of 1000 comments, ETA 3 min, 0.8 files/s`, counted from `started`."""
    spent = max(time.time() - started, 1e-6)
    text = f"in all {done.comments} of {planned} comments"
    if done.comments and spent >= SURE_SECONDS:
        left = max(0, planned - done.comments) * spent / done.comments
        text += f", ETA {duration(left)}"
    return f"{text}, {done.attachments / spent:.1f} files/s"


def board(receipts: Receipts, planned: int, started: float) -> list[str]:
    """Return a line for each job at work and one for the run, for a terminal."""
    total, at_work = receipts.look()
    lines = [f"  {job.text()}" for job in at_work if not job.lost]
    for job in at_work:
        total.add(job.counts.to_dict())
    return [*lines, f"  {in_all_text(total, planned, started)}"]


def duration(seconds: float) -> str:
    """Return `seconds` as 42 s, 3 min or 2 h 05 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"


def summary_lines(total: Counts) -> list[str]:
    """Return a table of statuses and reasons with their counts."""
    lines = [f"{total.comments} comments, {total.attachments} attachments"]
    if total.repeated:
        lines[0] += f" ({total.repeated} the same as an earlier one, read once)"
    for key, count in sorted(total.statuses.items()):
        status, _, reason = key.partition("/")
        lines.append(f"  {status:<12} {reason:<16} {count:>8}")
    if total.failed_comments:
        lines.append(f"  {total.failed_comments} comment folders could not be read or written")
    return lines
