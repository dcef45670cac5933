"""The commands `regcomments push` and `regcomments pull`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from regcomments import transfer
from regcomments.errors import UserError
from regcomments.transfer import DEFAULT_JOBS, Fate, Report
from regcomments.transfer_s3 import Bucket
from regcomments.view import find_state

MAX_JOBS = 64


def push(arguments: Sequence[str]) -> int:
    """Send OCR results to an S3-compatible store; files that are there are never replaced."""
    return _main("push", transfer.push, arguments, push.__doc__)


def pull(arguments: Sequence[str]) -> int:
    """Fetch OCR results from an S3-compatible store; files that are here are never replaced."""
    return _main("pull", transfer.pull, arguments, pull.__doc__)


def _main(
    name: str, move: Callable[..., Report], arguments: Sequence[str], about: str | None
) -> int:
    given = _parser(name, about).parse_args(arguments)
    state = find_state(given.state)
    bucket = Bucket(given.bucket, given.prefix, given.endpoint, connections=given.jobs)

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        report = move(state, bucket, jobs=given.jobs, say=say)
    except KeyboardInterrupt:
        say(f"{name}: stopped; the same command goes on from here")
        return 130
    except OSError as error:
        raise UserError(f"{name}: {error.strerror or error}: {error.filename or state}") from error
    print("\n".join(report.lines()))
    if name == "pull" and report.counts[Fate.MOVED]:
        print("next: snakemake merge_ocr folds them into combined.md")
    return report.exit_code


def _parser(name: str, about: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"regcomments {name}",
        description=about,
        epilog="Credentials: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Exits 1 "
        "when a file was damaged, failed or differs, 2 when nothing could be moved.",
    )
    parser.add_argument(
        "--state",
        help="the folder of dockets (default: $REGCOMMENTS_STATE, then config/config.yaml)",
    )
    parser.add_argument("--bucket", required=True, help="an existing bucket")
    parser.add_argument("--prefix", default="", help="put before every key (default: none)")
    parser.add_argument(
        "--endpoint", help="URL of the store (default: $AWS_ENDPOINT_URL, then AWS)"
    )
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=DEFAULT_JOBS,
        metavar="N",
        help=f"transfers at once, 1 to {MAX_JOBS} (default: %(default)s)",
    )
    return parser


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MAX_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number from 1 to {MAX_JOBS}")
    return int(text)
