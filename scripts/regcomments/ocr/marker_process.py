"""marker in a process of its own, with a deadline, its memory watched, started again after a kill.

No threads: the engine asks several processes and waits on all of their pipes at once.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from regcomments.scratch import make_scratch

CHILD = Path(__file__).with_name("marker_child.py")
LOOK_SECONDS = 0.5  # between looks at deadlines and memory while nothing arrives
STALL_SECONDS = 20.0  # for the next bytes of a message; a process that runs needs milliseconds
_MOST_BYTES = 64 << 20  # of an answer; the longest that the model may give has under 1 MB
_LOG_TAIL = 400  # characters of a dead process's last words that go into a message


class MarkerDiedError(Exception):
    """The process was killed or died; the message says why, in one line."""


@dataclass(frozen=True)
class ProcessLimits:
    """Bounds on a marker process, in seconds of wall clock and megabytes.

    `memory_mb` is resident memory: beyond it the process is killed, beyond three quarters of it
    the process is replaced after its page. `scratch_mb` bounds any file it writes.
    """

    page_seconds: float = 300.0
    start_seconds: float = 300.0  # importing torch from a cold network disk; 4 s from a warm one
    memory_mb: int = 4096  # a client holds 0.9 GB; the rest is for page images
    scratch_mb: int = 512


@dataclass(frozen=True)
class ProcessPlan:
    """How a process is started: Python, its whole environment, and marker's settings.

    `environment` has no scratch folder yet; `font` is written into it, because marker wants a
    font file to exist and would download one.
    """

    python: str
    environment: Mapping[str, str]
    setup: Mapping[str, Any]
    font: bytes = b"\0"
    program: Path = CHILD


@dataclass
class MarkerProcess:
    """One process, started by `start` and asked for one page at a time.

    `busy` tells that a page was sent and its answer hasn't come.
    """

    plan: ProcessPlan
    limits: ProcessLimits
    conn: Connection | None = None
    busy: bool = False
    ready: bool = False
    _process: subprocess.Popen | None = None
    _scratch: Path | None = None
    _deadline: float = 0.0
    _stalled: bool = False

    def start(self) -> None:
        """Start the process unless it runs; it gets ready on its own time. Raises OSError."""
        if self.conn is not None:
            return
        try:
            self._start()
        except OSError:
            self.close()
            raise
        self._deadline = time.monotonic() + self.limits.start_seconds
        setup = {
            **self.plan.setup,
            "scratch": str(self._scratch),
            "scratch_mb": self.limits.scratch_mb,
        }
        self._send(setup)

    def _start(self) -> None:
        self._scratch = make_scratch("marker")
        font = self._scratch / "font.ttf"
        font.write_bytes(self.plan.font)
        environment = {
            **self.plan.environment,
            "TMPDIR": str(self._scratch),
            "FONT_PATH": str(font),
        }
        self.ready = self.busy = self._stalled = False
        self.conn, theirs = Pipe()
        with theirs, open(self._scratch / "log", "wb") as log:
            _bound_waits(self.conn)
            self._process = subprocess.Popen(
                [
                    *(self.plan.python, "-P", str(self.plan.program)),
                    *(str(theirs.fileno()), str(os.getpid())),
                ],
                pass_fds=[theirs.fileno()],
                cwd=self._scratch,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    def ask(self, pdf: bytes) -> None:
        """Send the one page in `pdf`; the process must be ready and not busy."""
        self.busy = True
        self._deadline = time.monotonic() + self.limits.page_seconds
        self._send({"pdf": base64.b64encode(pdf).decode()})

    def answer(self) -> dict[str, Any]:
        """Return what the process sent. Raises MarkerDiedError when it is dead."""
        try:
            answer = json.loads(self.conn.recv_bytes(_MOST_BYTES))
            if not isinstance(answer, dict):
                raise ValueError("no object")
        except (ValueError, RecursionError):
            self.close()
            raise MarkerDiedError("the marker process answers what makes no sense") from None
        except (EOFError, OSError):
            how = self._death()
            self.close()
            raise MarkerDiedError(how) from None
        if not self.ready:
            if "ready" not in answer:
                self.close()
                raise MarkerDiedError(f"marker doesn't start: {answer.get('error', answer)}")
            self.ready = True
            return answer
        self.busy = False
        if self.resident_mb() > 0.75 * self.limits.memory_mb:
            self.close()
        return answer

    def check(self) -> None:
        """Raise MarkerDiedError, and kill the process, when it is beyond a bound."""
        if self.conn is None or (self.ready and not self.busy):
            return
        if self._stalled:
            self.close()
            raise MarkerDiedError("the marker process stopped reading")
        if time.monotonic() > self._deadline:
            how = f"not done within {self.limits.page_seconds:g} s"
            if not self.ready:
                how = f"not started within {self.limits.start_seconds:g} s"
            self.close()
            raise MarkerDiedError(how)
        if self.resident_mb() > self.limits.memory_mb:
            self.close()
            raise MarkerDiedError(f"needs more than {self.limits.memory_mb} MB of memory")

    def resident_mb(self) -> int:
        """Return the resident memory of the process in megabytes, 0 when it is gone."""
        if self._process is None:
            return 0
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{self._process.pid}/statm").read_text()
            return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
        return 0

    def close(self) -> None:
        """Kill the process and remove its scratch folder; `start` starts another."""
        if self.conn is not None:
            self.conn.close()
        if self._process is not None:
            if self._process.poll() is None:
                # It leads its own group once it runs; before that only itself is there to kill.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
                self._process.kill()
            self._process.wait()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        self.conn = self._process = self._scratch = None
        self.ready = self.busy = False

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self.conn.send_bytes(json.dumps(message).encode())
        except BlockingIOError:
            self._stalled = True  # half a message is of no use; `check` tells
        except OSError:
            pass  # a process that died shows when its answer is read

    def _death(self) -> str:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "the marker process stopped answering"
        if code == -signal.SIGKILL:
            return "the marker process was killed (out of memory?)"
        how = f"signal {-code}" if code < 0 else f"exit {code}"
        tail = ""
        with contextlib.suppress(OSError):
            text = (self._scratch / "log").read_text("utf-8", "replace")
            tail = " ".join(text[-_LOG_TAIL:].split())
        return f"the marker process died ({how}){': ' if tail else ''}{tail}"


def _bound_waits(conn: Connection) -> None:
    """Have reads and writes on `conn` give up when nothing moves for STALL_SECONDS.

    A process that stopped in the middle of a message would hold the job for ever.
    """
    whole = int(STALL_SECONDS)
    wait_for = struct.pack("ll", whole, int((STALL_SECONDS - whole) * 1e6))  # struct timeval
    with socket.socket(fileno=os.dup(conn.fileno())) as end:
        for way in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            end.setsockopt(socket.SOL_SOCKET, way, wait_for)


def arrivals(processes: Sequence[MarkerProcess]) -> Iterator[MarkerProcess]:
    """Yield the processes of which something can be read, after half a second at most."""
    conns = {process.conn: process for process in processes if process.conn is not None}
    waiting = [conn for conn, process in conns.items() if process.busy or not process.ready]
    for conn in wait(waiting, LOOK_SECONDS) if waiting else ():
        yield conns[conn]
