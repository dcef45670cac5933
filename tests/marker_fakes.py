"""A fake program for marker's processes, and a fake Python that has marker."""

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

TEXT = "The clinic supports the proposed payment floor for rural hospitals."
# A stand-in for marker_child.py: obeys the page, which is a word and a number.
PROGRAM = """
import base64, json, os, sys, time
from multiprocessing.connection import Connection
conn = Connection(int(sys.argv[1]))
send = lambda answer: conn.send_bytes(json.dumps(answer).encode())
setup = json.loads(conn.recv_bytes())
if setup.get("broken"):
    send({"error": "ImportError: no torch"}); sys.exit()
if setup.get("dies"):
    print("segmentation fault, core not dumped"); sys.exit(3)
time.sleep(setup.get("slow_start", 0))
send({"ready": True})
raw = '<div data-label="Text" data-bbox="0 0 1 1"><p>%s</p></div>'
while True:
    try:
        word, number = base64.b64decode(json.loads(conn.recv_bytes())["pdf"]).decode().split()
    except EOFError:
        break
    if word == "hang": time.sleep(600)
    if word == "exit": os._exit(9)
    if word == "kill": os.kill(os.getpid(), 9)
    if word == "eat":
        hoard = bytearray(300 << 20); time.sleep(600)
    if word in ("list", "split", "deep"):
        conn.send_bytes({"list": b"[1]", "split": b"{half", "deep": b"[" * 100_000}[word])
        continue
    if word == "huge":
        os.write(conn.fileno(), (0x7FFFFFFF).to_bytes(4, "big") + b"x" * 1000)
        time.sleep(600)
    if word == "torn":
        os.write(conn.fileno(), (1000).to_bytes(4, "big") + b"x" * 10)
        os.kill(os.getpid(), 19)
    if word == "late": time.sleep(0.5)
    if word == "lame": time.sleep(0.8)
    text = "" if word == "empty" else f"TEXT {number}"
    bad = word in ("failed", "lame")
    answer = {"kind": "high_accuracy_bbox", "error": bad, "tokens": 5, "limit": 100,
              "raw": raw % text if text else "", "probability": 0.9}
    send({"markdown": text, "answers": [answer], "warnings": [], "pid": os.getpid(),
          "environment": sorted(os.environ)})
""".replace("TEXT", TEXT)


def fake_python(path: Path, output: str, code: int = 0) -> str:
    """Write a program that prints `output` and return its path."""
    path.write_text(f"#!/bin/sh\necho '{output}'\nexit {code}\n")
    path.chmod(0o755)
    return str(path)


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Within, what takes longer fails with TimeoutError instead of hanging."""

    def overrun(*_: object) -> None:
        raise TimeoutError(f"not done within {seconds} s")

    before = signal.signal(signal.SIGALRM, overrun)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
