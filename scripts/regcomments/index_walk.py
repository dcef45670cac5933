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

_COMBINED = "/" + layout.COMBINED


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
                at = 0
                while at < len(names):
                    if self.observer is None:
                        at = self._pass_unchanged(docket, names, at, folder)
                    if at < len(names):
                        self._visit(docket, names[at], folder)
                        at += 1
            finally:
                os.close(folder)
        self.cache.finish()
        for docket, comment in self.cache.dropped:
            self.delta.remove(docket, comment)

    def _pass_unchanged(self, docket: str, names: list[str], at: int, dir_fd: int) -> int:
        """Pass over comments from `names[at]` on that have not changed, as most have not.

        Returns the place of the first that has. One loop without calls: it runs for all comments.
        """
        cache = self.cache
        look = os.stat
        rows = cache.comments
        row = cache.current
        files = 0
        for place in range(at, len(names)):
            comment = names[place]
            if row is None or row[1] != comment or row[0] != docket:
                break
            try:
                found = look(comment + _COMBINED, dir_fd=dir_fd, follow_symlinks=False)
                if (
                    found.st_mtime_ns != row[2]
                    or found.st_size != row[3]
                    or not stat.S_ISREG(found.st_mode)
                    or (row[4] and not self._files_as_before(comment, dir_fd))
                ):
                    break
            except OSError:
                break
            if row[4]:
                files += cache.clear_files()
            cache.current = row = next(rows, None)
        else:
            place = len(names)
        cache.pass_over(place - at, files)
        self.comments += place - at
        return place

    def _files_as_before(self, comment: str, dir_fd: int) -> bool:
        """True when the index holds all attachments of the current comment with their sizes now."""
        row = self.cache.current
        files = self.cache.files()
        return len(files) == row[4] and all(
            item[4] == row[2] and _size(comment, dir_fd, item[2]) == item[3] for item in files
        )

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
