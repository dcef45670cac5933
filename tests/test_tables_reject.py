"""What is no table: prose in columns, letters' blocks, contents pages, lists, charts."""

from __future__ import annotations

import pymupdf
import pytest
from regcomments.tables.pdf import tables_of_document

BASE = "docpipe://pdf/0123456789abcdef/doc"
SENTENCE = (
    "We support the proposed payment rule because rural hospitals depend on stable rates and the "
    "agency has shown that small providers carry most of the burden of reporting. "
)


def grids(doc: pymupdf.Document) -> list[list[list[str]]]:
    with pymupdf.open("pdf", doc.tobytes()) as again:
        return [t.grid() for t in tables_of_document(again, BASE)]


def two_columns(page: pymupdf.Page) -> None:
    for x in (60, 320):
        page.insert_textbox((x, 60, x + 230, 760), SENTENCE * 14, fontsize=10)


def three_columns(page: pymupdf.Page) -> None:
    for x in (40, 220, 400):
        page.insert_textbox((x, 60, x + 160, 760), SENTENCE * 8, fontsize=9)


def letter(page: pymupdf.Page) -> None:
    for k, line in enumerate(
        ("Centers for Medicare Services", "Department of Health", "P.O. Box 8011", "Baltimore, MD")
    ):
        page.insert_text((72, 80 + 14 * k), line)
    page.insert_text((400, 80), "June 12, 2018")
    page.insert_textbox((72, 180, 540, 560), SENTENCE * 10, fontsize=11)
    for x, lines in (
        (72, ("Sincerely,", "Jane Roe", "President", "Rural Health Union")),
        (330, ("Respectfully,", "John Doe", "Chief Medical Officer", "Valley Clinic")),
    ):
        for k, line in enumerate(lines):
            page.insert_text((x, 600 + 14 * k), line)


def contents(page: pymupdf.Page) -> None:
    page.insert_text((72, 60), "Contents", fontsize=16)
    for k in range(18):
        page.insert_text((72, 100 + 18 * k), f"{k + 1}  Chapter on rates " + "." * 60)
        page.insert_text((520, 100 + 18 * k), str(3 + 4 * k))


def contents_with_spaced_leaders(page: pymupdf.Page) -> None:
    for k in range(14):
        page.insert_text((72, 100 + 18 * k), f"Part {k + 1} Rates")
        for d in range(20):
            page.insert_text((180 + 15 * d, 100 + 18 * k), ".")
        page.insert_text((520, 100 + 18 * k), str(3 + 4 * k))


def letterhead(page: pymupdf.Page) -> None:
    page.insert_text((72, 80), "JANE ROE")
    page.insert_text((220, 80), "VALLEY COURT OF APPEALS")
    page.insert_text((460, 80), "TELEPHONE")
    page.insert_text((220, 94), "214 LONG STREET")
    page.insert_text((460, 94), "215-555-0199")
    page.insert_text((72, 108), "CLERK")
    page.insert_text((220, 108), "SPRINGFIELD, PA 19106")
    page.insert_textbox((72, 180, 540, 560), SENTENCE * 10, fontsize=11)


def bullets(page: pymupdf.Page) -> None:
    for k in range(12):
        page.insert_text((72, 80 + 30 * k), "•")
        page.insert_text((96, 80 + 30 * k), "Keep the current threshold for small rural clinics")
        page.insert_text((96, 94 + 30 * k), "and the reporting rules.")


def numbered(page: pymupdf.Page) -> None:
    for k in range(12):
        page.insert_text((72, 80 + 22 * k), f"{k + 1}.")
        page.insert_text((96, 80 + 22 * k), "Please withdraw this part.")


def chart(page: pymupdf.Page) -> None:
    for k in range(9):
        page.draw_line((100, 200 + 30 * k), (500, 200 + 30 * k), width=0.3)
        page.insert_text((70, 204 + 30 * k), str(80 - 10 * k), fontsize=8)
    for k in range(11):
        page.draw_line((100 + 40 * k, 200), (100 + 40 * k, 440), width=0.3)
        page.insert_text((92 + 40 * k, 455), str(2000 + k), fontsize=8)
    page.insert_text((150, 290), "Rural", fontsize=8)


def frame(page: pymupdf.Page) -> None:
    page.draw_rect((60, 60, 540, 300))
    page.insert_textbox((72, 72, 530, 290), SENTENCE * 6, fontsize=11)


def header_and_footer(page: pymupdf.Page) -> None:
    page.insert_text((72, 40), "Comment of the Union")
    page.insert_text((480, 40), "Page 3 of 9")
    page.draw_line((72, 46), (540, 46))
    page.insert_textbox((72, 70, 540, 700), SENTENCE * 12, fontsize=11)
    page.draw_line((72, 740), (540, 740))
    page.insert_text((72, 755), "June 2018")
    page.insert_text((500, 755), "3")


@pytest.mark.parametrize(
    "make",
    [
        two_columns,
        three_columns,
        letter,
        contents,
        contents_with_spaced_leaders,
        letterhead,
        bullets,
        numbered,
        chart,
        frame,
        header_and_footer,
    ],
    ids=lambda f: f.__name__,
)
def test_no_table(make):
    with pymupdf.open() as doc:
        make(doc.new_page(width=612, height=792))
        assert grids(doc) == []


def test_figures_after_leaders_are_a_table():
    rows = [["Alabama", "1,234", "56.7"], ["Alaska", "987", "4.3"], ["Arizona", "2,345", "61.0"]]
    with pymupdf.open() as doc:
        page = doc.new_page()
        for r, (name, first, second) in enumerate(rows):
            y = 100 + 16 * r
            page.insert_text((72, y), name + " " + ". " * 20)
            page.insert_text((300, y), first)
            page.insert_text((380, y), second)
        assert grids(doc) == [rows]
