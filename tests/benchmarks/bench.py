"""Speed, side by side in one run: the workflow against the bare loop that does the same work.

    make bench                                   # or: python -m tests.benchmarks.bench --help

Prints one table of figures with their limits and exits 1 when one is missed. Everything is made
in a temporary folder. With --write the figures of the parts that ran are recorded, and
docs/performance.md is written from all that is recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.measuring import ROOT, Cost, machine, make_corpus, measure, snakemake
from tests.benchmarks.report import Figure, load_record, save_record, table, write_document

_QUERIES = {
    "characters by docket": "SELECT docket_id, sum(chars) FROM comments GROUP BY 1 ORDER BY 2",
    "one comment by its id": "SELECT * FROM comments WHERE comment_id = 'CMS-2015-0001-0777'",
    "join of both views": (
        "SELECT c.docket_id, a.status, count(*), sum(a.pages) FROM comments c "
        "JOIN attachments a USING (docket_id, comment_id) GROUP BY ALL"
    ),
}


def extraction(work: Path, size: argparse.Namespace) -> list[Figure]:
    """Compare `extract_all -j 2` with two bare processes over the same files."""
    figures = []
    corpus = make_corpus(work / "extraction", size.extract)
    figures += _against_bare("as campaigns send them", corpus, size)
    distinct = work / "distinct"
    state = distinct / "comments" / "CMS-2031-0001"
    for number, path in enumerate(sorted((corpus / "pool").iterdir()), start=1):
        folder = state / f"{state.name}-{number:04d}"
        folder.mkdir(parents=True)
        os.link(path, folder / f"attachment_1{path.suffix}")
    figures += _against_bare("all distinct", distinct, size)
    return figures


def _against_bare(name: str, corpus: Path, size: argparse.Namespace) -> list[Figure]:
    bare_command = [sys.executable, "-m", "tests.benchmarks.bare_loop", str(corpus)]
    bare = [measure(bare_command, corpus)]
    ours = snakemake(corpus, "-j", "2", "extract_all", python=size.python)
    bare.append(measure(bare_command, corpus))  # before and after: the machine is not always alike
    files = sum(1 for _ in (corpus / "comments").glob("*/*/attachment_*"))
    cpu, wall = (statistics.fmean(getattr(cost, key) for cost in bare) for key in ("cpu", "wall"))
    note = f"{files} files; ours {ours.cpu:.1f} s, bare {cpu:.1f} s CPU"
    walls = f"ours {ours.wall:.1f} s, bare {wall:.1f} s"
    return [
        Figure(f"extraction, {name}: CPU against the bare loop", ours.cpu / cpu, 1.25, "x", note),
        Figure(f"extraction, {name}: wall", ours.wall / wall, 1.3, "x", walls),
    ]


def planning(work: Path, size: argparse.Namespace) -> list[Figure]:
    """Measure previews of nothing done and all done, Snakemake's own start apart."""
    start = measure([size.python, "-m", "snakemake", "--version"], work)
    figures = [Figure("snakemake --version (its own start), CPU", start.cpu, None, "s")]
    totals: dict[str, Cost] = {}
    for name, extra in (
        ("nothing done", ["--names-only"]),
        ("all done", ["--names-only", "--done"]),
    ):
        corpus = make_corpus(work / f"plan-{name.replace(' ', '-')}", size.plan, *extra)
        cost = totals[name] = snakemake(corpus, "-n", "extract_all", python=size.python)
        label = f"-n extract_all, {size.plan:,} comments, {name}"
        own = f"{cost.cpu - start.cpu:.1f} s without Snakemake's start"
        figures.append(Figure(f"{label}: CPU", cost.cpu, 2.5, "s", own))
        figures.append(Figure(f"{label}: memory", cost.memory, 150, "MB"))
    if size.plan_large:
        corpus = make_corpus(work / "plan-large", size.plan_large, "--names-only")
        cost = snakemake(corpus, "-n", "extract_all", python=size.python)
        shutil.rmtree(corpus)
        times = size.plan_large / size.plan
        label = f"-n extract_all, {times:.1f} times the comments, nothing done: CPU"
        note = f"{size.plan_large:,} comments, {cost.cpu:.1f} s, {cost.memory:.0f} MB"
        figures.append(Figure(label, cost.cpu / totals["nothing done"].cpu, 6, "x", note))
    return figures


def index(work: Path, size: argparse.Namespace) -> list[Figure]:
    """Measure the index from nothing, again with 100 changed, and queries over the views."""
    corpus = work / "plan-all-done"
    if not corpus.exists():
        make_corpus(corpus, size.plan, "--names-only", "--done")
    state = corpus / "comments"
    command = [size.python, "-m", "regcomments", "index", "--state", str(state)]
    full = measure(command, work)
    for number, path in enumerate(sorted(state.glob("*/*/combined.md"))):
        if number >= 100:
            break
        text = path.read_text("utf-8")
        path.write_text(text.rstrip("\n") + "\nOne more line.\n", "utf-8")
    some = measure(command, work)
    names = ("_index.csv", "_attachments.csv", "_index.parquet", "_attachments.parquet")
    before = [(state / name).read_bytes() for name in names]
    for name in names:
        (state / name).unlink()
    measure(command, work)
    different = sum(
        (state / name).read_bytes() != old for name, old in zip(names, before, strict=True)
    )
    figures = [
        Figure(f"index from nothing, {size.plan:,} comments: CPU", full.cpu, 25, "s"),
        Figure("index from nothing: memory", full.memory, None, "MB"),
        Figure("index, 100 changed: CPU", some.cpu, 3, "s"),
        Figure("files that differ from a full rebuild's", different, 0, ""),
    ]
    for name, query in _QUERIES.items():
        wall, cpu = _query_ms(size.python, state, query)
        note = f"{cpu:.0f} ms CPU"
        figures.append(Figure(f"query over the views, {name}", wall, 100, "ms", note))
    return figures


