"""How far a run is: counts of jobs, their receipts, and lines for people.

    <work>/extract/<gen>/<dockets>/<first>..<last>.json       receipt of a finished job
    <work>/extract/<gen>/<dockets>/<first>..<last>.running    counts of a job at work

Lines are plain, one after the other, since several jobs write to one terminal and to their logs.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from regcomments.atomic import write_atomic

BEAT_SECONDS = 10.0  # a line this often tells that a long job is alive
SLOW_SECONDS = 5.0  # a file in hand for so long is named; a letter takes a tenth of a second
RUNNING = ".running"


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

    def to_json(self) -> str:
        """Return the counts on one line."""
        return json.dumps({**vars(self), "statuses": dict(self.statuses)}, sort_keys=True) + "\n"

    def add(self, text: str) -> None:
        """Add counts that `to_json` wrote. Raises ValueError, TypeError, AttributeError."""
        raw = json.loads(text)
        self.statuses.update(raw.pop("statuses"))
        for key, value in raw.items():
            setattr(self, key, getattr(self, key) + value)


def read_receipts(folder: Path, *, running: bool = False) -> Counts:
    """Return the sum of all receipts below `folder`; a damaged one counts nothing.

    With `running` the jobs at work count too, as far as they were at their last line.
    """
    total = Counts()
    for path in sorted(folder.rglob("*.json")) + sorted(
        folder.rglob(f"*{RUNNING}") if running else ()
    ):
        try:
            total.add(path.read_text("utf-8"))
        except (OSError, ValueError, AttributeError, TypeError):
            continue
    return total


def write_receipt(path: Path, counts: Counts) -> None:
    """Write the receipt that tells Snakemake that the shard is done."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, counts.to_json())


class Progress:
    """Tells now and then how far one job is, and with the others of its run in all.

    `title` names the job, `total` is its number of comments, `receipt` the file it will write,
    `planned` and `started` the comments of the run and the epoch second of its start (0: unknown).
    """

    def __init__(
        self,
        title: str,
        say: Callable[[str], None],
        receipt: Path | None = None,
        planned: int = 0,
        started: float = 0.0,
    ) -> None:
        self.title = title
        self.say = say
        self.total = 0
        self._receipt = receipt
        self.run_started = started
        self._planned = planned
        self._started = self._shown = time.monotonic()

    def show(self, counts: Counts, at: str, slow: float = 0.0) -> None:
        """Print a line when one is due: the job works on `at`, for `slow` seconds by now."""
        now = time.monotonic()
        if now - self._shown < BEAT_SECONDS:
            return
        self._shown = now
        line = f"{self.title}: {self.job_text(counts, now)}, at {at}"
        if slow >= SLOW_SECONDS:
            line += f" for {slow:.0f} s"
        if self._receipt is not None:
            counts.seconds = round(now - self._started, 3)
            running = self._receipt.with_suffix(RUNNING)
            running.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(running, counts.to_json())
            line += self._in_all()
        self.say(line)

    def job_text(self, counts: Counts, now: float) -> str:
        """Return `359/1023 comments, 5.9 files/s, ETA 2 min`."""
        spent = max(now - self._started, 1e-6)
        text = f"{counts.comments}/{self.total} comments, {counts.attachments / spent:.1f} files/s"
        if 0 < counts.comments < self.total:
            left = (self.total - counts.comments) * spent / counts.comments
            text += f", ETA {duration(left)}"
        return text

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

    def withdraw(self) -> None:
        """Count no longer as a job at work."""
        if self._receipt is not None:
            self._receipt.with_suffix(RUNNING).unlink(missing_ok=True)

    def _in_all(self) -> str:
        if not self._planned:
            return ""
        done = read_receipts(self._receipt.parents[1], running=True)
        spent = max(time.time() - self.run_started, 1e-6)
        left = max(0, self._planned - done.comments) * spent / max(1, done.comments)
        return (
            f"; in all {done.comments} of {self._planned} comments, ETA {duration(left)}, "
            f"{done.attachments / spent:.1f} files/s"
        )


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
