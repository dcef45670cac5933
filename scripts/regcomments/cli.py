"""The program `regcomments`: what is handier without Snakemake.

Each command is a function `main(arguments) -> exit code` of a module that is imported when the
command is given. A UserError is one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from regcomments import __version__
from regcomments.errors import UserError


@dataclass(frozen=True)
class Command:
    """One command: its name, `module:function`, and a line of help."""

    name: str
    target: str
    help: str


COMMANDS = (
    Command("stats", "regcomments.cli:stats", "rebuild the index, print counts and findings"),
    Command("index", "regcomments.cli:index", "rebuild _index.csv and _attachments.csv"),
    Command("extract", "regcomments.cli:extract", "read one file and print its text"),
    Command("table", "regcomments.cli_tables:table", "print a table by its address"),
    Command("cell", "regcomments.cli_tables:cell", "print the value of a cell by its address"),
    Command("crop", "regcomments.cli_tables:crop", "cut a cell or table out of its page as PNG"),
    Command("push", "regcomments.transfer_cli:push", "send OCR results to an S3-compatible store"),
    Command("pull", "regcomments.transfer_cli:pull", "fetch OCR results from such a store"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command in `arguments` (default: of the process); return the exit code."""
    parser = argparse.ArgumentParser(
        prog="regcomments",
        description="Public comments on federal rules, attachments included, as text.",
        epilog="commands:\n"
        + "\n".join(f"  {command.name:<10}{command.help}" for command in COMMANDS)
        + "\n\nregcomments COMMAND --help says more. Extraction itself: snakemake extract_all",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"regcomments {__version__}")
    parser.add_argument(
        "command", choices=[command.name for command in COMMANDS], metavar="COMMAND"
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    command = next(command for command in COMMANDS if command.name == given.command)
    module, _, function = command.target.partition(":")
    try:
        code = getattr(import_module(module), function)(given.arguments)
        sys.stdout.flush()  # at the process's end nobody would catch a closed pipe
        return code
    except UserError as error:
        print(f"regcomments: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # `regcomments stats | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def stats(arguments: Sequence[str]) -> int:
    """Print counts by status and reason, and what does not fit together."""
    from regcomments.stats import render
    from regcomments.stats import stats as count
    from regcomments.view import find_state

    given = _state_parser("stats", stats).parse_args(arguments)
    print(render(count(find_state(given.state))), end="")
    return 0


def index(arguments: Sequence[str]) -> int:
    """Bring _index.csv and _attachments.csv up to date with the combined.md files."""
    from regcomments.index import rebuild, report_lines
    from regcomments.view import find_state

    parser = _state_parser("index", index)
    parser.add_argument("--full", action="store_true", help="read every combined.md again")
    given = parser.parse_args(arguments)
    for line in report_lines(rebuild(find_state(given.state), full=given.full)):
        print(line)
    return 0


def extract(arguments: Sequence[str]) -> int:
    """Read one file as extract_all would, and print its text; its status goes to stderr."""
    from pathlib import Path

    from regcomments.comment import extract_attachment

    parser = argparse.ArgumentParser(prog="regcomments extract", description=extract.__doc__)
    parser.add_argument("file", type=Path)
    path = parser.parse_args(arguments).file
    if not path.is_file():
        raise UserError(f"there is no file {path}: give the path of an attachment")
    result = extract_attachment(path)
    about = f"{result.status}" + (f": {result.reason}" if result.reason else "")
    if result.ocr_pages:
        about += f", pages for OCR: {', '.join(map(str, result.ocr_pages))}"
    print(about + (f" ({result.error})" if result.error else ""), file=sys.stderr)
    print(result.text)
    return 0 if result.status in ("ok", "ocr_needed") else 1


def _state_parser(name: str, function) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"regcomments {name}", description=function.__doc__)
    parser.add_argument(
        "--state",
        help="the folder of dockets (default: $REGCOMMENTS_STATE, then config/config.yaml)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
