"""The PDF reader: form fields beside their labels, typed annotations, remarks."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import field, save, write
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf
from regcomments.read.pdf_forms import Entry, place
from regcomments.read.pdf_layout import page_text
from regcomments.read.pdf_line import Line

TEXT = pymupdf.PDF_WIDGET_TYPE_TEXT
CHECK = pymupdf.PDF_WIDGET_TYPE_CHECKBOX
COMBO = pymupdf.PDF_WIDGET_TYPE_COMBOBOX
LIST = pymupdf.PDF_WIDGET_TYPE_LISTBOX


def rows(path: Path) -> list[str]:
    text = read_pdf(path, ReadOptions(pdf_tables="text")).pages[0].text
    return [" ".join(row.split()) for row in text.split("\n") if row.strip()]


def label_left(page: pymupdf.Page) -> None:
    write("Name of hospital:", 72, 100)(page)
    write("City:", 72, 130)(page)
    field(page, TEXT, "name", (180, 88, 400, 104), "Lakeside General")
    field(page, TEXT, "city", (180, 118, 400, 134), "Duluth")


def label_above(page: pymupdf.Page) -> None:
    write("Last name", 72, 100)(page)
    write("First name", 250, 100)(page)
    write("End of form", 72, 200)(page)
    field(page, TEXT, "last", (72, 106, 240, 124), "Okafor")
    field(page, TEXT, "first", (250, 106, 400, 124), "Ngozi")


def ticks(page: pymupdf.Page) -> None:
    write("Do you support the rule?", 72, 100)(page)
    for k, (text, on) in enumerate((("Yes", True), ("No", False), ("Unsure", True))):
        field(page, CHECK, text, (72, 115 + 20 * k, 84, 127 + 20 * k), on)
        write(text, 90, 126 + 20 * k)(page)


def choices(page: pymupdf.Page) -> None:
    write("State:", 72, 100)(page)
    write("Topics:", 72, 130)(page)
    field(page, COMBO, "state", (180, 88, 400, 104), "Maine", ["Iowa", "Maine", "Utah"])
    field(page, LIST, "topics", (180, 118, 400, 180), "Access", ["Cost", "Access", "Safety"])


def many_lines(page: pymupdf.Page) -> None:
    write("Your comment:", 72, 100)(page)
    write("Signature", 72, 300)(page)
    field(page, TEXT, "comment", (72, 110, 500, 280), "First point.\nSecond point.")


def empty(page: pymupdf.Page) -> None:
    write("Telephone:", 72, 100)(page)
    field(page, TEXT, "phone", (180, 88, 400, 104), "")


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (label_left, ["Name of hospital: Lakeside General", "City: Duluth"]),
        (label_above, ["Last name First name", "Okafor Ngozi", "End of form"]),
        (ticks, ["Do you support the rule?", "[x] Yes", "No", "[x] Unsure"]),
        (choices, ["State: Maine", "Topics: Access"]),
        (many_lines, ["Your comment:", "First point.", "Second point.", "Signature"]),
        (empty, ["Telephone:"]),
    ],
)
def test_fields_stand_beside_their_labels(tmp_path: Path, draw, expected: list[str]) -> None:
    found = rows(save(tmp_path / "a.pdf", draw))
    if draw is label_above:
        assert sorted(" ".join(found).split()) == sorted(" ".join(expected).split())
        assert found.index("End of form") == len(found) - 1
    else:
        assert found == expected


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_fields_of_rotated_pages(tmp_path: Path, rotation: int) -> None:
    path = save(tmp_path / "a.pdf", lambda p: (label_left(p), p.set_rotation(rotation)))
    text = " ".join(rows(path))
    assert text.count("Lakeside General") == text.count("Duluth") == 1


def test_a_hidden_field_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        page = made.new_page()
        label_left(page)
        xref = next(iter(page.widgets())).xref
        made.xref_set_key(xref, "F", "2")
        made.save(path)
    assert rows(path) == ["Name of hospital:", "City: Duluth"]


def test_a_value_without_appearance_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        label_left(made.new_page())
        for widget in made[0].widgets():
            made.xref_set_key(widget.xref, "AP", "null")
        made.save(path)
    assert rows(path) == ["Name of hospital: Lakeside General", "City: Duluth"]


def test_a_tick_without_a_state_is_read_from_the_value(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        ticks(made.new_page())
        for widget in made[0].widgets():
            made.xref_set_key(widget.xref, "AS", "null")
        made.save(path)
    assert rows(path) == ["Do you support the rule?", "[x] Yes", "No", "[x] Unsure"]


def typed(page: pymupdf.Page) -> None:
    write("Comment of:", 72, 100)(page)
    page.add_freetext_annot((150, 88, 400, 106), "Maria Delgado, RN", fontsize=11)


def remark(page: pymupdf.Page) -> None:
    write("The rate is too low.", 72, 100)(page)
    page.add_text_annot((300, 90), "see table 4").set_info(title="J. Roe", content="see table 4")


def marked(page: pymupdf.Page) -> None:
    write("The rate is too low.", 72, 100)(page)
    page.add_highlight_annot(page.search_for("too low")).set_info(content="by 12 percent")


def linked(page: pymupdf.Page) -> None:
    write("The rate is too low.", 72, 100)(page)
    page.insert_link(
        {
            "kind": pymupdf.LINK_URI,
            "from": pymupdf.Rect(72, 88, 200, 104),
            "uri": "https://a.example/",
        }
    )


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (typed, ["Comment of: Maria Delgado, RN"]),
        (remark, ["The rate is too low.", "[Note by J. Roe: see table 4]"]),
        (marked, ["The rate is too low.", "[Note: by 12 percent]"]),
        (linked, ["The rate is too low."]),
    ],
)
def test_annotations(tmp_path: Path, draw, expected: list[str]) -> None:
    assert rows(save(tmp_path / "a.pdf", draw)) == expected


def line(text: str, x: float, y: float) -> Line:
    """Return a line of 10 point type, 5 points a letter, on the baseline y."""
    return Line(text, x, y - 9, x + 5 * len(text), y + 3, 10.0, x, y)


@pytest.mark.parametrize(
    ("lines", "entry", "expected"),
    [
        ([], Entry("value", (10, 90, 60, 104)), "value"),
        ([line("Label:", 10, 100)], Entry("value", (50, 90, 99, 104)), "Label: value"),
        ([line("yes", 30, 100)], Entry("[x]", (10, 91, 22, 103), tick=True), "[x] yes"),
        ([line("yes", 10, 100)], Entry("[x]", (30, 91, 42, 103), tick=True), "yes [x]"),
        (
            [line("Above", 10, 100), line("Below", 10, 140)],
            Entry("value", (10, 106, 90, 120)),
            "Above value Below",
        ),
        (
            [line("Far above", 10, 20), line("Far below", 10, 400)],
            Entry("value", (300, 200, 390, 214)),
            "Far above value Far below",
        ),
        (
            [line("Near:", 100, 100), line("Far:", 10, 100)],
            Entry("value", (130, 90, 190, 104)),
            "Far: Near: value",
        ),
    ],
)
def test_place(lines: list[Line], entry: Entry, expected: str) -> None:
    assert " ".join(page_text(place(lines, [entry])).split()) == expected
