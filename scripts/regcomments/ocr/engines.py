"""What an OCR engine is, what it gives for a page, and how one is made from the config."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from regcomments.errors import UserError

DEFAULT_ENGINE = "tesseract"


class EngineUnavailableError(UserError):
    """The engine asked for can't run here; the message says what it lacks and what to do."""


class Outcome(StrEnum):
    """What became of one page."""

    TEXT = "text"  # read
    NOTHING = "nothing"  # nothing is written on it
    UNREADABLE = "unreadable"  # there is writing, but not for this engine: don't try it again
    FAILED = "failed"  # not read; another try may do it


# A page with one of these is finished; of several results for a page the first kind here wins.
DONE = (Outcome.TEXT, Outcome.NOTHING)
MAX_ATTEMPTS = 3  # of a page by one engine, over all runs, unless ocr.max_attempts says otherwise
DOUBTFUL = "doubtful"  # flag of a page on which two engines disagree


@dataclass(frozen=True)
class PageInk:
    """What is seen on a page without reading it, by ink.measure.

    `share` is the part of the page darker or lighter than its paper. `lines` counts lines of
    writing, `letters` estimates the letters in them, `strips` those in each quarter of the page
    in reading direction. `sideways` tells that the lines run up or down the page. On 30
    born-digital pages `letters` was 0.6 to 1.6 times the true count.
    """

    share: float = 0.0
    lines: int = 0
    letters: int = 0
    strips: tuple[int, ...] = ()
    sideways: bool = False


@dataclass(frozen=True)
class Opinion:
    """What a second engine read on the same page, and how far both agree (0 to 1)."""

    engine: str
    markdown: str
    agreement: float


@dataclass(frozen=True)
class PageResult:
    """What an engine says about one page (from 1).

    `markdown` is empty unless `outcome` is text; `confidence` runs from 0 to 1, None when the
    engine has none. `error` tells in one line why a page was not read. `flags` are remarks such
    as `rotated:90`. `seconds` is for progress only and is never stored.
    """

    number: int
    outcome: Outcome
    markdown: str = ""
    confidence: float | None = None
    error: str | None = None
    flags: tuple[str, ...] = ()
    ink: PageInk | None = None
    second: Opinion | None = None
    seconds: float = 0.0


class PageSource(Protocol):
    """One queued file, rendered in a bounded process (see source.FileSource).

    Every method may raise source.PageError, which costs one page and not the run.
    """

    file: str
    sha256: str
    pages: tuple[int, ...]

    def image(self, number: int, dpi: int) -> bytes:
        """Return the page as a grey PNG."""

    def pdf(self, number: int) -> bytes:
        """Return a PDF that holds just this page."""

    def ink(self, number: int) -> PageInk:
        """Return what is seen on the page without reading it."""

    def call(self, task: str, number: int, **options: Any) -> dict[str, Any]:
        """Run a task of regcomments.ocr.tasks on the page in the bounded process."""


class Engine(Protocol):
    """Reads the pages of one file, in the order of `source.pages`.

    `digest` is 12 hex digits over settings, version and model, so that results of different
    settings never mix. `deterministic` tells that a second try gives the same bytes.
    """

    name: str
    version: str
    model: str
    digest: str
    deterministic: bool

    def read(self, source: PageSource) -> Iterator[PageResult]:
        """Yield one result a page. A page's trouble is a result; EngineUnavailableError ends it."""

    def close(self) -> None:
        """Free what the engine holds."""


def engine_key(engine: Engine) -> str:
    """Return the name under which the store keeps the engine's results: `name-digest`."""
    return f"{engine.name}-{engine.digest}"


def settings_digest(settings: Mapping[str, Any]) -> str:
    """Return 12 hex digits that change with any of `settings` (JSON values)."""
    canonical = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def make(config: Mapping[str, Any]) -> Engine:
    """Return the engine that `config["ocr"]["engine"]` names, with the settings of that section.

    Raises EngineUnavailableError when it is unknown or can't run here.
    """
    section = config.get("ocr") or {}
    name = section.get("engine", DEFAULT_ENGINE)
    if name == "tesseract":
        from regcomments.ocr.tesseract import TesseractEngine, settings_from

        return TesseractEngine(settings_from(section))
    if name == "marker":
        from regcomments.ocr.marker import make as make_marker

        return make_marker(config)
    raise EngineUnavailableError(f"ocr.engine is {name!r}; it can be tesseract or marker")
