"""Facts held, side by side with other extractors; writes docs/fidelity.md from what it measures.

    make bench-fidelity          # or: python -m tests.benchmarks.fidelity --only kreuzberg --print

Two sets: the real files that may lie beside the repository, and the generated ones of the quality
gate. Without the first nothing is written. Exits 1 when a tool holds more facts of the real files
than ours.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.fidelity_sets import (
    FileSet,
    Result,
    generated_files,
    measure,
    real_files,
)
from tests.benchmarks.peers.environments import ROOT, set_up
from tests.benchmarks.peers.measure import TOOLS

OUT = ROOT / "docs" / "fidelity.md"
OURS = "regcomments"

HEAD = """# Fidelity: what comes out of a file, side by side

Made by `make bench-fidelity` on {date}; the figures are that run's, the text is the tool's own. \
{machine}.

Each file has facts that its text must hold, strings that it must not hold (deleted revisions, \
scripts, garbage), and tables some of whose rows must come out with their cells apart. Nothing is \
read by OCR here. `regcomments` is the whole workflow, `snakemake -j 2 extract_all` on the files \
as comment folders: its CPU seconds hold Snakemake, page grading and, for a few formats, \
LibreOffice, through which liteparse reads all Office files. Each other tool reads in a process \
and an environment of its own, one file after the other, 60 s each, in the form in which it holds \
most of these facts: kreuzberg and liteparse plain text and their tables, markitdown and \
pymupdf4llm Markdown, pdfminer the loop over `extract_text` behind Mirrulations' texts, for PDF \
alone. "Empty" counts the files that \
failed or gave no text; some have none to give: scans, damaged and encrypted ones.
"""
REAL = """
## Real files

{files} files from public repositories of parsers and dockets, chosen because they are hard; they \
lie beside the repository and aren't part of it.

"""
GENERATED = """
## Generated files

{files} files that `tests/quality` makes. They are ours: each was written for a fault that we knew \
of, so they show what the others don't do, and little about what we don't.

"""


def table(files: FileSet, results: Sequence[Result]) -> str:
    """Return the figures of all tools as a pipe table."""
    facts = sum(files.facts.values())
    head = (
        f"| tool | version | facts, of {facts} | forbidden strings | table rows, of {files.rows} "
        f"| empty, of {len(files.names)} | CPU s |"
    )
    lines = [head, "|---|---|---:|---:|---:|---:|---:|"]
    for result in results:
        score = result.score
        lines.append(
            f"| {result.tool} | {result.version} | {score.facts} | {score.forbidden} "
            f"| {score.rows} | {result.empty} | {result.cpu:.1f} |"
        )
    return "\n".join(lines) + "\n"


def kinds(files: FileSet, results: Sequence[Result]) -> str:
    """Return the facts held by file extension as a pipe table."""
    asked: Counter[str] = Counter()
    for name, count in files.facts.items():
        asked[_kind(name)] += count
    lines = [
        "| facts in | of | " + " | ".join(result.tool for result in results) + " |",
        "|---|---:|" + "---:|" * len(results),
    ]
    held = [Counter(_kind(name) for name, _ in result.score.held) for result in results]
    for kind, count in sorted(asked.items(), key=lambda item: (-item[1], item[0])):
        if count:
            cells = " | ".join(str(counter[kind]) for counter in held)
            lines.append(f"| {kind} | {count} | {cells} |")
    return "\n".join(lines) + "\n"


def beaten(files: FileSet, results: Sequence[Result]) -> str:
    """Return a list of all in which another tool does better than ours."""
    ours = next(result for result in results if result.tool == OURS)
    lines = []
    for other in results:
        said = []
        if other.score.facts > ours.score.facts:
            said.append(f"{other.score.facts} facts against {ours.score.facts}")
        if other.score.forbidden < ours.score.forbidden:
            said.append(f"{other.score.forbidden} forbidden strings, {ours.score.forbidden} ours")
        if other.score.rows > ours.score.rows:
            said.append(f"{other.score.rows} table rows against {ours.score.rows}")
        if other.empty < ours.empty:
            said.append(f"{other.empty} empty files against {ours.empty}")
        if other.cpu < ours.cpu:
            said.append(f"{other.cpu:.1f} s of CPU against {ours.cpu:.1f}")
        if said:
            lines.append(f"- {other.tool}: {', '.join(said)}.")
    lines.append(_only_elsewhere(files, ours, [r for r in results if r is not ours]))
    return "\n".join(lines) + "\n"


def _only_elsewhere(files: FileSet, ours: Result, others: Iterable[Result]) -> str:
    holders = defaultdict(set)
    for other in others:
        for fact in other.score.held - ours.score.held:
            holders[fact].add(other.tool)
    if not holders:
        return "- No fact is held by another tool and not by ours."
    by_kind = defaultdict(list)
    for (name, _), tools in sorted(holders.items()):
        by_kind[_kind(name)].append("/".join(sorted(tools)))
    parts = (f"{len(held)} {kind} ({', '.join(held)})" for kind, held in sorted(by_kind.items()))
    return f"- Facts that another tool holds and ours doesn't: {'; '.join(parts)}."


def _kind(name: str) -> str:
    return name.rpartition(".")[2].lower()


def section(files: FileSet, results: Sequence[Result], intro: str) -> str:
    """Return one set's part of the page."""
    return (
        intro.format(files=len(files.names))
        + table(files, results)
        + "\nWhere another tool does better than ours:\n\n"
        + beaten(files, results)
        + "\n"
        + kinds(files, results)
    )


def machine() -> str:
    """Return the machine in words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    office = "with LibreOffice" if shutil.which("soffice") else "without LibreOffice"
    return (
        f"Machine: {platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"Python {platform.python_version()}, {office}"
    )


def main() -> int:
    """Measure, print, write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=TOOLS, action="append", help="beside ours")
    parser.add_argument("--print", action="store_true", help="write nothing")
    args = parser.parse_args()
    tools = dict.fromkeys([OURS, *(args.only or TOOLS)])
    set_up()
    page = HEAD.format(date=time.strftime("%Y-%m-%d"), machine=machine())
    best = True
    with tempfile.TemporaryDirectory(prefix="regcomments-fidelity-") as folder:
        work = Path(folder)
        real = real_files(work)
        for files, intro in ((real, REAL), (generated_files(work), GENERATED)):
            if files is None:
                print("the real files are not beside the repository (../shared/cases)")
                continue
            results = []
            for tool in tools:
                print(f"{tool} on {len(files.names)} files …", flush=True)
                results.append(measure(tool, files, work))
            page += section(files, results, intro)
            if files is real:
                best = all(results[0].score.facts >= other.score.facts for other in results)
    print(page)
    if real is None or args.only or args.print:
        print(f"{OUT.relative_to(ROOT)} is left as it was")
    else:
        OUT.write_text(page, "utf-8")
    return 0 if best else 1


if __name__ == "__main__":
    sys.exit(main())
