"""Pipe tables, CSV, HTML and text."""

from __future__ import annotations

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html
from regcomments.tables.items import Cell, Table
from regcomments.tables.markdown import pipe_table, render_table

TABLE = Table(
    1,
    0,
    2,
    3,
    (
        Cell(0, 0, "Service"),
        Cell(0, 1, "Pay | <b>", col_span=2),
        Cell(1, 0, "a,b"),
        Cell(1, 1, ""),
        Cell(1, 2, "3.5"),
    ),
)


def test_pipe():
    assert render_table(TABLE, "pipe").splitlines() == [
        "| Service | Pay \\| <b> |  |",
        "| --- | --- | --- |",
        "| a,b |  | 3.5 |",
    ]


def test_csv():
    rows = list(csv.reader(io.StringIO(render_table(TABLE, "csv"))))
    assert rows == [["Service", "Pay | <b>", ""], ["a,b", "", "3.5"]]


def test_html_escapes_and_spans():
    root = lxml_html.fromstring(render_table(TABLE, "html"))
    cells = [[td.text or "" for td in tr] for tr in root.iter("tr")]
    assert cells == [["Service", "Pay | <b>"], ["a,b", "", "3.5"]]
    assert root.xpath("//td[@colspan]/@colspan") == ["2"]


def test_text_is_aligned():
    lines = render_table(TABLE, "text").splitlines()
    assert lines[0].index("Pay") == 9
    assert lines[1].index("3.5") == 20


def test_unknown_form():
    with pytest.raises(ValueError, match="unknown form"):
        render_table(TABLE, "latex")


@given(st.lists(st.lists(st.text(max_size=8), min_size=2, max_size=2), min_size=1, max_size=4))
def test_every_row_is_one_line_of_as_many_cells(rows):
    lines = pipe_table(rows).split("\n")
    assert len(lines) == len(rows) + 1
    for line in lines:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 3
