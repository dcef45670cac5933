"""How a page gets under the eye of the search for writing: decoded, drawn, whole or in part."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image
from regcomments.read import ink
from regcomments.read.pagefacts import PageFacts, measure
from regcomments.read.pageview import View, view_of
from regcomments.read.pdf_parts import PageParts

from tests import page_files as files

LONG = files.LINES * 3  # fills the page


def jpeg(picture: bytes, mode: str = "L", quality: int = 80) -> bytes:
    data = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert(mode).save(data, "JPEG", quality=quality)
    return data.getvalue()


SCAN = jpeg(files.picture_of(files.letter(LONG, top=60), dpi=200))


def shown(picture: bytes, matrix: str = "612 0 0 792 0 0", more: str = "") -> pymupdf.Page:
    """Return a page that shows `picture` by `matrix`, with `more` in its drawing instructions."""
    page = files.page_of(files.show(picture))
    document = page.parent
    name = page.get_images()[0][7]
    code = f"q {matrix} cm /{name} Do Q {more}"
    document.update_stream(page.get_contents()[0], code.encode())
    return document.reload_page(page)


def view(page: pymupdf.Page) -> View:
    return view_of(page, PageParts(page), None, has_text=False, picture_only=True)


def facts_of(page: pymupdf.Page) -> PageFacts:
    return measure(page, page.get_text())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The pixels of each picture that MuPDF draws."""
    pixels: list[int] = []
    real = pymupdf.Page.get_pixmap

    def spy(*args: Any, **kwargs: Any) -> pymupdf.Pixmap:
        pixmap = real(*args, **kwargs)
        pixels.append(pixmap.width * pixmap.height)
        return pixmap

    monkeypatch.setattr(pymupdf.Page, "get_pixmap", spy)
    return pixels


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_jpeg_is_seen_as_mupdf_draws_it(mode: str) -> None:
    page = shown(jpeg(SCAN, mode))
    seen, _ = view(page)(0.0, 1.0)
    pixmap = page.get_pixmap(dpi=100, colorspace=pymupdf.csGRAY)
    expected = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width)
    assert seen.shape == expected.shape
    assert float(np.mean(np.abs(seen.astype(int) - expected))) < 6
    assert ink.look(seen).letters == pytest.approx(ink.look(expected).letters, rel=0.1)


@pytest.mark.parametrize(
    ("picture", "matrix", "more", "decoded"),
    [
        (SCAN, "612 0 0 792 0 0", "", True),
        (SCAN, "612 0 0 -792 0 792", "", False),  # upside down, as some scanners store it
        (SCAN, "0 792 -612 0 612 0", "", False),  # on its side
        (SCAN, "300 0 0 400 0 0", "", False),  # a part of the page
        (SCAN, "612 0 0 792 0 0", "1 0 0 1 9 9 cm", False),  # not the only matrix
        (files.picture_of(files.letter(LONG, top=60)), "612 0 0 792 0 0", "", False),  # no JPEG
        (SCAN[:400], "612 0 0 792 0 0", "", False),  # damaged
    ],
)
def test_what_is_decoded_and_what_is_drawn(
    picture: bytes, matrix: str, more: str, decoded: bool, drawn: list[int]
) -> None:
    page = shown(SCAN if len(picture) < 1000 else picture, matrix, more)
    if len(picture) < 1000:
        page.parent.update_stream(page.get_images()[0][0], picture, compress=0)
        page.parent.xref_set_key(page.get_images()[0][0], "Filter", "/DCTDecode")
    facts_of(page)
    assert bool(drawn) != decoded


@pytest.mark.parametrize("key", ["SMask", "Mask", "Decode"])
def test_a_masked_or_inverted_jpeg_is_drawn(key: str, drawn: list[int]) -> None:
    page = shown(SCAN)
    xref = page.get_images()[0][0]
    page.parent.xref_set_key(xref, key, "[1 0]" if key == "Decode" else f"{xref} 0 R")
    view(page)(0.0, 1.0)
    assert drawn


def test_letters_drawn_over_a_jpeg_are_seen() -> None:
    ground = jpeg(files.png(Image.new("L", (850, 1100), 236)))
    places = [(72 + 9 * col, 700 - 18 * row) for row in range(12) for col in range(50)]
    strokes = [f"{x} {y} 2 10 re {x} {y} 6 2 re {x} {y + 8} 6 2 re" for x, y in places if x * y % 7]
    assert facts_of(shown(ground)).letters == 0
    assert facts_of(shown(ground, more=f"0 g {' '.join(strokes)} f")).letters > 200


def test_a_full_page_is_settled_by_a_sample(drawn: list[int]) -> None:
    page = files.page_of(files.show(files.picture_of(files.letter(LONG, top=60))))
    drawn.clear()
    facts = facts_of(page)
    assert ink.certain(0) <= facts.letters < 0.6 * sum(map(len, LONG))
    assert len(drawn) == 1 and drawn[0] < 0.3 * 850 * 1100


def test_writing_outside_the_sample_is_found() -> None:
    line = files.show(jpeg(files.picture_of(files.letter(files.LINES[:3], top=700))))
    assert facts_of(files.page_of(line)).letters > 60


def test_parts_of_a_turned_page_are_cut_from_one_drawing(drawn: list[int]) -> None:
    page = files.page_of(files.scan())
    page.set_rotation(90)
    drawn.clear()
    assert facts_of(page).letters > 200
    assert len(drawn) == 1


@pytest.mark.parametrize("shape", [(1, 900), (900, 1), (2, 2)])
def test_parts_of_tiny_pictures_are_blank(shape: tuple[int, int]) -> None:
    tiny = np.full(shape, 255, np.uint8)
    assert ink.look_first(ink.parts_of(tiny), 0, faint=True).letters == 0


@pytest.mark.parametrize("turn", [0, 90])
def test_letters_are_told_by_quarters(turn: int) -> None:
    picture = files.picture_of(files.letter(files.LINES[:6], top=60), dpi=100, rotate=turn)
    seen = ink.look(np.asarray(Image.open(io.BytesIO(picture))))
    assert seen.vertical == (turn == 90)
    assert sum(seen.quarters) == seen.letters > 100
    ends = (seen.quarters[0], seen.quarters[-1])
    assert sorted(ends) == [0, seen.letters]
