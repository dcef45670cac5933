"""Rule tables_shard: tables.json beside the files of one stretch of a docket that have tables."""

import json
import sys

from regcomments.atomic import write_atomic
from regcomments.errors import UserError
from regcomments.job import parser, stretch_of, told
from regcomments.tables.run import run_tables


def main(arguments: list[str] | None = None) -> int:
    """Run the shard; returns the exit code."""
    job = parser(__doc__, stretch=True).parse_args(arguments)
    with told(job.log) as say:
        try:
            docket, first, _, last = stretch_of(job)
            counts = run_tables(job.settings, docket, first, last, say)
        except UserError as error:
            say(f"error: {error}")
            return 2
        say(f"{docket}: {counts.files} files, {counts.tables} tables, {counts.failed} unread")
    write_atomic(job.receipt, json.dumps(vars(counts), sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
