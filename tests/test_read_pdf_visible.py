"""The PDF reader: what can be seen is read once, what cannot is left out and counted."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import picture, plain, save, write
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf
from regcomments.read.pdf_line import HIDDEN, TINY, WHITE, Line
from regcomments.read.pdf_visible import visible_lines

BODY = "We support the rule as proposed."


def read(path: Path) -> tuple[str, str]:
    document = read_pdf(path, ReadOptions())
    return plain(document.pages[0].text), " ".join(document.warnings)


def twice(dx: float, dy: float, **options: object):
    def draw(page: pymupdf.Page) -> None:
        write("A heading with a shadow", 72, 60, color=(0.6, 0.6, 0.6))(page)
        write("A heading with a shadow", 72 + dx, 60 + dy, **options)(page)
        write(BODY)(page)

    return draw


@pytest.mark.parametrize(("dx", "dy"), [(0, 0), (0.4, 0), (1, 1), (-0.8, 0.8), (0, -1.5)])
def test_shadows_are_read_once(tmp_path: Path, dx: float, dy: float) -> None:
    text, warnings = read(save(tmp_path / "a.pdf", twice(dx, dy)))
    assert text == f"A heading with a shadow {BODY}"
    assert "23 characters printed twice" in warnings


def word_by_word(page: pymupdf.Page) -> None:
    """Draw each word of a line twice before the next one."""
    x = 72.0
    for word in ("Strong ", "words ", "in ", "bold"):
        write(word, x)(page)
        write(word, x + 0.5)(page)
        x += pymupdf.get_text_length(word)


def part_again(page: pymupdf.Page) -> None:
    write("Strong words in bold")(page)
    write("words in", 72.5 + pymupdf.get_text_length("Strong "))(page)


def second_pass_in_pieces(page: pymupdf.Page) -> None:
    write("Strong words in bold")(page)
    write("Strong words", 72.5)(page)
    write("in bold", 72.5 + pymupdf.get_text_length("Strong words "))(page)


@pytest.mark.parametrize("draw", [word_by_word, part_again, second_pass_in_pieces])
@pytest.mark.parametrize("rotation", [0, 180])
def test_words_printed_twice_are_read_once(tmp_path: Path, draw, rotation: int) -> None:
    path = save(tmp_path / "a.pdf", lambda page: (draw(page), page.set_rotation(rotation)))
    text, warnings = read(path)
    assert text == "Strong words in bold"
    assert "characters printed twice" in warnings


def test_text_on_a_line_of_underscores_keeps_both(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        write("Name: ____________________")(page)
        write("Dana Whitfield", 110)(page)

    text, _ = read(save(tmp_path / "a.pdf", draw))
    assert "Name:" in text
    assert "Dana Whitfield" in text


@pytest.mark.parametrize(("dx", "dy"), [(0, 12), (200, 0)])
def test_repeats_at_other_places_stay(tmp_path: Path, dx: float, dy: float) -> None:
    text, warnings = read(save(tmp_path / "a.pdf", twice(dx, dy)))
    assert text.count("A heading with a shadow") == 2
    assert not warnings


def on_dark(page: pymupdf.Page) -> None:
    page.draw_rect((60, 130, 400, 170), color=(0, 0, 0.4), fill=(0, 0, 0.4))
    write("Column heading", 72, 150, color=(1, 1, 1))(page)


def form_object(page: pymupdf.Page) -> None:
    """Draw hidden text inside a form object, as OCR programs do."""
    with pymupdf.open() as other:
        write("secret words", 72, 150, render_mode=3)(other.new_page())
        page.show_pdf_page(page.rect, other, 0)


@pytest.mark.parametrize(
    ("draw", "kept", "count"),
    [
        (write("secret words", 72, 150, render_mode=3), False, 12),
        (write("secret words", 72, 150, color=(1, 1, 1)), False, 12),
        (write("secret words", 72, 150, color=(0.97, 0.97, 0.97)), True, 0),
        (write("secret words", 72, 150, fill_opacity=0, stroke_opacity=0), False, 12),
        (form_object, False, 12),
        (on_dark, True, 0),
        (lambda p: p.insert_text((72, 150), "secret words", fontsize=0.4), False, 12),
        (write("secret words", 72, 150, color=(0.5, 0.5, 0.5)), True, 0),
    ],
    ids=["mode3", "white", "nearly_white", "transparent", "form", "on_dark", "tiny", "grey"],
)
def test_hidden_text(tmp_path: Path, draw, kept: bool, count: int) -> None:
    path = save(tmp_path / "a.pdf", lambda page: (write(BODY)(page), draw(page)))
    text, warnings = read(path)
    words = "Column heading" if draw is on_dark else "secret words"
    assert (words in text) is kept
    assert (f"{count} characters of hidden text" in warnings) is (count > 0)
    assert BODY in text


def show_after(setting: str, words: str):
    """Return a function that writes the body, then `words` after the operators of `setting`."""
    code = f"\nq {setting} BT /helv 11 Tf 72 500 Td ({words}) Tj ET Q\n".encode()

    def draw(page: pymupdf.Page) -> None:
        write(BODY)(page)
        xref = page.get_contents()[-1]
        page.parent.update_stream(xref, page.parent.xref_stream(xref) + code)

    return draw


@pytest.mark.parametrize(
    "setting",
    [
        *("1 1 1 rg", "1.0 1.0 1.0 rg", "1. 1. 1.\nrg", "1.000 g", "1 g", ".99 g", "0 0 0 0 k"),
        *("0.0 0.0 0.0 0.0 k", "/DeviceRGB cs 1.0 1 1.0 scn", "/DeviceGray cs 1 sc", "3.0 Tr"),
        "3 Tr",
    ],
)
def test_every_spelling_of_white_and_invisible_hides(tmp_path: Path, setting: str) -> None:
    text, warnings = read(save(tmp_path / "a.pdf", show_after(setting, "secret words")))
    assert "secret" not in text
    assert "12 characters of hidden text" in warnings
    assert BODY in text


@pytest.mark.parametrize("setting", ["0.5 g", "0 Tr", "0.0 Tr", "0 0 0 1 k", "0 g", "1 0 0 rg"])
def test_ink_is_no_hiding(tmp_path: Path, setting: str) -> None:
    text, warnings = read(save(tmp_path / "a.pdf", show_after(setting, "plain words")))
    assert "plain words" in text
    assert not warnings


@pytest.mark.parametrize(
    ("fill", "opacity", "kept"),
    [((0, 0, 0), 1, False), ((1, 1, 1), 1, False), (None, 1, True), ((1, 1, 0), 0.4, True)],
    ids=["black", "white", "outline", "marker"],
)
def test_text_under_a_shape(tmp_path: Path, fill, opacity: float, kept: bool) -> None:
    def draw(page: pymupdf.Page) -> None:
        write(BODY)(page)
        write("patient 4711", 72, 150)(page)
        shape = page.add_rect_annot((60, 135, 300, 156))
        shape.set_colors(stroke=fill or (1, 0, 0), fill=fill)
        shape.update(opacity=opacity)

    text, warnings = read(save(tmp_path / "a.pdf", draw))
    assert BODY in text
    assert ("patient 4711" in text) is kept
    assert ("12 characters of hidden text" in warnings) is not kept


def off_page(page: pymupdf.Page) -> None:
    write(BODY)(page)
    write("outside the paper", 72, 900)(page)
    write("cut off by the crop", 72, 700)(page)
    page.set_cropbox(pymupdf.Rect(0, 0, page.rect.width, 600))


def test_text_off_the_page_is_not_read(tmp_path: Path) -> None:
    text, warnings = read(save(tmp_path / "a.pdf", off_page))
    assert text == BODY
    assert "15 characters outside the pages left out" in warnings


def test_the_ocr_layer_of_a_scan_is_its_text(tmp_path: Path) -> None:
    words = "\n".join(f"Line {n} of the scanned letter to the agency" for n in range(20))

    def draw(page: pymupdf.Page) -> None:
        picture(page, tuple(page.rect))
        write(words, 72, 90, render_mode=3)(page)

    text, warnings = read(save(tmp_path / "a.pdf", draw))
    assert text == plain(words)
    assert "hidden" not in warnings


def test_an_ocr_layer_over_the_same_words_is_left_out(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        write(BODY)(page)
        picture(page, (300, 300, 500, 500))
        write("We supp0rt the ru1e as pr0posed.", 72.5, 90.5, render_mode=3)(page)
        write("Words in the picture", 310, 400, render_mode=3)(page)

    text, warnings = read(save(tmp_path / "a.pdf", draw))
    assert text == f"{BODY} Words in the picture"
    assert "32 characters printed twice" in warnings


def line(text: str, x: float, y: float, marks: int = 0) -> Line:
    """Return a line of 10 point type, 5 points a letter, on the baseline y."""
    return Line(text, x, y - 9, x + 5 * len(text), y + 3, 10.0, x, y, marks=marks)


A, B = line("alpha", 10, 100), line("beta", 10, 120)
COVER = (0.0, 80.0, 300.0, 130.0)


@pytest.mark.parametrize(
    ("lines", "images", "ink", "texts", "hidden", "repeated"),
    [
        ([], [], [], [], 0, 0),
        ([A, B], [], [], ["alpha", "beta"], 0, 0),
        ([A, A, B], [], [], ["alpha", "beta"], 0, 5),
        ([A, line("gamma", 10, 140, HIDDEN)], [], [False], ["alpha"], 5, 0),
        ([A, line("gamma", 10, 140, HIDDEN)], [], [True], ["alpha", "gamma"], 0, 0),
        ([A, line("a1pha", 11, 101, HIDDEN)], [], [], ["alpha"], 0, 5),
        ([line("scan", 10, 100, HIDDEN)], [COVER], [], ["scan"], 0, 0),
        ([line("scan", 10, 100, HIDDEN)] * 2, [COVER], [], ["scan"], 0, 4),
        ([line("lost", 10, 100, HIDDEN)], [], [], ["lost"], 0, 0),
        ([line("white", 10, 100, WHITE)], [], [False], [], 5, 0),
        ([A, line("white", 10, 140, WHITE)], [], [False], ["alpha"], 5, 0),
        ([A, line("white", 10, 140, WHITE)], [], [True], ["alpha", "white"], 0, 0),
        ([A, line("small", 10, 140, TINY)], [COVER], [], ["alpha"], 5, 0),
    ],
)
def test_visible_lines(lines, images, ink, texts, hidden, repeated) -> None:
    asked: list[int] = []

    def has_ink(rects):
        asked.append(len(rects))
        return ink

    seen = visible_lines(lines, lambda: images, has_ink)
    assert [found.text for found in seen.lines] == texts
    assert seen.hidden == hidden
    assert (seen.repeated, sum(asked)) == (repeated, len(ink))
