"""Rules merge_ocr_results and merge_ocr: fold what the store holds into the combined.md that wait.

With --queue the comments of that queue, else every comment that waits for pages in the store.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from regcomments.atomic import write_atomic
from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.index import rebuild
from regcomments.merge import merge_comments
from regcomments.ocr.plan import plan_ocr
from regcomments.ocr.queue import read_queue


def main(arguments: list[str] | None = None) -> int:
    """Merge; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--queue", type=Path)
    parser.add_argument("--receipt", type=Path)
    job = parser.parse_args(arguments)
    settings = Settings.from_json(job.settings.read_text("utf-8"))

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        queue = read_queue(job.queue) if job.queue else plan_ocr(settings).queue
        report = merge_comments(settings, queue.comments, queue.engine, say)
    except UserError as error:
        say(f"error: {error}")
        return 2
    rebuild(Path(settings.state))  # the queue was drawn from the index, so it is to be true again
    say(f"merged: {report.changed} of {report.comments} comments changed")
    for name in report.failed:
        say(f"not merged: {name}")
    if job.receipt:
        write_atomic(job.receipt, json.dumps(asdict(report), sort_keys=True) + "\n")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
