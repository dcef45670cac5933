"""`regcomments push` and `pull`: OCR results to and from an S3-compatible store.

Both only add. A file that is there already is left. Other bytes under its name go beside it when
they have pages that it lacks; pages that were read differently are a conflict, which is reported
and, when pulling, kept aside. Every file is checked before it is sent and after it has arrived, and
a second run does what the first left undone.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from regcomments import transfer_files as files
from regcomments.ocr.store import StoreError, parse
from regcomments.progress import duration
from regcomments.transfer_compare import MAX_VARIANTS, Worth, variants, worth
from regcomments.transfer_s3 import Bucket, DamagedError, ObjectError, Stored, TransferError

DEFAULT_JOBS = 8  # transfers at once; more don't help with a store on the same network
REPORT_SECONDS = 5.0
MAX_FAILURES = 20  # a store that fails this often is out of order
NAMED = 10  # items of a kind that are told by name


class Fate(StrEnum):
    """What became of one file."""

    MOVED = "moved"
    THERE = "were there already"
    CONFLICT = "conflicts: pages read differently; nothing was replaced"
    DAMAGED = "damaged and not moved"
    FAILED = "failed; the same command tries them again"
    STRANGER = "names that aren't of the store were left alone"


# Fates after which the two sides differ still.
_BAD = (Fate.CONFLICT, Fate.DAMAGED, Fate.FAILED)


@dataclass(frozen=True)
class Outcome:
    """The fate of one file, its bytes when moved, and what there is to say about it."""

    fate: Fate
    size: int = 0
    about: str = ""


@dataclass
class Report:
    """What became of all files: counts by fate, and what is to be said about those in doubt."""

    what: str
    total: int = 0
    counts: dict[Fate, int] = field(default_factory=lambda: dict.fromkeys(Fate, 0))
    bytes: int = 0
    notes: dict[Fate, list[str]] = field(default_factory=lambda: {fate: [] for fate in Fate})

    def add(self, outcome: Outcome) -> None:
        """Count one file."""
        self.counts[outcome.fate] += 1
        self.bytes += outcome.size
        if outcome.about:
            self.notes[outcome.fate].append(outcome.about)

    @property
    def done(self) -> int:
        """Files dealt with so far."""
        return sum(self.counts.values()) - self.counts[Fate.STRANGER]

    @property
    def exit_code(self) -> int:
        """0 when both sides agree on every file of the one that gave, else 1."""
        return 1 if any(self.counts[fate] for fate in _BAD) else 0

    def lines(self) -> list[str]:
        """Return the outcome for people."""
        size = f"{self.bytes / 1e6:.1f} MB"
        moved, there = self.counts[Fate.MOVED], self.counts[Fate.THERE]
        lines = [f"{self.what}: {moved} files moved ({size}), {there} were there already"]
        for fate in (*_BAD, Fate.STRANGER):
            if not self.counts[fate]:
                continue
            lines.append(f"{self.counts[fate]} {fate}")
            notes = sorted(self.notes[fate])
            lines += [f"  {_printable(note)}" for note in notes[:NAMED]]
            if len(notes) > NAMED:
                lines.append(f"  and {len(notes) - NAMED} more")
        return lines


def push(
    state: Path, bucket: Bucket, *, jobs: int = DEFAULT_JOBS, say: Callable[[str], None] = print
) -> Report:
    """Send the results that the bucket lacks; return what became of each.

    The store is first shown to honour create-only writes. Raises TransferError, UserError, OSError.
    """
    bucket.probe()
    local = files.list_files(state)
    remote = {item.name: item for item in bucket.list() if isinstance(item, Stored)}

    def send(name: str) -> Outcome:
        data = files.read(state, name)
        if data is None:
            return Outcome(Fate.FAILED, about=f"{name}: went away while it was sent")
        parse(name, data)
        if name not in remote and bucket.put_new(name, data):
            return Outcome(Fate.MOVED, len(data))
        if _is_same(remote.get(name), data):
            return Outcome(Fate.THERE)
        return _send_beside(bucket, name, data, bucket.get(name))

    report = Report("push", len(local.names))
    for stranger in local.strangers:
        report.add(Outcome(Fate.STRANGER, about=stranger))
    _run_all(local.names, send, report, jobs, say)
    return report


def pull(
    state: Path, bucket: Bucket, *, jobs: int = DEFAULT_JOBS, say: Callable[[str], None] = print
) -> Report:
    """Fetch the results that the state folder lacks; return what became of each.

    A page that is read differently here is a conflict: the bucket's is kept in `_ocr/_conflicts`.
    Raises TransferError, UserError, OSError.
    """
    files.list_files(state)  # refuses a store that isn't a plain folder
    report = Report("pull")
    wanted: list[Stored] = []
    for item in bucket.list():
        if isinstance(item, Stored):
            wanted.append(item)
        else:
            report.add(Outcome(Fate.STRANGER, about=item))
    report.total = len(wanted)

    def fetch(item: Stored) -> Outcome:
        here = files.read(state, item.name)
        if here is not None and _is_same(item, here):
            return Outcome(Fate.THERE)
        data = bucket.get(item.name)
        parse(item.name, data)
        if here is None and files.add(state, item.name, data):
            return Outcome(Fate.MOVED, len(data))
        here = files.read(state, item.name) or b""
        return Outcome(Fate.THERE) if here == data else _add_beside(state, item.name, here, data)

    _run_all(wanted, fetch, report, jobs, say)
    return report


def _send_beside(bucket: Bucket, name: str, data: bytes, theirs: bytes) -> Outcome:
    """Send a result whose name is taken, when it has pages that the bucket's lacks."""
    if theirs == data:
        return Outcome(Fate.THERE)
    match worth(name, theirs, data):
        case Worth.NOTHING:
            return Outcome(Fate.THERE)
        case Worth.RIVAL:
            return Outcome(Fate.CONFLICT, about=f"{name}: the bucket has another result")
    for other in variants(name):
        if bucket.put_new(other, data):
            return Outcome(Fate.MOVED, len(data))
        if bucket.get(other) == data:
            return Outcome(Fate.THERE)
    return Outcome(Fate.FAILED, about=f"{name}: {MAX_VARIANTS} other results are in the bucket")


