"""Read the pages of one job and keep the results; nothing here raises for a page's sake."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regcomments.errors import UserError
from regcomments.ocr import store
from regcomments.ocr.engines import DONE, MAX_ATTEMPTS, Engine, Outcome, PageResult, engine_key
from regcomments.ocr.judge import judge
from regcomments.ocr.queue import Row, split_pages, split_row
from regcomments.ocr.source import FileSource, PageError, PageLimits, PageProcess

PART_PAGES = 25  # pages written at once: a kill loses less than half a minute of one GPU
REPORT_SECONDS = 10.0  # between progress lines
RETRIES = 1  # further tries of a failed page within the run, by an engine that may do better

# Parts of errors that tell of the file or the machine and not of the page, from ocr/raster.py and
# the system: nothing is stored, since the same content may lie with other comments.
_NOT_THE_PAGE = (
    "the file has changed since it was queued",
    "is no longer there, or has changed",
    *(
        os.strerror(number)
        for number in (errno.ENOENT, errno.ESTALE, errno.EACCES, errno.EIO, errno.ENOSPC)
    ),
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RunSettings:
    """How a job is run: bounds on a page, attempts over all runs, and where progress goes."""

    limits: PageLimits = field(default_factory=PageLimits)
    max_attempts: int = MAX_ATTEMPTS
    retries: int = RETRIES
    progress: Callable[[str], None] = _log.info


@dataclass
class ShardReport:
    """What became of a job: pages by outcome, pages found done already, and the failures.

    `failures` has a line per page that is still wanted: (row, page from 1, reason).
    """

    pages: Counter = field(default_factory=Counter)
    already: int = 0
    seconds: float = 0.0
    failures: list[tuple[Row, int, str]] = field(default_factory=list)

    @property
    def failed(self) -> int:
        """Pages that were asked for and are not done; those beyond the engine don't count."""
        return self.pages[Outcome.FAILED]

    @property
    def read(self) -> int:
        """Pages done, with text or without."""
        return sum(self.pages[outcome] for outcome in DONE)


class Terminated(BaseException):
    """SIGTERM arrived; raised so that what was read is kept."""


def read_shard(
    rows: Sequence[Row], state: Path, engine: Engine, settings: RunSettings | None = None
) -> ShardReport:
    """Read the wanted pages of `rows` that the store lacks, and store the results part by part.

    Returns the counts. On SIGTERM or SIGINT the pages read so far are stored, then the signal
    takes its course. Raises OSError when the store can't be written, EngineUnavailableError.
    """
    settings = settings or RunSettings()
    report = ShardReport()
    progress = _Progress(sum(len(row.pages) for row in rows), settings.progress)
    started = time.monotonic()
    with _term_as_exception(), PageProcess(settings.limits) as process:
        for row in rows:
            try:
                _read_row(row, state, engine, process, settings, report, progress)
            finally:
                report.seconds = time.monotonic() - started
    progress.show(report, final=True)
    return report


def _read_row(
    row: Row,
    state: Path,
    engine: Engine,
    process: PageProcess,
    settings: RunSettings,
    report: ShardReport,
    progress: _Progress,
) -> None:
    key = engine_key(engine)
    known = store.lookup(state, row.sha256, key) or store.FileResult(row.sha256)
    for problem in known.problems:
        settings.progress(f"left out: {problem}")
    done, given_up, worn_out = split_pages(row.pages, known, key, settings.max_attempts)
    left = tuple(page for page in row.pages if page not in done | given_up | worn_out)
    report.already += len(row.pages) - len(left)
    if not left:
        return
    tries = known.attempts.get(key, {})
    attempts = {page: tries.get(page, 0) + 1 for page in left}
    name, _, inside = row.file.partition("/")
    source = FileSource(
        process, state / row.docket / row.comment / name, inside, row.file, row.sha256, left
    )
    # Another job or host may have the file's other pages: only results that hold all pages go
    # without a range in their name, or two of one name would differ.
    whole = len(left) <= PART_PAGES and len(left) == row.n_pages
    for part in split_row(replace(row, pages=left), PART_PAGES):
        results: list[PageResult] = []
        try:
            for result in _read_pages(engine, replace(source, pages=part.pages), settings):
                if not _never_seen(result):
                    results.append(result)
                report.pages[result.outcome] += 1
                if result.outcome not in DONE:
                    report.failures.append((row, result.number, result.error or ""))
                progress.show(report)
        finally:
            if results:
                with _signals_held():
                    store.write(state, row.sha256, engine, results, attempts, part=not whole)


