"""What a plan of millions costs without their folders: names only, fed to the planner.

    python -m tests.benchmarks.plan_sizes 164000 1000000 10000000 [--slots 200]

Prints, for each number of comments, the shards, the CPU seconds and memory of cutting them, and
those of Snakemake's DAG over as many jobs (a Snakefile with the same shape and nothing to run).
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from regcomments.names import quote_name, stretch_name
from regcomments.plan import Item, PlanOptions, cut

from tests.benchmarks.make_corpus import docket_sizes, sketches
from tests.benchmarks.measuring import measure

BYTES_A_FILE = 500_000  # a mean attachment of regulations.gov, for the bound in bytes
_SNAKEFILE = """
NAMES = [line.rstrip("\\n") for line in open("receipts.txt")]

rule all:
    input: NAMES

rule shard:
    output: "w/{docket}/{first}..{last}.json"
    shell: "true {wildcards.docket:q} {wildcards.first:q} {wildcards.last:q} {output:q}"
"""


def items(comments: int) -> Iterator[Item]:
    """Yield the comments of a corpus of that size as the planner meets them."""
    for sketch in sketches(comments):
        files = len(sketch.files)
        yield Item(sketch.docket, sketch.comment, files, files * BYTES_A_FILE)


def one(comments: int, slots: int) -> str:
    """Cut a plan and let Snakemake preview it; returns a line of figures."""
    started = time.process_time()
    names = sum(1 for _ in items(comments))
    drawing = time.process_time() - started
    started = time.process_time()
    shards, dockets = cut(items(comments), PlanOptions(slots=slots))
    cutting = time.process_time() - started - drawing
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "Snakefile").write_text(_SNAKEFILE)
        with open(work / "receipts.txt", "w") as handle:
            for shard in shards:
                handle.write(
                    f"w/{stretch_name(shard.docket, shard.through)}/"
                    f"{quote_name(shard.first)}..{quote_name(shard.last)}.json\n"
                )
        dag = measure([sys.executable, "-m", "snakemake", "-n", "-q", "all"], work)
    return (
        f"{names:>12,} comments {len(dockets):>7,} dockets, largest {docket_sizes(comments)[0]:,}; "
        f"{len(shards):>6,} shards; cutting {cutting:6.1f} s CPU, {memory:5.0f} MB; "
        f"snakemake -n over the shards {dag.cpu:6.1f} s CPU, {dag.memory:5.0f} MB"
    )


def main() -> int:
    """Print a line for each size, each measured in a process of its own; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("comments", type=int, nargs="+")
    parser.add_argument("--slots", type=int, default=2, help="jobs at a time")
    options = parser.parse_args()
    if len(options.comments) == 1:
        print(one(options.comments[0], options.slots), flush=True)
        return 0
    for comments in options.comments:
        command = [sys.executable, "-m", "tests.benchmarks.plan_sizes", str(comments)]
        subprocess.run([*command, "--slots", str(options.slots)], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
