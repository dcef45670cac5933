"""The process that owns the OCR server of a run: starts it, watches it, stops it.

    python -m regcomments.ocr.server_keeper FOLDER JOB

Jobs hold leases: connections to FOLDER/<key>.sock. Every client is sent JSON lines: `starting`
with a note, `ready` with the addresses, `failed` with the error. Without a client for
`linger_seconds` all is stopped. If this process is killed outright, its children get SIGTERM
from the kernel, which docker passes on to the container; what still stays is removed by the
next keeper.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from regcomments.ocr import server_commands
from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.server import Endpoint, ServerFacts, fault

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_TICK = 0.5  # seconds between looks at the server
_NOTE_SECONDS = 5.0
_STOP_SECONDS = 15.0  # for a server to end by itself
_DOCKER_SECONDS = 60.0
_FIRST_SECONDS = 30.0  # a keeper that no job has reached by then was started in vain
_ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_libc = ctypes.CDLL(None)


def die_with_keeper() -> None:
    """Have the kernel send SIGTERM to this (child) process when the keeper dies."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def free_port() -> int:
    """Return a port of this host that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Servers:
    """The inference server and the ocr-error service as child processes."""

    facts: ServerFacts
    python: str
    container: str
    say: Callable[[str], None] = print
    endpoint: Endpoint = field(init=False)
    _commands: list[list[str]] = field(init=False)
    _children: list[subprocess.Popen] = field(default_factory=list)

    def __post_init__(self) -> None:
        port = self.facts.port or free_port()
        if self.facts.kind == "vllm":
            command = server_commands.vllm_command(self.facts, port, self.container, os.getpid())
        else:
            command = server_commands.llama_command(self.facts, port)
        self._commands = [command]
        ocr_error = None
        if self.facts.ocr_error:
            side = free_port()
            ocr_error = f"http://127.0.0.1:{side}/v1"
            self._commands.append(server_commands.ocr_error_command(self.python, side))
        self.endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", ocr_error)

    def start(self) -> None:
        """Start what isn't running, after removing what dead keepers left. Raises OSError."""
        self.stop()
        if self.facts.kind == "vllm":
            self._sweep()
        for command in self._commands:
            self.say(f"starting {' '.join(server_commands.without_secrets(command))}")
            self._children.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    env={**os.environ, "TORCH_DEVICE": "cpu"},  # the card is the model's
                    preexec_fn=die_with_keeper,
                    start_new_session=True,
                )
            )

    def fault(self) -> str | None:
        """Return what is wrong in one line, None when all are well."""
        for command, child in zip(self._commands, self._children, strict=False):
            code = child.poll()
            if code is not None:
                return f"{command[0]} ended with {code}"
        return fault(self.endpoint, self.facts.model, _TICK * 4)

    def dead(self) -> bool:
        """True when a process has ended."""
        return any(child.poll() is not None for child in self._children)

    def stop(self) -> None:
        """End all processes, and the container for certain."""
        children, self._children = self._children, []
        for child in children:
            _signal_group(child, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        for child in children:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.1, deadline - time.monotonic()))
            _signal_group(child, signal.SIGKILL)
            child.wait()
        if children and self.facts.kind == "vllm":
            for command in server_commands.stop_commands(self.container):
                _run(command)

    def _sweep(self) -> None:
        listing = _run(server_commands.list_command())
        pids = [
            int(word)
            for line in listing.splitlines()
            for word in line.split()[1:2]
            if word.isdigit()
        ]
        alive = [pid for pid in pids if pid != os.getpid() and is_keeper(pid)]
        for name in server_commands.stale(listing, alive):
            self.say(f"removing container {name}, whose keeper is gone")
            _run(["docker", "rm", "--force", name])


def is_keeper(pid: int) -> bool:
    """True when a process with this id runs and is a keeper, or may be one.

    Where /proc hides what other users run, their containers must not be taken for left ones.
    """
    try:
        return b"server_keeper" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _signal_group(child: subprocess.Popen, number: int) -> None:
    if child.poll() is None or number == signal.SIGKILL:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)


