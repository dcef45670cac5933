"""Rule extract_shard: combined.md for the pending comments of one stretch of the state folder.

Reads the state folder and the database of bodies, writes combined.md files and a receipt. Exits 1
when a comment still lacks its combined.md, 2 when something is wrong that a person must mend.
"""

import sys

from regcomments.errors import UserError
from regcomments.job import parser, stretch_of, told, work_folder
from regcomments.progress import Progress, write_receipt
from regcomments.redo import parse_redo
from regcomments.shard import run_shard


def main(arguments: list[str] | None = None) -> int:
    """Run the shard; returns the exit code."""
    options = parser(__doc__, stretch=True)
    options.add_argument("--redo", default="")
    options.add_argument("--progress", default="0,0", help="comments planned, epoch of the start")
    job = options.parse_args(arguments)
    planned, started = (float(part) for part in job.progress.split(","))
    with told(job.log) as say:
        progress = Progress("", say, job.receipt, int(planned), started, say.note)
        try:
            stretch = stretch_of(job)
            progress.title = stretch.title
            counts = run_shard(
                job.settings,
                **stretch._asdict(),
                redo=parse_redo(job.redo),
                progress=progress,
                say=say,
                memory=work_folder(job.receipt) / "read",
            )
        except UserError as error:
            progress.withdraw()
            say(f"error: {error}")
            return 2
        except KeyboardInterrupt:
            progress.break_off()
            say(f"{progress.title}: broken off; what is written stays")
            return 130  # as a shell says of a program ended by SIGINT
        if counts.failed_comments:
            progress.withdraw()
            say(f"{stretch.title}: {counts.failed_comments} comments have no combined.md yet")
            # Snakemake must not see a receipt, the closing summary must see the counts.
            write_receipt(job.receipt.with_suffix(".failed.json"), counts)
            return 1
        progress.finish(counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
