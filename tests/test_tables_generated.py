"""Random tables through PDF and back: the cells must return exactly."""

from __future__ import annotations

from collections import Counter

import pymupdf
import pytest
from regcomments.tables.pdf import tables_of_document

pytest.importorskip("reportlab", reason="draws the tables")
from tests.table_draws import draw

BASE = "docpipe://pdf/0123456789abcdef/doc"


def exact(seed: int) -> tuple[str, bool]:
    made = draw(seed)
    with pymupdf.open("pdf", made.pdf) as doc:
        found = [t.grid() for t in tables_of_document(doc, BASE)]
    return made.style, found == [made.cells]


def share(seeds: range) -> tuple[float, Counter]:
    results = [exact(seed) for seed in seeds]
    return sum(ok for _, ok in results) / len(results), Counter(s for s, ok in results if not ok)


def test_forty_draws():
    got, missed = share(range(5000, 5040))
    assert got >= 0.95, missed


@pytest.mark.slow
def test_five_hundred_draws():
    got, missed = share(range(500))
    assert got >= 0.98, missed


def test_same_seed_same_table():
    assert draw(7).cells == draw(7).cells
    assert draw(7).cells != draw(8).cells
