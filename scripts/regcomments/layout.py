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
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMBINED = "combined.md"
OCR_FOLDER = "_ocr"
PAGES_FOLDER = "_pages"
RUNS_FOLDER = "_runs"
INDEX_CSV = "_index.csv"
ATTACHMENTS_CSV = "_attachments.csv"
PAGES_PARQUET = "_pages.parquet"
CELLS_PARQUET = "_cells.parquet"

_ATTACHMENT = re.compile(r"attachment_(\d{1,9})(?:\.([^/]*))?", re.IGNORECASE)
_TABLES_SUFFIX = ".tables.json"
_DIGITS = re.compile(r"(\d+)")


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
    `combined_mtime_ns` is None while there is no combined.md.
    """

    attachments: tuple[Attachment, ...]
    combined_mtime_ns: int | None
    others: tuple[str, ...]


def natural_key(name: str) -> tuple:
    """Sort key that puts `attachment_2` before `attachment_10`."""
    return tuple(
        (0, int(part), part) if part.isdigit() else (1, 0, part.lower())
        for part in _DIGITS.split(name)
        if part
    )


def is_item_name(name: str) -> bool:
    """True when `name` can be a docket or a comment."""
    return bool(name) and name[0] not in "._" and "/" not in name and "\0" not in name


def dockets(state: Path) -> list[str]:
    """Return the docket names below `state`, sorted; none when the folder is absent."""
    return _item_folders(state)


def comments(state: Path, docket: str) -> list[str]:
    """Return the comment ids below one docket in natural order."""
    return sorted(_item_folders(state / docket), key=natural_key)


def _item_folders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(
                entry.name
                for entry in entries
                if is_item_name(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except FileNotFoundError:
        return []


def scan_folder(path: str | Path) -> Folder:
    """Return what lies in the comment folder `path`. Raises OSError."""
    attachments: list[Attachment] = []
    others: list[str] = []
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
            if name[0] == "." or name.endswith(_TABLES_SUFFIX):
                continue
            match = _ATTACHMENT.fullmatch(name)
            if match and entry.is_file(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                attachments.append(
                    Attachment(
                        name,
                        int(match[1]),
                        (match[2] or "").lower(),
                        stat.st_size,
                        stat.st_mtime_ns,
                    )
                )
            else:
                others.append(name)
    attachments.sort(key=lambda item: natural_key(item.name))
    return Folder(tuple(attachments), combined, tuple(sorted(others)))


def unexpected(state: Path) -> Iterator[str]:
    """Yield names at the first two levels of `state` that are no folders of ours, sorted."""
    try:
        first = sorted(os.scandir(state), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    for entry in first:
        if entry.name[0] in "._":
            continue
        if not entry.is_dir(follow_symlinks=False):
            yield entry.name
            continue
        for inner in sorted(os.scandir(entry.path), key=lambda item: item.name):
            if not inner.is_dir(follow_symlinks=False) or inner.name[0] in "._":
                yield f"{entry.name}/{inner.name}"


def ocr_path(state: Path, sha256: str, engine: str) -> Path:
    """Return the path of the first OCR result for a file's content by one engine."""
    return state / OCR_FOLDER / sha256[:2] / f"{sha256}.{engine}.json"
