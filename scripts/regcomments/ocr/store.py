"""Write-once store of OCR results, by the content of the file.

    <state>/_ocr/<aa>/<sha256>.<engine>-<digest>[.pFFFF-LLLL][.aN].json

A file is written once and never changed: pages that follow later, parts of a giant file and
further attempts get files of their own. Reading takes the union, so that stores of several hosts
are joined by copying. Same results, same names, same bytes.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from regcomments.layout import OCR_FOLDER
from regcomments.ocr.engines import DONE, Engine, Outcome, PageResult, engine_key
from regcomments.ocr.store_page import StoredPage, StoreError, dump_page, load_page

SCHEMA = 1
MAX_FILE = 64 << 20  # bytes; a part of 25 pages has under 1 MB, so anything larger isn't ours
_MAX_TRIES = 1000  # names tried for one file; each stands for a write by somebody else
_TEMPORARY = ".tmp"
_LEFT_SECONDS = 24 * 3600  # writing takes under one; a clock of another host may be hours off
_NAME = re.compile(
    r"(?P<sha256>[0-9a-f]{64})\.(?P<engine>[a-z0-9_]+)-(?P<digest>[0-9a-f]{12})"
    r"(?P<suffix>(?:\.p\d+-\d+)?(?:\.a\d+)?)\.json"
)
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileResult:
    """All that the store holds on one file: the best page by number, and the tries by engine.

    `attempts` counts the tries of each page by engine key; `done` and `unreadable` name the pages
    that an engine (by key) need not see again. `problems` are damaged files, which were left out.
    """

    sha256: str
    pages: Mapping[int, StoredPage] = field(default_factory=dict)
    attempts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    done: Mapping[str, frozenset[int]] = field(default_factory=dict)
    unreadable: Mapping[str, frozenset[int]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def lookup(state: Path, sha256: str, preferred: str | None = None) -> FileResult | None:
    """Return what is stored for a file's content, None when nothing is.

    Of several results for a page the best kind wins (text or nothing before unreadable before
    failed), then the `preferred` engine (`name` or `name-digest`), then the later attempt, then
    the file name: the same on every host. Damaged files are reported and left out.
    """
    files = stored_files(state, sha256)
    if not files:
        return None
    found: dict[int, list[tuple[tuple, StoredPage]]] = {}
    attempts: dict[str, dict[int, int]] = {}
    done: dict[str, set[int]] = {}
    unreadable: dict[str, set[int]] = {}
    problems = []
    for path in files:
        try:
            pages = read_file(path)
        except (StoreError, OSError) as error:
            _log.warning("OCR result left out: %s", error)
            problems.append(str(error))
            continue
        for page in pages:
            number = page.result.number
            tries = attempts.setdefault(page.key, {})
            tries[number] = max(tries.get(number, 0), page.attempt)
            if page.result.outcome in DONE:
                done.setdefault(page.key, set()).add(number)
            elif page.result.outcome == Outcome.UNREADABLE:
                unreadable.setdefault(page.key, set()).add(number)
            rank = (*_rank(page, preferred), path.name)
            found.setdefault(number, []).append((rank, page))
    best = {number: min(items, key=lambda item: item[0])[1] for number, items in found.items()}
    return FileResult(
        sha256,
        dict(sorted(best.items())),
        attempts,
        {key: frozenset(numbers) for key, numbers in done.items()},
        {key: frozenset(numbers) for key, numbers in unreadable.items()},
        tuple(problems),
    )


def _rank(page: StoredPage, preferred: str | None) -> tuple[int, int, str, int]:
    outcome = page.result.outcome
    kind = 0 if outcome in DONE else 1 if outcome == Outcome.UNREADABLE else 2
    likes = 0 if preferred == page.key else 1 if preferred == page.engine else 2
    return kind, likes, page.key, -page.attempt


def stored_files(state: Path, sha256: str) -> list[Path]:
    """Return the store's files for one content, sorted by name."""
    folder = state / OCR_FOLDER / sha256[:2]
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(sha256)]
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(names) if _NAME.fullmatch(name)]


