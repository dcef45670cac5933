"""Cells hold what the page shows and no more: no hidden words, each word once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from pdf_files import picture, save
from regcomments.docpipe import Options, handle
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf
from regcomments.tables import store
from regcomments.tables.markdown import pipe_table

Draw = Callable[[pymupdf.Page], object]
NAME = "Ottilie Brackenridge"
ROWS = [
    ["Patient", "Stays", "Paid"],
    ["Dana Whitfield", "12", "40.10"],
    [NAME, "7", "31.25"],
    ["Sol Amari", "3", "18.00"],
]
HIDDEN = [*ROWS[:2], ["", "7", "31.25"], ROWS[3]]


def _rows(rows=ROWS, **options: object) -> Draw:
    def draw(page: pymupdf.Page) -> None:
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                page.insert_text((72 + 150 * c, 100 + 18 * r), text, fontsize=11, **options)

    return draw


def _say(text: str, x: float, y: float, **options: object) -> Draw:
    return lambda page: page.insert_text((x, y), text, **{"fontsize": 11, **options})


def _all(*steps: Draw) -> Draw:
    return lambda page: [step(page) for step in steps]


def _bar(words: str, fill=(0, 0, 0)) -> Draw:
    def draw(page: pymupdf.Page) -> None:
        x0, y0, x1, y1 = page.search_for(words)[0]
        page.draw_rect((x0, y0 + 2, x1, y1 - 2), color=None, fill=fill)

    return draw


def _cover(words: str) -> Draw:
    def draw(page: pymupdf.Page) -> None:
        annot = page.add_rect_annot(page.search_for(words)[0] + (-3, -3, 3, 3))
        annot.set_colors(stroke=(0, 0, 0), fill=(0, 0, 0))
        annot.update()

    return draw


def _dark_heading(page: pymupdf.Page) -> None:
    page.draw_rect((60, 86, 520, 106), color=None, fill=(0.1, 0.1, 0.3))
    _rows(ROWS[:1], color=(1, 1, 1))(page)
    for r, row in enumerate(ROWS[1:], 1):
        for c, text in enumerate(row):
            page.insert_text((72 + 150 * c, 100 + 18 * r), text, fontsize=11)


def _scan(page: pymupdf.Page) -> None:
    picture(page, tuple(page.rect))
    _rows(render_mode=3)(page)


def _turned(step: Draw) -> Draw:
    return lambda page: (step(page), page.set_rotation(90))


def _part(page: pymupdf.Page) -> None:
    """White letters close behind the last ones of a cell: one word to MuPDF."""
    _rows()(page)
    x = 72 + pymupdf.get_text_length("Sol Amari", fontsize=11)
    page.insert_text((x, 154), "Xq", fontsize=11, color=(1, 1, 1))


def _right_to_left(page: pymupdf.Page) -> None:
    _rows()(page)
    writer = pymupdf.TextWriter(page.rect, color=(1, 1, 1))
    writer.append((190, 136), "\u05d0\u05d1\u05d2", font=pymupdf.Font("cjk"), right_to_left=1)
    writer.write_text(page)


@pytest.mark.parametrize(
    ("draw", "rows"),
    [
        (_rows(), ROWS),
        (_all(_rows(), _bar(NAME)), HIDDEN),
        (_all(_rows(), _bar("Ottilie")), [*ROWS[:2], ["Brackenridge", "7", "31.25"], ROWS[3]]),
        (_all(_rows(), _bar(NAME, (1, 1, 0.3))), ROWS),  # a highlighter
        (_all(_rows(), _cover(NAME)), HIDDEN),
        (_all(_rows(), _say("secret", 150, 154, color=(1, 1, 1))), ROWS),
        (_all(_rows(), _say("secret", 150, 154, render_mode=3)), ROWS),
        (_all(_rows(), _say("secret", 150, 154, fontsize=0.5)), ROWS),
        (_turned(_all(_rows(), _say("secret", 150, 154, color=(1, 1, 1)))), ROWS),
        (_all(_rows(), _rows()), ROWS),
        (_all(_rows(), _rows([["", "", ""], ["Dana", "", ""]])), ROWS),
        (_all(_rows(), _rows(render_mode=3)), ROWS),  # an OCR layer over the same words
        (_part, ROWS),
        (_right_to_left, ROWS),
        (_dark_heading, ROWS),
        (_scan, ROWS),
    ],
    ids=[
        *("plain", "bar", "bar-over-a-word", "highlighter", "annotation", "white", "invisible"),
        *("tiny", "white-turned", "shadow", "shadow-of-a-word", "doubled-layer", "part-of-a-word"),
        *("right-to-left", "white-on-dark", "layer-of-a-scan"),
    ],
)
def test_hidden_words_in_cells(tmp_path: Path, draw: Draw, rows: list[list[str]]) -> None:
    tables = store.write_tables(save(tmp_path / "attachment_1.pdf", draw))
    assert [table.grid() for table in tables] == [rows]


@pytest.mark.parametrize(
    "step",
    [_bar(NAME), _say("secret", 150, 154, color=(1, 1, 1)), _rows()],
    ids=["bar", "white", "shadow"],
)
def test_no_pipe_table_where_something_is_hidden(tmp_path: Path, step: Draw) -> None:
    path = save(tmp_path / "a.pdf", _all(_rows(), step))
    text = read_pdf(path, ReadOptions()).pages[0].text
    (table,) = store.write_tables(path)
    assert pipe_table(table.grid()) in text


def test_hidden_words_in_cells_of_docpipe(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pdf", _all(_rows(), _bar(NAME)))
    result = handle(path, Options(force_structure=True))
    assert [table.grid() for table in result.tables] == [HIDDEN]


def test_filled_fields_stay_in_cells(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        _rows([*ROWS[:3], ["Sol Amari", "3", ""]])(page)
        widget = pymupdf.Widget()
        widget.field_type, widget.field_name = pymupdf.PDF_WIDGET_TYPE_TEXT, "paid"
        widget.rect, widget.field_value = pymupdf.Rect(370, 143, 430, 158), "18.00"
        widget.text_fontsize = 11
        page.add_widget(widget)

    tables = store.write_tables(save(tmp_path / "attachment_1.pdf", draw))
    assert [table.grid() for table in tables] == [ROWS]


def test_ligatures_are_spelled_as_in_the_text(tmp_path: Path) -> None:
    rows = [["Effect", "2017", "2018"], ["Of\ufb01ce", "10", "11"], ["Staff", "12", "13"]]

    def draw(page: pymupdf.Page) -> None:
        writer = pymupdf.TextWriter(page.rect)
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                writer.append((72 + 150 * c, 100 + 18 * r), text, font=pymupdf.Font("tiro"))
        writer.write_text(page)

    tables = store.write_tables(save(tmp_path / "attachment_1.pdf", draw))
    assert tables[0].grid()[1][0] == "Office"
