"""The program of the bounded process: renders, measures and reads single pages on request.

Speaks JSON over a pair of pipes (see source.py): the parent never unpickles what a process that
handles public files sends.
"""

from __future__ import annotations

import base64
import ctypes
import io
import json
import os
import resource
import signal
import sys
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from PIL import Image

from regcomments.ocr import ink
from regcomments.ocr.raster import Pages, RasterError, open_pages
from regcomments.read.limits import restrict

_PR_SET_PDEATHSIG = 1  # linux/prctl.h: signal for this process when its parent dies


def run_task(pages: Pages, task: str, number: int, options: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request. Raises what the page's trouble raises."""
    if task == "image":
        grey, dpi = pages.grey(number, options["dpi"])
        out = io.BytesIO()
        Image.fromarray(grey).save(out, "PNG", compress_level=1)
        return {"data": base64.b64encode(out.getvalue()).decode(), "dpi": dpi}
    if task == "pdf":
        return {"data": base64.b64encode(pages.pdf(number)).decode()}
    if task == "ink":
        grey, dpi = pages.grey(number, ink.DPI)
        return asdict(ink.measure(ink.small(grey, dpi)))
    if task == "tesseract":
        from regcomments.ocr.recognise import read_page

        return read_page(lambda dpi: pages.grey(number, dpi), options)
    raise RasterError(f"no task {task!r}")


def serve(conn: Connection, parent: int) -> None:
    """Answer requests until the parent (its process id) closes its end.

    The first message sets the limits.
    """
    os.setsid()
    # Without this, a killed parent would leave a process that loops for ever.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before that could be asked for
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    setup = json.loads(conn.recv_bytes())
    restrict(setup["memory_mb"], setup["scratch_mb"])
    scratch = Path(setup["scratch"])
    opened: tuple[tuple[str, str, str], Pages] | None = None
    while True:
        try:
            request = json.loads(conn.recv_bytes())
        except (EOFError, OSError):
            return
        key = (request["path"], request["inside"], request["sha256"])
        try:
            if opened is None or opened[0] != key:
                opened = None
                _clear(scratch)
                opened = (key, open_pages(Path(key[0]), key[1], key[2], scratch))
            answer = run_task(opened[1], request["task"], request["number"], request["options"])
        except MemoryError:
            answer = {"error": "needs more memory than allowed"}
        except Exception as error:  # a public file may raise anything; it costs this page only
            name = "" if isinstance(error, RasterError) else f"{type(error).__name__}: "
            answer = {"error": " ".join(f"{name}{error}".split())[:300]}
        answer["rss_mb"] = _rss_mb()
        conn.send_bytes(json.dumps(answer).encode())


def _clear(scratch: Path) -> None:
    """Remove the member that was unpacked for the file before: a job may read hundreds."""
    for path in scratch.iterdir():
        if path.is_file():
            path.unlink()


def _rss_mb() -> int:
    with open("/proc/self/statm", "rb") as handle:
        return int(handle.read().split()[1]) * resource.getpagesize() >> 20


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
