"""Commands about tables and cells by their address: `table`, `cell`, `crop`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from regcomments.errors import UserError
from regcomments.records import UnreadableError
from regcomments.view import find_state

_ADDRESS = "such as docpipe://pdf/0123456789abcdef/doc/page[0]/table[0]/tr[1]/td[2]"


def table(arguments: Sequence[str]) -> int:
    """Print the table that an address names, or lies in."""
    from regcomments.tables.lookup import resolve
    from regcomments.tables.markdown import render_table

    parser = _parser("table", table)
    parser.add_argument(
        "--format", choices=["text", "csv", "html", "pipe"], default="text", help="default: text"
    )
    given = parser.parse_args(arguments)
    with _errors():
        found = resolve(given.address, find_state(given.state))
        text = render_table(found.table, given.format)
    print(text, end="" if text.endswith("\n") else "\n")
    return 0


def cell(arguments: Sequence[str]) -> int:
    """Print the text of a cell; where it stands goes to stderr."""
    from regcomments.tables.lookup import resolve

    given = _parser("cell", cell).parse_args(arguments)
    with _errors():
        found = resolve(given.address, find_state(given.state))
        if found.cell is None:
            raise ValueError(f"{given.address} names no cell, it does not end in tr[…]/td[…]")
    page = "" if found.page is None else f", page {found.page}"
    print(f"{found.docket_id}/{found.comment_id}/{found.path.name}{page}", file=sys.stderr)
    print(found.text)
    return 0


def crop(arguments: Sequence[str]) -> int:
    """Write the picture of a cell, row or table on its page, to check it against the paper."""
    from regcomments.tables.lookup import CROP_DPI
    from regcomments.tables.lookup import crop as cut

    parser = _parser("crop", crop)
    parser.add_argument("png", type=Path, help="the file to write")
    parser.add_argument("--dpi", type=int, default=CROP_DPI, help=f"default: {CROP_DPI}")
    given = parser.parse_args(arguments)
    if not 36 <= given.dpi <= 600:
        raise UserError(f"--dpi {given.dpi} is out of range: give 36 to 600")
    with _errors():
        print(cut(given.address, find_state(given.state), given.png, given.dpi))
    return 0


def _parser(name: str, function: object) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"regcomments {name}", description=function.__doc__)
    parser.add_argument("address", help=_ADDRESS)
    parser.add_argument("--state", help="the folder of dockets (default: as for `stats`)")
    return parser


@contextmanager
def _errors() -> Iterator[None]:
    """Turn what the tables raise about an address or its file into one line for the user."""
    try:
        yield
    except (ValueError, LookupError, UnreadableError, OSError) as error:
        text = " ".join((error.args[0] if isinstance(error, LookupError) else str(error)).split())
        raise UserError(text) from error
