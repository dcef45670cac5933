"""Facts about pages and pairs of renditions: written by shards in parts, gathered by the index.

    <state>/_pages/<shard>.<digest>.facts.jsonl.gz   facts of pages, until they are gathered
    <state>/_pages/<shard>.<digest>.pairs.jsonl.gz   agreement of renditions, likewise
    <state>/_pages/_damaged/…                        parts that could not be read
    <state>/_pages.parquet                           one row a page: sha256, page, facts
    <state>/_runs/renditions.csv                     one row a pair

A part is named after its content, so that writing it twice is harmless. Of two rows for one page
the one of the younger part wins.
"""

from __future__ import annotations

import fcntl
import gzip
import hashlib
import json
import math
import os
import re
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from regcomments.atomic import write_atomic
from regcomments.layout import PAGES_FOLDER
from regcomments.records import Page
from regcomments.renditions import Pair

FACTS_SUFFIX = ".facts.jsonl.gz"
PAIRS_SUFFIX = ".pairs.jsonl.gz"
DAMAGED_FOLDER = "_damaged"

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def append_facts(state: Path, shard: str, facts: Mapping[str, Sequence[Page]]) -> Path | None:
    """Write the facts of the pages of files, by SHA-256, as one part; return its path.

    Pages without facts are left out; None is returned when nothing is left. Raises OSError.
    """
    rows = [
        {
            "sha256": sha256,
            "page": page.number,
            "needs_ocr": page.needs_ocr,
            "reason": None if page.reason is None else str(page.reason),
            "ocr_engine": page.ocr_engine,
            **page.facts,
        }
        for sha256, pages in sorted(facts.items())
        for page in pages
        if page.facts
    ]
    return _append(state, shard, rows, FACTS_SUFFIX)


def append_pairs(state: Path, shard: str, pairs: Iterable[tuple[str, str, Pair]]) -> Path | None:
    """Write pairs of renditions, each with docket and comment, as one part; return its path."""
    rows = [
        {
            "docket_id": docket,
            "comment_id": comment,
            "file": pair.file,
            "same_as": pair.other,
            "agreement": round(pair.agreement, 4),
            "same": pair.same,
        }
        for docket, comment, pair in pairs
    ]
    return _append(state, shard, rows, PAIRS_SUFFIX)


def read_part(path: Path) -> list[dict]:
    """Return the rows of one part. Raises ValueError when it is damaged, OSError."""
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
        rows = [json.loads(line) for line in text.splitlines()]
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(f"{path.name}: {error}") from error
    # A part is never written empty; the system leaves zero bytes after a power cut.
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"{path.name}: no rows")
    return rows


def _append(state: Path, shard: str, rows: list[dict], suffix: str) -> Path | None:
    if not rows:
        return None
    lines = "".join(json.dumps(_plain(row), sort_keys=True, allow_nan=False) + "\n" for row in rows)
    raw = lines.encode("ascii")
    name = f"{_UNSAFE.sub('_', shard)[:100]}.{hashlib.sha256(raw).hexdigest()[:16]}{suffix}"
    folder = state / PAGES_FOLDER
    folder.mkdir(exist_ok=True)
    path = folder / name
    write_atomic(path, gzip.compress(raw, 6, mtime=0))
    return path


def _plain(row: Mapping[str, object]) -> dict[str, object]:
    """JSON has no infinities, and DuckDB's reader refuses lone surrogates."""
    out: dict[str, object] = {}
    for key, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            value = None
        elif isinstance(value, str) and not value.isascii():
            value = str(value).encode("utf-8", "replace").decode("utf-8")
        out[key] = value
    return out


def parts(folder: Path, suffix: str) -> list[Path]:
    """Return the parts in `folder` that end in `suffix`, oldest first."""
    found = []
    for entry in os.scandir(folder):
        if entry.name.endswith(suffix) and entry.is_file(follow_symlinks=False):
            try:
                found.append((entry.stat().st_mtime_ns, entry.name))
            except FileNotFoundError:
                continue
    return [folder / name for _, name in sorted(found)]


@contextmanager
def lock(folder: Path, seconds: float = 30.0) -> Iterator[bool]:
    """Hold the lock of `folder`, waiting for at most `seconds`; gives False when it is taken.

    The system drops the lock when its holder dies.
    """
    deadline = time.monotonic() + seconds
    with open(folder / ".lock", "a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    yield False
                    return
                time.sleep(0.2)
                continue
            yield True
            return


def set_aside(path: Path) -> str:
    """Move a damaged part out of the way; return its new path below the state folder."""
    folder = path.parent / DAMAGED_FOLDER
    folder.mkdir(exist_ok=True)
    os.replace(path, folder / path.name)
    return f"{PAGES_FOLDER}/{DAMAGED_FOLDER}/{path.name}"
