"""Where things are: the path grammar of the state folder.

    <state>/<docket>/<comment>/attachment_N.<ext>      input
    <state>/<docket>/<comment>/combined.md             the product
    <state>/_ocr/<aa>/<sha256>.<engine>*.json          write-once OCR results
    <state>/_pages/…                                   page facts, before `index` gathers them
    <state>/_index.csv, _attachments.csv, _pages.parquet, _cells.parquet, _runs/…

Names beginning with `_` or `.` are never dockets or comments. No symbolic link is followed.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from regcomments.atomic import SUFFIX as TEMPORARY_SUFFIX

COMBINED = "combined.md"
OCR_FOLDER = "_ocr"
PAGES_FOLDER = "_pages"
RUNS_FOLDER = "_runs"
INDEX_CSV = "_index.csv"
ATTACHMENTS_CSV = "_attachments.csv"
PAGES_PARQUET = "_pages.parquet"
CELLS_PARQUET = "_cells.parquet"

# Control characters and line ends would break a heading, stray bytes (lone surrogates) UTF-8.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ATTACHMENT = re.compile(r"attachment_([0-9]{1,9})(?:\.([^/]*))?", re.IGNORECASE)
_TABLES_SUFFIX = ".tables.json"
# No write takes so long, on whatever host of a shared folder.
_UNFINISHED_SECONDS = 24 * 3600
_DIGITS = re.compile(r"(\d+)")
_ANY_DIGIT = str.maketrans("123456789", "0" * 9)


@dataclass(frozen=True)
class Attachment:
    """One input file: its name, number, extension in lower case, size in bytes, mtime in ns."""

    name: str
    number: int
    ext: str
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class Folder:
    """What lies in one comment folder.

    `others` are names that are neither attachments nor files of ours: reported, never read.
    `combined_mtime_ns` is None while there is no combined.md. `unfinished` are halves of it that
    a killed process left, at least a day old.
    """

    attachments: tuple[Attachment, ...]
    combined_mtime_ns: int | None
    others: tuple[str, ...]
    unfinished: tuple[str, ...] = ()


def natural_key(name: str) -> tuple:
    """Sort key that puts `attachment_2` before `attachment_10`; no two names have the same."""
    parts = [
        (0, int(part), part) if part.isdecimal() else (1, 0, part.lower())
        for part in _DIGITS.split(name)
        if part
    ]
    return (*parts, (-1, 0, name))


def natural_sorted(names: Iterable[str]) -> list[str]:
    """Return `names` sorted by `natural_key`.

    Names that differ in their digits only, such as the ids of a docket, are sorted as strings,
    which takes a tenth of the time: a docket has up to 100,000 of them.
    """
    names = list(names)
    if numbered := _numbered_sorted(names):
        return numbered
    shapes: dict[str, list[str]] = {}
    for name in names:
        shape = name.translate(_ANY_DIGIT) if name.isascii() else ""
        shapes.setdefault(shape, []).append(name)
    runs = [sorted(run) if shape else sorted(run, key=natural_key) for shape, run in shapes.items()]
    runs.sort(key=lambda run: natural_key(run[0]))
    # `-0099` and `-10000` are of two shapes; one run ends before the next begins.
    apart = all(natural_key(a[-1]) < natural_key(b[0]) for a, b in pairwise(runs))
    merged = [name for run in runs for name in run]
    return merged if apart else sorted(merged, key=natural_key)


def _numbered_sorted(names: list[str]) -> list[str]:
    """Return names sorted that share all but a number at their end; none when some do not.

    That is how the comments of a docket are named; it takes a fifth of the time of shapes.
    """
    if len(names) < 2:
        return names
    common = min(names).rstrip("0123456789")
    if not max(names).startswith(common):  # what both have, all between them have
        return []
    start = len(common)
    numbers = "".join([name[start:] for name in names])
    if not (numbers.isascii() and numbers.isdecimal()):
        return []
    lengths = sorted(set(map(len, names)))
    if lengths[0] == start:
        return []
    runs = [
        sorted(name for name in names if len(name) == length) if len(lengths) > 1 else sorted(names)
        for length in lengths
    ]
    # `099` and `1000`: one run ends before the next begins, unless zeros lead.
    if any(int(a[-1][start:]) >= int(b[0][start:]) for a, b in pairwise(runs)):
        return []
    return [name for run in runs for name in run]


def is_item_name(name: str) -> bool:
    """True when `name` can be a docket or a comment."""
    if not name or name[0] in "._" or "/" in name:
        return False
    return name.isprintable() or not _UNSAFE.search(name)


def dockets(state: Path) -> list[str]:
    """Return the docket names below `state`, sorted; none when the folder is absent."""
    return item_folders(state)


def comments(state: Path, docket: str) -> list[str]:
    """Return the comment ids below one docket in natural order."""
    return natural_sorted(_folders(state / docket))


def item_folders(path: str | Path) -> list[str]:
    """Return the names below `path` that can be dockets or comments, sorted."""
    return sorted(_folders(path))


def _folders(path: str | Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    # Most names pass the quick test; a docket has up to 100,000 of them.
    return [
        name for name in names if (name[0] not in "._" and name.isprintable()) or is_item_name(name)
    ]


def scan_folder(path: str | Path) -> Folder:
    """Return what lies in the comment folder `path`. Raises OSError."""
    attachments: list[Attachment] = []
    others: list[str] = []
    unfinished: list[str] = []
    combined: int | None = None
    with os.scandir(path) as entries:
        for entry in entries:
            name = entry.name
            if name == COMBINED:
                if entry.is_file(follow_symlinks=False):
                    combined = entry.stat(follow_symlinks=False).st_mtime_ns
                else:
                    others.append(name)
                continue
            if name.startswith(f".{COMBINED}.") and name.endswith(TEMPORARY_SUFFIX):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _UNFINISHED_SECONDS:
                    unfinished.append(name)
                continue
            if name[0] == "." or name.endswith(_TABLES_SUFFIX):
                continue
            match = _ATTACHMENT.fullmatch(name)
            if match and not _UNSAFE.search(name) and entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                ext = (match[2] or "").lower()
                attachments.append(
                    Attachment(name, int(match[1]), ext, found.st_size, found.st_mtime_ns)
                )
            else:
                others.append(name)
    attachments.sort(key=lambda item: natural_key(item.name))
    return Folder(tuple(attachments), combined, tuple(sorted(others)), tuple(unfinished))


def attachment_stats(folder: str, names: Iterable[str]) -> list[os.stat_result]:
    """Return the `stat` of those `names` in `folder` that are attachments, in any order."""
    found = []
    for name in names:
        if _ATTACHMENT.fullmatch(name) and not name.endswith(_TABLES_SUFFIX):
            try:
                item = os.lstat(f"{folder}/{name}")
            except OSError:
                continue  # it has gone
            if stat.S_ISREG(item.st_mode) and not _UNSAFE.search(name):
                found.append(item)
    return found


def unexpected(state: Path) -> Iterator[str]:
    """Yield names at the first two levels of `state` that are no folders of ours, sorted."""
    try:
        first = sorted(os.scandir(state), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in first:
        if entry.name[0] in "._":
            continue
        if not is_item_name(entry.name) or not entry.is_dir(follow_symlinks=False):
            yield entry.name
            continue
        for inner in sorted(os.scandir(entry.path), key=lambda item: item.name):
            if not is_item_name(inner.name) or not inner.is_dir(follow_symlinks=False):
                yield f"{entry.name}/{inner.name}"


def ocr_path(state: Path, sha256: str, engine: str) -> Path:
    """Return the path of the first OCR result for a file's content by one engine."""
    return state / OCR_FOLDER / sha256[:2] / f"{sha256}.{engine}.json"
