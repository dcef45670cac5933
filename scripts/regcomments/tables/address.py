"""Addresses of tables and cells: docpipe://pdf/<sha256[:16]>/doc/page[0]/table[0]/tr[1]/td[2].

All indexes count from 0. Formats without pages have no page step:
docpipe://docx/<sha256[:16]>/doc/table[0]/tr[1]/td[2].
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SCHEME = "docpipe"
# Sixteen hex digits, as in the seed: 64 bits, a clash among a million files has odds of 3e-8.
DIGEST_LENGTH = 16

# As it is written: an address is compared as text.
_INDEX = "(?:0|[1-9][0-9]{0,6})"
_ADDRESS = re.compile(
    r"docpipe://(?P<kind>[a-z0-9]{1,16})/(?P<digest>[0-9a-f]{16})/doc"
    rf"(?:/page\[(?P<page>{_INDEX})\])?"
    rf"(?:/table\[(?P<table>{_INDEX})\](?:/tr\[(?P<row>{_INDEX})\](?:/td\[(?P<col>{_INDEX})\])?)?)?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed address. Steps that it does not name are None."""

    kind: str
    digest: str
    page: int | None = None
    table: int | None = None
    row: int | None = None
    col: int | None = None

    def __str__(self) -> str:
        text = base_of(self.kind, self.digest)
        if self.page is not None:
            text = page_of(text, self.page)
        if self.table is not None:
            text = table_of(text, self.table)
            if self.row is not None:
                text += f"/tr[{self.row}]"
                if self.col is not None:
                    text += f"/td[{self.col}]"
        return text

    @property
    def table_address(self) -> str:
        """The address of the table that holds this row or cell. Raises ValueError for a page."""
        if self.table is None:
            raise ValueError(f"{self} names no table")
        return str(Address(self.kind, self.digest, self.page, self.table))


def base_of(kind: str, sha256: str) -> str:
    """Return the address of a document from its kind ("pdf") and its sha256 in hex."""
    digest = sha256[:DIGEST_LENGTH].lower()
    base = f"{SCHEME}://{kind}/{digest}/doc"
    if not _ADDRESS.fullmatch(base):
        raise ValueError(f"no address can be made of kind {kind!r} and digest {sha256!r}")
    return base


def page_of(base: str, page: int) -> str:
    """Return the address of a page, `page` from 0."""
    return f"{base}/page[{page}]"


def table_of(parent: str, index: int) -> str:
    """Return the address of a table below a page or a document without pages."""
    return f"{parent}/table[{index}]"


def cell_of(table: str, row: int, col: int) -> str:
    """Return the address of a cell of a table."""
    return f"{table}/tr[{row}]/td[{col}]"


def parse(address: str) -> Address:
    """Return the parts of an address. Raises ValueError for anything that is not one."""
    found = _ADDRESS.fullmatch(address.strip())
    if not found:
        raise ValueError(
            f"not an address: {address!r}; expected "
            "docpipe://pdf/<16 hex digits>/doc/page[0]/table[0]/tr[0]/td[0]"
        )
    part = found.groupdict()

    def number(name: str) -> int | None:
        return None if part[name] is None else int(part[name])

    return Address(
        part["kind"], part["digest"], number("page"), number("table"), number("row"), number("col")
    )
