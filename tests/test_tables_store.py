"""tables.json, _cells.parquet, resolve, crop, views."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import docx
import duckdb
import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from regcomments.records import UnreadableError
from regcomments.tables import lookup, store
from regcomments.tables.items import Box, Cell, Table
from regcomments.tables.numbers import number_of

ROWS = [["Code", "2017", "2018"], ["99213", "73.40", "74.16"], ["99214", "", "109.44"]]
DOCKET, COMMENT = "CMS-2018-0076", "CMS-2018-0076-0001"


def make_pdf(path: Path, rows=ROWS, rotation: int = 0) -> None:
    with pymupdf.open() as doc:
        page = doc.new_page()
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                page.insert_text((72 + 110 * c, 100 + 16 * r), text, fontsize=10)
        page.set_rotation(rotation)
        doc.save(path, no_new_id=True)


@pytest.fixture
def state(tmp_path) -> Path:
    folder = tmp_path / "state" / DOCKET / COMMENT
    folder.mkdir(parents=True)
    make_pdf(folder / "attachment_1.pdf")
    return tmp_path / "state"


def folder_of(state: Path) -> Path:
    return state / DOCKET / COMMENT


def test_write_read_and_write_again(state):
    path = folder_of(state) / "attachment_1.pdf"
    tables = store.write_tables(path)
    assert [t.grid() for t in tables] == [ROWS]
    target = store.tables_path(path)
    assert target.name == "attachment_1.pdf.tables.json"
    stored = store.read_tables(target)
    assert stored.file == "attachment_1.pdf"
    assert stored.tables[0].grid() == ROWS
    assert stored.tables[0].address == tables[0].address
    before = target.read_bytes()
    store.write_tables(path)
    assert target.read_bytes() == before
    assert json.loads(before)["schema"] == store.SCHEMA_VERSION


def test_no_tables_no_file_and_the_old_one_goes(state):
    path = folder_of(state) / "attachment_1.pdf"
    store.write_tables(path)
    make_pdf(path, [["A letter without any table."]])
    assert store.write_tables(path) == []
    assert not store.tables_path(path).exists()


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 cut", b"\x00" * 9])
def test_damaged_pdf_leaves_the_old_tables(state, data):
    path = folder_of(state) / "attachment_1.pdf"
    store.write_tables(path)
    target = store.tables_path(path)
    before = target.read_bytes()
    path.write_bytes(data)
    with pytest.raises(UnreadableError):
        store.write_tables(path)
    assert target.read_bytes() == before


def test_failed_write_leaves_no_half_file(state, monkeypatch):
    path = folder_of(state) / "attachment_1.pdf"

    def refuse(*_args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        store.write_tables(path)
    assert os.listdir(folder_of(state)) == ["attachment_1.pdf"]


NOT_OURS = ["", "{", "[]", "{}", '{"schema": 9}', '{"schema": 1}', '{"schema": 1, "tables": [{}]}']


@pytest.mark.parametrize("text", NOT_OURS)
def test_what_is_no_tables_file(text):
    with pytest.raises(ValueError):
        store.tables_from_json(text)


texts = st.text(max_size=20)


@given(texts, texts, st.integers(1, 3), st.booleans())
def test_json_round_trip(first, second, span, ruled):
    box = Box(1.25, 2.5, 3.75, 4.0)
    cells = (Cell(0, 0, first, box, 1, span, "a"), Cell(0, span, second, None, 1, 1, "b"))
    table = Table(1, 0, 1, span + 1, cells, box, "t", None, ruled)
    text = store.tables_to_json([table], "attachment_1.pdf", "00")
    assert store.tables_from_json(text).tables == (table,)


def test_cells_parquet_has_the_same_bytes_each_time(state):
    other = state / DOCKET / "CMS-2018-0076-0002"
    other.mkdir()
    make_pdf(other / "attachment_1.pdf", [["a", "1"], ["b", "2"], ["c", "3"]])
    for path in (folder_of(state), other):
        store.write_tables(path / "attachment_1.pdf")
    got = store.rebuild_cells(state)
    assert (got.files, got.cells, got.damaged) == (2, 15, ())
    digest = hashlib.sha256((state / "_cells.parquet").read_bytes()).hexdigest()
    store.rebuild_cells(state)
    assert hashlib.sha256((state / "_cells.parquet").read_bytes()).hexdigest() == digest
    assert sorted(os.listdir(state)) == [DOCKET, "_cells.parquet"]


def test_damaged_tables_file_is_named_and_left_out(state):
    store.write_tables(folder_of(state) / "attachment_1.pdf")
    (folder_of(state) / "attachment_2.pdf.tables.json").write_text("{")
    (folder_of(state) / "attachment_3.pdf.tables.json").symlink_to("/etc/hostname")
    got = store.rebuild_cells(state)
    assert got.files == 1
    assert [d.split(":")[0] for d in got.damaged] == [
        f"{DOCKET}/{COMMENT}/attachment_2.pdf.tables.json"
    ]


def test_views_are_typed_and_empty_without_a_parquet(state):
    with duckdb.connect() as con:
        store.register_views(con, state)
        assert con.execute("SELECT count(*) FROM cells").fetchone() == (0,)
        store.write_tables(folder_of(state) / "attachment_1.pdf")
        store.rebuild_cells(state)
        store.register_views(con, state)
        total = con.execute("SELECT sum(number) FROM cells WHERE col = 2 AND row > 0").fetchone()
        assert total == (pytest.approx(183.60),)
        columns = con.execute("DESCRIBE cells").fetchall()
        assert {name: kind for name, kind, *_ in columns} == store.CELL_COLUMNS
        row = con.execute("SELECT page, n_rows, n_cols, n_filled FROM tables").fetchone()
        assert row == (1, 3, 3, 8)


@pytest.mark.parametrize("indexed", [True, False])
def test_resolve_leads_to_cell_page_and_file(state, indexed):
    (table,) = store.write_tables(folder_of(state) / "attachment_1.pdf")
    if indexed:
        store.rebuild_cells(state)
    found = lookup.resolve(f"{table.address}/tr[1]/td[2]", state)
    assert (found.text, found.number) == ("74.16", 74.16)
    assert (found.docket_id, found.comment_id, found.page) == (DOCKET, COMMENT, 1)
    assert found.path == folder_of(state) / "attachment_1.pdf"
    with pymupdf.open(found.path) as doc:
        assert doc[0].get_textbox(found.bbox).strip() == "74.16"
    whole = lookup.resolve(table.address, state)
    assert whole.cell is None
    assert whole.table.grid() == ROWS
    assert lookup.resolve(f"{table.address}/tr[2]/td[1]", state).text == ""


@pytest.mark.parametrize("end", ["/tr[9]", "/tr[0]/td[9]"])
def test_resolve_refuses_what_is_not_there(state, end):
    (table,) = store.write_tables(folder_of(state) / "attachment_1.pdf")
    with pytest.raises(lookup.UnknownAddressError):
        lookup.resolve(table.address + end, state)
    with pytest.raises(lookup.UnknownAddressError):
        lookup.resolve("docpipe://pdf/0000000000000000/doc/page[0]/table[0]", state)
    with pytest.raises(ValueError, match="not an address"):
        lookup.resolve("../../etc/passwd", state)


def test_same_bytes_in_two_comments_are_both_named(state):
    other = state / DOCKET / "CMS-2018-0076-0002"
    other.mkdir()
    data = (folder_of(state) / "attachment_1.pdf").read_bytes()
    (other / "attachment_5.pdf").write_bytes(data)
    (table,) = store.write_tables(folder_of(state) / "attachment_1.pdf")
    store.write_tables(other / "attachment_5.pdf")
    found = lookup.resolve(table.address, state)
    assert found.also == (other / "attachment_5.pdf",)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_crop_shows_the_cell(state, tmp_path, rotation):
    path = folder_of(state) / "attachment_1.pdf"
    make_pdf(path, rotation=rotation)
    (table,) = store.write_tables(path)
    out = lookup.crop(f"{table.address}/tr[1]/td[2]", state, tmp_path / "cell.png", dpi=72)
    picture = pymupdf.Pixmap(out)
    assert 0 < picture.width < 120
    assert 0 < picture.height < 120
    # Ink in the middle, white at the rim: the cell is what is shown.
    assert min(picture.samples) < 128
    box = table.cell(1, 2).bbox
    assert abs(picture.width - (box.x1 - box.x0 + 24)) <= 2


def test_crop_refuses_a_changed_file(state, tmp_path):
    path = folder_of(state) / "attachment_1.pdf"
    (table,) = store.write_tables(path)
    make_pdf(path, [["other", "1"], ["text", "2"], ["here", "3"]])
    with pytest.raises(ValueError, match="has changed"):
        lookup.crop(table.address, state, tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_docx_tables_have_addresses(state):
    path = folder_of(state) / "attachment_2.docx"
    document = docx.Document()
    document.add_paragraph("We comment on the rates below.")
    table = document.add_table(rows=3, cols=3)
    for r, row in enumerate(ROWS):
        for c, text in enumerate(row):
            table.cell(r, c).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    document.save(path)
    (found,) = store.write_tables(path)
    assert found.address.startswith("docpipe://docx/")
    assert found.address.endswith("/doc/table[0]")
    assert found.cell(0, 1).col_span == 2
    assert found.cell(2, 0).row_span == 2
    assert found.cell(2, 0).text == "99213 99214"
    assert found.grid()[1][1:] == ["73.40", "74.16"]
    hit = lookup.resolve(f"{found.address}/tr[1]/td[1]", state)
    assert (hit.number, hit.page) == (73.40, None)
    with pytest.raises(ValueError, match="no place on a page"):
        lookup.crop(found.address, state, state / "x.png")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,200.00", 1200.0),
        ("$2,856.00", 2856.0),
        ("12.5%", 12.5),
        ("0,3057", 0.3057),
        ("0,305", 0.305),
        ("1 000", 1000.0),
        ("50 000", 50000.0),
        ("−3", -3.0),
        ("-0.083", -0.083),
        ("5.3**", 5.3),
        ("($1,200)", -1200.0),
        ("-$5", -5.0),
        (".5", 0.5),
        ("226,545,805", 226545805.0),
        ("(4.7)", None),
        ("", None),
        ("n/a", None),
        ("1995-96", None),
        ("12 (3.4)", None),
        ("1,23,4", None),
        ("Total 5", None),
        ("9" * 50, None),
        ("٣", 3.0),
    ],
)
def test_numbers(text, value):
    assert number_of(text) == value
