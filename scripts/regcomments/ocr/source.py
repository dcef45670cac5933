"""A queued file as a source of pages, behind a process with limits.

A file that crashes, hangs or swallows memory costs the page asked for; the process is killed
and another one started for the next page.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

from regcomments.ocr.engines import EngineUnavailableError, PageInk
from regcomments.scratch import make_scratch

# Of an answer: 20 million pixels in base64 have 27 MB, a page's own PDF with its pictures more.
_MOST_BYTES = 256 << 20
RECYCLE_RSS_MB = 900  # MuPDF and Tesseract keep what a heavy page took; a new process costs 0.3 s


class PageError(Exception):
    """A page could not be rendered or read; the message says why, in one line."""


@dataclass(frozen=True)
class PageLimits:
    """Bounds on one request: wall-clock seconds, address space, size of any file written."""

    seconds: float = 120.0  # 0.75 s is usual, 15 s the worst seen; room for a busy machine
    memory_mb: int = 3072  # 20 million pixels go through three copies and Tesseract's own
    scratch_mb: int = 1024


class PageProcess:
    """The bounded process, started when first needed and again after it died.

    `program` is the module it runs.
    """

    def __init__(
        self, limits: PageLimits | None = None, program: str = "regcomments.ocr.tasks"
    ) -> None:
        self._limits = limits or PageLimits()
        self._program = program
        self._conn: Connection | None = None
        self._process: subprocess.Popen | None = None
        self._scratch: Path | None = None

    def __enter__(self) -> PageProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to `request`. Raises PageError when there is none or it is an error.

        EngineUnavailableError when the process can't be started: no page is at fault for that.
        """
        if self._conn is None:
            try:
                self._start()
            except OSError as error:
                self.close()
                raise EngineUnavailableError(
                    f"no process for reading pages can be started ({error.strerror or error}): see "
                    "to it and run the same command again; the pages stay queued"
                ) from error
        overrun = threading.Event()
        timer = threading.Timer(self._limits.seconds, self._overran, [self._process, overrun])
        timer.daemon = True
        timer.start()
        try:
            self._conn.send_bytes(json.dumps(request).encode())
            answer = json.loads(self._conn.recv_bytes(_MOST_BYTES))
            if not isinstance(answer, dict):
                raise ValueError("no object")
        except (ValueError, RecursionError):
            self.close()
            raise PageError("the page's process answers what makes no sense") from None
        except (EOFError, OSError):
            how = self._death()
            self.close()
            if overrun.is_set():
                how = f"not done within {self._limits.seconds:g} s"
            raise PageError(how) from None
        except BaseException:
            self.close()  # an answer that nobody waits for would be taken for the next one's
            raise
        finally:
            timer.cancel()
        if overrun.is_set():
            self.close()  # it answered at the last moment; the next page needs one that lives
        if answer.pop("rss_mb", 0) > RECYCLE_RSS_MB:
            self.close()
        if "error" in answer:
            raise PageError(answer["error"])
        return answer

    def close(self) -> None:
        """Stop the process and remove its scratch folder. `ask` would start another."""
        if self._conn is not None:
            self._conn.close()
        if self._process is not None:
            _kill_group(self._process)
            self._process.wait()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        self._conn = self._process = self._scratch = None

    @staticmethod
    def _overran(process: subprocess.Popen, overrun: threading.Event) -> None:
        overrun.set()
        _kill_group(process)

    def _death(self) -> str:
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "the page's process stopped answering"
        if code == -signal.SIGKILL:
            return "the page's process was killed (out of memory?)"
        how = f"signal {-code}" if code < 0 else f"exit {code}"
        return f"the page's process died ({how})"

    def _start(self) -> None:
        mine, theirs = Pipe()
        self._scratch = make_scratch("ocr")
        package = Path(__file__).resolve().parents[2]
        search = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
        # More threads than one make Tesseract slower when every core has its own shard.
        environment = {
            **os.environ,
            "OMP_THREAD_LIMIT": "1",
            "PYTHONPATH": os.pathsep.join(search),
            "TMPDIR": str(self._scratch),
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", self._program, str(theirs.fileno()), str(os.getpid())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment,
            )
        self._conn = mine
        setup = {
            "memory_mb": self._limits.memory_mb,
            "scratch_mb": self._limits.scratch_mb,
            "scratch": str(self._scratch),
        }
        with contextlib.suppress(OSError):  # a process that died already shows at the first ask
            mine.send_bytes(json.dumps(setup).encode())


@dataclass(frozen=True)
class FileSource:
    """The wanted pages of one file. `path` is the attachment, `inside` the name of a document
    within it ("" for the attachment itself); `file` is what combined.md calls it."""

    process: PageProcess
    path: Path
    inside: str
    file: str
    sha256: str
    pages: tuple[int, ...]

    def call(self, task: str, number: int, **options: Any) -> dict[str, Any]:
        """Run a task of regcomments.ocr.tasks on page `number`. Raises PageError."""
        return self.process.ask(
            {
                "path": str(self.path),
                "inside": self.inside,
                "sha256": self.sha256,
                "task": task,
                "number": number,
                "options": options,
            }
        )

    def image(self, number: int, dpi: int) -> bytes:
        """Return the page as a grey PNG (a picture comes in its own pixels). Raises PageError."""
        return base64.b64decode(self.call("image", number, dpi=dpi)["data"])

    def pdf(self, number: int) -> bytes:
        """Return a PDF that holds just this page. Raises PageError."""
        return base64.b64decode(self.call("pdf", number)["data"])

    def ink(self, number: int) -> PageInk:
        """Return what is seen on the page without reading it. Raises PageError."""
        return ink_from(self.call("ink", number))


def ink_from(answer: dict[str, Any]) -> PageInk:
    """Return the PageInk in an answer of the process."""
    return PageInk(
        share=float(answer["share"]),
        lines=int(answer["lines"]),
        letters=int(answer["letters"]),
        strips=tuple(answer["strips"]),
        sideways=bool(answer["sideways"]),
    )


def _kill_group(process: subprocess.Popen) -> None:
    # The process leads its own group once it runs; before that only itself is there to kill.
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
