"""One job of extraction: the comments of a shard, one after the other, and a receipt at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from regcomments import layout
from regcomments.bib import Bib, open_bib
from regcomments.comment import Outcome, make_combined
from regcomments.config import Settings
from regcomments.errors import UserError, disk_is_full, full_disk
from regcomments.pagestore import append_facts, append_pairs
from regcomments.plan import dockets_between, is_settling, wanted_comments
from regcomments.progress import Counts, Progress
from regcomments.read.remember import Remembering
from regcomments.read.shelf import Shelf, version_of
from regcomments.read.worker import OcrLookup, Worker
from regcomments.records import Page
from regcomments.redo import Redo
from regcomments.renditions import Pair

KEEP_COMMENTS = 250  # comments whose page facts are written at once; a kill loses at most these


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
    through: str | None = None,
    redo: Redo | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] = print,
    memory: Path | None = None,
) -> Counts:
    """Write combined.md for the wanted comments from `first` of `docket` to `last` of `through`.

    A comment whose folder can't be read or written is told with `say`, counted and left, and so
    is a docket between the two; the others go on. `through` is `docket` if not given, `memory` a
    folder of outcomes that shards share (see read.shelf); with `redo` only those of this run
    count. Raises UserError when one of the two, the database of bodies or the reading process
    can't be used, or the disk is full.
    """
    state = Path(settings.state)
    through = through or docket
    progress = progress or Progress(docket, say)
    started = time.monotonic()
    counts = Counts()
    wanted = _wanted(settings, (docket, first), (through, last), redo, counts, say)[:limit]
    progress.total = len(wanted)
    bodies = bodies_of(settings, [comment for _, comment in wanted])
    keeper = _Keeper(state, f"{docket}.{first}.{last}")
    ocr = None
    if (state / layout.OCR_FOLDER).is_dir():
        ocr = OcrLookup(state, settings.ocr.get("engine"), settings.ocr.get("max_attempts", 3))

    def waiting(path: Path, seconds: float) -> None:
        progress.show(counts, f"{path.parent.name}/{path.name}", seconds)

    options = settings.options()
    shelf = None
    if memory is not None:
        since = 0.0 if redo is None else progress.run_started or time.time()
        shelf = Shelf(memory, version_of(options, settings.limits()), since)
    worker = Worker(settings.limits(), options, ocr, fork=True, on_wait=waiting)
    with keeper, worker:
        reader = Remembering(worker, shelf=shelf, ocr=ocr)
        for name, comment in wanted:
            folder = state / name / comment
            try:
                outcome = make_combined(folder, bodies, reader)
            except UserError:
                raise
            except Exception as error:  # one comment's trouble must not end the shard
                if isinstance(error, OSError) and disk_is_full(error):
                    raise UserError(full_disk(folder)) from error
                if isinstance(error, FileNotFoundError) and not folder.is_dir():
                    continue  # the folder went while we worked
                say(f"{name}/{comment}: {type(error).__name__}: {error}")
                counts.failed_comments += 1
                continue
            _count(counts, outcome)
            counts.repeated = reader.repeated
            keeper.add(name, comment, outcome)
            progress.show(counts, comment)
    counts.seconds = round(time.monotonic() - started, 3)
    return counts


def _wanted(
    settings: Settings,
    begin: tuple[str, str],
    end: tuple[str, str],
    redo: Redo | None,
    counts: Counts,
    say: Callable[[str], None],
) -> list[tuple[str, str]]:
    """Return docket and comment of all that is to be done between `begin` and `end`."""
    state, settle = Path(settings.state), settings.settle_seconds
    out: list[tuple[str, str]] = []
    for docket in dockets_between(state, begin[0], end[0]):
        first = begin[1] if docket == begin[0] else None
        last = end[1] if docket == end[0] else None
        try:
            names = list(wanted_comments(state, docket, redo, first, last))
        except OSError as error:
            text = f"docket {docket} can't be read: {error.strerror or error}"
            if docket in (begin[0], end[0]):
                raise UserError(text) from error
            say(text)
            counts.failed_comments += 1
            continue
        if not (state / docket).is_dir():
            raise UserError(f"docket {docket} is not in {state} any more: is the disk mounted?")
        out += [(docket, name) for name in names if not is_settling(state, docket, name, settle)]
    return out


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


def _count(counts: Counts, outcome: Outcome) -> None:
    counts.comments += 1
    counts.written += outcome.written
    for entry in outcome.combined.head.attachments:
        if not entry.is_member:
            counts.attachments += 1
        counts.statuses[f"{entry.status}/{entry.reason or ''}"] += 1