def write(
    state: Path,
    sha256: str,
    engine: Engine,
    results: Iterable[PageResult],
    attempts: Mapping[int, int],
    *,
    part: bool,
) -> Path:
    """Store `results` under a name of their own and return its path.

    `attempts` gives the attempt of each page (1 when absent); `part` puts the page range into
    the name. When the name is taken by the same bytes, or by results that hold all of these
    pages as well done, nothing is written. Raises OSError (a full disk), StoreError.
    """
    results = sorted(results, key=lambda result: result.number)
    if not results:
        raise StoreError("no pages to store")
    attempt = max(attempts.get(result.number, 1) for result in results)
    data = _dump(sha256, engine, results, attempts)
    base = f"{sha256}.{engine_key(engine)}"
    if part:
        base += f".p{results[0].number:04d}-{results[-1].number:04d}"
    folder = state / OCR_FOLDER / sha256[:2]
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    for number in range(attempt, attempt + _MAX_TRIES):
        path = folder / f"{base}{f'.a{number}' if number > 1 else ''}.json"
        if create(path, data) or _holds(path, data, results, attempts):
            return path
    raise StoreError(f"{folder}: {_MAX_TRIES} results named {base} are there")


def read_file(path: Path) -> list[StoredPage]:
    """Return the pages in one file of the store. Raises StoreError, OSError."""
    if not is_name(path.name):
        raise StoreError(f"{path.name}: not a name of the store")
    if path.stat().st_size > MAX_FILE:
        raise StoreError(f"{path.name}: larger than any result")
    return parse(path.name, path.read_bytes())


def is_name(name: str) -> bool:
    """True for the name of a file of the store; such a name has no slash and no leading dot."""
    return _NAME.fullmatch(name) is not None


def parse(file: str, data: bytes) -> list[StoredPage]:
    """Return the pages in `data`, the content of the store's file of that name.

    Raises StoreError when the content isn't what the name promises.
    """
    name = _NAME.fullmatch(file)
    if name is None:
        raise StoreError(f"{file}: not a name of the store")
    try:
        raw = json.loads(data)
        if raw["schema"] != SCHEMA:
            raise StoreError(f"{file}: schema {raw['schema']!r}, {SCHEMA} is known")
        for key in ("sha256", "engine", "digest"):
            if raw[key] != name[key]:
                raise StoreError(f"{file}: {key} inside is {raw[key]!r}")
        return [load_page(int(number), item, raw) for number, item in raw["pages"].items()]
    except (
        ArithmeticError,  # numbers beyond those of a float
        AttributeError,
        KeyError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"{file}: damaged ({type(error).__name__}: {error})") from error


def _dump(
    sha256: str, engine: Engine, results: list[PageResult], attempts: Mapping[int, int]
) -> bytes:
    content = {
        "schema": SCHEMA,
        "sha256": sha256,
        "engine": engine.name,
        "version": engine.version,
        "model": engine.model,
        "digest": engine.digest,
        "pages": {
            str(result.number): dump_page(result, attempts.get(result.number, 1))
            for result in results
        },
    }
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


def create(path: Path, data: bytes) -> bool:
    """Write `data` to `path` unless it exists; True when written, on disk and whole.

    Raises OSError.
    """
    if path.exists():
        return False
    fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=_TEMPORARY)
    try:
        with open(fd, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(temporary, 0o644)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError:
            # No hard links here (exFAT, some network folders): replace, which is whole as well;
            # two hosts that write the same name at once then leave one of two good results.
            if path.exists():
                return False
            os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every file system can sync a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return True


@cache  # once in a process: a folder of a large store has 78,000 files
def _sweep(folder: Path) -> None:
    """Remove what writers that were killed left half-written in `folder`, a day ago or more."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(_TEMPORARY):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if age > _LEFT_SECONDS:
                    os.unlink(entry.path)


def _holds(path: Path, data: bytes, results: list[PageResult], attempts: Mapping[int, int]) -> bool:
    """True when the file at `path` makes `results` superfluous, its attempts included."""
    try:
        if path.read_bytes() == data:
            return True
        there = {page.result.number: page for page in read_file(path)}
    except (OSError, StoreError):
        return False
    return all(
        (known := there.get(result.number)) is not None
        and (
            known.result.outcome in DONE
            or (
                known.result.outcome == result.outcome
                and known.attempt >= attempts.get(result.number, 1)
            )
        )
        for result in results
    )
