"""What the scripts of batch jobs share: their arguments, and lines for people and for a log."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

from regcomments import layout
from regcomments.config import Settings
from regcomments.names import BETWEEN, find_name, is_cut
from regcomments.progress import LIVE_VARIABLE


def parser(description: str | None, *, stretch: bool = False) -> argparse.ArgumentParser:
    """Return a parser of the arguments that every job takes; see also `stretch_of`.

    `stretch` adds those that say which comments: `docket`, `first` and `last`, named as in paths.
    """
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--settings", type=_settings, required=True)
    if stretch:
        for name in ("docket", "first", "last"):
            out.add_argument(f"--{name}", required=True)
    out.add_argument("--receipt", type=Path, required=True)
    out.add_argument("--log", type=Path, required=True)
    return out


class Stretch(NamedTuple):
    """The comments from `first` of `docket` to `last` of `through`."""

    docket: str
    first: str
    through: str
    last: str

    @property
    def title(self) -> str:
        """What people read: the docket, or both, the second without what they begin with alike."""
        if self.docket == self.through:
            return self.docket
        agency, dash, number = self.through.rpartition("-")
        alike = self.docket.startswith(agency + dash)
        return f"{self.docket} to {number if alike else self.through}"


def stretch_of(job: argparse.Namespace) -> Stretch:
    """Return what the arguments `docket` (`A` or `A..Z`), `first` and `last` of `job` stand for.

    Raises UserError when a name that was too long for a path is in the state folder no more.
    """
    state = Path(job.settings.state)
    begin, _, end = job.docket.partition(BETWEEN)
    dockets = layout.dockets(state) if is_cut(job.docket) else ()
    docket, through = find_name(begin, dockets), find_name(end or begin, dockets)
    first = find_name(job.first, _comments(state, docket, job.first))
    return Stretch(docket, first, through, find_name(job.last, _comments(state, through, job.last)))


def _comments(state: Path, docket: str, wanted: str) -> list[str]:
    return layout.comments(state, docket) if is_cut(wanted) else []


def work_folder(receipt: Path) -> Path:
    """Return the folder that all shards of a clone share, given `<work>/extract/<gen>/…/x.json`."""
    return receipt.absolute().parents[3]


class Teller:
    """Prints lines to standard error and appends them to a log."""

    def __init__(self, log: TextIO) -> None:
        self._log = log
        self._drawn = bool(os.environ.get(LIVE_VARIABLE))

    def __call__(self, line: str) -> None:
        """Tell `line` both."""
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:
            # Whoever listened has been killed. The job goes on, and so that its end does not fail
            # over what is still to be flushed, into nothing.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        print(line, file=self._log, flush=True)

    def note(self, line: str) -> None:
        """Tell how far the job is; only the log, when the main process draws that."""
        if self._drawn:
            print(line, file=self._log, flush=True)
        else:
            self(line)


@contextmanager
def told(log: Path) -> Iterator[Teller]:
    """Give a function that prints a line to standard error and appends it to `log`."""
    with open(log, "a", encoding="utf-8") as handle:
        yield Teller(handle)


def _settings(path: str) -> Settings:
    return Settings.from_json(Path(path).read_text("utf-8"))
