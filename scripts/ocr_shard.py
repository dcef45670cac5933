"""Rule ocr_shard: read the pages of one job and keep the results in the write-once store.

A page that could not be read is in the receipt, not in the exit code: the rule `ocr` counts them
at the end, after everything that was read has been folded in.
"""

import sys
from pathlib import Path

from regcomments.errors import UserError, disk_is_full, full_disk
from regcomments.job import parser, told
from regcomments.ocr.plan import read_job, write_ocr_receipt


def main(arguments: list[str] | None = None) -> int:
    """Read the job's pages; returns the exit code."""
    options = parser(__doc__)
    options.add_argument("--rows", type=Path, required=True)
    job = options.parse_args(arguments)
    with told(job.log) as say:
        try:
            write_ocr_receipt(job.receipt, read_job(job.settings, job.rows, say))
        except UserError as error:
            say(f"error: {error}")
            return 2
        except OSError as error:
            where = error.filename or job.settings.state
            reason = full_disk(where) if disk_is_full(error) else f"{error.strerror}: {where}"
            say(f"error: {reason}")
            return 2
        except (ValueError, TypeError) as error:  # damaged rows; StoreError is one
            say(f"error: {type(error).__name__}: {error}")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
