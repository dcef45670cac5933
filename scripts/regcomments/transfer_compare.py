"""What two results of one name are to each other, when two hosts came to different ones.

A page that failed here may have been read there: then both results are worth having, and the
second gets the next free name, as it would in one store. Only where both read the same page and
read it differently is there a conflict.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto

from regcomments.ocr.engines import DONE, Outcome
from regcomments.ocr.store import StoreError, parse

MAX_VARIANTS = 20  # results of one name; each stands for a host that came to another one
_ATTEMPT = re.compile(r"(?:\.a(\d+))?\.json$")


class Worth(Enum):
    """What another result is worth to one who has this one."""

    MORE = auto()  # it has pages that are not done here
    NOTHING = auto()  # all that it has is here
    RIVAL = auto()  # the same pages, read differently


def worth(name: str, ours: bytes, theirs: bytes) -> Worth:
    """Return what `theirs` is worth to one who has `ours`; a damaged result has no pages."""
    mine, other = _done(name, ours), _done(name, theirs)
    if other.keys() - mine.keys():
        return Worth.MORE
    if any(mine[page] != read for page, read in other.items()):
        return Worth.RIVAL
    return Worth.NOTHING


def variants(name: str) -> Iterator[str]:
    """Yield the names that a further result of this name may take, the next attempt first."""
    found = _ATTEMPT.search(name)
    if found is None:
        return
    first = int(found[1] or 1) + 1
    for number in range(first, first + MAX_VARIANTS):
        yield f"{name[: found.start()]}.a{number}.json"


def _done(name: str, data: bytes) -> dict[int, tuple[Outcome, str]]:
    try:
        pages = parse(name, data)
    except StoreError:
        return {}
    return {
        page.result.number: (page.result.outcome, page.result.markdown)
        for page in pages
        if page.result.outcome in DONE
    }
