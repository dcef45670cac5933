"""The engine for GPU hosts: marker-pdf 2.x, page by page, in processes of its own.

Never imported by extraction, and imports neither marker nor torch itself.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from regcomments.ocr.engines import (
    DONE,
    DOUBTFUL,
    EngineUnavailableError,
    Opinion,
    Outcome,
    PageInk,
    PageResult,
    PageSource,
    settings_digest,
)
from regcomments.ocr.judge import judge, plain_text
from regcomments.ocr.marker_env import (
    METHOD,
    MarkerSettings,
    environment,
    font,
    settings_from,
    setup,
    versions,
)
from regcomments.ocr.marker_process import (
    MarkerDiedError,
    MarkerProcess,
    ProcessLimits,
    ProcessPlan,
    arrivals,
)
from regcomments.ocr.marker_verdict import weigh
from regcomments.ocr.server import Endpoint, ServerSettings, fault, wait_well
from regcomments.ocr.server import settings_from as server_settings_from
from regcomments.ocr.source import PageError

_LONGEST_PAUSE = 30.0  # seconds before a page after several that failed in a row
_SHORTEST_COMPARED = 5  # words; less says nothing about two engines
_log = logging.getLogger(__name__)


def make(config: Mapping[str, Any]) -> MarkerEngine:
    """Return the engine that `config` (sections `ocr` and `host`) describes; starts nothing.

    Raises EngineUnavailableError when marker isn't installed or a setting can't be meant.
    """
    section = config.get("ocr") or {}
    settings = settings_from(section)
    server = server_settings_from(config)
    second = None
    if settings.second_opinion:
        from regcomments.ocr.tesseract import TesseractEngine
        from regcomments.ocr.tesseract import settings_from as tesseract_settings

        second = TesseractEngine(tesseract_settings(section))
    return MarkerEngine(settings, server, second)


class MarkerEngine:
    """Reads pages with marker; `second` reads them again where a second opinion is wanted."""

    name = "marker"
    deterministic = False

    def __init__(
        self,
        settings: MarkerSettings,
        server: ServerSettings,
        second: Any = None,
        say: Callable[[str], None] = _log.warning,
    ) -> None:
        """Raise EngineUnavailableError when the marker environment is missing or another."""
        self.settings = settings
        self.version, surya = versions(settings.python)
        self.model = f"{settings.model} (surya-ocr {surya})"
        self._server = server
        self._second = second
        self._say = say
        digested = {"method": METHOD, "version": self.version, "surya": surya}
        digested["model"] = settings.model
        if second is not None:
            digested["second"] = [second.name, second.digest, settings.doubtful_below]
        self.digest = settings_digest(digested)
        self._lease: AbstractContextManager | None = None
        self._endpoint: Endpoint | None = None
        self._processes: list[MarkerProcess] = []
        self._failures = 0  # in a row
        self._reading = False

    def read(self, source: PageSource) -> Iterator[PageResult]:
        """Yield a result for each wanted page, in order.

        Raises EngineUnavailableError when the server is away at the start, or goes away and
        doesn't come back: then the pages that it spoiled have no result, so they stay queued
        and no attempt is counted. RuntimeError while another `read` is not at its end: it would
        take the answers to that one's pages for its own.
        """
        if self._reading:
            raise RuntimeError("marker is asked for pages while others are being read")
        self._reading = True
        try:
            self._attach()
            if self._failures:
                time.sleep(min(2.0 ** min(self._failures, 6) - 1, _LONGEST_PAUSE))
                self._wait_for_server("")
            for result in _Round(self, source).results():
                failed = result.outcome == Outcome.FAILED
                self._failures = self._failures + 1 if failed else 0
                yield self._with_second(source, result)
        finally:
            self._reading = False

    def close(self) -> None:
        """Kill the processes and give the server back."""
        for process in self._processes:
            process.close()
        self._processes = []
        if self._lease is not None:
            lease, self._lease = self._lease, None
            lease.__exit__(None, None, None)
        self._endpoint = None

    def _attach(self) -> None:
        if self._endpoint is not None:
            return
        endpoint = self._server.endpoint
        if endpoint is None:
            from regcomments.ocr.server_lease import lease

            held = lease(self._server.facts, self.settings.python, self._say)
            endpoint = held.__enter__()
            self._lease = held
        self._endpoint = endpoint
        found = fault(endpoint, self.settings.model)
        if found is not None:
            self.close()
            raise EngineUnavailableError(
                f"{found}. No page was read. Start the server, mend ocr.server (a URL, or "
                "`start`), or set ocr.engine to tesseract"
            )
        limits = ProcessLimits(
            page_seconds=self.settings.page_seconds, memory_mb=self.settings.memory_mb
        )
        plan = ProcessPlan(
            self.settings.python,
            environment(self.settings, endpoint),
            setup(self.settings, endpoint),
            font(),
        )
        self._processes = [MarkerProcess(plan, limits) for _ in range(self.settings.workers)]

    def _wait_for_server(self, why: str) -> bool:
        """Return whether the server had to be waited for. Raises EngineUnavailableError."""
        if fault(self._endpoint, self.settings.model) is None:
            return False
        found = wait_well(self._endpoint, self.settings.model, self._server.wait_seconds, self._say)
        if found is None:
            return True
        raise EngineUnavailableError(
            f"{found}{why}. The pages read so far are kept, the others stay queued: see to the "
            "server and run the same command again"
        )

    def _with_second(self, source: PageSource, result: PageResult) -> PageResult:
        if self._second is None or result.outcome not in DONE:
            return result
        single = replace(source, pages=(result.number,))
        other = next(iter(self._second.read(single)), None)
        if other is None or other.outcome not in DONE:
            return result  # the second engine has no opinion
        share = agreement(result.markdown, other.markdown)
        name = f"{self._second.name}-{self._second.digest}"
        opinion = Opinion(name, other.markdown, share)
        result = replace(result, ink=result.ink or other.ink, second=opinion)
        if share >= self.settings.doubtful_below:
            return result
        if result.outcome == Outcome.NOTHING:
            error = f"no text for a page on which {self._second.name} reads some"
            return replace(result, outcome=Outcome.FAILED, error=error)
        return replace(result, flags=(*result.flags, DOUBTFUL))


def agreement(one: str, other: str) -> float:
    """Return how far two texts have the same words, from 0 to 1 (the Dice coefficient).

    Order doesn't count, because engines order columns and tables in different ways.
    """
    words = [Counter(re.findall(r"\w+", plain_text(text).casefold())) for text in (one, other)]
    total = sum(words[0].values()) + sum(words[1].values())
    if min(sum(count.values()) for count in words) == 0 and total < _SHORTEST_COMPARED:
        return 1.0
    return 2 * sum((words[0] & words[1]).values()) / total


class _Round:
    """The pages of one `read`: handed to free processes, collected, given out in order."""

    def __init__(self, engine: MarkerEngine, source: PageSource) -> None:
        self._engine = engine
        self._source = source
        self._left = deque(source.pages)
        self._asked: dict[int, tuple[MarkerProcess, int]] = {}  # by page: process, try
        self._tries: Counter[int] = Counter()
        self._done: dict[int, PageResult] = {}
        self._ink: dict[int, PageInk | None] = {}

    def results(self) -> Iterator[PageResult]:
        processes = self._engine._processes
        try:
            for number in self._source.pages:
                while number not in self._done:
                    self._hand_out(processes)
                    self._look_at_one()
                    for process in list(arrivals(processes)):
                        self._collect(process)
                    for process in processes:
                        self._check(process)
                yield self._done.pop(number)
        except EngineUnavailableError:
            # Read already, while one before them was slow.
            yield from (self._done[number] for number in sorted(self._done))
            raise
        finally:
            # Left early: an answer that nobody waits for would be taken for the next page's.
            for process, _ in self._asked.values():
                process.close()

    def _hand_out(self, processes: list[MarkerProcess]) -> None:
        wanted = len(self._left) + len(self._asked)
        for process in processes[: max(1, wanted)]:
            if not self._left:
                return
            if process.conn is None:
                try:
                    process.start()
                except OSError as error:
                    raise EngineUnavailableError(
                        f"a marker process can't be started ({error.strerror or error}): see to it "
                        "and run the same command again; the pages stay queued"
                    ) from error
            if not process.ready or process.busy:
                continue
            number = self._left.popleft()
            try:
                pdf = self._source.pdf(number)
            except PageError as error:
                self._done[number] = PageResult(number, Outcome.FAILED, error=str(error))
                continue
            self._tries[number] += 1
            self._asked[number] = (process, self._tries[number])
            process.ask(pdf)

    def _look_at_one(self) -> None:
        """Measure the ink of a page that is being read: the time is there, the judge wants it."""
        for number in self._asked:
            if number not in self._ink:
                try:
                    self._ink[number] = self._source.ink(number)
                except PageError:
                    self._ink[number] = None  # the judge will say so
                return

    def _page_of(self, process: MarkerProcess) -> int | None:
        return next((n for n, (p, _) in self._asked.items() if p is process), None)

    def _collect(self, process: MarkerProcess) -> None:
        number = self._page_of(process)
        try:
            answer = process.answer()
        except MarkerDiedError as error:
            self._died(number, str(error))
            return
        if number is None:  # it said that it is ready
            return
        del self._asked[number]
        for line in answer.get("warnings") or []:
            _log.info("%s page %s: %s", self._source.file, number, line)
        self._settle(number, weigh(number, answer))

    def _check(self, process: MarkerProcess) -> None:
        number = self._page_of(process)
        try:
            process.check()
        except MarkerDiedError as error:
            self._died(number, str(error))

    def _died(self, number: int | None, how: str) -> None:
        if number is None:
            raise EngineUnavailableError(
                f"a marker process ended before it was ready: {how}. Test the environment with "
                "`make ocr-check`"
            )
        del self._asked[number]
        self._settle(number, PageResult(number, Outcome.FAILED, error=how))

    def _settle(self, number: int, result: PageResult) -> None:
        """Keep the result, unless the server was away: then the page is asked for again."""
        ink = self._ink.get(number)
        result = replace(result, ink=ink)
        bad = judge(result).outcome == Outcome.FAILED if ink else result.outcome != Outcome.TEXT
        if bad and self._engine._wait_for_server(f" (page {number}: {result.error or 'no text'})"):
            if self._tries[number] < self._engine.settings.tries:
                self._left.appendleft(number)
                return
            if result.outcome != Outcome.FAILED:
                result = replace(
                    result, outcome=Outcome.FAILED, error="the server went away while reading"
                )
        self._done[number] = result
