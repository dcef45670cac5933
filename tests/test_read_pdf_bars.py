"""Words blacked out by a bar that the page draws are not text; words that show on a bar are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from pdf_files import plain, save
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf

TEXT = "My name is Ottilie Brackenridge and I live in Tulse."
NAME = "Ottilie Brackenridge"
Draw = Callable[[pymupdf.Page], object]


def _place(page: pymupdf.Page, words: str) -> pymupdf.Rect:
    return page.search_for(words)[0]


def _letter(colour: tuple[float, ...] = (0, 0, 0)) -> Draw:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 90), TEXT, fontsize=11, color=colour)
        page.insert_text((72, 120), "The rule should stand.", fontsize=11)

    return draw


def _bar(words: str, fill: tuple[float, ...], opacity: float = 1, grow: float = 0) -> Draw:
    def draw(page: pymupdf.Page) -> None:
        x0, y0, x1, y1 = _place(page, words)
        rect = (x0 - grow, y0 + 2, x1 + grow, y1 - 2)
        page.draw_rect(rect, color=None, fill=fill, fill_opacity=opacity)

    return draw


def _all(*steps: Draw) -> Draw:
    return lambda page: [step(page) for step in steps]


def _ink_on_dark(page: pymupdf.Page) -> None:
    page.draw_rect((60, 76, 400, 96), color=None, fill=(0.1, 0.1, 0.25))
    page.insert_text((72, 90), TEXT, fontsize=11, color=(0.9, 0.8, 0.2))


def _heading_rows(page: pymupdf.Page) -> None:
    for k in range(3):
        page.draw_rect((60, 76 + 40 * k, 500, 96 + 40 * k), color=None, fill=(0, 0, 0))
        page.insert_text((72, 90 + 40 * k), TEXT, fontsize=11, color=(1, 1, 1))


@pytest.mark.parametrize(
    ("draw", "shown", "gone"),
    [
        (_all(_letter(), _bar(NAME, (0, 0, 0))), "My name is", NAME),
        (_all(_letter(), _bar(NAME, (0, 0, 0), grow=1)), "and I live in Tulse.", "Brackenridge"),
        (_all(_letter(), _bar(TEXT, (0.1, 0.1, 0.1), grow=3)), "The rule should stand.", "name"),
        (_all(_letter(), _bar("Tulse.", (0, 0, 0))), "and I live in", "Tulse"),
        (_all(_letter(), _bar("My name", (0, 0, 0))), "is Ottilie Brackenridge", "My name"),
        (_all(_letter(), _bar(NAME, (1, 1, 0.2))), NAME, ""),  # a highlighter
        (_all(_letter(), _bar(NAME, (0, 0, 0), 0.3)), NAME, ""),  # may be seen through
        (_ink_on_dark, TEXT, ""),
        (_heading_rows, TEXT, ""),
        (_letter(), TEXT, ""),
    ],
)
def test_words_under_a_bar(tmp_path: Path, draw: Draw, shown: str, gone: str) -> None:
    document = read_pdf(save(tmp_path / "a.pdf", draw), ReadOptions())
    text = plain(document.pages[0].text)
    assert shown in text
    if gone:
        assert gone not in text
        assert "characters of hidden text left out" in " ".join(document.warnings)
    else:
        assert not document.warnings


def test_a_rule_through_words_hides_nothing(tmp_path: Path) -> None:
    def strike(page: pymupdf.Page) -> None:
        _letter()(page)
        rect = _place(page, NAME)
        middle = (rect.y0 + rect.y1) / 2
        page.draw_rect((rect.x0, middle, rect.x1, middle + 1.5), color=None, fill=(0, 0, 0))

    text = read_pdf(save(tmp_path / "a.pdf", strike), ReadOptions()).pages[0].text
    assert TEXT in text


def test_bars_beside_a_link_count_too(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        _all(_letter(), _bar(NAME, (0, 0, 0)))(page)
        page.add_highlight_annot(_place(page, "The rule"))

    text = read_pdf(save(tmp_path / "a.pdf", draw), ReadOptions()).pages[0].text
    assert NAME not in text and "The rule should stand." in text
