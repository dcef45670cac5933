"""Addresses: build, parse, refuse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from regcomments.tables import address
from regcomments.tables.address import Address

SHA = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "docpipe://pdf/0123456789abcdef/doc/page[0]/table[0]/tr[1]/td[2]",
            Address("pdf", SHA[:16], 0, 0, 1, 2),
        ),
        ("docpipe://pdf/0123456789abcdef/doc/page[3]/table[1]", Address("pdf", SHA[:16], 3, 1)),
        ("docpipe://pdf/0123456789abcdef/doc/page[3]", Address("pdf", SHA[:16], 3)),
        ("docpipe://pdf/0123456789abcdef/doc", Address("pdf", SHA[:16])),
        (
            "docpipe://docx/0123456789abcdef/doc/table[2]/tr[0]/td[0]",
            Address("docx", SHA[:16], None, 2, 0, 0),
        ),
    ],
)
def test_parse_and_build(text, parts):
    assert address.parse(text) == parts
    assert str(parts) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "docpipe://pdf/0123456789abcdef",
        "docpipe://pdf/0123456789ABCDEF/doc",
        "docpipe://pdf/0123/doc/page[0]",
        "docpipe://../0123456789abcdef/doc",
        "docpipe://pdf/0123456789abcdef/doc/page[-1]",
        "docpipe://pdf/0123456789abcdef/doc/page[0]/tr[1]",
        "docpipe://pdf/0123456789abcdef/doc/page[0]/table[0]/td[1]",
        "docpipe://pdf/0123456789abcdef/doc/page[99999999]",
        "docpipe://pdf/0123456789abcdef/doc/page[٣]x",
        "http://pdf/0123456789abcdef/doc",
    ],
)
def test_refuses_what_is_no_address(text):
    with pytest.raises(ValueError, match="not an address"):
        address.parse(text)


def test_builders_chain():
    base = address.base_of("pdf", SHA)
    cell = address.cell_of(address.table_of(address.page_of(base, 0), 0), 1, 2)
    assert cell == "docpipe://pdf/0123456789abcdef/doc/page[0]/table[0]/tr[1]/td[2]"
    assert address.parse(cell).table_address == f"{base}/page[0]/table[0]"


@pytest.mark.parametrize(
    ("kind", "digest"), [("PDF", SHA), ("p/f", SHA), ("pdf", "xyz"), ("", SHA)]
)
def test_no_address_of_nonsense(kind, digest):
    with pytest.raises(ValueError, match="no address"):
        address.base_of(kind, digest)


def test_a_page_has_no_table():
    with pytest.raises(ValueError, match="names no table"):
        _ = address.parse("docpipe://pdf/0123456789abcdef/doc/page[0]").table_address


small = st.integers(0, 9_999_999)


@given(st.sampled_from(["pdf", "docx"]), small, small, small, small)
def test_round_trip(kind, page, table, row, col):
    one = Address(kind, SHA[:16], page, table, row, col)
    assert address.parse(str(one)) == one
