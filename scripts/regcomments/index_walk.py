"""The walk over a state folder that finds what changed since the last index."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from regcomments import layout
from regcomments.combined import CombinedError, read_head
from regcomments.index_cache import Cache
from regcomments.index_rows import attachment_row, comment_row, file_of
from regcomments.index_tables import Delta, Problem


@dataclass(frozen=True)
class Seen:
    """One comment folder as the walk met it.

    `mtime_ns` is that of combined.md, None while there is none; `files` are the attachments that
    it lists, documents inside them left out, None when it is damaged or not there.
    """

    docket: str
    comment: str
    folder: str
    mtime_ns: int | None
    files: tuple[str, ...] | None


class Walk:
    """One pass over the state folder: what changed goes into `delta`.

    Afterwards `comments`, `pending` and `read` are counts as in index.IndexReport, `problems` what
    could not be read. `observer` sees each comment folder.
    """

    def __init__(
        self,
        state: Path,
        cache: Cache,
        delta: Delta,
        observer: Callable[[Seen], None] | None,
    ) -> None:
        self.state = state
        self.cache = cache
        self.delta = delta
        self.observer = observer
        self.comments = self.pending = self.read = 0
        self.problems: list[Problem] = []

    def run(self) -> None:
        """Walk once."""
        for docket in layout.dockets(self.state):
            try:
                names = layout.comments(self.state, docket)
                # Names relative to the docket save the system three look-ups a file.
                folder = os.open(self.state / docket, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except OSError as error:
                self._problem(docket, None, error)
                continue
            try:
                for comment in names:
                    if self.observer is not None or not self._is_as_before(docket, comment, folder):
                        self._visit(docket, comment, folder)
            finally:
                os.close(folder)
        self.cache.finish()
        for docket, comment in self.cache.dropped:
            self.delta.remove(docket, comment)

    def _is_as_before(self, docket: str, comment: str, dir_fd: int) -> bool:
        """Pass over a comment without attachments that has not changed, as most have not."""
        row = self.cache.current
        if row is None or row[1] != comment or row[0] != docket or row[4]:
            return False
        try:
            found = os.stat(f"{comment}/combined.md", dir_fd=dir_fd, follow_symlinks=False)
        except OSError:
            return False
        if found.st_mtime_ns != row[2] or found.st_size != row[3]:
            return False
        if not stat.S_ISREG(found.st_mode):
            return False
        self.cache.skip()
        self.comments += 1
        return True

    def _visit(self, docket: str, comment: str, dir_fd: int) -> None:
        known = self.cache.take(docket, comment)
        mtime_ns, files = None, None
        try:
            found = os.stat(f"{comment}/combined.md", dir_fd=dir_fd, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode):
                raise CombinedError("not a regular file")
            mtime_ns = found.st_mtime_ns
            if (
                known is not None
                and known.mtime_ns == mtime_ns
                and known.size == found.st_size
                and all(_size(comment, dir_fd, file) == size for file, size in known.files)
            ):
                files = tuple(file for file, _ in known.files if "/" not in file)
            else:
                files = self._read(docket, comment, dir_fd, found, known is not None)
            self.comments += 1
        except FileNotFoundError:
            self.pending += 1
            mtime_ns = None
        except (CombinedError, ValueError, OSError) as error:
            self._problem(docket, comment, error)
        if files is None and known is not None:
            self.delta.remove(docket, comment)
        if self.observer is not None:
            folder = f"{self.state}/{docket}/{comment}"
            self.observer(Seen(docket, comment, folder, mtime_ns, files))

    def _read(
        self, docket: str, comment: str, dir_fd: int, found: os.stat_result, known: bool
    ) -> tuple[str, ...]:
        head = read_head(f"{comment}/combined.md", dir_fd)
        row = comment_row(docket, comment, head)
        rows = [
            attachment_row(docket, comment, entry, _size(comment, dir_fd, file_of(entry)))
            for entry in head.attachments
        ]
        if known:
            self.delta.remove(docket, comment)
        self.delta.add_comment(row, found.st_mtime_ns, found.st_size, self.cache.position)
        for item in rows:
            self.delta.add_attachment(item, found.st_mtime_ns, self.cache.attachment_position)
        self.read += 1
        return tuple(entry.file for entry in head.attachments if not entry.is_member)

    def _problem(self, docket: str, comment: str | None, error: Exception) -> None:
        detail = _one_line(error).removeprefix(f"{comment}/combined.md: ")
        self.problems.append(Problem(docket, comment, detail))


def _size(comment: str, dir_fd: int, file: str) -> int | None:
    if "/" in file:
        return None
    try:
        found = os.stat(f"{comment}/{file}", dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return " ".join(str(error).split())[:300]
