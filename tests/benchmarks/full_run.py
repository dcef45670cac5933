"""One whole run, from nothing to `_index.csv`, and its figures in a file.

    python -m tests.benchmarks.full_run --comments 164000 --work DIR

Builds a corpus below DIR, runs `snakemake -j 2 extract_all` and `index`, each again with nothing
to do, and writes tests/benchmarks/full_run.json, which `make bench` puts into docs/performance.md.
A run that was interrupted goes on when DIR is kept, but its figures are then of the rest alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks.measuring import ROOT, Cost, machine, make_corpus, snakemake

RECORD = ROOT / "tests" / "benchmarks" / "full_run.json"


def run(work: Path, comments: int, jobs: int) -> dict[str, object]:
    """Run all steps below `work` and return the figures."""
    corpus = work / "corpus"
    before = machine()
    started = time.perf_counter()
    if not (corpus / "bib.sqlite").exists():
        make_corpus(corpus, comments)
    made = time.perf_counter() - started
    steps: dict[str, Cost] = {}
    for name, arguments in (
        ("preview, nothing done", ("-n", "extract_all")),
        ("extract_all", ("-j", str(jobs), "extract_all")),
        ("index", ("-j", "1", "index")),
        ("extract_all again", ("-j", str(jobs), "extract_all")),
        ("index again", ("-j", "1", "index")),
    ):
        print(f"{name} …", flush=True)
        steps[name] = snakemake(corpus, *arguments)
        print(f"  {steps[name]}", flush=True)
    sizes = measure_sizes(corpus / "comments")
    return {
        **before,
        "load_after": round(os.getloadavg()[0], 1),
        "comments": comments,
        "jobs": jobs,
        "corpus_seconds": round(made),
        "shards": sum(1 for _ in (corpus / ".shards").glob("*/extract/0001/*/*.json")),
        **sizes,
        "files_per_second": round(sizes["attachments"] / steps["extract_all"].wall, 1),
        "steps": {
            name: {key: round(value, 1) for key, value in asdict(cost).items()}
            for name, cost in steps.items()
        },
    }


def measure_sizes(state: Path) -> dict[str, int]:
    """Return counts and bytes of attachments, of combined.md files and of the index."""
    counts: Counter[str] = Counter()
    inodes: set[int] = set()
    for docket in os.scandir(state):
        if docket.name.startswith("_"):
            continue
        for comment in os.scandir(docket.path):
            for item in os.scandir(comment.path):
                stat = item.stat()
                if item.name == "combined.md":
                    counts["combined"] += 1
                    counts["combined_bytes"] += stat.st_size
                elif item.name.startswith("attachment_"):
                    counts["attachments"] += 1
                    counts["attachment_bytes"] += stat.st_size
                    inodes.add(stat.st_ino)
    counts["distinct_files"] = len(inodes)
    for path in state.glob("_*.*"):
        counts["index_bytes"] += path.stat().st_size
    return dict(counts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, write the record, remove the corpus; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comments", type=int, default=164_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="a folder with some GB of room")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--keep", action="store_true", help="do not remove the corpus")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    figures = run(options.work.absolute(), options.comments, options.jobs)
    options.record.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if not options.keep:
        shutil.rmtree(options.work)
    print(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
