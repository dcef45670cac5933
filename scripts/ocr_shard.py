"""Rule ocr_shard: read the pages of one job and keep the results in the write-once store.

A page that could not be read is in the receipt, not in the exit code: the rule `ocr` counts them
at the end, after everything that was read has been folded in.
"""

import argparse
import sys
from pathlib import Path

from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.ocr.plan import read_job, write_ocr_receipt


def main(arguments: list[str] | None = None) -> int:
    """Read the job's pages; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--receipt", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    job = parser.parse_args(arguments)
    with open(job.log, "a", encoding="utf-8") as log:

        def say(line: str) -> None:
            print(line, file=sys.stderr, flush=True)
            print(line, file=log, flush=True)

        try:
            settings = Settings.from_json(job.settings.read_text("utf-8"))
            write_ocr_receipt(job.receipt, read_job(settings, job.rows, say))
        except UserError as error:
            say(f"error: {error}")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
