"""Tables of Word documents as pipe tables: every cell in its column, every text once."""

from __future__ import annotations

import pytest

from tests.word_files import p, package, r, read, tbl, tc, tr

SPAN = '<w:gridSpan w:val="2"/>'
TOP = '<w:vMerge w:val="restart"/>'
BELOW = "<w:vMerge/>"
BOX = "<w:sdt><w:sdtPr/><w:sdtContent>{}</w:sdtContent></w:sdt>"


def table(*rows: tuple[str, ...]) -> str:
    """Return the expected pipe table."""
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


TABLES = {
    "plain": (tbl(tr("a", "b"), tr("1", "2")), table(("a", "b"), ("1", "2"))),
    "empty cell stays in its column": (
        tbl(tr("a", "b", "c"), tr("1", "", "3")),
        table(("a", "b", "c"), ("1", "", "3")),
    ),
    "cell over two columns": (
        tbl(tr("a", "b", "c"), tr(tc("wide", SPAN), "3")),
        table(("a", "b", "c"), ("wide", "", "3")),
    ),
    "cell over two rows": (
        tbl(tr(tc("tall", TOP), "1"), tr(tc("", BELOW), "2"), tr("next", "3")),
        table(("tall", "1"), ("", "2"), ("next", "3")),
    ),
    "text under a merged cell isn't shown": (
        tbl(tr(tc("tall", TOP), "1"), tr(tc("ghost", BELOW), "2")),
        table(("tall", "1"), ("", "2")),
    ),
    "continued merge that never began": (
        tbl(tr(tc("kept", BELOW), "1"), tr("b", "2")),
        table(("kept", "1"), ("b", "2")),
    ),
    "old horizontal merge": (
        tbl(
            tr(tc("wide", '<w:hMerge w:val="restart"/>'), tc("", "<w:hMerge/>"), "3"),
            tr("a", "b", "c"),
        ),
        table(("wide", "", "3"), ("a", "b", "c")),
    ),
    "ragged rows": (tbl(tr("a", "b", "c"), tr("1")), table(("a", "b", "c"), ("1", "", ""))),
    "row that begins late": (
        tbl(tr("a", "b", "c"), tr("2", "3", properties='<w:gridBefore w:val="1"/>')),
        table(("a", "b", "c"), ("", "2", "3")),
    ),
    "grid column that no cell begins in": (
        tbl(tr(tc("a", SPAN), "b"), tr(tc("1", SPAN), "2")),
        table(("a", "b"), ("1", "2")),
    ),
    "pipe and line end in a cell": (
        tbl(tr("a|b", tc("<w:p><w:r><w:t>x</w:t><w:br/><w:t>y</w:t></w:r></w:p>")), tr("1", "2")),
        table((r"a\|b", "x y"), ("1", "2")),
    ),
    "paragraphs of a cell": (
        tbl(tr(tc(p("one") + p("two")), "b")),
        table(("one two", "b")),
    ),
    "paragraphs of a long cell": (
        tbl(tr(tc(p("word " * 80) + p("end")), "b")),
        table((("word " * 80).strip() + " <br> end", "b")),
    ),
    "deleted row": (
        tbl(tr("a", "b"), tr("old", "row", properties="<w:del/>"), tr("1", "2")),
        table(("a", "b"), ("1", "2")),
    ),
    "inserted row": (
        tbl(tr("a", "b"), tr("1", "2", properties="<w:ins/>")),
        table(("a", "b"), ("1", "2")),
    ),
    "deleted cell": (
        tbl(tr("a", tc("x", "<w:cellDel/>"), "b"), tr("1", "2")),
        table(("a", "b"), ("1", "2")),
    ),
    "rows and cells in content controls": (
        tbl(BOX.format(tr("a", "b")), "<w:tr>" + BOX.format(tc("1")) + tc("2") + "</w:tr>"),
        table(("a", "b"), ("1", "2")),
    ),
    "frame of one cell": (tbl(tr(tc(p("One.") + p("Two.")))), "One.\n\nTwo."),
    "table in a table": (
        tbl(tr("a", tc(tbl(tr("x", "y"), tr("1", "2")) + "<w:p/>"), "c"), tr("4", "5", "6")),
        table(("a", "[table below]", "c"), ("4", "5", "6"))
        + "\n\n"
        + table(("x", "y"), ("1", "2")),
    ),
    "frame in a cell": (
        tbl(tr("a", tc(tbl(tr("x")) + "<w:p/>")), tr("1", "2")),
        table(("a", "x"), ("1", "2")),
    ),
    "text box in a cell": (
        tbl(
            tr(
                "a",
                tc(
                    f"<w:p>{r('b')}<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{p('box')}"
                    "</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
                ),
            ),
        ),
        table(("a", "b box")),
    ),
    "heading style in a cell": (
        tbl(tr(tc(p("Head", '<w:outlineLvl w:val="0"/>')), "b"), tr("1", "2")),
        table(("Head", "b"), ("1", "2")),
    ),
    "empty table": (tbl(tr("", ""), tr("", "")) + p("After."), "After."),
    "no rows": (tbl() + p("After."), "After."),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(tmp_path, name):
    body, expected = TABLES[name]
    assert read(tmp_path, package(body)).body == expected


def test_hidden_row_is_left_out_and_counted(tmp_path):
    body = tbl(tr("a", "b"), tr("12", "345", properties="<w:hidden/>"), tr("1", "2"))
    document = read(tmp_path, package(body))
    assert document.body == table(("a", "b"), ("1", "2"))
    assert document.warnings == ("5 characters of hidden text left out",)


def test_a_very_wide_row_does_not_blow_up_the_others(tmp_path):
    wide = tr(*[str(number) for number in range(3000)])
    body = tbl(wide, *[tr("a", "b")] * 1000)
    text = read(tmp_path, package(body)).body
    assert text.startswith("| 0 | 1 | 2 |") and "2999 |" in text.split("\n")[0]
    assert len(text) < 1_000_000
