"""One reading of files that are the same: a campaign sends one letter hundreds of times."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from pathlib import Path

from regcomments.read.worker import Worker
from regcomments.records import Extraction
from regcomments.status import Reason, Status

MOST_CHARACTERS = 32_000_000  # of texts kept, the oldest go first: some 64 MB
_PAGE_CHARACTERS = 1000  # what the facts of a page take, in characters of text
# Outcomes that may be the machine's, not the file's: the next try may do better.
_PASSING = frozenset({Reason.TIMEOUT, Reason.MEMORY, Reason.CRASHED, Reason.UNREADABLE})


class Remembering:
    """A reader that hands a file to `worker` unless it has read one of the same bytes and name.

    Only a file whose size was met before is hashed here. `repeated` counts those not read again.
    """

    def __init__(self, worker: Worker, most_characters: int = MOST_CHARACTERS) -> None:
        self._worker = worker
        self._most = most_characters
        self._held = 0
        self._known: OrderedDict[tuple[str, str], Extraction] = OrderedDict()
        self._sizes: set[int] = set()
        self.repeated = 0

    def read(self, path: Path) -> Extraction:
        """Return the outcome for `path`, as Worker.read does."""
        size = _size(path)
        ext = path.suffix.lower()  # tells kinds apart that their content does not
        if size in self._sizes:
            digest = _sha256(path)
            known = self._known.get((digest, ext)) if digest else None
            if known is not None:
                self._known.move_to_end((digest, ext))
                self.repeated += 1
                return known
        result = self._worker.read(path)
        self._keep(result, ext)
        return result

    def _keep(self, result: Extraction, ext: str) -> None:
        if result.sha256 is None or result.size is None:
            return
        if result.status == Status.FAILED and result.reason in _PASSING:
            return
        self._sizes.add(result.size)
        self._known[result.sha256, ext] = result
        self._held += _weight(result)
        while self._held > self._most and self._known:
            _, old = self._known.popitem(last=False)
            self._held -= _weight(old)


def _weight(result: Extraction) -> int:
    own = len(result.text) + _PAGE_CHARACTERS * (1 + len(result.page_facts))
    return own + sum(_weight(member.result) for member in result.members)


def _size(path: Path) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None


def _sha256(path: Path) -> str | None:
    try:
        with open(path, "rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return None
