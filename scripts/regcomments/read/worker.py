"""Reading in a process of its own, so that one bad file costs only itself.

One worker reads one attachment per message. The parent holds the deadline, which grows with the
page count that the worker reports, kills the worker's process group when it runs out, and starts
another. Limits on memory and file size are set inside. Measured on 300 PDFs with a planted
segfault, endless loop, memory bomb and hard exit: no other document lost, 1.1x the bare loop.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from regcomments.errors import UserError
from regcomments.read import ReadOptions, preload, read_attachment
from regcomments.read.limits import WorkerLimits, restrict
from regcomments.records import Document, Extraction
from regcomments.scratch import make_scratch
from regcomments.status import Reason, Status

_PR_SET_PDEATHSIG = 1  # linux/prctl.h: signal for the child when its parent dies
RECYCLE_RSS = 700 << 20  # bytes; MuPDF keeps what a heavy file took, a fresh worker costs 30 ms
START_SECONDS = 120.0  # 0.7 s of CPU when the readers are to be imported, on a busy machine more
READY = ("ready", None)  # the first message of a process that can read
WAIT_SECONDS = 2.0  # between calls of `on_wait`
RECYCLE_READS = 1000  # files, so that slow leaks stay small


# What a worker does with a path. It must not raise: what it returns goes back to the parent.
Task = Callable[[Path, ReadOptions], Any]


@dataclass(frozen=True)
class OcrLookup:
    """Where a worker finds OCR results: the state folder, and the engine to prefer.

    A page that failed `max_attempts` times says so.
    """

    state: Path
    engine: str | None = None
    max_attempts: int = 3


class WorkerFailure(Exception):
    """The process died or overran on a file: `reason` of the closed vocabulary, and a detail."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class Worker:
    """A reader process, started when first needed and again after it died.

    `task` is what it does with a path, read_attachment if not given. `fork` starts it as a fork
    of this process with the readers loaded, which is quick and safe only where no other threads
    run; else it is a fresh interpreter. `on_wait` is told every few seconds which path is in hand,
    and for how long.
    """

    def __init__(
        self,
        limits: WorkerLimits | None = None,
        options: ReadOptions | None = None,
        ocr: OcrLookup | None = None,
        *,
        task: Task | None = None,
        fork: bool = False,
        on_wait: Callable[[Path, float], None] | None = None,
    ) -> None:
        self._on_wait = on_wait
        self._limits = limits or WorkerLimits()
        self._options = options or ReadOptions()
        self._ocr = ocr
        self._task = task
        self._fork = fork
        self._conn: Connection | None = None
        self._pid: int | None = None
        self._handle: object = None
        self._scratch: Path | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, path: Path) -> Extraction:
        """Return the outcome for `path`; a worker that dies or overruns is an outcome too."""
        try:
            return self.run(path)
        except WorkerFailure as failure:
            return Extraction(
                Status.FAILED, reason=failure.reason, error=failure.detail, size=_size(path)
            )

    def run(self, path: Path) -> Any:
        """Return what the task makes of `path`. Raises WorkerFailure."""
        if self._conn is None:
            self._start()
        try:
            self._conn.send(str(path))
            return self._receive(path)
        except (EOFError, OSError, UnpicklingError):
            raise self._death() from None

    def close(self) -> None:
        """Stop the process. It may be started again by another `read`."""
        if self._conn is not None:
            self._conn.close()
        self._kill()

    def _receive(self, path: Path) -> Any:
        started = time.monotonic()
        allowed = self._limits.deadline(0)
        while True:
            left = started + allowed - time.monotonic()
            if left > 0 and not self._conn.poll(min(left, WAIT_SECONDS)):
                if self._on_wait is not None:
                    self._on_wait(path, time.monotonic() - started)
                continue
            if left <= 0:
                self.close()
                raise WorkerFailure(Reason.TIMEOUT, f"not read within {allowed:.0f} s")
            kind, value = self._conn.recv()
            if kind == "pages":
                allowed = max(allowed, self._limits.deadline(value))
                continue
            result, recycle = value
            if recycle:
                self.close()
            return result

    def _death(self) -> WorkerFailure:
        code = self._exit_code()
        self.close()
        # SIGKILL comes from the kernel's memory killer, SIGXFSZ from our file size limit.
        reason = Reason.MEMORY if code == -signal.SIGKILL else Reason.CRASHED
        try:
            how = signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"
        except ValueError:
            how = f"signal {-code}"
        return WorkerFailure(reason, f"the reader died ({how})")

    def _start(self) -> None:
        mine, theirs = Pipe()
        self._scratch = make_scratch()
        options = replace(self._options, scratch=self._scratch)
        setup = (self._limits, options, self._ocr, self._task)
        if self._fork:
            preload()
            gc.freeze()  # what is loaded stays: collections need not walk it, nor copy its pages
            process = get_context("fork").Process(
                target=_serve, args=(theirs, os.getpid(), mine, setup), daemon=True
            )
            process.start()
        else:
            command = [sys.executable, "-m", __name__, str(theirs.fileno()), str(os.getpid())]
            process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
            mine.send(setup)
        theirs.close()
        self._conn, self._pid, self._handle = mine, process.pid, process
        try:
            if not mine.poll(START_SECONDS) or mine.recv() != READY:
                raise EOFError
        except (EOFError, OSError, UnpicklingError):
            # No file's fault: going on would call every file of the corpus crashed.
            how = self._death().detail
            raise UserError(
                f"the reading process does not start ({how}): run `make setup` again, "
                "or look at the limits (ulimit -a) of this shell"
            ) from None

    def _exit_code(self) -> int | None:
        if isinstance(self._handle, subprocess.Popen):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self._handle.wait(5)
            return None
        self._handle.join(5)
        return self._handle.exitcode

    def _kill(self) -> None:
        if self._pid is not None:
            # The group holds what a reader started, such as an office program.
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    kill(self._pid, signal.SIGKILL)
            self._exit_code()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        self._conn = self._pid = self._handle = self._scratch = None


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _serve(
    conn: Connection, parent: int, parents: Connection | None = None, setup: tuple | None = None
) -> None:
    """Read what the process `parent` asks for until it closes its end (`parents`, when forked)."""
    if parents is not None:
        parents.close()
    os.setsid()
    # Without this, a killed parent would leave a worker that loops for ever.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)  # it died before the line above took hold
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limits, options, ocr, task = setup if setup is not None else conn.recv()
    restrict(limits.memory_mb, limits.scratch_mb)
    if setup is None:
        preload()
    options = replace(
        options,
        on_pages=lambda pages: conn.send(("pages", pages)),
        on_document=None if ocr is None else _ocr_hook(ocr),
    )
    conn.send(READY)
    reads = 0
    while True:
        try:
            path = conn.recv()
        except (EOFError, OSError):
            return
        result = (task or read_attachment)(Path(path), options)
        reads += 1
        starved = getattr(result, "reason", None) == Reason.MEMORY
        conn.send(("done", (result, starved or reads >= RECYCLE_READS or _rss() > RECYCLE_RSS)))


def _rss() -> int:
    """Return this process's resident memory in bytes (Linux)."""
    with open("/proc/self/statm", "rb") as handle:
        return int(handle.read().split()[1]) * resource.getpagesize()


def _ocr_hook(ocr: OcrLookup):
    from regcomments.ocr.apply import apply_ocr
    from regcomments.ocr.store import lookup

    def hook(document: Document, sha256: str) -> Document:
        if not any(page.needs_ocr for page in document.pages):
            return document
        result = lookup(ocr.state, sha256, ocr.engine)
        return document if result is None else apply_ocr(document, result, ocr.max_attempts)

    return hook


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
