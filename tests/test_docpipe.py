"""docpipe.handle: which path reads a file, and the samples of the first design."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pymupdf
import pytest
from regcomments import docpipe
from regcomments.docpipe import Block, Layout, LayoutPage, Options, TextLayer
from regcomments.tables.items import Box, PageItems, Ruling, TextItem
from regcomments.tables.lines import rows_of, sort_items
from regcomments.tables.reconstruct import reconstruct_tables

BASE = "docpipe://pdf/0123456789abcdef/doc"


def item(text: str, x: float, y: float, size: float = 11) -> TextItem:
    return TextItem(x, y, x + 0.5 * size * len(text), y + size, text)


def invoice_text() -> PageItems:
    """The synthetic invoice of the seed: 14 items on 7 lines."""
    rows = [
        ["INVOICE-7C2F9E"],
        ["Client: Acme GmbH"],
        ["Item", "Qty", "Price"],
        ["Widget A", "2", "10.00"],
        ["Widget B", "1", "25.00"],
        ["Total", "", "45.00"],
        ["Note: net 14 days."],
    ]
    items = [
        item(text, x, 60 + 20 * r)
        for r, row in enumerate(rows)
        for text, x in zip(row, (72, 220, 320), strict=False)
        if text
    ]
    return PageItems(1, 595, 842, tuple(items))


def invoice_bill() -> PageItems:
    """The bordered invoice of the seed: two boxes, wrapped cells, a header cut by its box."""
    x = (72, 100, 190, 240, 330)
    first = [
        item("Descriptio", 100, 189),
        *(
            item(t, xx, 200)
            for t, xx in zip(("#", "n", "Qty", "Unit Price", "Amount"), x, strict=True)
        ),
    ]
    y = 220.0
    for number, words, rest in (
        ("1", ("Consulting", "services"), ("10", "120.00", "1200.00")),
        ("2", ("Software", "license"), ("2", "450.00", "900.00")),
        ("3", ("Support", "(annual)"), ("1", "300.00", "300.00")),
    ):
        first += [item(t, xx, y) for t, xx in zip((number, words[0], *rest), x, strict=True)]
        first.append(item(words[1], 100, y + 12))
        y += 32
    second = [
        item(t, xx, 360 + 20 * r)
        for r, row in enumerate(
            (
                ("Item", "Amount"),
                ("Subtotal", "2400.00"),
                ("VAT (19%)", "456.00"),
                ("Total Due", "2856.00"),
            )
        )
        for t, xx in zip(row, (72, 200), strict=True)
    ]
    boxes = (Box(70, 199, 380, 312), Box(70, 358, 260, 436))
    title = item("Invoice of Acme GmbH", 72, 100, 16)
    return PageItems(1, 595, 842, (title, *first, *second), (), boxes)


def layout_of(page: PageItems) -> Layout:
    text = "\n".join(i.text for i in page.items)
    return Layout((LayoutPage(page, (Block("paragraph", text, None),)),))


def test_invoice_text_has_seven_buckets():
    assert len(invoice_text().items) == 14
    buckets = rows_of(sort_items(invoice_text().items))
    assert [len(b) for b in buckets] == [1, 1, 3, 3, 3, 2, 1]


def test_invoice_text_cells_and_addresses():
    (table,) = reconstruct_tables([invoice_text()], BASE)
    assert table.grid() == [
        ["Item", "Qty", "Price"],
        ["Widget A", "2", "10.00"],
        ["Widget B", "1", "25.00"],
        ["Total", "", "45.00"],
    ]
    assert table.address == f"{BASE}/page[0]/table[0]"
    address = {c.text: c.address for c in table.cells if c.text}
    assert address["Item"] == f"{BASE}/page[0]/table[0]/tr[0]/td[0]"
    assert address["10.00"] == f"{BASE}/page[0]/table[0]/tr[1]/td[2]"
    assert address["45.00"] == f"{BASE}/page[0]/table[0]/tr[3]/td[2]"


def test_invoice_bill_two_tables_wrapped_cells_whole_header():
    items, totals = reconstruct_tables([invoice_bill()], BASE)
    assert items.grid() == [
        ["#", "Description", "Qty", "Unit Price", "Amount"],
        ["1", "Consulting services", "10", "120.00", "1200.00"],
        ["2", "Software license", "2", "450.00", "900.00"],
        ["3", "Support (annual)", "1", "300.00", "300.00"],
    ]
    assert totals.grid() == [
        ["Item", "Amount"],
        ["Subtotal", "2400.00"],
        ["VAT (19%)", "456.00"],
        ["Total Due", "2856.00"],
    ]
    assert totals.cells[-1].address == f"{BASE}/page[0]/table[1]/tr[3]/td[1]"


@pytest.mark.parametrize("make", [invoice_text, invoice_bill])
def test_order_of_items_does_not_matter(make):
    page = make()
    want = reconstruct_tables([page], BASE)
    for seed in range(20):
        items = list(page.items)
        random.Random(seed).shuffle(items)
        other = PageItems(1, page.width, page.height, tuple(items), page.rulings, page.boxes)
        assert reconstruct_tables([other], BASE) == want


def test_single_column_text_gives_no_table():
    lines = [item(f"line {k} of a letter", 72, 60 + 14 * k) for k in range(30)]
    assert reconstruct_tables([PageItems(1, 595, 842, tuple(lines))], BASE) == []


def explode(_path: Path):
    raise AssertionError("this path must not be taken")


def refuse(_path: Path):
    raise ValueError("broken xref")


def test_text_layer_first(tmp_path):
    got = docpipe.handle(
        tmp_path / "a.pdf",
        Options(text_reader=lambda _: TextLayer("hello"), layout_reader=explode),
    )
    assert (got.method, got.text, got.tables, got.layout) == ("fastpath", "hello", (), None)
    assert got.fastpath_ms is not None
    assert got.liteparse_ms is None
    assert got.to_yaml() == ""


@pytest.mark.parametrize(
    ("reader", "note"),
    [
        (lambda _: TextLayer("  \n"), "empty"),
        (lambda _: TextLayer("SCAN-9F31A1", junk=True), "unfit"),
        (refuse, "broken xref"),
    ],
)
def test_falls_back_to_structure(tmp_path, reader, note):
    got = docpipe.handle(
        tmp_path / "a.pdf",
        Options(text_reader=reader, layout_reader=lambda _: layout_of(invoice_text()), base=BASE),
    )
    assert got.method == "liteparse"
    assert note in got.notes["fastpath"]
    assert got.tables[0].grid()[3] == ["Total", "", "45.00"]
    assert docpipe.layout_from_yaml(got.to_yaml()) == got.layout


def test_force_structure_skips_the_text_layer(tmp_path):
    got = docpipe.handle(
        tmp_path / "a.pdf",
        Options(
            force_structure=True,
            text_reader=explode,
            layout_reader=lambda _: layout_of(invoice_bill()),
            base=BASE,
        ),
    )
    assert got.method == "liteparse"
    assert got.fastpath_ms is None
    assert len(got.tables) == 2


def test_both_paths_fail_with_both_reasons(tmp_path):
    def refuse_too(_path: Path):
        raise RuntimeError("no pages")

    with pytest.raises(docpipe.DocpipeError) as caught:
        docpipe.handle(tmp_path / "a.pdf", Options(text_reader=refuse, layout_reader=refuse_too))
    assert "broken xref" in str(caught.value)
    assert "no pages" in str(caught.value)
    assert set(caught.value.reasons) == {"fastpath", "liteparse"}


def test_ocr_only_when_asked(tmp_path):
    stub = Options(
        text_reader=lambda _: TextLayer("SCAN-9F31A1", junk=True),
        layout_reader=lambda _: Layout(()),
        ocr_reader=lambda _: "what the scan says",
        base=BASE,
    )
    assert docpipe.handle(tmp_path / "a.pdf", stub).method == "liteparse"
    asked = docpipe.handle(tmp_path / "a.pdf", dataclasses.replace(stub, ocr=True))
    assert (asked.method, asked.text) == ("ocr", "what the scan says")


def scan_with_stub_layer(path: Path) -> None:
    """A page-filling picture with nothing but a stamp in its text layer."""
    with pymupdf.open() as paper, pymupdf.open() as doc:
        sheet = paper.new_page()
        for k in range(24):
            sheet.insert_text(
                (72, 110 + 24 * k), "What was typed on this line of paper.", fontsize=14
            )
        page = doc.new_page()
        page.insert_image(page.rect, pixmap=sheet.get_pixmap(dpi=100))
        page.insert_text((72, 72), "SCAN-9F31A1", fontsize=8)
        doc.save(path)


def test_scan_with_a_stub_layer_is_not_read_by_the_fast_path(tmp_path):
    path = tmp_path / "scan.pdf"
    scan_with_stub_layer(path)
    assert docpipe.read_text_layer(path).junk
    got = docpipe.handle(path, Options(layout_reader=lambda _: Layout(())))
    assert got.method == "liteparse"


def test_real_file_by_both_paths(tmp_path):
    path = tmp_path / "invoice.pdf"
    with pymupdf.open() as doc:
        page = doc.new_page()
        for i in invoice_text().items:
            page.insert_text((i.x0, i.y1), i.text, fontsize=11)
        doc.save(path)
    fast = docpipe.handle(path)
    assert fast.method == "fastpath"
    assert "Widget B" in fast.text
    slow = docpipe.handle(path, Options(force_structure=True))
    assert slow.tables[0].grid()[1] == ["Widget A", "2", "10.00"]
    assert slow.tables[0].address.startswith("docpipe://pdf/")
    assert docpipe.layout_from_yaml(slow.to_yaml()) == slow.layout


@pytest.mark.parametrize("text", ["no", "1.0", "2001-01-01", "a: b", "— “q”", "null", "\t- x", "#"])
def test_yaml_keeps_strings_strings(text):
    page = PageItems(1, 10, 10, (TextItem(0, 0, 1, 1, text),), (Ruling(0, 0, 5, 0.5),), None)
    layout = Layout((LayoutPage(page, (Block("paragraph", text, Box(0, 0, 1, 1)),)),))
    assert docpipe.layout_from_yaml(docpipe.layout_to_yaml(layout)) == layout


@pytest.mark.parametrize("text", ["", "a", "version: 99\npages: []\n", "- 1\n"])
def test_yaml_of_something_else_is_refused(text):
    with pytest.raises(ValueError, match="not a layout"):
        docpipe.layout_from_yaml(text)


def test_forced_structure_with_ocr_reads_scans_only(tmp_path):
    asked = Options(
        force_structure=True,
        ocr=True,
        text_reader=lambda _: TextLayer("SCAN-9F31A1", junk=True),
        layout_reader=lambda _: layout_of(invoice_text()),
        ocr_reader=lambda _: "what the scan says",
        base=BASE,
    )
    got = docpipe.handle(tmp_path / "a.pdf", asked)
    assert (got.method, got.text) == ("ocr", "what the scan says")
    assert len(got.tables) == 1
    plain = dataclasses.replace(asked, text_reader=lambda _: TextLayer("A real letter."))
    assert docpipe.handle(tmp_path / "a.pdf", plain).method == "liteparse"


def test_three_paths_fail_with_three_reasons(tmp_path):
    asked = Options(ocr=True, text_reader=refuse, layout_reader=refuse, ocr_reader=refuse)
    with pytest.raises(docpipe.DocpipeError) as caught:
        docpipe.handle(tmp_path / "a.pdf", asked)
    assert set(caught.value.reasons) == {"fastpath", "liteparse", "ocr"}


@pytest.mark.slow
def test_a_real_scan_is_read_by_our_engine(tmp_path):
    path = tmp_path / "scan.pdf"
    scan_with_stub_layer(path)
    got = docpipe.handle(path, Options(ocr=True))
    assert got.method == "ocr"
    assert "typed on this line of paper" in got.text
