"""Rule queue_ocr: which pages are to be read, cut into jobs.

Brings the index up to date, reads the front matters that name pages for OCR, drops what the store
holds, takes this host's share, and writes queue.jsonl and a file of rows for each job beside it.
"""

import argparse
import sys
from pathlib import Path

from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.ocr.plan import plan_ocr, write_plan


def main(arguments: list[str] | None = None) -> int:
    """Write the queue; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--queue", type=Path, required=True)
    job = parser.parse_args(arguments)
    try:
        plan = plan_ocr(Settings.from_json(job.settings.read_text("utf-8")))
        for line in plan.lines():
            print(line, file=sys.stderr)
        write_plan(job.queue, plan)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
