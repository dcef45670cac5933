"""Every place of a table has one cell, every cell one address, and every word of a row is kept."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from regcomments.tables import address
from regcomments.tables.items import PageItems, Ruling, Table, TextItem
from regcomments.tables.reconstruct import reconstruct_tables

BASE = "docpipe://pdf/0123456789abcdef/doc"
WORDS = ("12.5", "abc", "7", "Total", "2017", "n/a")


def ragged(seed: int) -> PageItems:
    """Return a page of lines whose words stand where they like, some over several others."""
    chance = random.Random(seed)
    items = []
    for row in range(chance.randint(3, 9)):
        x = 50.0
        while x < 500:
            width = chance.choice((15, 30, 60, 120))
            if chance.random() < 0.75:
                box = (x, 100 + 14 * row, x + width, 110 + 14 * row)
                items.append(TextItem(*box, chance.choice(WORDS)))
            x += width + chance.choice((12, 20, 30))
    rules = [Ruling(50, y, 520, y) for y in (96, 112, 240)] if chance.random() < 0.5 else []
    return PageItems(1, 612, 792, tuple(items), tuple(rules))


def places(table: Table) -> Counter[tuple[int, int]]:
    return Counter(
        (row, col)
        for cell in table.cells
        for row in range(cell.row, cell.row + cell.row_span)
        for col in range(cell.col, cell.col + cell.col_span)
    )


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_cells_over_each_other(start: int) -> None:
    found = 0
    for seed in range(start, start + 50):
        for table in reconstruct_tables([ragged(seed)], BASE):
            found += 1
            count = places(table)
            assert max(count.values()) == 1, seed
            assert len(count) == table.n_rows * table.n_cols, seed
            texts = Counter(cell.text for cell in table.cells if cell.text)
            assert texts == Counter(t for row in table.grid() for t in row if t), seed
            for cell in table.cells:
                named = address.parse(cell.address)
                assert table.cell(named.row, named.col) is cell, seed
    assert found > 25


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("Of\ufb01ce", "Office"),
        ("of\u00adfice", "office"),
        ("a\x9b31mb\x7f", "a31mb"),  # would colour a terminal
        ("a\ud800b", "a\ufffdb"),  # no UTF-8, so no file could be written
        ("Stück – 5 €", "Stück – 5 €"),
    ],
)
def test_cells_spelled_otherwise_than_the_text(text: str, spelt: str) -> None:
    rows = [["Item", "2017", "2018"], [text, "10", "11"], ["Rest", "12", "13"]]
    items = tuple(
        TextItem(72 + 100 * c, 100 + 14 * r, 110 + 100 * c, 110 + 14 * r, word)
        for r, row in enumerate(rows)
        for c, word in enumerate(row)
    )
    (table,) = reconstruct_tables([PageItems(1, 612, 792, items)], BASE)
    assert table.cell(1, 0).text == spelt
