"""Outcomes by content on disk: a letter that one shard has read is not read by the others.

    <work>/read/<version>/<aa>/<sha256>[.ext].json.z    aa = first two hex digits

`version` is a digest of our code, of every installed package, of Python and of the options, so
that an outcome of other code is never met. Entries are written atomically and checked when read;
several shards and hosts may use one folder at once. It holds nothing that reading would not give
again: remove it at any time.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import random
import re
import shutil
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from regcomments.atomic import write_atomic
from regcomments.read.limits import WorkerLimits
from regcomments.read.office import program
from regcomments.read.options import ReadOptions
from regcomments.records import Extraction, Member, Page
from regcomments.status import Reason, Status

MOST_BYTES = 1 << 30  # on disk; a letter takes 4 KB, so that some 250,000 fit
MOST_CHARACTERS = 4_000_000  # of an entry's JSON; a longer text is worth reading again
_KEPT_VERSIONS = 3
_BUCKETS = 256
_TRIMMED = 4  # buckets that a shard holds within bounds when it starts: 5 ms when all is full
_EXTENSION = re.compile(r"(?:\.[a-z0-9]{1,8})?")
_READ = frozenset({Status.OK, Status.OCR_NEEDED})
_PACKAGE = Path(__file__).resolve().parents[1]


class Shelf:
    """The outcomes below `folder` that belong to `version`, kept at `since` or later.

    `since` is an epoch second, for runs that want files read anew, each once. Trouble with the
    folder (read-only, full) makes it forget, nothing worse.
    """

    def __init__(self, folder: Path, version: str, since: float = 0.0) -> None:
        self._base = folder / version
        self._since = since
        self._usable = True
        try:
            self._base.mkdir(parents=True, exist_ok=True)
            os.utime(self._base)
            _drop_versions(folder)
            for bucket in random.sample(range(_BUCKETS), _TRIMMED):
                trim(self._base / f"{bucket:02x}", MOST_BYTES // _BUCKETS)
        except OSError:
            self._usable = os.access(self._base, os.R_OK)

    def find(self, sha256: str, ext: str) -> Extraction | None:
        """Return the outcome for a content whose file is named `….ext`; None when not known."""
        path = self._path(sha256, ext)
        if path is None or not self._usable:
            return None
        try:
            if self._since and path.stat().st_mtime < self._since:
                return None
            raw = zlib.decompress(path.read_bytes())
            result = from_json(raw.decode("ascii"))
        except (OSError, zlib.error, ValueError, TypeError, KeyError, AttributeError):
            return None  # not there, or damaged by a power cut: it is read and written anew
        return result if result.sha256 == sha256 else None

    def keep(self, result: Extraction, ext: str) -> None:
        """Keep `result` if another reading could only say the same."""
        path = None if result.sha256 is None else self._path(result.sha256, ext)
        if path is None or not self._usable or not _lasting(result):
            return
        text = to_json(result)
        if len(text) > MOST_CHARACTERS:
            return
        try:
            path.parent.mkdir(exist_ok=True)
            write_atomic(path, zlib.compress(text.encode("ascii"), 1))
        except OSError:
            self._usable = False

    def _path(self, sha256: str, ext: str) -> Path | None:
        if not _EXTENSION.fullmatch(ext):
            return None
        return self._base / sha256[:2] / f"{sha256}{ext}.json.z"


def version_of(options: ReadOptions, limits: WorkerLimits) -> str:
    """Return a name for everything but the file that an outcome depends on."""
    digest = hashlib.sha256(repr((options, limits)).encode())
    digest.update(_environment())
    return digest.hexdigest()[:16]


@functools.cache
def _environment() -> bytes:
    """Digest of our code, the packages and their versions, Python, and LibreOffice."""
    digest = hashlib.sha256(sys.version.encode())
    office = program()
    digest.update(f"{office} {office.stat().st_mtime_ns if office else 0}".encode())
    packages: set[str] = set()
    for folder in filter(None, sys.path):
        with contextlib.suppress(OSError):
            # The names hold the versions: `pymupdf-1.28.2.dist-info`.
            packages.update(
                n for n in os.listdir(folder) if n.endswith((".dist-info", ".egg-info"))
            )
    digest.update("\n".join(sorted(packages)).encode("utf-8", "surrogateescape"))
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode())
        digest.update(path.read_bytes())
    return digest.digest()


def trim(folder: Path, most: int) -> None:
    """Remove the oldest files of `folder` until the rest takes at most `most` bytes on disk."""
    found = []
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                about = entry.stat(follow_symlinks=False)
                found.append((about.st_mtime_ns, about.st_blocks * 512, entry.path))
    held = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if held <= most:
            return
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        held -= size


def to_json(result: Extraction) -> str:
    """Return `result` as JSON, ASCII only."""
    return json.dumps(_plain(result))


def from_json(text: str) -> Extraction:
    """Return what `to_json` wrote. Raises ValueError, TypeError, KeyError, AttributeError."""
    return _extraction(json.loads(text))


def _plain(result: Extraction) -> dict[str, object]:
    return {
        **vars(result),
        "page_facts": [vars(page) for page in result.page_facts],
        "members": [(member.name, _plain(member.result)) for member in result.members],
    }


def _extraction(raw: dict) -> Extraction:
    raw["status"] = Status(raw["status"])
    raw["reason"] = _reason(raw["reason"])
    for key in ("ocr_pages", "ocr_read", "warnings"):
        raw[key] = tuple(raw[key])
    raw["page_facts"] = tuple(
        Page(**{**page, "reason": _reason(page["reason"])}) for page in raw["page_facts"]
    )
    raw["members"] = tuple(Member(name, _extraction(inner)) for name, inner in raw["members"])
    return Extraction(**raw)


def _reason(value: str | None) -> Reason | None:
    return None if value is None else Reason(value)


def _lasting(result: Extraction) -> bool:
    """True when the file was read, and with all inside: a failure may be the machine's."""
    return result.status in _READ and all(
        part.status != Status.FAILED and part.ocr_engine is None for part in parts_of(result)
    )


def parts_of(result: Extraction) -> Iterator[Extraction]:
    """Yield `result` and the outcomes of all documents inside it."""
    yield result
    for member in result.members:
        yield from parts_of(member.result)


def _drop_versions(folder: Path) -> None:
    """Remove all but the versions used last; a host may still be at another one."""
    aged = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                aged.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
    for _, path in sorted(aged)[:-_KEPT_VERSIONS]:
        shutil.rmtree(path, ignore_errors=True)
