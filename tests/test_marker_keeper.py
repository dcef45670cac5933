"""A server started for a run: shared by its jobs, stopped after the last, gone after a crash.

`docker` and `llama-server` are programs in a folder on PATH that serve health checks.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest
from regcomments.ocr import server_keeper, server_lease
from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.server import ServerFacts
from regcomments.ocr.server_lease import keeper_key, lease, runtime_folder

MODEL = ServerFacts.model
# Run by both fakes with the port to listen on; ends on SIGTERM as servers do.
SERVER = f"""#!{sys.executable}
import json, os, signal, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
port, root = int(sys.argv[1]), os.environ["FAKE_ROOT"]
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if os.path.exists(root + "/crash"):
    print("RuntimeError: CUDA out of memory", flush=True); sys.exit(1)
open(root + "/served", "a").write(str(os.getpid()) + "\\n")
time.sleep(float(os.environ.get("FAKE_LOADING", "0")))
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        body = json.dumps({{"data": [{{"id": "{MODEL}"}}]}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
# Keeps a container as a file that holds its process id and label; `run` is that process.
DOCKER = f"""#!{sys.executable}
import os, pathlib, signal, sys
root, args = pathlib.Path(os.environ["FAKE_ROOT"]), sys.argv[1:]
(root / "docker.log").open("a").write(" ".join(args) + "\\n")
boxes = root / "containers"
boxes.mkdir(exist_ok=True)
if args[0] == "run":
    option = lambda name: args[args.index(name) + 1]
    name, keeper = option("--name"), option("--label").split("=")[1]
    (boxes / name).write_text(f"{{os.getpid()}} {{keeper}}")
    code = os.spawnv(os.P_NOWAIT, str(root / "bin/serve"), ["serve", option("-p").split(":")[1]])
    (boxes / name).write_text(f"{{code}} {{keeper}}")
    signal.signal(signal.SIGTERM, lambda *_: os.kill(code, signal.SIGTERM))
    status = os.waitpid(code, 0)[1]
    (boxes / name).unlink(missing_ok=True)
    sys.exit(os.waitstatus_to_exitcode(status))
if args[0] == "ps":
    for box in sorted(boxes.iterdir()):
        print(box.name, box.read_text().split()[1])
if args[0] in ("stop", "rm"):
    box = boxes / args[-1]
    if not box.exists():
        sys.exit("no such container")
    try: os.kill(int(box.read_text().split()[0]), signal.SIGKILL)
    except ProcessLookupError: pass
    box.unlink(missing_ok=True)
"""


@pytest.fixture
def host(tmp_path, monkeypatch):
    """A host with fake programs and a runtime folder of its own; keepers are ended afterwards."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("serve", SERVER), ("docker", DOCKER)):
        (folder / name).write_text(text)
    llama = f'#!/bin/sh\nwhile [ "$1" != --port ]; do shift; done\nexec {folder}/serve $2\n'
    (folder / "llama-server").write_text(llama)
    for path in folder.iterdir():
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_ROOT", str(tmp_path))
    # Unix sockets have short names; a temporary folder of pytest may be too long.
    runtime = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    yield tmp_path
    for pid in keepers(runtime):
        os.kill(pid, signal.SIGKILL)
    for line in (tmp_path / "served").read_text().split() if (tmp_path / "served").exists() else ():
        if running(int(line)):
            os.kill(int(line), signal.SIGKILL)
    shutil.rmtree(runtime)


def keepers(runtime: Path) -> list[int]:
    """Process ids of the keepers that use this runtime folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"server_keeper" in words and str(runtime).encode() in words:
                found.append(int(entry.name))
    return found


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def served(host: Path) -> list[int]:
    path = host / "served"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def until(condition, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.1)
    return condition()


def facts(**more) -> ServerFacts:
    base = {"ocr_error": False, "linger_seconds": 0.5, "startup_seconds": 20.0}
    return ServerFacts(**{**base, **more})


def enter(chosen: ServerFacts) -> None:
    with lease(chosen, sys.executable, print):
        pass


LLAMA = {"kind": "llamacpp", "gguf": "/m.gguf", "mmproj": "/p.gguf"}


def well(base: str) -> bool:
    try:
        with urllib.request.urlopen(f"{base.removesuffix('/v1')}/health", timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


@pytest.mark.parametrize("kind", [{}, LLAMA], ids=["vllm", "llamacpp"])
def test_server_runs_while_it_is_leased_and_no_longer(host, kind):
    with lease(facts(**kind), sys.executable, print) as where:
        assert well(where.inference)
        (pid,) = served(host)
    assert until(lambda: not running(pid))
    assert until(lambda: not keepers(Path(os.environ["XDG_RUNTIME_DIR"])))
    if not kind:
        assert list((host / "containers").iterdir()) == []
        log = (host / "docker.log").read_text()
        assert "--gpus device=0" in log
        assert "rm --force regcomments-ocr-" in log


def test_jobs_share_one_server_one_after_the_other_and_at_once(host):
    chosen = facts(linger_seconds=5.0)
    with (
        lease(chosen, sys.executable, print) as first,
        lease(chosen, sys.executable, print) as second,
    ):
        assert first == second
    with lease(chosen, sys.executable, print) as third:
        assert third == first
    assert len(served(host)) == 1
    assert len(keepers(Path(os.environ["XDG_RUNTIME_DIR"]))) == 1


JOB = """
import json, sys, time
from regcomments.ocr.server import ServerFacts
from regcomments.ocr.server_lease import lease
facts = json.loads(sys.argv[1]); facts["extra_args"] = tuple(facts["extra_args"])
with lease(ServerFacts(**facts), sys.executable, lambda line: None) as where:
    print(where.inference, flush=True)
    time.sleep(600)
"""


def start_job(chosen: ServerFacts) -> subprocess.Popen:
    from dataclasses import asdict

    job = subprocess.Popen(
        [sys.executable, "-c", JOB, json.dumps(asdict(chosen))],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "scripts")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert job.stdout.readline().startswith("http://")
    return job


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_job_that_is_killed_leaves_no_server(host, number):
    job = start_job(facts())
    (pid,) = served(host)
    job.send_signal(number)
    job.wait()
    assert until(lambda: not running(pid))
    assert until(lambda: list((host / "containers").iterdir()) == [])


def test_keeper_that_is_killed_leaves_no_server(host):
    job = start_job(facts())
    (pid,) = served(host)
    (keeper,) = keepers(Path(os.environ["XDG_RUNTIME_DIR"]))
    os.kill(keeper, signal.SIGKILL)
    assert until(lambda: not running(pid))
    job.kill()
    job.wait()


def test_keeper_that_is_asked_to_end_stops_its_server(host):
    job = start_job(facts())
    (pid,) = served(host)
    (keeper,) = keepers(Path(os.environ["XDG_RUNTIME_DIR"]))
    os.kill(keeper, signal.SIGTERM)
    assert until(lambda: not running(pid) and not running(keeper))
    job.kill()
    job.wait()


def test_container_of_a_dead_keeper_is_removed_first_and_others_stay(host):
    boxes = host / "containers"
    boxes.mkdir()
    holder = subprocess.Popen(["sleep", "600"])
    (boxes / "regcomments-ocr-old-99999999").write_text(f"{holder.pid} 99999999")
    (boxes / "somebody").write_text(f"1 {os.getpid()}")  # a live process that is no keeper
    with lease(facts(), sys.executable, print):
        assert not (boxes / "regcomments-ocr-old-99999999").exists()
    assert holder.wait(5) == -signal.SIGKILL


def test_start_is_tried_again_then_fails_with_the_reason(host):
    (host / "crash").touch()
    with pytest.raises(
        EngineUnavailableError, match=r"ended with 1 .*CUDA out of memory.*log is .*\.log"
    ):
        enter(facts())
    log = (host / "docker.log").read_text().splitlines()
    assert sum(line.startswith("run ") for line in log) == 2
    (host / "crash").unlink()
    with lease(facts(), sys.executable, print) as where:  # and the next run starts afresh
        assert well(where.inference)


def test_server_that_never_gets_ready_is_given_up(host, monkeypatch):
    monkeypatch.setenv("FAKE_LOADING", "600")
    with pytest.raises(EngineUnavailableError, match="doesn't start"):
        enter(facts(startup_seconds=1.0, starts=1))
    assert until(lambda: not any(map(running, served(host))))


def test_progress_is_told_while_it_loads(host, monkeypatch):
    monkeypatch.setenv("FAKE_LOADING", "1.5")
    lines = []
    with lease(facts(), sys.executable, lines.append):
        pass
    assert lines
    assert lines[0].startswith("OCR server: ")


def test_server_that_dies_in_mid_run_is_started_again_at_the_same_address(host):
    with lease(facts(), sys.executable, print) as where:
        (pid,) = served(host)
        os.kill(pid, signal.SIGKILL)
        assert until(lambda: len(served(host)) == 2)
        assert until(lambda: well(where.inference))


def test_missing_program_is_told(host, monkeypatch):
    monkeypatch.setenv("PATH", str(host / "nowhere"))
    with pytest.raises(EngineUnavailableError, match="docker: No such file"):
        enter(facts())


def test_runtime_folder_is_the_user_s_own(host):
    folder = runtime_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(EngineUnavailableError, match="remove it"):
        runtime_folder()


def test_other_facts_are_another_server():
    assert keeper_key(facts(), "p") == keeper_key(facts(), "p")
    assert len({keeper_key(facts(), "p"), keeper_key(facts(memory=0.5), "p")}) == 2


@pytest.mark.parametrize("hidden", [FileNotFoundError, PermissionError])
def test_container_of_another_user_whose_processes_are_hidden_is_left(monkeypatch, hidden):
    """Where /proc hides what others run, their keepers are known by their ids alone."""

    def unseen(*_: object) -> bytes:
        raise hidden

    other = subprocess.Popen(["sleep", "60"])
    try:
        monkeypatch.setattr(Path, "read_bytes", unseen)
        assert server_keeper.is_keeper(other.pid)
    finally:
        other.kill()
        other.wait()
    assert not server_keeper.is_keeper(other.pid)


def test_secret_among_a_server_s_arguments_isnt_logged(monkeypatch):
    said = []
    facts = ServerFacts(
        kind="llamacpp", gguf="m", mmproj="p", binary="true", ocr_error=False,
        extra_args=("--api-key", "s3cret", "--hf-token=s3cret", "--max-tokens", "4"),
    )  # fmt: skip
    servers = server_keeper.Servers(facts, sys.executable, "box", said.append)
    servers.start()
    servers.stop()
    assert "s3cret" not in "".join(said) and "--max-tokens 4" in said[0]


def test_attempt_counted_against_pages_when_no_keeper_can_be_started(tmp_path, monkeypatch):
    """An OSError out of `read` would be taken for the pages' fault."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / f"regcomments-{os.getuid()}").write_text("in the way")
    held = lease(ServerFacts(), sys.executable, print)
    with pytest.raises(EngineUnavailableError, match="File exists"):
        held.__enter__()


@pytest.mark.parametrize(
    "said", [b'{"state": "sta', b"[]\n", b'{"state": "ready"}\n', b"\xff\n", b"[" * 100_000 + b"\n"]
)
def test_attempt_counted_against_pages_when_a_keeper_breaks_off(tmp_path, said):
    mine, theirs = socket.socketpair()
    with mine, theirs:
        theirs.sendall(said)
        theirs.shutdown(socket.SHUT_WR)
        with pytest.raises(EngineUnavailableError, match="keeper of the OCR server ended"):
            server_lease._await_ready(mine, tmp_path / "log", print)