def _add_beside(state: Path, name: str, here: bytes, data: bytes) -> Outcome:
    """Add a result whose name is taken, when it has pages that the one here lacks."""
    match worth(name, here, data):
        case Worth.NOTHING:
            return Outcome(Fate.THERE)
        case Worth.RIVAL:
            kept = files.keep_aside(state, name, data).relative_to(state)
            return Outcome(Fate.CONFLICT, about=f"{name}: the bucket's result is kept in {kept}")
    for other in variants(name):
        if files.add(state, other, data):
            return Outcome(Fate.MOVED, len(data))
        if files.read(state, other) == data:
            return Outcome(Fate.THERE)
    return Outcome(Fate.FAILED, about=f"{name}: {MAX_VARIANTS} other results are here")


def _is_same(item: Stored | None, data: bytes) -> bool:
    """True when the listing shows that an object holds `data`.

    The ETag is the MD5 of the content where the store doesn't encrypt; where it is something
    else the content itself is to be compared.
    """
    if item is None or item.size != len(data):
        return False
    return item.etag == hashlib.md5(data, usedforsecurity=False).hexdigest()


_Item = TypeVar("_Item", str, Stored)


def _run_all(
    items: Iterable[_Item],
    work: Callable[[_Item], Outcome],
    report: Report,
    jobs: int,
    say: Callable[[str], None],
) -> None:
    """Do `work` on all items, `jobs` at once, and count into `report`.

    A file's own trouble is counted; trouble that would meet every file ends it all.
    """
    started = shown = time.monotonic()
    running: set[Future[Outcome]] = set()
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        rest = iter(items)
        while True:
            for item in rest:
                running.add(pool.submit(_guarded, work, item))
                if len(running) >= 2 * jobs:  # more would only fill the memory
                    break
            if not running:
                return
            finished, running = wait(running, REPORT_SECONDS, return_when=FIRST_COMPLETED)
            for future in finished:
                report.add(future.result())
            if report.counts[Fate.FAILED] >= MAX_FAILURES:
                last = report.notes[Fate.FAILED][-1]
                raise TransferError(f"{report.what}: {MAX_FAILURES} files failed, at last {last}")
            now = time.monotonic()
            if now - shown >= REPORT_SECONDS:
                shown = now
                say(_progress(report, now - started))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _guarded(work: Callable[[_Item], Outcome], item: _Item) -> Outcome:
    try:
        return work(item)
    except (StoreError, DamagedError) as error:
        return Outcome(Fate.DAMAGED, about=str(error))
    except ObjectError as error:
        return Outcome(Fate.FAILED, about=str(error))
    except OSError as error:
        where = item if isinstance(item, str) else item.name
        return Outcome(Fate.FAILED, about=f"{where}: {error.strerror or error}")


def _progress(report: Report, seconds: float) -> str:
    speed = report.done / seconds
    left = duration((report.total - report.done) / speed) if speed else "unknown"
    return (
        f"{report.what}: {report.done} of {report.total} files, {report.bytes / 1e6:.1f} MB moved, "
        f"{speed:.0f} files/s, ETA {left}"
    )


def _printable(text: str) -> str:
    """Return `text` without signs that act on a terminal: keys of a bucket hold anything."""
    return "".join(c if c.isprintable() else "?" for c in text)
