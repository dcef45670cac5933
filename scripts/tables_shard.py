"""Rule tables_shard: tables.json beside the files of one stretch of a docket that have tables."""

import argparse
import json
import sys
from pathlib import Path
from urllib.parse import unquote

from regcomments.atomic import write_atomic
from regcomments.config import Settings
from regcomments.tables.run import run_tables


def main(arguments: list[str] | None = None) -> int:
    """Run the shard; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    for name in ("docket", "first", "last"):
        parser.add_argument(f"--{name}", type=unquote, required=True)
    parser.add_argument("--receipt", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    job = parser.parse_args(arguments)
    settings = Settings.from_json(job.settings.read_text("utf-8"))
    with open(job.log, "a", encoding="utf-8") as log:

        def say(line: str) -> None:
            print(line, file=sys.stderr, flush=True)
            print(line, file=log, flush=True)

        counts = run_tables(settings, job.docket, job.first, job.last, say)
        say(f"{job.docket}: {counts.files} files, {counts.tables} tables, {counts.failed} unread")
    write_atomic(job.receipt, json.dumps(vars(counts), sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