def _query_ms(python: str, state: Path, query: str) -> tuple[float, float]:
    """Return wall and CPU milliseconds of the quickest of nine runs of `query`."""
    program = (
        "import duckdb, sys, time; from regcomments import view\n"
        "con = duckdb.connect(); view.register(con, sys.argv[1])\n"
        "def run():\n"
        "    started = time.perf_counter(), time.process_time()\n"
        "    con.execute(sys.argv[2]).fetchall()\n"
        "    return time.perf_counter() - started[0], time.process_time() - started[1]\n"
        "wall, cpu = min(run() for _ in range(9))\n"
        "print(wall * 1000, cpu * 1000)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    command = [python, "-c", program, str(state), query]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    wall, cpu = map(float, done.stdout.split())
    return wall, cpu


def recognition(work: Path, size: argparse.Namespace) -> list[Figure]:
    """Compare `snakemake -j 1 ocr` with a bare loop over the same pages."""
    folder = work / "ocr"
    command = [sys.executable, "-m", "tests.benchmarks.bare_ocr", str(folder), str(size.scans)]
    measure([*command, "--make"], work)
    snakemake(folder, "-j", "2", "extract_all", python=size.python)
    bare = [measure(command, work)]
    ours = snakemake(folder, "-j", "1", "ocr", python=size.python)
    bare.append(measure(command, work))
    wall, cpu = (statistics.fmean(getattr(cost, key) for cost in bare) for key in ("wall", "cpu"))
    note = f"{size.scans} pages; ours {ours.wall:.0f} s, bare {wall:.0f} s"
    results = sum(1 for _ in (folder / "comments" / "_ocr").glob("*/*.json"))
    files = sum(1 for _ in (folder / "comments").glob("*/*/attachment_1.pdf"))
    return [
        Figure(
            "OCR, pages a second against the bare loop",
            wall / ours.wall,
            0.9,
            "x",
            note,
            least=True,
        ),
        Figure("OCR, CPU against the bare loop", ours.cpu / cpu, None, "x"),
        Figure(
            "OCR, results in the store beyond one a distinct file",
            results - size.scans,
            0,
            "",
            f"{files} files, {results} results",
        ),
    ]


def pages(work: Path, size: argparse.Namespace) -> list[Figure]:
    """Compare reading and grading of PDF pages with PyMuPDF's own text."""
    from tests.benchmarks.bench_pages import figures

    return [Figure(*row) for row in figures()]


def docx(work: Path, size: argparse.Namespace) -> list[Figure]:
    """Compare the DOCX walker with python-docx's paragraph join."""
    from tests.benchmarks.bench_docx import LIMIT, compare, files

    figures = []
    folder = work / "docx"
    folder.mkdir()
    for name, named in files(folder).items():
        pairs = [pair for label, path in named if (pair := compare(path, label))]
        if pairs:
            ratio = sum(pair.ours for pair in pairs) / sum(pair.join for pair in pairs)
            note = f"{len(pairs)} files, dearest {max(pair.ratio for pair in pairs):.1f} x"
            label = f"DOCX, {name}: CPU against the paragraph join"
            figures.append(Figure(label, ratio, LIMIT, "x", note))
    return figures


PARTS: dict[str, Callable[[Path, argparse.Namespace], list[Figure]]] = {
    "extraction": extraction,
    "planning": planning,
    "index": index,
    "ocr": recognition,
    "pages": pages,
    "docx": docx,
}


def peers(work: Path, size: argparse.Namespace) -> list[dict[str, object]]:
    """Read a sample of the corpus of `extraction` with every peer; return their rows."""
    from tests.benchmarks.peers.measure import measure_peers

    corpus = work / "extraction"
    if not corpus.exists():
        make_corpus(corpus, size.extract)
    files = list((corpus / "comments").glob("*/*/attachment_*"))
    return [vars(peer) for peer in measure_peers(files, work, at_most=size.peer_files)]


def main() -> int:
    """Run the parts asked for, print the table; returns 1 when a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extract", type=int, default=8000, help="comments (2,000 attachments)")
    parser.add_argument("--plan", type=int, default=164_000, help="comments")
    parser.add_argument("--plan-large", type=int, default=1_000_000, help="comments; 0: leave out")
    parser.add_argument("--scans", type=int, default=120, help="pages; a job reads 300")
    parser.add_argument("--peer-files", type=int, default=150, help="files that each peer reads")
    parser.add_argument("--only", choices=[*PARTS, "peers"], action="append")
    parser.add_argument("--python", default=sys.executable, help="of the environment to measure")
    parser.add_argument("--write", action="store_true", help="record; write docs/performance.md")
    size = parser.parse_args()
    size.python = os.path.abspath(size.python)
    chosen = size.only or [*PARTS, "peers"]
    work = Path(tempfile.mkdtemp(prefix="regcomments-bench-"))
    missed = False
    try:
        for name in chosen:
            about = machine()
            if name == "peers":
                found = {"about": about, "peers": peers(work, size)}
                lines = table([], found["peers"])
            else:
                figures = PARTS[name](work, size)
                missed |= any(figure.missed for figure in figures)
                found = {"about": about, "figures": [vars(figure) for figure in figures]}
                lines = table(figures)
            print("\n".join(lines), flush=True)
            if size.write:
                record = {**load_record(), name: found}
                save_record(record)
                write_document(record)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(json.dumps(machine()))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
