"""A block of lines at the foot of a terminal that rewrite themselves while jobs run.

Snakemake, its jobs and whatever they start write to one standard error. While the block stands,
that is a pipe into this process, whose thread alone writes to the terminal: what comes through
the pipe goes above the block, line by line. Without a terminal nothing of this happens.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence

TICK_SECONDS = 1.0  # between two drawings
MOST_PART = 65_536  # bytes of a line without an end that are held back
_DRAIN_SECONDS = 2.0  # for what is in the pipe at the end; a stray process may hold it open
_DUMB = ("", "dumb")
_UP, _CLEAR = "\x1b[{}A", "\x1b[J"  # ECMA-48: cursor up, erase to the end of the display


def is_terminal() -> bool:
    """True when standard error is a terminal that can move its cursor."""
    try:
        return os.isatty(2) and os.environ.get("TERM", "") not in _DUMB
    except OSError:
        return False


class Live:
    """The block: `lines` gives its lines, drawn anew every second until `stop`."""

    def __init__(self, lines: Callable[[], Sequence[str]], tick: float = TICK_SECONDS) -> None:
        self._lines, self._tick = lines, tick
        self._drawn = 0  # lines of the block that stand on the terminal
        self._part = b""  # the begin of a line that came without its end
        sys.stderr.flush()
        self._terminal = os.dup(2)
        self._pipe, into = os.pipe()
        os.dup2(into, 2)
        os.close(into)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        """Take the block away and give standard error back; harmless when done before."""
        if self._done.is_set():
            return
        sys.stderr.flush()
        os.dup2(self._terminal, 2)  # the pipe's last end here: jobs have theirs until they end
        self._done.set()
        self._thread.join(_DRAIN_SECONDS + self._tick)
        atexit.unregister(self.stop)

    def _run(self) -> None:
        due = 0.0
        ends = None
        while True:
            if self._done.is_set() and ends is None:
                ends = time.monotonic() + _DRAIN_SECONDS
            wait = 0.05 if ends else max(0.0, due - time.monotonic())
            ready, _, _ = select.select([self._pipe], [], [], min(wait, self._tick))
            raw = os.read(self._pipe, 65_536) if ready else b""
            if (ready and not raw) or (ends is not None and (not ready or time.monotonic() > ends)):
                break
            if ready or time.monotonic() >= due:
                self._draw(raw, block=ends is None)
                due = time.monotonic() + self._tick
        self._draw(b"\n" if self._part else b"", block=False)

    def _draw(self, raw: bytes, *, block: bool) -> None:
        """Write the whole lines in `raw` above the block, in one go with the block itself."""
        whole, end, part = (self._part + raw).rpartition(b"\n")
        if len(part) > MOST_PART:
            whole, end, part = self._part + raw, b"\n", b""
        self._part = part
        wipe = (_UP.format(self._drawn) + _CLEAR).encode() if self._drawn else b""
        lines = self._fitting() if block else []
        self._drawn = len(lines)
        text = "".join(f"{line}\n" for line in lines)
        with contextlib.suppress(OSError):  # the terminal has gone; the jobs go on
            _write(self._terminal, wipe + whole + end + text.encode("utf-8", "replace"))

    def _fitting(self) -> list[str]:
        """Return the block's lines cut to the terminal, so that none is wrapped or scrolled off."""
        try:
            columns, rows = os.get_terminal_size(self._terminal)
        except OSError:
            columns, rows = 80, 24
        try:
            lines = list(self._lines())
        except Exception as error:  # a progress line must never end a run
            lines = [f"(progress: {type(error).__name__}: {error})"]
        most = max(2, (rows or 24) // 2)
        if len(lines) > most:
            more = f"… and {len(lines) - most + 1} more"
            lines = [*lines[: most - 2], more, lines[-1]]
        return [fit(line, (columns or 80) - 1) for line in lines]


def fit(line: str, columns: int) -> str:
    """Return `line` without what could steer the terminal, cut to `columns` cells."""
    out, used = [], 0
    for char in line:
        char = char if char.isprintable() else "\ufffd"
        used += 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if used > columns:
            return "".join(out[:-1]) + "…" if out else ""
        out.append(char)
    return "".join(out)


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]
