"""Reconstruction on drawn pages: what the first design could not do."""

from __future__ import annotations

import random
import time

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regcomments.tables.items import Box, PageItems, Ruling, TextItem
from regcomments.tables.pdf import tables_of_document
from regcomments.tables.reconstruct import reconstruct_tables

BASE = "docpipe://pdf/0123456789abcdef/doc"


def tables(doc: pymupdf.Document):
    with pymupdf.open("pdf", doc.tobytes()) as again:
        return tables_of_document(again, BASE)


def put(page: pymupdf.Page, x: float, y: float, rows, widths, pitch: float = 16) -> None:
    """Write rows of texts at fixed column edges; None leaves the place empty."""
    for r, row in enumerate(rows):
        left = x
        for text, width in zip(row, widths, strict=True):
            if text:
                page.insert_text((left, y + pitch * r), text, fontsize=10)
            left += width


def grid_lines(page: pymupdf.Page, x: float, y: float, widths, heights) -> None:
    right, bottom = x + sum(widths), y + sum(heights)
    at = y
    for h in [0, *heights]:
        at += h
        page.draw_line((x, at), (right, at), width=0.5)
    at = x
    for w in [0, *widths]:
        at += w
        page.draw_line((at, y), (at, bottom), width=0.5)


FEES = [
    ["Code", "2017", "2018", "Change"],
    ["99213", "73.40", "74.16", "1.0%"],
    ["99214", "", "109.44", ""],
    ["Total", "73.40", "", "1.2%"],
]


def test_empty_cells_stay_in_their_columns():
    with pymupdf.open() as doc:
        put(doc.new_page(), 72, 100, FEES, (120, 90, 90, 90))
        (table,) = tables(doc)
    assert table.grid() == FEES


def test_ruled_grid_with_merged_heading_and_wrapped_cell():
    with pymupdf.open() as doc:
        page = doc.new_page()
        right, bottom = 352, 194
        for y in (100, 120, 140, 174, 194):
            page.draw_line((72, y), (right, y))
        for x in (72, 192, right):
            page.draw_line((x, 100), (x, bottom))
        page.draw_line((272, 120), (272, bottom))
        for x, y, text in (
            (230, 114, "Payment"),
            (76, 134, "Service"),
            (196, 134, "2017"),
            (276, 134, "2018"),
            (76, 153, "Office visit of an"),
            (76, 167, "established patient"),
            (196, 153, "73.40"),
            (276, 153, "74.16"),
            (76, 188, "Total"),
            (276, 188, "74.16"),
        ):
            page.insert_text((x, y), text, fontsize=10)
        (table,) = tables(doc)
    assert table.ruled
    assert table.grid() == [
        ["", "Payment", ""],
        ["Service", "2017", "2018"],
        ["Office visit of an established patient", "73.40", "74.16"],
        ["Total", "", "74.16"],
    ]
    assert table.cell(0, 2).col_span == 2
    assert table.cell(0, 2) is table.cell(0, 1)


def test_side_by_side_tables_are_kept_apart():
    left = [["State", "Rate"], ["Ohio", "12.1"], ["Iowa", "9.8"]]
    right = [["Year", "Count"], ["2016", "41"], ["2017", "57"]]
    with pymupdf.open() as doc:
        page = doc.new_page()
        for x, rows in ((60, left), (330, right)):
            grid_lines(page, x, 100, (100, 80), (20, 20, 20))
            put(page, x + 5, 114, rows, (100, 80), 20)
        found = tables(doc)
    assert [t.grid() for t in found] == [left, right]


def test_two_tables_below_each_other_with_a_caption_between():
    other = [["Region", "Clinics", "Beds"], ["North", "12", "340"], ["South", "7", "95"]]
    with pymupdf.open() as doc:
        page = doc.new_page()
        put(page, 72, 100, FEES, (120, 90, 90, 90))
        page.insert_text((72, 210), "Table 2. Clinics by region", fontsize=10)
        put(page, 72, 235, other, (120, 90, 90))
        found = tables(doc)
    assert [t.grid() for t in found] == [FEES, other]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_page_rotation_turns_boxes_not_cells(rotation):
    with pymupdf.open() as doc:
        page = doc.new_page(width=612, height=792)
        put(page, 72, 100, FEES, (120, 90, 90, 90))
        page.set_rotation(rotation)
        (table,) = tables(doc)
        shown = pymupdf.open("pdf", doc.tobytes())[0].rect
    assert table.grid() == FEES
    box = table.cell(1, 2).bbox
    assert 0 <= box.x0 < box.x1 <= shown.width
    assert 0 <= box.y0 < box.y1 <= shown.height


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_sideways_text_is_read_upright(turn):
    with pymupdf.open() as source, pymupdf.open() as doc:
        put(source.new_page(width=612, height=792), 72, 100, FEES, (120, 90, 90, 90))
        width, height = (792, 612) if turn != 180 else (612, 792)
        doc.new_page(width=width, height=height).show_pdf_page(
            pymupdf.Rect(0, 0, width, height), source, 0, rotate=turn
        )
        (table,) = tables(doc)
        text = pymupdf.open("pdf", doc.tobytes())[0].get_textbox(table.cell(1, 1).bbox)
    assert table.grid() == FEES
    assert text.strip() == "73.40"


