"""Names of dockets and comments as parts of the paths of receipts and logs: quoted, bounded.

A file name has 255 bytes at most, and a receipt is named after two comments. A name that would be
too long is cut and ends in a digest; who gets it looks for the one that it stands for.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from urllib.parse import quote, unquote

from regcomments.errors import UserError

BETWEEN = ".."  # from this name to that one; quoted names have no dots
# Two of them, `..`, and the longest ending (`.0001.failed.json`) are 255 bytes.
MOST_BYTES = 115
_MARK = "="  # before the digest; quoting leaves none
_DIGITS = 24  # 96 bits


WORK_FOLDER = ".shards"


def work_of_state(state: str | os.PathLike[str]) -> str:
    """Return the folder for receipts of a state folder, below the one that Snakemake runs in."""
    key = hashlib.sha256(os.path.abspath(state).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{WORK_FOLDER}/{key}"


def quote_name(name: str) -> str:
    """Return `name` fit for a receipt's path: no braces, spaces, dots or signs that rules read.

    At most MOST_BYTES long. `find_name` turns it back.
    """
    quoted = quote(name, safe="-_~").replace(".", "%2E")
    if len(quoted) <= MOST_BYTES:
        return quoted
    digest = hashlib.sha256(quoted.encode()).hexdigest()[:_DIGITS]
    return f"{quoted[: MOST_BYTES - _DIGITS - 1]}{_MARK}{digest}"


def stretch_name(first: str, last: str) -> str:
    """Return the name of a stretch in a receipt's path: `A`, or `A..Z`."""
    if first == last:
        return quote_name(first)
    return f"{quote_name(first)}{BETWEEN}{quote_name(last)}"


def is_cut(quoted: str) -> bool:
    """True when a name in `quoted` was too long, and ends in a digest."""
    return _MARK in quoted


def find_name(quoted: str, candidates: Iterable[str]) -> str:
    """Return the name that `quote_name` made `quoted` of.

    Only a name that was cut is looked for among the `candidates`. Raises UserError when it is
    none of them.
    """
    if not is_cut(quoted):
        return unquote(quoted)
    for name in candidates:
        if quote_name(name) == quoted:
            return name
    raise UserError(f"there is nothing of the name {quoted} any more: was the folder renamed?")
