"""`snakemake tables` and `snakemake regrade` by the real Snakefile."""

import gzip
import json

import duckdb
import pymupdf
import pytest
from regcomments import layout, view
from regcomments.combined import read

pytestmark = pytest.mark.slow

ROWS = [
    ("Program", "Members", "Cost"),
    ("Rural health", "1200", "45.10"),
    ("Home care", "310", "7.95"),
    ("Dialysis", "88", "120.00"),
]


def table_pdf() -> bytes:
    """A page with a ruled table of four rows."""
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((72, 80), "Costs by program, as our members reported them.")
    for index, row in enumerate(ROWS):
        top = 120 + 24 * index
        for column, text in enumerate(row):
            left = 72 + 140 * column
            page.draw_rect(pymupdf.Rect(left, top, left + 140, top + 24))
            page.insert_text((left + 6, top + 16), text, fontsize=10)
    return document.tobytes()


def test_cells_can_be_queried_and_second_run_looks_at_nothing(site):
    site.comment("CMS-2031-0001-0001", a2_pdf=table_pdf())
    site.run("-j", "2", "extract_all")
    assert not list(site.state.rglob("*.tables.json")), "extraction alone looks for no addresses"
    run = site.run("-j", "2", "tables")
    assert run.returncode == 0, run.stdout
    assert "to search for tables: 1 files" in run.stdout
    before = site.hashes()
    with duckdb.connect() as connection:
        view.register(connection, site.state)
        cells = connection.execute(
            'SELECT "row", col, text, number FROM cells ORDER BY "row", col'
        ).fetchall()
    assert [text for *_, text, _ in cells] == [text for row in ROWS for text in row]
    assert cells[5] == (1, 2, "45.10", 45.10)
    again = site.run("-j", "2", "tables")
    assert "to search for tables: 0 files" in again.stdout
    assert site.hashes() == before


def test_table_stands_as_pipe_table_in_combined(site):
    site.comment("CMS-2031-0001-0001", a2_pdf=table_pdf())
    site.run("-j", "2", "extract_all")
    text = read(site.combined("CMS-2031-0001-0001")).texts["attachment_2.pdf"]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.split("\n")]
    for row in ROWS:
        assert list(row) in lines


def test_regrade_reads_only_comments_whose_pages_are_judged_otherwise(site):
    """Stored verdicts are changed by hand, as if an older rule had made them."""
    site.comment("CMS-2031-0001-0001", a2_pdf=table_pdf())
    site.run("-j", "2", "extract_all")
    (part,) = (site.state / layout.PAGES_FOLDER).glob("*.facts.jsonl.gz")
    rows = [json.loads(line) for line in gzip.decompress(part.read_bytes()).splitlines()]
    assert [row["needs_ocr"] for row in rows] == [False]
    rows[0] |= {"needs_ocr": True, "reason": "scanned"}
    part.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    run = site.run("-j", "1", "regrade")
    assert run.returncode == 0, run.stdout
    assert "the rule judges 1 pages otherwise, in 1 comments" in run.stdout
    again = site.run("-j", "1", "regrade")
    assert "the rule judges 0 pages otherwise" in again.stdout
