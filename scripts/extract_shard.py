"""Rule extract_shard: combined.md for the pending comments of one stretch of a docket.

Reads the state folder and the database of bodies, writes combined.md files and a receipt. Exits 1
when a comment still lacks its combined.md, 2 when something is wrong that a person must mend.
"""

import argparse
import sys
import time
from pathlib import Path
from urllib.parse import unquote

from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.redo import parse_redo
from regcomments.shard import progress_line, read_receipts, run_shard, write_receipt


def main(arguments: list[str] | None = None) -> int:
    """Run the shard; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    for name in ("docket", "first", "last"):
        parser.add_argument(f"--{name}", type=unquote, required=True)
    parser.add_argument("--redo", default="")
    parser.add_argument("--progress", default="0,0", help="comments planned, epoch of the start")
    parser.add_argument("--receipt", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    job = parser.parse_args(arguments)
    with open(job.log, "a", encoding="utf-8") as log:

        def say(line: str) -> None:
            print(line, file=sys.stderr, flush=True)
            print(line, file=log, flush=True)

        try:
            counts = run_shard(
                Settings.from_json(job.settings.read_text("utf-8")),
                docket=job.docket,
                first=job.first,
                last=job.last,
                redo=parse_redo(job.redo),
                say=say,
            )
        except UserError as error:
            say(f"error: {error}")
            return 2
        if counts.failed_comments:
            say(f"{job.docket}: {counts.failed_comments} comments have no combined.md yet")
            # Snakemake must not see a receipt, the closing summary must see the counts.
            write_receipt(job.receipt.with_suffix(".failed.json"), counts)
            return 1
        write_receipt(job.receipt, counts)
        planned, started = (float(part) for part in job.progress.split(","))
        done = read_receipts(job.receipt.parents[1])
        say(progress_line(job.docket, counts, done, int(planned), started, time.time()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