def test_table_over_a_page_break_is_linked():
    rows = [[f"{90000 + k}", f"{k}.50", f"{k + 1}.25"] for k in range(80)]
    with pymupdf.open() as doc:
        for part in (rows[:44], rows[44:]):
            put(doc.new_page(), 72, 60, [["Code", "Old", "New"], *part], (120, 90, 90))
        first, second = tables(doc)
    assert first.continues is None
    assert second.continues == first.address
    assert second.address == f"{BASE}/page[1]/table[0]"


def test_tables_with_text_between_them_are_not_linked():
    with pymupdf.open() as doc:
        page = doc.new_page()
        put(page, 72, 60, FEES, (120, 90, 90, 90))
        page.insert_text((72, 400), "A closing remark stands between them.")
        put(doc.new_page(), 72, 60, FEES, (120, 90, 90, 90))
        found = tables(doc)
    assert [t.continues for t in found] == [None, None]


def test_fragments_of_a_cell_are_glued():
    items = []
    for r, row in enumerate(
        (("Net", "paid", "12.50"), ("Net", "due", "13.75"), ("All", "in", "9.1"))
    ):
        y = 100 + 15 * r
        items += [
            TextItem(72, y, 90, y + 10, row[0]),
            TextItem(93, y, 115, y + 10, row[1]),
            TextItem(200, y, 230, y + 10, row[2]),
        ]
    (table,) = reconstruct_tables([PageItems(1, 612, 792, tuple(items))], BASE)
    assert table.grid() == [["Net paid", "12.50"], ["Net due", "13.75"], ["All in", "9.1"]]


def test_mixed_sizes_on_one_page():
    big = [TextItem(60, 40, 400, 80, "Annual Report")]
    small = [
        TextItem(72 + 60 * c, 100 + 7 * r, 90 + 60 * c, 105 + 7 * r, f"{r * 3 + c}.5")
        for r in range(5)
        for c in range(3)
    ]
    (table,) = reconstruct_tables([PageItems(1, 612, 792, (*big, *small))], BASE)
    assert table.grid() == [[f"{r * 3 + c}.5" for c in range(3)] for r in range(5)]


def test_items_without_end_are_not_searched():
    items = tuple(TextItem(x, y, x + 1, y + 1, "7") for x in range(150) for y in range(150))
    assert reconstruct_tables([PageItems(1, 612, 792, items)], BASE) == []


@st.composite
def pages(draw):
    number = st.integers(0, 60)
    items = draw(
        st.lists(
            st.builds(
                lambda x, y, w, t: TextItem(x * 8.0, y * 11.0, x * 8.0 + w * 6.0, y * 11.0 + 10, t),
                number,
                number,
                st.integers(1, 12),
                st.sampled_from(["12.5", "Total", "$3", "a b c", "", " ", "…", "\u202e7"]),
            ),
            max_size=60,
        )
    )
    rulings = draw(
        st.lists(
            st.builds(
                lambda x, y, n, flat: Ruling(
                    x * 8.0,
                    y * 11.0,
                    *((x * 8.0 + n * 8.0, y * 11.0) if flat else (x * 8.0, y * 11.0 + n * 11.0)),
                ),
                number,
                number,
                st.integers(0, 40),
                st.booleans(),
            ),
            max_size=25,
        )
    )
    boxes = draw(st.none() | st.lists(st.just(Box(40, 40, 300, 400)), max_size=1).map(tuple))
    return PageItems(1, 612, 792, tuple(items), tuple(rulings), boxes)


