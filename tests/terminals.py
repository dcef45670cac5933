"""A terminal for tests: a pseudo terminal that programs write to, and what stands on it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_STEP = re.compile(r"\x1b\[(\d*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


def open_terminal(rows: int = 24, columns: int = 100) -> tuple[int, int]:
    """Return the two ends of a pseudo terminal: ours, and the program's."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


def read_for(ours: int, seconds: float) -> bytes:
    """Return what arrives within `seconds`."""
    out, ends = b"", time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if select.select([ours], [], [], left)[0]:
            try:
                out += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
    return out


def run_on_terminal(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    rows: int = 24,
    columns: int = 100,
    seconds: float = 300,
    see: Callable[[subprocess.Popen, bytes], None] = lambda process, out: None,
) -> tuple[int, bytes]:
    """Run `command` with standard input, output and error on a terminal of its own.

    Returns its exit code and what it wrote. `see` is called now and then with the process and
    what came so far. Kills it after `seconds`.
    """
    ours, theirs = open_terminal(rows, columns)
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    out, ends = b"", time.monotonic() + seconds
    try:
        while process.poll() is None and time.monotonic() < ends:
            out += read_for(ours, 0.2)
            see(process, out)
        out += read_for(ours, 0.5)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait(10)
        os.close(ours)
    return process.returncode, out


def shown(raw: bytes) -> list[str]:
    """Return the lines that stand on an endless terminal after `raw`, colours left out."""
    lines, row, column = [""], 0, 0
    for step in _STEP.finditer(raw.decode("utf-8", "replace")):
        text = step[0]
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif step[2] == "A":
            row -= int(step[1] or 1)
            assert row >= 0, "the cursor went above the first line"
        elif step[2] == "J":
            lines[row:] = [lines[row][:column]]
        elif step[2] is None:
            line = lines[row].ljust(column)
            lines[row] = line[:column] + text + line[column + len(text) :]
            column += len(text)
    return lines