def _run(command: list[str]) -> str:
    """Run a docker command; return its output, empty when it fails (nothing to remove)."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=_DOCKER_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"{' '.join(command)}: {error}", flush=True)
        return ""


class Keeper:
    """The loop: clients come and go, the server gets ready, fails, is started again."""

    def __init__(self, listener: socket.socket, servers: Servers) -> None:
        self._servers = servers
        self._selector = selectors.DefaultSelector()
        self._listener = listener
        self._selector.register(listener, selectors.EVENT_READ)
        self._clients: list[socket.socket] = []
        self._state: dict[str, object] = {"state": "starting", "note": "starting"}
        self._alone_since = time.monotonic()
        self._had_client = False
        self._started = self._noted = 0.0
        self._starts = 0

    def run(self) -> None:
        """Serve until nobody holds a lease any more, or the server can't be had."""
        self._start()
        while not self._idle():
            for key, _ in self._selector.select(_TICK):
                if key.fileobj is self._listener:
                    self._welcome()
                else:
                    self._hear(key.fileobj)
            self._look()

    def _idle(self) -> bool:
        if self._state["state"] == "failed" and self._had_client:
            return True  # it has been told; who comes next shall have another try
        if self._clients:
            return False
        patience = self._servers.facts.linger_seconds if self._had_client else _FIRST_SECONDS
        return time.monotonic() - self._alone_since >= patience

    def _start(self) -> None:
        self._starts += 1
        self._started = self._noted = time.monotonic()
        try:
            self._servers.start()
        except OSError as error:
            name = error.filename or "the server"
            self._tell({"state": "failed", "error": f"{name}: {error.strerror or error}"})

    def _look(self) -> None:
        """Bring the state up to date."""
        if self._state["state"] == "failed":
            return
        if self._state["state"] == "ready" and not self._servers.dead():
            return
        found = self._servers.fault()
        if found is None:
            where = self._servers.endpoint
            self._starts = 0
            self._tell(
                {"state": "ready", "inference": where.inference, "ocr_error": where.ocr_error}
            )
            return
        waited = time.monotonic() - self._started
        if self._servers.dead() or waited > self._servers.facts.startup_seconds:
            if self._starts < self._servers.facts.starts:
                self._tell({"state": "starting", "note": f"{found}; starting again"})
                self._start()
            else:
                self._servers.stop()
                self._tell({"state": "failed", "error": f"{found} after {waited:.0f} s"})
        elif time.monotonic() - self._noted >= _NOTE_SECONDS or self._state["state"] == "ready":
            self._noted = time.monotonic()
            self._tell({"state": "starting", "note": f"loading for {waited:.0f} s"})

    def _welcome(self) -> None:
        client, _ = self._listener.accept()
        client.settimeout(5)
        self._had_client = True
        self._clients.append(client)
        self._selector.register(client, selectors.EVENT_READ)
        self._send(client, self._state)

    def _hear(self, client: socket.socket) -> None:
        """Clients say nothing: what can be read is the end of the lease."""
        try:
            gone = not client.recv(4096)
        except OSError:
            gone = True
        if gone:
            self._dismiss(client)

    def _dismiss(self, client: socket.socket) -> None:
        if client in self._clients:
            self._clients.remove(client)
            self._selector.unregister(client)
            client.close()
            self._alone_since = time.monotonic()

    def _tell(self, state: dict[str, object]) -> None:
        self._state = state
        print(json.dumps(state), flush=True)
        for client in list(self._clients):
            self._send(client, state)

    def _send(self, client: socket.socket, state: dict[str, object]) -> None:
        try:
            client.sendall(json.dumps(state).encode() + b"\n")
        except OSError:
            self._dismiss(client)


def _lock(file: IO[str], seconds: float) -> None:
    """Wait for the lock on `file`, which its holder's end sets free, `seconds` at most."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        time.sleep(0.2)


def main() -> int:
    """Keep the server that the job on the command line describes; returns the exit code."""
    folder, job = Path(sys.argv[1]), json.loads(sys.argv[2])
    facts = job["facts"]
    facts["extra_args"] = tuple(facts["extra_args"])
    path = folder / f"{job['key']}.sock"
    path.unlink(missing_ok=True)
    for number in _ENDS:
        signal.signal(number, lambda *_: sys.exit(0))
    servers = None
    with (
        open(folder / f"{job['key']}.owner", "a") as owner,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener,
    ):
        listener.bind(str(path))
        listener.listen()
        try:
            # The keeper before this one may be stopping its server, which holds the card still.
            _lock(owner, _STOP_SECONDS + 2 * _DOCKER_SECONDS)
            # A name of its own: what that keeper removes must not be this one's container.
            name = f"regcomments-ocr-{job['key']}-{os.getpid()}"
            servers = Servers(ServerFacts(**facts), job["python"], name)
            Keeper(listener, servers).run()
        except EngineUnavailableError as error:
            print(f"error: {error}", flush=True)
            return 2
        finally:
            for number in _ENDS:  # none of them may cut the stopping short
                signal.signal(number, signal.SIG_IGN)
            path.unlink(missing_ok=True)  # before stopping: who comes now starts a new one
            if servers is not None:
                servers.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
