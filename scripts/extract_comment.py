"""Rule extract_comment: combined.md of one comment, asked for by its path.

Exits 2 when something is wrong that a person must mend; the log says what. While it runs, and
after a failure, `.extract_comment.failed` lies in the folder: Snakemake removes the folder of a
failed job's output when it is empty, and a comment with only an inline body has an empty folder.
"""

import argparse
import sys
from pathlib import Path

from regcomments.comment import make_combined
from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.read.worker import OcrLookup, Worker
from regcomments.shard import bodies_of


def main(arguments: list[str] | None = None) -> int:
    """Write the file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--settings", type=Path, required=True)
    parser.add_argument("--combined", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    job = parser.parse_args(arguments)
    settings = Settings.from_json(job.settings.read_text("utf-8"))
    folder = job.combined.parent
    marker = folder / ".extract_comment.failed"
    ocr = OcrLookup(
        Path(settings.state), settings.ocr.get("engine"), settings.ocr.get("max_attempts", 3)
    )
    try:
        if not folder.is_dir():
            raise UserError(f"there is no comment folder {folder}")
        marker.touch()
        bodies = bodies_of(settings, [folder.name])
        with Worker(settings.limits(), settings.options(), ocr, fork=True) as worker:
            make_combined(folder, bodies, worker)
    except (UserError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        job.log.write_text(f"{error}\n", "utf-8")
        return 2
    marker.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