@settings(max_examples=150, deadline=None)
@given(pages(), st.integers(0, 2**32))
def test_any_page_any_order(page, seed):
    want = reconstruct_tables([page], BASE)
    rng = random.Random(seed)
    items, rulings = list(page.items), list(page.rulings)
    rng.shuffle(items)
    rng.shuffle(rulings)
    other = PageItems(1, page.width, page.height, tuple(items), tuple(rulings), page.boxes)
    assert reconstruct_tables([other], BASE) == want
    for table in want:
        taken = set()
        for cell in table.cells:
            for r in range(cell.row, cell.row + cell.row_span):
                for c in range(cell.col, cell.col + cell.col_span):
                    assert (r, c) not in taken
                    assert r < table.n_rows
                    assert c < table.n_cols
                    taken.add((r, c))
        assert len(taken) == table.n_rows * table.n_cols
        assert len({c.address for c in table.cells}) == len(table.cells)


def drawn_to_the_limit() -> PageItems:
    """As many words, lines and crossings as are looked at."""
    items = tuple(
        TextItem(5 * c, 6 * r, 5 * c + 4, 6 * r + 5, str(r * c))
        for r in range(130)
        for c in range(150)
    )
    rulings = tuple(Ruling(0, 6 * k, 750, 6 * k) for k in range(130)) + tuple(
        Ruling(5 * k, 0, 5 * k, 780) for k in range(150)
    )
    return PageItems(1, 760, 800, items, rulings)


def scattered() -> PageItems:
    rng = random.Random(3)
    items = tuple(
        TextItem(x, y, x + 9, y + 7, rng.choice(("1.5", "ab", "Total sum")))
        for x, y in ((rng.uniform(0, 3000), rng.uniform(0, 3000)) for _ in range(19000))
    )
    rulings = tuple(
        Ruling(x, y, x + (80 if k % 2 else 0), y + (0 if k % 2 else 80))
        for k, (x, y) in enumerate(
            (rng.uniform(0, 3000), rng.uniform(0, 3000)) for _ in range(2900)
        )
    )
    return PageItems(1, 3000, 3000, items, rulings)


@pytest.mark.slow
@pytest.mark.parametrize("make", [drawn_to_the_limit, scattered])
def test_hostile_pages_end_in_time(make):
    page = make()
    start = time.process_time()
    reconstruct_tables([page], BASE)
    # Some 3 s on an idle machine; a loaded one takes a multiple.
    assert time.process_time() - start < 30


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf"), 1e30])
def test_boxes_of_damaged_files_are_left_out(bad):
    good = [
        TextItem(72 + 60 * c, 100 + 15 * r, 90 + 60 * c, 110 + 15 * r, f"{r}.{c}")
        for r in range(4)
        for c in range(3)
    ]
    page = PageItems(1, 612, 792, tuple(good))
    spoilt = PageItems(
        1,
        612,
        792,
        (*good, TextItem(bad, 100, bad, 110, "x"), TextItem(80, bad, 90, bad, "y")),
        (Ruling(bad, 0, bad, 700), Ruling(0, bad, 600, bad)),
    )
    assert reconstruct_tables([spoilt], BASE) == reconstruct_tables([page], BASE)


def test_rows_of_short_words_close_below_each_other_stay_rows():
    rows = [["Hello", "Goodbye", "World"], ["1", "Abc", "Foo"], ["2", "Bar", "Baz"]]
    rows += [["3", "Quux", "Argh"], ["4", "Chonk", "Bonk"]]
    items = []
    for r, row in enumerate(rows):
        y = 100 + 12.5 * r + (8 if r else 0)  # only the heading stands off
        items += [
            TextItem(72 + 80 * c, y, 72 + 80 * c + 6 * len(t), y + 12, t) for c, t in enumerate(row)
        ]
    (table,) = reconstruct_tables([PageItems(1, 612, 792, tuple(items))], BASE)
    assert table.grid() == rows


@pytest.mark.parametrize("seed", range(12))
def test_sparse_text_in_groups_is_not_joined(seed):
    """Rows of words and figures close below each other, with white after every fourth."""
    rng = random.Random(seed)
    words = ("Clinic", "Rural", "Share", "Median", "Notice", "Region", "Weight", "Claim")
    rows = [["Group", "Kind", "Place", "Paid"]]
    for _ in range(11):
        label = " ".join(rng.sample(words, rng.randint(1, 3))).capitalize()
        kind = rng.choice(words) if rng.random() < 0.7 else ""
        place = rng.choice(words) if rng.random() < 0.7 else ""
        rows.append([label, kind, place, f"{rng.uniform(1, 900):.1f}"])
    items, y = [], 100.0
    for r, row in enumerate(rows):
        for x, text in zip((72, 190, 260, 330), row, strict=True):
            if text:
                items.append(TextItem(x, y, x + 5 * len(text), y + 12, text))
        y += 12.5 + (8 if r % 4 == 0 else 0)
    (table,) = reconstruct_tables([PageItems(1, 612, 792, tuple(items))], BASE)
    assert table.grid() == rows
