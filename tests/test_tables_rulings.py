"""Drawn lines from the boxes that MuPDF collects beside the text: the same as from its paths."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import save
from regcomments.read.pdf_lines import printed_page
from regcomments.read.pdf_parts import PageParts
from regcomments.tables.items import Box
from regcomments.tables.lattice import segments_of
from regcomments.tables.rulings import Vector, rulings_of, rulings_of_vectors
from regcomments.tables.tolerances import DEFAULT


def _page(folder: Path, code: bytes) -> pymupdf.Page:
    path = save(folder / "a.pdf", lambda page: page.insert_text((72, 90), "a"))
    with pymupdf.open(path) as document:
        document.update_stream(document[0].get_contents()[0], code)
        return pymupdf.open("pdf", document.tobytes())[0]


def _vectors(page: pymupdf.Page) -> list[Vector]:
    found = printed_page(page, PageParts(page), contents_only=False).vectors
    assert found is not None
    return found


@pytest.mark.parametrize(
    "code",
    [
        b"100 100 m 300 100 l 100 150 m 300 150 l S",
        b"0.25 w 100 100 m 100 300 l S",
        b"0.5 w 100 100 200 50 re 100 150 200 50 re S 90 90 m 310 90 l S",
        b"100 100 200 1 re 100 120 200 1 re 100 140 1 200 re f",
        b"0.8 g 100 100 200 50 re f 0.8 g 300 100 80 50 re f",
        b"1 g 100 100 200 50 re f",
        b"0.9 g 100 100 200 50 re f 0.5 g 110 110 180 30 re f",
        b"1 g 100 100 0.5 50 re f",
        b"[2 2] 0 d 100 100 m 300 100 l S",
        b"100 100 m 150 200 200 200 300 100 c f",
        b"100 100 m 104 104 l S",
        b"",
    ],
)
def test_boxes_give_the_lines_that_paths_give(tmp_path: Path, code: bytes) -> None:
    page = _page(tmp_path, code)
    quick = rulings_of_vectors(_vectors(page))
    assert quick is not None
    for some, wanted in zip(segments_of(quick), segments_of(rulings_of(page)), strict=True):
        assert len(some) == len(wanted)
        for a, b in zip(some, wanted, strict=True):
            assert (a.at, a.lo, a.hi) == pytest.approx((b.at, b.lo, b.hi), abs=0.75)


@pytest.mark.parametrize(
    "code",
    [
        b"100 100 m 300 100 l 300 200 l S",  # two lines in one stroke
        b"0.1 0 0 0.1 0 0 cm 5 w 1000 1000 m 3000 1000 l S",  # tenths of a point
        b"6 w 100 100 m 300 100 l S",
        b"100 100 200 50 re S",  # nothing tells how wide the pen was
        b"100 100 m 300 160 l S",
    ],
)
def test_what_boxes_do_not_tell_is_asked_of_the_paths(tmp_path: Path, code: bytes) -> None:
    assert rulings_of_vectors(_vectors(_page(tmp_path, code))) is None


def test_a_page_of_heavy_drawing_has_no_rulings() -> None:
    line = Vector(Box(0, 0, 100, 1), True, True, 0.0, 0.0, 1.0)
    assert rulings_of_vectors([line] * (DEFAULT.max_paths + 1)) == []


def test_drawing_in_forms_or_without_end_is_not_collected(tmp_path: Path) -> None:
    page = _page(tmp_path, b"0 0 9 9 re f " * 40_000)
    assert printed_page(page, PageParts(page), contents_only=False).vectors is None
    with pymupdf.open() as document:
        source = pymupdf.open("pdf", _page(tmp_path, b"0 0 9 9 re f").parent.tobytes())
        page = document.new_page()
        page.show_pdf_page(page.rect, source)
        page = pymupdf.open("pdf", document.tobytes())[0]
        assert printed_page(page, PageParts(page), contents_only=False).vectors is None


def test_lines_of_text_are_the_same_with_drawing_between_them(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        for k in range(4):
            page.insert_text((72, 100 + 14 * k), f"The rule under line {k} ")
            page.draw_line((72, 103 + 14 * k), (120, 103 + 14 * k))
            page.insert_text((190, 100 + 14 * k), "does not end it")

    with pymupdf.open(save(tmp_path / "a.pdf", draw)) as document:
        page = document[0]
        quick = printed_page(page, PageParts(page), contents_only=False)
        assert len(quick.vectors or ()) == 4
        bare = page.get_textpage(flags=pymupdf.TEXT_PRESERVE_WHITESPACE).extractText()
        assert quick.textpage.extractText().split() == bare.split()
        assert quick.xml.count("<line") == len(bare.splitlines())
