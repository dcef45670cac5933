"""One reading of files that are the same: a campaign sends one letter hundreds of times."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path

from regcomments.digest import sha256_of
from regcomments.read.shelf import Shelf, parts_of
from regcomments.read.worker import OcrLookup, Worker
from regcomments.records import Extraction
from regcomments.status import Reason, Status

MOST_CHARACTERS = 32_000_000  # of texts kept, the oldest go first: some 64 MB
_PAGE_CHARACTERS = 1000  # what the facts of a page take, in characters of text
# Outcomes that may be the machine's, not the file's: the next try may do better.
_PASSING = frozenset({Reason.TIMEOUT, Reason.MEMORY, Reason.CRASHED, Reason.UNREADABLE})


class Remembering:
    """A reader that hands a file to `worker` unless it has read one of the same bytes and name.

    With a `shelf` it knows what other shards have read too; `ocr` is the store whose results an
    outcome must not miss. Without a shelf, only a file whose size was met before is hashed here.
    `repeated` counts those not read again.
    """

    def __init__(
        self,
        worker: Worker,
        most_characters: int = MOST_CHARACTERS,
        *,
        shelf: Shelf | None = None,
        ocr: OcrLookup | None = None,
    ) -> None:
        self._worker = worker
        self._most = most_characters
        self._shelf, self._ocr = shelf, ocr
        self._held = 0
        self._known: OrderedDict[tuple[str, str], Extraction] = OrderedDict()
        self._sizes: set[int] = set()
        self.repeated = 0

    def read(self, path: Path) -> Extraction:
        """Return the outcome for `path`, as Worker.read does."""
        before = _identity(path)
        ext = path.suffix.lower()  # tells kinds apart that their content does not
        digest = None
        if before and (self._shelf is not None or before[0] in self._sizes):
            digest = sha256_of(path)
            known = self._recall(digest, ext) if digest else None
            if known is not None:
                self.repeated += 1
                return known
        result = self._worker.read(path)
        self._keep(result, ext)
        # A file written meanwhile may have the hash of one content and the outcome of another.
        same = result.sha256 == digest is not None and _identity(path) == before
        if self._shelf is not None and same and not self._has_ocr(result):
            self._shelf.keep(result, ext)
        return result

    def _recall(self, digest: str, ext: str) -> Extraction | None:
        known = self._known.get((digest, ext))
        if known is not None:
            self._known.move_to_end((digest, ext))
            return known
        if self._shelf is None:
            return None
        known = self._shelf.find(digest, ext)
        if known is None or self._has_ocr(known):
            return None
        self._keep(known, ext)
        return known

    def _has_ocr(self, result: Extraction) -> bool:
        """True when the store holds something for a page that waits in `result`."""
        if self._ocr is None:
            return False
        from regcomments.ocr.store import stored_files

        return any(
            part.ocr_pages and part.sha256 and stored_files(self._ocr.state, part.sha256)
            for part in parts_of(result)
        )

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


def _identity(path: Path) -> tuple[int, int, int] | None:
    """Size, time and inode of `path`: they change when it is written again."""
    try:
        about = os.stat(path)
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns, about.st_ino
