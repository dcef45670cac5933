"""What a command costs, and the machine that it was measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Cost:
    """CPU and wall-clock seconds, and the largest resident memory in MB of one process."""

    cpu: float
    wall: float
    memory: float


def measure(command: Sequence[str], folder: Path, log: str = "output.log") -> Cost:
    """Run `command` in `folder`; raises CalledProcessError with its output when it fails.

    CPU seconds are those of all processes that it started and waited for.
    """
    search = os.pathsep.join([str(ROOT / "scripts"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": search}
    # A user's Python keeps its bytecode; an environment that forbids it would triple every start.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    with open(folder / log, "w") as handle:
        process = subprocess.Popen(
            command, cwd=folder, stdout=handle, stderr=subprocess.STDOUT, env=environment
        )
        # Of this process and those it waited for; getrusage would mix in earlier commands.
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    code = process.returncode = os.waitstatus_to_exitcode(status)
    if code:
        raise subprocess.CalledProcessError(code, command, (folder / log).read_text())
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def snakemake(folder: Path, *arguments: str, python: str = sys.executable) -> Cost:
    """Run the workflow on the corpus in `folder`, with the environment of `python`."""
    command = [python, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]
    corpus = ["--config", f"state={folder / 'comments'}", f"bib={folder / 'bib.sqlite'}"]
    if not (folder / "bib.sqlite").exists():
        corpus[-1] = "bib=none"
    return measure([*command, "--directory", str(folder), *arguments, *corpus], folder)


def make_corpus(folder: Path, comments: int, *extra: str) -> Path:
    """Build a corpus in `folder` and return it."""
    command = [sys.executable, "-m", "tests.benchmarks.make_corpus", "--out", str(folder)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}:{ROOT}"}
    subprocess.run(
        [*command, "--comments", str(comments), *extra],
        cwd=ROOT,
        check=True,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    return folder


def machine() -> dict[str, object]:
    """Return the date, the machine, its load now, and the versions that matter."""
    names = ("snakemake", "pymupdf", "python-docx", "duckdb", "regcomments")
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {_memory_gb():.0f} GB",
        "python": platform.python_version(),
        "versions": versions,
        "load": round(os.getloadavg()[0], 1),
    }


def _memory_gb() -> float:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
