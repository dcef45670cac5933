"""Kinds that only LibreOffice reads, where it is installed: converted first, then read by us.

It runs headless with a profile of its own that allows no macros, without network where the
system lets us cut it off, within a deadline and a memory limit, and dies with its parent.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from regcomments.read.options import ReadOptions
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

DEADLINE = 45.0  # seconds; a start takes 2 to 6, and the worker's own deadline begins at 60
MEMORY = 3 << 30  # bytes of address space, unless the worker's limit is lower
MAX_OUTPUT = 300_000_000  # bytes of the converted file
_RESTART = 81  # the program asks to be started again, once it has filled a new profile
_PDEATHSIG = 1  # linux/prctl.h
_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000  # linux/sched.h
_NOWHERE = "http://127.0.0.1:9"  # the discard port
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="MacroSecurityLevel"><value>3</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="BlockUntrustedRefererLinks"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link"><value>0</value></prop></item>
</oor:items>
"""


@functools.cache
def program() -> Path | None:
    """Return LibreOffice's program, None where it isn't installed."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        return None
    # The script starts a launcher that starts the program: three processes where one can be
    # tied to ours.
    binary = Path(found).resolve().with_name("soffice.bin")
    return binary if binary.exists() else Path(found)


def read_office(path: Path, options: ReadOptions) -> Document:
    """Return what our own readers find in `path` once LibreOffice has converted it.

    Raises UnreadableError: no_reader (not installed, or it can't convert the file), timeout.
    """
    if program() is None:
        raise UnreadableError(Status.UNSUPPORTED, Reason.NO_READER, "LibreOffice isn't installed")
    with tempfile.TemporaryDirectory(prefix="office-", dir=options.scratch) as folder:
        converted = convert(path, Path(folder))
        from regcomments.read.word import read_word  # late: only hosts with LibreOffice get here

        document = read_word(converted, options)
    return replace(document, method=f"libreoffice+{document.method}")


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of raster picture `number` (from 1) of the document at `path`, converted.

    Raises LookupError when there is none, UnreadableError as `read_office` does.
    """
    from regcomments.read import word

    with tempfile.TemporaryDirectory(prefix="office-") as folder:
        return word.picture(convert(path, Path(folder)), number)


def convert(path: Path, folder: Path) -> Path:
    """Convert the file at `path` to DOCX in `folder`, which is private; returns the result.

    Raises UnreadableError (`no_reader`, `timeout`, `too_large`).
    """
    suffix = path.suffix.lower() if path.suffix[1:].isalnum() and len(path.suffix) < 8 else ".doc"
    source = folder / f"in{suffix}"
    shutil.copyfile(path, source)
    (folder / "profile" / "user").mkdir(parents=True)
    (folder / "profile" / "user" / "registrymodifications.xcu").write_text(_PROFILE)
    (folder / "out").mkdir()
    command = [
        str(program()),
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        *("--headless", "--norestore", "--nolockcheck", "--nodefault", "--nofirststartwizard"),
        *("--convert-to", "docx", "--outdir", str(folder / "out"), str(source)),
    ]
    deadline = time.monotonic() + DEADLINE
    for _ in range(2):
        if _run(command, folder, deadline) != _RESTART:
            break
    results = sorted((folder / "out").glob("*.docx"))
    if not results:
        detail = f"LibreOffice can't convert {suffix}"
        raise UnreadableError(Status.UNSUPPORTED, Reason.NO_READER, detail)
    if results[0].stat().st_size > MAX_OUTPUT:
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, "converts to too much")
    return results[0]


def _run(command: list[str], folder: Path, deadline: float) -> int:
    """Run `command` until `deadline` (monotonic seconds); returns its exit code."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=_confine,  # the workers that come here have no other threads
    )
    try:
        return process.wait(max(deadline - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired as error:
        detail = f"LibreOffice took more than {DEADLINE:.0f} s"
        raise UnreadableError(Status.FAILED, Reason.TIMEOUT, detail) from error
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(folder: Path) -> dict[str, str]:
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _NOWHERE)
    own = {"HOME": str(folder), "TMPDIR": str(folder), "SAL_USE_VCLPLUGIN": "svp"}
    return {**keep, **proxies, **own}


def _confine() -> None:
    """In the child, before it becomes LibreOffice: die with the parent, no network, less memory."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:  # refused to ordinary users
        libc.unshare(_NEW_USER | _NEW_NETWORK)
    libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    memory = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
