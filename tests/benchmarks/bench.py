"""Speed, side by side in one run: the workflow against the bare loop that does the same work.

    make bench                                   # or: python -m tests.benchmarks.bench --help

Prints one table of ratios with their limits and exits 1 when one is missed. Everything is made in
a temporary folder. CPU seconds are those of all processes that a command started.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SNAKEMAKE = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")]


@dataclass(frozen=True)
class Cost:
    """CPU and wall-clock seconds, and the largest resident memory in MB of one process."""

    cpu: float
    wall: float
    memory: float


@dataclass(frozen=True)
class Figure:
    """One line of the table: what, how much, and the limit that it must keep."""

    name: str
    value: float
    limit: float | None
    unit: str
    note: str = ""

    @property
    def missed(self) -> bool:
        """True when the limit isn't kept."""
        return self.limit is not None and self.value > self.limit


def measure(command: Sequence[str], folder: Path) -> Cost:
    """Run `command` in `folder`; raises CalledProcessError with its output when it fails."""
    search = os.pathsep.join([str(ROOT / "scripts"), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": search}
    started = time.perf_counter()
    with open(folder / "output.log", "w") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=environment
        )
        # Of this process and those it waited for; getrusage would mix in earlier commands.
        _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    code = process.returncode = os.waitstatus_to_exitcode(status)
    if code:
        raise subprocess.CalledProcessError(code, command, (folder / "output.log").read_text())
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


def snakemake(folder: Path, *arguments: str) -> Cost:
    """Run the workflow on the corpus in `folder`."""
    corpus = ["--config", f"state={folder / 'comments'}", f"bib={folder / 'bib.sqlite'}"]
    if not (folder / "bib.sqlite").exists():
        corpus[-1] = "bib=none"
    return measure([*SNAKEMAKE, "--directory", str(folder), *arguments, *corpus], folder)


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


def extraction(work: Path, comments: int) -> list[Figure]:
    """Compare `extract_all -j 2` with two bare processes over the same files."""
    corpus = make_corpus(work / "extraction", comments)
    bare = measure([sys.executable, "-m", "tests.benchmarks.bare_loop", str(corpus)], work)
    ours = snakemake(corpus, "-j", "2", "extract_all")
    files = sum(1 for _ in (corpus / "comments").glob("*/*/attachment_*"))
    note = f"{files} attachments, bare {bare.cpu:.1f} s CPU {bare.wall:.1f} s wall"
    return [
        Figure("extraction, CPU against the bare loop", ours.cpu / bare.cpu, 1.25, "x", note),
        Figure("extraction, wall against the bare loop", ours.wall / bare.wall, 1.3, "x"),
    ]


def planning(work: Path, comments: int) -> list[Figure]:
    """Measure previews of nothing done and all done, Snakemake's own start apart."""
    figures = []
    start = measure([*SNAKEMAKE[:3], "--version"], work)
    figures.append(Figure("snakemake --version, CPU", start.cpu, None, "s"))
    for name, extra in (("nothing done", ["--names-only"]), ("all done", ["--done"])):
        corpus = make_corpus(work / f"plan-{name.replace(' ', '-')}", comments, *extra)
        cost = snakemake(corpus, "-n", "extract_all")
        label = f"-n extract_all, {comments:,} comments, {name}"
        figures.append(Figure(f"{label}, CPU", cost.cpu, 2.5, "s"))
        figures.append(Figure(f"{label}, memory", cost.memory, 150, "MB"))
    return figures


def index(work: Path, comments: int) -> list[Figure]:
    """Measure the index from nothing, again with 100 changed, and a query over the view."""
    corpus = work / "plan-all-done"
    if not corpus.exists():
        make_corpus(corpus, comments, "--done")
    state = corpus / "comments"
    command = [sys.executable, "-m", "regcomments", "index", "--state", str(state)]
    full = measure(command, work)
    for number, path in enumerate(sorted(state.glob("*/*/combined.md"))):
        if number >= 100:
            break
        text = path.read_text("utf-8")
        path.write_text(text.rstrip("\n") + "\nOne more line.\n", "utf-8")
    some = measure(command, work)
    query = (
        "import duckdb, sys, time; from regcomments import view\n"
        "con = duckdb.connect(); view.register(con, sys.argv[1])\n"
        "sql = 'SELECT docket_id, sum(chars) FROM comments GROUP BY 1 ORDER BY 2 DESC LIMIT 5'\n"
        "con.execute(sql).fetchall(); t = time.perf_counter(); con.execute(sql).fetchall()\n"
        "print((time.perf_counter() - t) * 1000)\n"
    )
    took = subprocess.run(
        [sys.executable, "-c", query, str(state)], check=True, capture_output=True, text=True
    )
    return [
        Figure(f"index from nothing, {comments:,} comments, CPU", full.cpu, 25, "s"),
        Figure("index, 100 changed, CPU", some.cpu, 3, "s"),
        Figure("query over the view", float(took.stdout), 100, "ms"),
    ]


def recognition(work: Path, scans: int) -> list[Figure]:
    """Compare `snakemake -j 1 ocr` with a bare loop over the same pages."""
    folder = work / "ocr"
    command = [sys.executable, "-m", "tests.benchmarks.bare_ocr", str(folder), str(scans)]
    measure([*command, "--make"], work)
    snakemake(folder, "-j", "2", "extract_all")
    bare = measure(command, work)
    ours = snakemake(folder, "-j", "1", "ocr")
    note = f"{scans} pages, bare {scans / bare.wall:.2f} pages/s"
    return [Figure("OCR, bare loop's speed over ours", ours.wall / bare.wall, 1 / 0.9, "x", note)]


PARTS: dict[str, Callable[[Path, argparse.Namespace], list[Figure]]] = {
    "extraction": lambda work, size: extraction(work, size.extract),
    "planning": lambda work, size: planning(work, size.plan),
    "index": lambda work, size: index(work, size.plan),
    "ocr": lambda work, size: recognition(work, size.scans),
}


def main() -> int:
    """Run the parts asked for, print the table; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--extract", type=int, default=8000, help="comments (2,000 attachments)")
    parser.add_argument("--plan", type=int, default=164_000, help="comments")
    parser.add_argument("--scans", type=int, default=40, help="pages")
    parser.add_argument("--only", choices=PARTS, action="append")
    size = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="regcomments-bench-"))
    figures: list[Figure] = []
    try:
        for name in size.only or PARTS:
            figures += PARTS[name](work, size)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(
        f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}"
    )
    print(f"{'measure':<60}{'value':>10}{'limit':>10}")
    for figure in figures:
        limit = "" if figure.limit is None else f"{figure.limit:.2f}"
        mark = "  MISSED" if figure.missed else ""
        value = f"{figure.value:.2f} {figure.unit}"
        print(f"{figure.name:<60}{value:>10}{limit:>10}{mark}  {figure.note}".rstrip())
    return 1 if any(figure.missed for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
