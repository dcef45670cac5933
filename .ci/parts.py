"""Lint and all tests, side by side; what was started is gone at the end, daemons included.

Two lanes keep two cores busy: the tests of Slurm and marker mostly wait, the others compute. A
part's output is printed when it has ended; the last lines tell how each part ended. The exit code
is 0 only when every part's is.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h: orphans of children become children of this process
LIMIT_SECONDS = 4500  # for all parts; a part that hangs must not keep its log to itself
CLOSING = re.compile(r"\d+ (passed|failed|skipped|deselected|error|xfailed|warning)")


@dataclass
class Part:
    """A target of the Makefile, begun when those named in `after` have ended."""

    target: str
    after: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()  # of these, the ones that must have gone well
    process: subprocess.Popen[bytes] | None = None
    log: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    began: float = 0.0
    code: int | None = None
    wall: float = 0.0
    user: float = 0.0
    system: float = 0.0
    closing: str = field(default="")


def parts() -> list[Part]:
    """Return the parts in the order in which they may begin."""
    return [
        Part("setup-dev"),
        Part("setup-marker"),
        Part("lint", ("setup-dev",), ("setup-dev",)),
        Part("test", ("lint",), ("setup-dev",)),
        Part("test-slurm", ("setup-dev",), ("setup-dev",)),
        Part("test-marker", ("setup-marker", "test-slurm"), ("setup-dev", "setup-marker")),
    ]


def main(targets: Sequence[str] = ()) -> int:
    """Run the parts (all, or those named); returns the exit code."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        print("warning: what the parts leave running can't be ended", file=sys.stderr)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, _stop)
    chosen = [part for part in parts() if not targets or part.target in targets]
    try:
        _run(chosen)
    except SystemExit as stop:
        print(f"\nci: stopped, exit {stop.code}", flush=True)
    finally:
        _end_descendants()
    for part in chosen:
        if part.code is None:
            part.closing = "stopped before its end"
            _finish(part, 1)
    return _report(chosen)


def _stop(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _run(chosen: list[Part]) -> None:
    named = {part.target: part for part in chosen}
    deadline = time.monotonic() + LIMIT_SECONDS
    while any(part.code is None for part in chosen):
        for part in chosen:
            waits = [named[name] for name in part.after if name in named]
            begun = part.process is not None or part.code is not None
            if begun or any(other.code is None for other in waits):
                continue
            if any(named[name].code for name in part.needs if name in named):
                part.code, part.closing = 1, "not run: its setup failed"
            else:
                _start(part)
        _collect(chosen)
        if time.monotonic() > deadline:
            for part in chosen:
                if part.code is None:
                    part.closing = f"stopped: not done within {LIMIT_SECONDS} s"
                    _finish(part, 1)
            return


def _start(part: Part) -> None:
    print(f"ci: {part.target} …", flush=True)
    part.began = time.monotonic()
    part.process = subprocess.Popen(
        ["make", "--no-print-directory", part.target],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=part.log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _collect(chosen: list[Part]) -> None:
    """Wait a little for any child; orphans of the parts come here too and are only reaped."""
    try:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
    except ChildProcessError:  # none runs at this moment
        return
    if pid == 0:
        time.sleep(0.2)
        return
    for part in chosen:
        if part.process is not None and part.process.pid == pid and part.code is None:
            part.user, part.system = usage.ru_utime, usage.ru_stime
            _finish(part, os.waitstatus_to_exitcode(status))


def _finish(part: Part, code: int) -> None:
    part.code, part.wall = code, time.monotonic() - part.began
    if part.process is not None:
        part.process.returncode = code
    else:
        part.wall = 0.0
    part.log.seek(0)
    text = part.log.read().decode("utf-8", "replace").rstrip()
    part.log.close()
    print(f"\nci: {part.target}: exit {code} after {part.wall:.0f} s\n{text}", flush=True)
    lines = [line for line in text.splitlines() if CLOSING.search(line)]
    if lines and part.target.startswith("test"):
        part.closing = part.closing or lines[-1]


def _report(chosen: list[Part]) -> int:
    print()
    for part in chosen:
        print(
            f"ci: {part.target}: exit {part.code}, {part.wall:.0f} s, "
            f"CPU {part.user:.0f} s user, {part.system:.0f} s system"
        )
    for part in chosen:
        if part.closing:
            print(f"ci: {part.target}:\n{part.closing}")
    return 0 if all(part.code == 0 for part in chosen) else 1


def _end_descendants() -> None:
    """Let what still runs end itself, then kill it: daemons, stand-ins, workers."""
    for number, seconds in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0)):
        deadline = time.monotonic() + seconds
        while (pids := _descendants()) and time.monotonic() < deadline:
            for pid in pids:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
            time.sleep(0.3)
            _reap()


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


def _descendants() -> list[int]:
    """Return the processes that this one and its children started and that haven't ended."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found: list[int] = []
    front = {os.getpid()}
    while front:
        front = {pid for pid, parent in parents.items() if parent in front} - set(found)
        found += sorted(front)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
