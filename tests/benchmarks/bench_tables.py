"""Tables of ICDAR 2013, side by side with other libraries, in one run.

usage: bench_tables.py [--data FOLDER] [--envs FOLDER] [--only NAME …] [--out FILE]

Scores each engine with the data's own score.py: cell F1, adjacency F1, pages found, false pages;
and measures CPU milliseconds a page (all threads and child processes). Our own engine and
PyMuPDF's and liteparse's run in this environment; pdfplumber and camelot each in one of their own
below --envs, made on first use (needs the network, some 400 MB).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "tables"
ENVS = ROOT / ".cache" / "bench-tables"

Grids = list[list[list[list[str]]]]  # pages of tables of rows of cells


def ours(pdf: Path) -> Grids:
    import pymupdf
    from regcomments.tables.pdf import tables_of_document

    with pymupdf.open(pdf) as doc:
        pages: Grids = [[] for _ in range(doc.page_count)]
        for table in tables_of_document(doc, "docpipe://pdf/0000000000000000/doc"):
            pages[table.page - 1].append(table.grid())
    return pages


def ours_structural(pdf: Path) -> Grids:
    """docpipe's structural path: liteparse's items, rulings and boxes."""
    from regcomments.docpipe import Options, handle

    result = handle(pdf, Options(force_structure=True))
    pages: Grids = [[] for _ in result.layout.pages]
    at = {p.geometry.number: k for k, p in enumerate(result.layout.pages)}
    for table in result.tables:
        pages[at[table.page]].append(table.grid())
    return pages


def liteparse_blocks(pdf: Path) -> Grids:
    from liteparse import LiteParse

    parsed = LiteParse(ocr_enabled=False, extract_blocks=True, quiet=True).parse(str(pdf))
    return [
        [
            [[c.text for c in row] for row in [b.header or [], *(b.rows or [])] if row]
            for b in page.blocks or ()
            if b.kind == "table"
        ]
        for page in parsed.pages
    ]


def find_tables(pdf: Path) -> Grids:
    import pymupdf

    with pymupdf.open(pdf) as doc:
        return [[t.extract() for t in page.find_tables().tables] for page in doc]


def pdfplumber_tables(pdf: Path) -> Grids:
    import pdfplumber

    with pdfplumber.open(pdf) as doc:
        return [page.extract_tables() for page in doc.pages]


def camelot(flavor: str) -> Callable[[Path], Grids]:
    def run(pdf: Path) -> Grids:
        import camelot as library
        from pypdf import PdfReader

        pages: Grids = [[] for _ in PdfReader(pdf).pages]
        found = library.read_pdf(str(pdf), pages="all", flavor=flavor, suppress_stdout=True)
        for table in found:
            pages[table.page - 1].append(table.df.values.tolist())
        return pages

    return run


# Name: the engine, and the packages of its own environment (none: this one).
ENGINES: dict[str, tuple[Callable[[Path], Grids], tuple[str, ...]]] = {
    "regcomments": (ours, ()),
    "regcomments docpipe": (ours_structural, ()),
    "liteparse blocks": (liteparse_blocks, ()),
    "PyMuPDF find_tables": (find_tables, ()),
    "pdfplumber": (pdfplumber_tables, ("pdfplumber==0.11.*",)),
    "camelot lattice": (camelot("lattice"), ("camelot-py[base]==1.*", "pypdf")),
    "camelot stream": (camelot("stream"), ("camelot-py[base]==1.*", "pypdf")),
}


def work(name: str) -> None:
    """Read PDF paths from standard input, write a line of JSON for each: the child process."""
    engine, _ = ENGINES[name]
    for line in sys.stdin:
        pdf = Path(line.strip())
        start = sum(os.times()[:4])
        tables: Grids = []
        error = ""
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                tables = engine(pdf)
        # Another library's faults are its result, not ours.
        except Exception as err:
            error = f"{type(err).__name__}: {err}"[:200]
        cpu = sum(os.times()[:4]) - start
        row = {"file": pdf.name, "pages": len(tables), "tables": tables, "cpu": cpu, "error": error}
        print(json.dumps(row), flush=True)


def python_of(name: str, envs: Path) -> str | None:
    """The interpreter for an engine; its environment is made when it is missing."""
    packages = ENGINES[name][1]
    if not packages:
        return sys.executable
    folder = envs / packages[0].split("[")[0].split("=")[0]
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        done = subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=False)
        if done.returncode:
            return None
        (folder / "ready").touch()
    return str(python)


def run(name: str, data: Path, envs: Path, out: Path) -> str:
    """Return the line of one engine for the report."""
    python = python_of(name, envs)
    if python is None:
        return f"{name:22} its packages could not be installed"
    pdfs = sorted((data / "icdar2013").glob("*.pdf"))
    done = subprocess.run(
        [python, __file__, "--work", name],
        input="".join(f"{p}\n" for p in pdfs),
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if not rows:
        return f"{name:22} did not run: {done.stderr.strip().splitlines()[-1:]}"
    result = out / f"{name.replace(' ', '-')}.jsonl"
    result.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    scored = subprocess.run(
        [sys.executable, str(data / "score.py"), str(data / "icdar2013"), str(result)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    pages = max(1, sum(r["pages"] for r in rows))
    # The first file pays for imports, which a run of thousands pays once.
    cpu = sum(r["cpu"] for r in rows[1:]) * 1000 / max(1, pages - rows[0]["pages"])
    failed = sum(bool(r["error"]) for r in rows)
    return f"{name:22} {scored}; CPU {cpu:.1f} ms a page; {failed} files failed"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--envs", type=Path, default=ENVS)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--only", nargs="*", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--work", choices=list(ENGINES), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.work:
        work(args.work)
        return
    if not (args.data / "icdar2013").is_dir():
        sys.exit(f"no ICDAR 2013 files in {args.data}; say where they are with --data")
    out = args.out or args.envs / "results"
    out.mkdir(parents=True, exist_ok=True)
    for name in args.only:
        print(run(name, args.data, args.envs, out), flush=True)


if __name__ == "__main__":
    main()
