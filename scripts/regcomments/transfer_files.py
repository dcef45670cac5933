"""The OCR store's files as push and pull see them: listed, read and added without following links.

<state>/_ocr/<aa>/<name>                         the store
<state>/_ocr/_conflicts/<aa>/<name>.<digest>     what another host has under a taken name
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from regcomments.errors import UserError, disk_is_full
from regcomments.layout import OCR_FOLDER
from regcomments.ocr.store import MAX_FILE, StoreError, create, is_name

CONFLICTS_FOLDER = "_conflicts"


@dataclass(frozen=True)
class LocalFiles:
    """Names of the store's files, sorted, and what lies there and was left alone."""

    names: tuple[str, ...]
    strangers: tuple[str, ...]


def list_files(state: Path) -> LocalFiles:
    """Return what the store holds. Raises UserError when `_ocr` is a symbolic link; OSError."""
    root = _plain_folder(state / OCR_FOLDER)
    names: list[str] = []
    strangers: list[str] = []
    if not root.is_dir():
        return LocalFiles((), ())
    for folder in sorted(os.scandir(root), key=lambda entry: entry.name):
        if folder.name == CONFLICTS_FOLDER or folder.name.startswith("."):
            continue
        if len(folder.name) != 2 or not folder.is_dir(follow_symlinks=False):
            strangers.append(folder.name)
            continue
        for entry in sorted(os.scandir(folder.path), key=lambda entry: entry.name):
            if entry.name.startswith("."):
                continue  # a file that is just being written
            ours = is_name(entry.name) and entry.name[:2] == folder.name
            if ours and entry.is_file(follow_symlinks=False):
                names.append(entry.name)
            else:
                strangers.append(f"{folder.name}/{entry.name}")
    return LocalFiles(tuple(names), tuple(strangers))


def read(state: Path, name: str) -> bytes | None:
    """Return a file's content, None when there is none.

    Raises StoreError for what isn't a plain file of a result's size; OSError.
    """
    path = state / OCR_FOLDER / name[:2] / name
    try:
        # Without O_NONBLOCK a pipe of that name would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        if path.is_symlink():
            raise StoreError(f"{name}: a symbolic link") from error
        raise
    with open(handle, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_FILE:
            raise StoreError(f"{name}: not a file of the store")
        return file.read(MAX_FILE + 1)


def add(state: Path, name: str, data: bytes) -> bool:
    """Create a file of the store, whole or not at all; False when the name is taken.

    Raises UserError on a full disk or when the folder is a symbolic link; OSError.
    """
    return _create(state / OCR_FOLDER / name[:2], name, data)


def keep_aside(state: Path, name: str, data: bytes) -> Path:
    """Keep what another host has under a name that is taken here; return the path.

    The path holds the content's digest, so that the same bytes are kept once.
    Raises UserError on a full disk or when the folder is a symbolic link; OSError.
    """
    _plain_folder(state / OCR_FOLDER / CONFLICTS_FOLDER)
    folder = state / OCR_FOLDER / CONFLICTS_FOLDER / name[:2]
    kept = f"{name}.{hashlib.sha256(data).hexdigest()[:12]}"
    _create(folder, kept, data)
    return folder / kept


def _create(folder: Path, name: str, data: bytes) -> bool:
    _plain_folder(folder.parents[1])
    _plain_folder(folder.parent)
    _plain_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return create(folder / name, data)
    except OSError as error:
        if disk_is_full(error):
            raise UserError(
                f"no space left while writing {folder / name}: make room and run the same command "
                "again; what has arrived stays"
            ) from error
        raise


def _plain_folder(path: Path) -> Path:
    if path.is_symlink():
        raise UserError(
            f"{path} is a symbolic link; results are written below the state folder only: make it "
            "a folder"
        )
    return path