def _never_seen(result: PageResult) -> bool:
    error = result.error or ""
    return result.outcome == Outcome.FAILED and any(part in error for part in _NOT_THE_PAGE)


def _read_pages(engine: Engine, source: FileSource, settings: RunSettings) -> Iterator[PageResult]:
    """Yield a judged result for every page of `source`, whatever the engine leaves out.

    Failed pages come last: they are tried again when the engine has no other page in hand.
    """
    seen: set[int] = set()
    failed: list[PageResult] = []
    for said in _guarded(engine, source):
        if said.number not in source.pages or said.number in seen:
            continue  # not asked for, or said twice: the first word stands
        seen.add(said.number)
        result = _judged(source, said)
        if result.outcome != Outcome.FAILED:
            yield result
        elif engine.deterministic and said.outcome in DONE:
            # The engine spoke and isn't believed; it would say the same again.
            yield replace(result, outcome=Outcome.UNREADABLE)
        else:
            failed.append(result)
    failed += [
        PageResult(number, Outcome.FAILED, error="the engine said nothing of it")
        for number in source.pages
        if number not in seen
    ]
    for result in failed:
        yield result if engine.deterministic else _tried_again(engine, source, result, settings)


def _tried_again(
    engine: Engine, source: FileSource, result: PageResult, settings: RunSettings
) -> PageResult:
    tries = settings.retries
    while result.outcome == Outcome.FAILED and tries > 0:
        tries -= 1
        again = list(_guarded(engine, replace(source, pages=(result.number,))))
        if again and again[0].number == result.number:
            result = _judged(source, again[0])
    return result


def _guarded(engine: Engine, source: FileSource) -> Iterator[PageResult]:
    """Yield what the engine yields; an engine that raises has failed the rest of the pages."""
    reached: set[int] = set()
    try:
        for result in engine.read(source):
            reached.add(result.number)
            yield result
    except UserError:
        raise
    except Exception as error:  # an engine is many libraries: what they raise costs these pages
        _log.warning("%s: %s on %s", engine.name, type(error).__name__, source.file, exc_info=True)
        message = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        for number in source.pages:
            if number not in reached:
                yield PageResult(number, Outcome.FAILED, error=message)


def _judged(source: FileSource, result: PageResult) -> PageResult:
    if result.ink is not None or result.outcome not in DONE:
        return judge(result)
    try:
        return judge(result, source.ink(result.number))
    except PageError as error:
        # Without a look at the page an engine's word can't be checked.
        return replace(
            result, outcome=Outcome.FAILED, markdown="", error=f"can't be checked: {error}"
        )


class _Progress:
    """Prints a line now and then: pages done, pages a second, time left."""

    def __init__(self, total: int, show: Callable[[str], None]) -> None:
        self._total = total
        self._show = show
        self._started = self._shown = time.monotonic()

    def show(self, report: ShardReport, *, final: bool = False) -> None:
        now = time.monotonic()
        if not final and now - self._shown < REPORT_SECONDS:
            return
        self._shown = now
        read = sum(report.pages.values())
        rate = read / max(now - self._started, 1e-6)
        left = self._total - read - report.already
        eta = "" if final or not rate else f", {left / rate / 60:.0f} min left"
        counts = ", ".join(
            f"{report.pages[outcome]} {outcome}" for outcome in Outcome if report.pages[outcome]
        )
        done = f"{read + report.already} of {self._total} pages"
        self._show(f"ocr: {done} ({counts or 'none read'}), {rate:.2f} pages/s{eta}")


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Within, SIGTERM and SIGINT wait, so that they don't cut a part's writing short."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _term_as_exception() -> Iterator[None]:
    """Within, SIGTERM raises Terminated, so that `finally` keeps what was read."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def on_term(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not cut the writing
        raise Terminated

    before = signal.signal(signal.SIGTERM, on_term)
    try:
        yield
    except Terminated:
        raise SystemExit(128 + signal.SIGTERM) from None
    finally:
        signal.signal(signal.SIGTERM, before)
