"""What the scripts of batch jobs share: their arguments, and lines for people and for a log."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from regcomments.config import Settings

Say = Callable[[str], None]
BETWEEN = ".."  # in the path of a receipt: from this docket to that one; names have no dots there


def parser(description: str | None, *, stretch: bool = False) -> argparse.ArgumentParser:
    """Return a parser of the arguments that every job takes; see also `docket_and_through`.

    `stretch` adds those that say which comments: `docket`, `first` and `last`, quoted as in paths.
    """
    out = argparse.ArgumentParser(description=description)
    out.add_argument("--settings", type=_settings, required=True)
    if stretch:
        out.add_argument("--docket", required=True)
        for name in ("first", "last"):
            out.add_argument(f"--{name}", type=unquote, required=True)
    out.add_argument("--receipt", type=Path, required=True)
    out.add_argument("--log", type=Path, required=True)
    return out


def docket_and_through(text: str) -> tuple[str, str]:
    """Return the first and the last docket of `A` or `A..Z`, both unquoted."""
    first, _, last = text.partition(BETWEEN)
    return unquote(first), unquote(last or first)


def work_folder(receipt: Path) -> Path:
    """Return the folder that all shards of a clone share, given `<work>/extract/<gen>/…/x.json`."""
    return receipt.absolute().parents[3]


@contextmanager
def told(log: Path) -> Iterator[Say]:
    """Give a function that prints a line to standard error and appends it to `log`."""
    with open(log, "a", encoding="utf-8") as handle:

        def say(line: str) -> None:
            print(line, file=sys.stderr, flush=True)
            print(line, file=handle, flush=True)

        yield say


def _settings(path: str) -> Settings:
    return Settings.from_json(Path(path).read_text("utf-8"))
