"""A server for the time of a run: the side of the jobs.

The server outlives a job, since the next one wants it again, and must not outlive the run. So
a keeper process (server_keeper.py) owns it, and every job holds a lease: a connection to the
keeper's socket, which the kernel closes however the job ends. Without leases the keeper stops
the server and ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.server import Endpoint, ServerFacts

_KEEPER_SECONDS = 20.0  # for the keeper's socket to be there; a second on an idle machine
_WORD_SECONDS = 180.0  # for its first word: it may wait for the one before it to stop a server
_SAY_SECONDS = 15.0
_TELLING = re.compile(r"error|can(no|')t|denied|fail|no such|not found|unable", re.IGNORECASE)
_OWN = ("{", "starting ", "removing ")  # beginnings of the keeper's own lines


def runtime_folder() -> Path:
    """Return this user's own folder for sockets and logs of keepers, made when missing.

    Raises EngineUnavailableError when it belongs to somebody else.
    """
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = Path(base if base and Path(base).is_dir() else tempfile.gettempdir())
    folder /= f"regcomments-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise EngineUnavailableError(f"{folder} isn't this user's own: remove it and run again")
    return folder


def keeper_key(facts: ServerFacts, python: str) -> str:
    """Return a short name for the server that these facts describe."""
    text = json.dumps([asdict(facts), python], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


@contextlib.contextmanager
def lease(facts: ServerFacts, python: str, say: Callable[[str], None]) -> Iterator[Endpoint]:
    """Within, the server that `facts` describes runs; give its endpoint.

    It is started when no other job has done so; `say` is told how that goes. `python` has surya,
    for the ocr-error service. Raises EngineUnavailableError when it doesn't start.
    """
    key = keeper_key(facts, python)
    try:
        folder = runtime_folder()
        connection = connect(folder, key, facts, python)
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise EngineUnavailableError(
            f"the keeper of the OCR server can't be started ({error.strerror or error}{where})"
        ) from error
    with connection:
        yield _await_ready(connection, folder / f"{key}.log", say)


def connect(folder: Path, key: str, facts: ServerFacts, python: str) -> socket.socket:
    """Return a connection to the keeper, started unless it runs."""
    path = folder / f"{key}.sock"
    with open(folder / f"{key}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = _try(path)
        if found is not None:
            return found
        keeper = _spawn(folder, key, facts, python)
        deadline = time.monotonic() + _KEEPER_SECONDS
        while time.monotonic() < deadline and keeper.poll() is None:
            found = _try(path)
            if found is not None:
                return found
            time.sleep(0.05)
    log = folder / f"{key}.log"
    raise EngineUnavailableError(f"the keeper of the OCR server doesn't start; see {log}")


def _try(path: Path) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_WORD_SECONDS)
    try:
        connection.connect(str(path))
        if connection.recv(1, socket.MSG_PEEK):  # a keeper that is going away says nothing
            connection.settimeout(None)
            return connection
    except OSError:
        pass  # none runs, or it went away this moment: another is started
    connection.close()
    return None


def _spawn(folder: Path, key: str, facts: ServerFacts, python: str) -> subprocess.Popen:
    package = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(package)}
    job = json.dumps({"facts": asdict(facts), "python": python, "key": key})
    path = folder / f"{key}.log"
    with contextlib.suppress(FileNotFoundError):
        os.replace(path, path.with_suffix(".log.old"))
    with open(path, "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "regcomments.ocr.server_keeper", str(folder), job],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=folder,
            start_new_session=True,  # a Ctrl-C for the job must let it stop the server in peace
        )


def _await_ready(connection: socket.socket, log: Path, say: Callable[[str], None]) -> Endpoint:
    """Read the keeper's lines until it says ready. Raises EngineUnavailableError."""
    told = 0.0
    broken = (OSError, ValueError, LookupError, TypeError, RecursionError)
    with contextlib.suppress(*broken), connection.makefile("r", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message["state"] == "ready":
                return Endpoint(message["inference"], message.get("ocr_error"))
            if message["state"] == "failed":
                words = last_words(log)
                said = f" ({words})" if words else ""
                raise EngineUnavailableError(
                    f"the OCR server doesn't start: {message['error']}{said}. Its log is {log}"
                )
            if time.monotonic() - told >= _SAY_SECONDS:
                told = time.monotonic()
                say(f"OCR server: {message['note']}")
    # It broke off, maybe in the middle of a line.
    raise EngineUnavailableError(f"the keeper of the OCR server ended; see {log}")


def last_words(log: Path) -> str:
    """Return the last line of a server's log that tells of an error, empty when none does."""
    try:
        with open(log, "rb") as handle:
            handle.seek(max(0, log.stat().st_size - 20_000))
            lines = handle.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    telling = [line for line in lines if _TELLING.search(line) and not line.startswith(_OWN)]
    return " ".join(telling[-1].split())[:300] if telling else ""
