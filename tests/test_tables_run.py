"""Faults while tables are looked for, kept, gathered and looked up."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import duckdb
import pymupdf
import pytest
from regcomments import layout
from regcomments.config import Settings
from regcomments.docpipe import layout_from_yaml
from regcomments.errors import UserError
from regcomments.records import UnreadableError
from regcomments.tables import address, lookup, run, store
from regcomments.tables.items import Box, Cell, Table

DOCKET = "CMS-2018-0076"
FIRST, SECOND = f"{DOCKET}-0001", f"{DOCKET}-0002"
ROWS = [["Code", "2017", "2018"], ["99213", "73.40", "74.16"], ["99214", "70.10", "109.44"]]


def make_pdf(path: Path, rows=ROWS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open() as doc:
        page = doc.new_page()
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                page.insert_text((72 + 110 * c, 100 + 16 * r), text, fontsize=10)
        doc.save(path, no_new_id=True)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    state = tmp_path / "state"
    for comment in (FIRST, SECOND):
        make_pdf(state / DOCKET / comment / "attachment_1.pdf")
    return state


def look(state: Path, said: list[str] | None = None) -> run.TableCounts:
    settings = Settings(state=str(state), bib="none")
    return run.run_tables(settings, DOCKET, FIRST, SECOND, (said or []).append)


def pending(state: Path) -> int:
    return sum(shard.files for shard in run.plan_tables(state))


def test_what_was_looked_at_is_not_pending(state: Path) -> None:
    assert pending(state) == 2
    assert vars(look(state)) == {"files": 2, "tables": 2, "failed": 0}
    assert pending(state) == 0


def _failing(number: int):
    def task(path: Path) -> list[Table]:
        if FIRST in str(path):
            return store.write_tables(path)
        raise OSError(number, os.strerror(number))

    return task


def test_files_lost_for_good_on_a_full_disk(state: Path, monkeypatch) -> None:
    monkeypatch.setattr(run, "write_tables", _failing(errno.ENOSPC))
    with pytest.raises(UserError, match="no space left"):
        look(state)
    assert pending(state) == 1


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_files_lost_for_good_on_a_read_error(state: Path, monkeypatch, number: int) -> None:
    monkeypatch.setattr(run, "write_tables", _failing(number))
    assert look(state).failed == 1
    assert pending(state) == 1


def test_tables_found_by_an_older_way_stay(state: Path) -> None:
    look(state)
    for notes in (state / run.NOTES_FOLDER).rglob("*.tsv"):
        old = [line.rpartition("\t")[0] + "\t1" for line in notes.read_text().splitlines()]
        notes.write_text("\n".join(old) + "\n")
    assert pending(state) == 2


def test_more_is_written_than_is_read_back(state: Path, monkeypatch) -> None:
    path = state / DOCKET / FIRST / "attachment_1.pdf"
    monkeypatch.setattr(store, "MAX_JSON_BYTES", 300)
    with pytest.raises(UnreadableError, match="bytes of tables"):
        store.write_tables(path)
    assert not store.tables_path(path).exists()


def test_a_cell_takes_little_more_than_it_holds(state: Path) -> None:
    path = state / DOCKET / FIRST / "attachment_1.pdf"
    store.write_tables(path)
    assert len(store.tables_path(path).read_bytes()) < 260 * 9 + 600


def test_tables_of_a_file_replaced_meanwhile(state: Path, monkeypatch) -> None:
    path = state / DOCKET / FIRST / "attachment_1.pdf"
    found = store.tables_of_file(path)
    make_pdf(path, [*ROWS, ["99215", "1.00", "2.00"]])
    monkeypatch.setattr(store, "tables_of_file", lambda _: found)
    with pytest.raises(OSError, match="changed"):
        store.write_tables(path)
    assert not store.tables_path(path).exists()


def _broken(state: Path, **changes: object) -> Path:
    path = state / DOCKET / FIRST / "attachment_1.pdf.tables.json"
    data = json.loads(path.read_text())
    data["tables"][0] |= changes
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="deep"),
        pytest.param('{"schema": 1, "file": "a", "sha256": "b", "tables": 7}', id="number"),
    ],
)
def test_gathering_ends_at_a_damaged_file(state: Path, text: str) -> None:
    look(state)
    (state / DOCKET / FIRST / "attachment_1.pdf.tables.json").write_text(text)
    rebuilt = store.rebuild_cells(state)
    assert (rebuilt.files, len(rebuilt.damaged)) == (1, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"page": 1e400},
        {"index": 2**40},
        {"rows": 10**12},
        {"continues": 7},
        {"cells": [{"row": 9}]},
    ],
)
def test_gathering_ends_at_impossible_values(state: Path, changes: dict) -> None:
    look(state)
    _broken(state, **changes)
    rebuilt = store.rebuild_cells(state)
    assert (rebuilt.files, len(rebuilt.damaged)) == (1, 1)


def test_cells_under_the_name_of_another_file(state: Path) -> None:
    look(state)
    path = state / DOCKET / FIRST / "attachment_1.pdf.tables.json"
    path.write_text(path.read_text().replace('"attachment_1.pdf"', '"../../elsewhere.pdf"'))
    store.rebuild_cells(state)
    with duckdb.connect() as con:
        store.register_views(con, state)
        assert con.execute("SELECT DISTINCT file FROM cells").fetchall() == [("attachment_1.pdf",)]


def test_lookup_ends_at_one_damaged_file_of_two(state: Path) -> None:
    look(state)
    wanted = store.read_tables(_broken(state)).tables[0].address
    _broken(state, rows=None)
    found = lookup.resolve(wanted, state)
    assert found.comment_id == SECOND


@pytest.mark.parametrize("data", [b"", b"PAR1 no parquet"])
def test_lookup_ends_at_a_damaged_parquet(state: Path, data: bytes) -> None:
    look(state)
    wanted = store.read_tables(_broken(state)).tables[0].address
    (state / layout.CELLS_PARQUET).write_bytes(data)
    assert lookup.resolve(wanted, state).comment_id == FIRST


@pytest.mark.parametrize("box", [(0.0, 0.0, 1e6, 1e6), (5e5, 5e5, 6e5, 6e5)])
def test_crop_larger_than_memory_or_off_the_page(state: Path, monkeypatch, box) -> None:
    path = state / DOCKET / FIRST / "attachment_1.pdf"
    with pymupdf.open() as doc:
        doc.new_page(width=14_400, height=14_400)
        doc.save(path)
    digest = lookup.file_sha256(path)
    here = address.table_of(address.page_of(address.base_of("pdf", digest), 0), 0)
    table = Table(1, 0, 1, 1, (Cell(0, 0, "a", Box(*box)),), Box(*box), here)
    text = store.tables_to_json([table], path.name, digest)
    store.tables_path(path).write_text(text)
    monkeypatch.setattr(lookup, "MAX_PIXELS", 250_000)
    if box[0]:
        with pytest.raises(ValueError, match="not on its page"):
            lookup.crop(here, state, state / "a.png")
    else:
        picture = pymupdf.Pixmap(str(lookup.crop(here, state, state / "a.png")))
        assert picture.width * picture.height <= 255_000


@pytest.mark.parametrize(
    "text", ["page[\u0663]/table[0]", "page[00]/table[0]", "page[0]/table[01]"]
)
def test_addresses_that_are_spelled_otherwise_when_built(text: str) -> None:
    with pytest.raises(ValueError, match="not an address"):
        address.parse(f"docpipe://pdf/0123456789abcdef/doc/{text}")


@pytest.mark.parametrize("text", ["version: 1", "version: 1\npages: [3]", "a: [", "- {1: 2"])
def test_what_is_no_layout(text: str) -> None:
    with pytest.raises(ValueError):
        layout_from_yaml(text)
