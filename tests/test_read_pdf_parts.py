"""What a page is made of, by its object alone: the same as PyMuPDF's own lists tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from regcomments.read.pdf_layout import _below, _fits
from regcomments.read.pdf_line import Line
from regcomments.read.pdf_parts import PageParts
from regcomments.tables.sources import page_items

from tests.pdf_files import picture, save, write


def _form(page: pymupdf.Page) -> None:
    """Show another page, with a picture on it, as a form XObject."""
    with pymupdf.open() as other:
        inner = other.new_page()
        picture(inner, (100, 100, 200, 200))
        inner.insert_text((72, 72), "Inside a form")
        page.show_pdf_page(pymupdf.Rect(0, 0, 300, 400), other, 0)


def _boxed(page: pymupdf.Page) -> None:
    page.draw_rect(pymupdf.Rect(72, 72, 300, 300))


def _several(page: pymupdf.Page) -> None:
    for _ in range(3):
        page.insert_text((72, 200), "One stream after the other")
    for k in range(25):
        picture(page, (k, k, 50 + k, 50 + k))


DRAWN: list[tuple[str, list[Callable]]] = [
    ("text", [write()]),
    ("empty", []),
    ("picture", [write(), lambda page: picture(page, (0, 0, 90, 90))]),
    ("form", [_form]),
    ("picture and form", [lambda page: picture(page, (0, 0, 90, 90)), _form]),
    ("several streams", [_several]),
    ("box", [write(), _boxed]),
]


@pytest.mark.parametrize(("name", "draw"), DRAWN, ids=[name for name, _ in DRAWN])
def test_parts_agree_with_the_lists(tmp_path: Path, name: str, draw: list[Callable]) -> None:
    path = save(tmp_path / "a.pdf", lambda page: [step(page) for step in draw])
    with pymupdf.open(path) as document:
        page = document[0]
        parts = PageParts(page)
        assert [part.xref for part in parts.pictures] == [i[0] for i in page.get_images()]
        assert [part.pixels for part in parts.pictures] == [i[2] * i[3] for i in page.get_images()]
        assert list(parts.forms) == [form[0] for form in page.get_xobjects()]
        streams = [*page.get_contents(), *parts.forms]
        assert parts.code_bytes == sum(len(document.xref_stream_raw(x)) for x in streams)
        # False must be certain.
        assert parts.may_draw_lines or not page.get_drawings()
        assert parts.may_draw_lines is (name in ("box", "form", "picture and form"))
        assert not parts.has_annotations
        assert not parts.is_cropped


def test_marks_of_a_page(tmp_path: Path) -> None:
    with pymupdf.open(save(tmp_path / "a.pdf", write())) as document:
        page = document[0]
        page.add_text_annot((100, 100), "A remark")
        page.set_cropbox(pymupdf.Rect(0, 0, 300, 300))
        page.set_rotation(90)
        parts = PageParts(page)
        assert (parts.has_annotations, parts.is_cropped, parts.rotation) == (True, True, 90)


def test_a_crop_box_above_the_page_counts(tmp_path: Path) -> None:
    with pymupdf.open(save(tmp_path / "a.pdf", write())) as document:
        kind, root = document.xref_get_key(document.pdf_catalog(), "Pages")
        assert kind == "xref"
        document.xref_set_key(int(root.split()[0]), "CropBox", "[0 0 300 300]")
        assert PageParts(document.reload_page(document[0])).is_cropped


def test_a_page_of_another_format_has_no_parts() -> None:
    with pymupdf.open(stream=b"Plain text", filetype="txt") as document:
        parts = PageParts(document[0])
        assert (parts.pictures, parts.forms, parts.code_bytes) == ((), (), 0)
        assert not (parts.has_annotations or parts.is_cropped)


_PLACE = st.floats(0, 60, allow_nan=False)
_SIZE = st.floats(0.5, 30, allow_nan=False)
_LINE = st.builds(
    lambda x, y, width, size, turned, block: Line(
        "word",
        x,
        y,
        x + width,
        y + 1.2 * size,
        size,
        x,
        y + size,
        0.0 if turned else 1.0,
        -1.0 if turned else 0.0,
        block,
    ),
    _PLACE,
    _PLACE,
    _SIZE,
    _SIZE,
    st.booleans(),
    st.integers(0, 1),
)


@given(_LINE, _LINE)
def test_lines_surely_apart_do_not_fit_a_row(last: Line, line: Line) -> None:
    assert not (_below(last, line) and _fits([last], line))


@pytest.mark.parametrize("angle", [0, 90, 180, 20])
def test_known_directions_give_the_same_words(tmp_path: Path, angle: int) -> None:
    def draw(page: pymupdf.Page) -> None:
        writer = pymupdf.TextWriter(page.rect)
        for k in range(6):
            writer.append((200, 300 + 14 * k), f"Words of row {k} across")
        writer.write_text(page, morph=(pymupdf.Point(250, 330), pymupdf.Matrix(angle)))
        page.insert_text((72, 700), "And one level line at the foot")

    with pymupdf.open(save(tmp_path / "a.pdf", draw)) as document:
        page = document[0]
        textpage = page.get_textpage()
        lines = [n for b in textpage.extractDICT()["blocks"] for n in b.get("lines", ())]
        known = {line["dir"] for line in lines}
        assert len(known) == (1 if angle == 0 else 2)
        assert page_items(page, textpage=textpage, directions=known) == page_items(page)


def _placed(page: pymupdf.Page) -> None:
    picture(page, (20, 30, 110, 90))
    picture(page, (200, 400, 260, 460))


def _stream(code: bytes) -> Callable[[pymupdf.Page], None]:
    """Return a function that sets `code` as the drawing instructions of a page with a picture."""

    def draw(page: pymupdf.Page) -> None:
        picture(page, (0, 0, 10, 10))
        name = page.get_images()[0][7].encode()
        page.clean_contents()
        page.parent.update_stream(page.get_contents()[0], code.replace(b"/P", b"/" + name))

    return draw


_ONE = b"q 90 0 0 60 72 300 cm /P Do Q"


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (_placed, True),
        (_stream(_ONE), True),
        (_stream(b"q 0 50 -70 0 200 300 cm /P Do Q"), True),  # turned
        (_stream(b".5 0 0 .5 0 0 cm " + _ONE), False),  # another matrix in force
        (_stream(b"q 2 0 0 2 0 0 cm " + _ONE + b" Q"), False),
        (_stream(_ONE + b" /Gone Do"), False),  # drawn by an unknown name
        (_stream(b"/OC /Layer BDC " + _ONE + b" EMC"), False),  # perhaps switched off
        (_stream(_ONE + b" q 50 0 0 50 0 0 cm BI /W 1 /H 1 /BPC 8 /CS /G ID x EI Q"), False),
        (_stream(b"q 90 0 0 60 72 300 cm 0 0 1 1 re W n /P Do Q"), False),
        (write(), False),
    ],
)
def test_boxes_of_pictures_are_those_that_are_drawn(
    tmp_path: Path, draw: Callable, told: bool
) -> None:
    with pymupdf.open(save(tmp_path / "a.pdf", draw)) as document:
        page = document[0]
        boxes = PageParts(page).picture_boxes
        assert (boxes is not None) is told
        if told:
            drawn = [info["bbox"] for info in page.get_image_info()]
            assert [pytest.approx(box, abs=0.01) for box in drawn] == boxes


def test_boxes_of_pictures_of_a_turned_or_cropped_page(tmp_path: Path) -> None:
    with pymupdf.open(save(tmp_path / "a.pdf", _placed)) as document:
        page = document[0]
        page.set_cropbox(pymupdf.Rect(10, 20, 400, 600))
        drawn = [info["bbox"] for info in page.get_image_info()]
        boxes = PageParts(page).picture_boxes
        assert [pytest.approx(box, abs=0.01) for box in drawn] == boxes
        page.set_rotation(90)
        assert PageParts(page).picture_boxes is None
