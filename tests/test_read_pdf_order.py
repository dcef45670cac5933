"""The PDF reader: reading order of rows, columns, right-to-left and downward scripts."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import save, write
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf
from regcomments.read.pdf_bidi import Glyph, is_rtl, logical
from regcomments.read.pdf_layout import clean, page_text
from regcomments.read.pdf_line import TABLE, Line
from regcomments.read.pdf_lines import lines_of, text_page
from regcomments.read.pdf_plain import may_hide_text, plain_lines
from regcomments.read.pdf_printed import PrintedPage
from regcomments.read.pdf_spans import marked_lines


def drawn(visual: str, step: float = 6.0) -> list[Glyph]:
    """Return glyphs of even width that show `visual` from left to right."""
    return [Glyph(char, step * k, step * (k + 1)) for k, char in enumerate(visual)]


# What the eye sees from left to right, and what is read. Latin letters stand for themselves.
SHALOM, OLAM = "שלום", "עולם"


@pytest.mark.parametrize(
    ("visual", "text"),
    [
        (SHALOM[::-1], SHALOM),
        (f"?{OLAM[::-1]} {SHALOM[::-1]}", f"{SHALOM} {OLAM}?"),
        (f"42 CFR {SHALOM[::-1]}", f"{SHALOM} 42 CFR"),
        (f"{OLAM[::-1]} 1,234.50 {SHALOM[::-1]}", f"{SHALOM} 1,234.50 {OLAM}"),
        (f"20 10 {SHALOM[::-1]}", f"{SHALOM} 10 20"),
        (f"{OLAM[::-1]} (CMS) {SHALOM[::-1]}", f"{SHALOM} (CMS) {OLAM}"),
        (f"( {OLAM[::-1]} ) {SHALOM[::-1]}", f"{SHALOM} ) {OLAM} ("),
    ],
)
def test_right_to_left_lines(visual: str, text: str) -> None:
    glyphs = drawn(visual)
    expected = text if "( " not in visual else f"{SHALOM} ( {OLAM} )"
    assert logical(glyphs, 1.0) == expected
    assert logical(glyphs[::-1], 1.0) == expected
    assert logical(glyphs[3:] + glyphs[:3], 1.0) == expected


def test_marks_and_ligatures_follow_their_letter() -> None:
    # lam at 10-20 with alef as the rest of its ligature, then ba with a mark at its left edge.
    glyphs = [Glyph("\u0627", 20, 20), Glyph("\u0644", 10, 20)]
    assert logical(glyphs, 2.0) == "\u0644\u0627"
    glyphs = [Glyph("\u0628", 10, 20), Glyph("\u064e", 10, 10), Glyph("\u062a", 0, 10)]
    assert logical(glyphs, 2.0) == "\u0628\u064e\u062a"


def test_gaps_make_word_spaces() -> None:
    glyphs = drawn(SHALOM[::-1]) + [Glyph(g.char, g.x0 + 40, g.x1 + 40) for g in drawn(OLAM[::-1])]
    assert logical(glyphs, 2.0) == f"{OLAM} {SHALOM}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("English text", False),
        (SHALOM, True),
        ("CMS-1234 " + SHALOM, True),
        ("", False),
        ("The word " + SHALOM + " in an English line", False),
        ("12.5", False),
    ],
)
def test_is_rtl(text: str, expected: bool) -> None:
    assert is_rtl(text) is expected


def line(text: str, x: float, y: float, block: int = 0, width: float | None = None, **more) -> Line:
    """Return a line of 10 point type, 5 points a letter, on the baseline y."""
    end = x + (5 * len(text) if width is None else width)
    return Line(text, x, y - 9, end, y + 3, 10.0, x, y, block=block, **more)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([], ""),
        ([line("one", 10, 100), line("two", 10, 113)], "one\ntwo"),
        ([line("one", 10, 100), line("two", 10, 160, 1)], "one\n\ntwo"),
        ([line("one", 10, 100), line("two", 10, 113, 1)], "one\ntwo"),
        ([line("Date:", 10, 100), line("May 3", 38, 100)], "Date: May 3"),
        ([line("Date:", 10, 100), line("May 3", 90, 100)], "Date:  May 3"),
        ([line("co", 10, 100), line("operate", 20, 100)], "cooperate"),
        ([line("Note", 10, 100), line("1", 30.5, 97)], "Note1"),
        ([line("7", 200, 100), line("Contents", 10, 100)], "Contents  7"),
        (
            [line("end of column", 10, 700), line("top of next", 300, 80, 1)],
            "end of column\n\ntop of next",
        ),
        ([line("| a |", 10, 100, marks=TABLE), line("after", 90, 100)], "| a |\n\nafter"),
        ([line("left", 10, 100), line("down", 10, 100, dx=0.0, dy=1.0)], "left\n\ndown"),
        (
            [
                line("日", 10, 100, width=10),
                line("本", 10, 113, width=10),
                line("語", 10, 126, width=10),
            ],
            "日本語",
        ),
        ([line("inter\u00ad", 10, 100), line("national", 10, 113)], "international"),
    ],
)
def test_page_text(lines: list[Line], text: str) -> None:
    assert page_text(lines) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("oﬃce ﬁle", "office file"),
        ("soft\u00adly", "softly"),
        ("co\u00ad\noperate", "cooperate"),
        ("well-\nknown", "well-\nknown"),
        ("\ufefb\ufe8d", "\u0644\u0627\u0627"),
        ("½ ² ™", "½ ² ™"),
    ],
)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


def letter(page: pymupdf.Page) -> None:
    write('Dear Administrator & staff,\nthe rate of <2 % is "low".')(page)
    write("Left column", 72, 300)(page)
    write("right column", 300, 300)(page)
    page.insert_text((72, 400), "turned", rotate=90)


@pytest.mark.parametrize("rotation", [0, 90])
def test_the_quick_way_gives_the_same_text(tmp_path: Path, rotation: int) -> None:
    path = save(tmp_path / "a.pdf", lambda page: (letter(page), page.set_rotation(rotation)))
    with pymupdf.open(path) as document:
        page = document[0]
        textpage = text_page(page)
        assert not may_hide_text(page, textpage)
        quick, full = plain_lines(PrintedPage(textpage)), marked_lines(textpage)
        assert [found.text for found in quick] == [found.text for found in full]
        assert page_text(quick) == page_text(full)
        for a, b in zip(quick, full, strict=True):
            assert a[1:5] == pytest.approx(b[1:5], abs=0.02)
            # Only the place across the writing direction is used.
            assert (a.oy if a.dx else a.ox) == pytest.approx(b.oy if b.dx else b.ox, abs=3.5)
        assert [found.text for found in lines_of(PrintedPage(textpage), page)[0]] == [
            found.text for found in full
        ]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (b"BT /helv 11 Tf 72 700 Td (a) Tj ET", False),
        (b"1 1 1 rg 0 0 9 9 re f 0 g BT /helv 11 Tf 72 700 Td (a) Tj ET", False),
        (b"q 1 1 1 rg 0 0 9 9 re f Q BT /helv 11 Tf 72 700 Td (a) Tj ET", False),
        (b"1 1 1 rg q 0 g 0 0 9 9 re f Q BT /helv 11 Tf 72 700 Td (a) Tj ET", True),
        (b"1 g BT /helv 11 Tf 72 700 Td (a) Tj ET", True),
        (b"0 0 0 0 k BT /helv 11 Tf 72 700 Td [(a)] TJ ET", True),
        (b"BT 3 Tr /helv 11 Tf 72 700 Td (a) Tj ET", True),
        (b"BT 0 Tr /helv 11 Tf 72 700 Td (a) Tj ET", False),
        (b"BT 7\nTr /helv 11 Tf 72 700 Td (a) Tj ET", True),
        (b"/E gs BT /helv 11 Tf 72 700 Td (a) Tj ET", True),
        (b"/S gs BT /helv 11 Tf 72 700 Td (a) Tj ET", False),
    ],
)
def test_may_hide_text(code: bytes, expected: bool) -> None:
    states = {b"/E": "<< /E << /ca 0 >> >>", b"/S": "<< /S << /ca 0.5 >> >>"}
    with pymupdf.open() as made:
        page = made.new_page()
        page.insert_text((72, 90), "a")
        for name, state in states.items():
            if name in code:
                resources = int(made.xref_get_key(page.xref, "Resources")[1].split()[0])
                made.xref_set_key(resources, "ExtGState", state)
        made.update_stream(page.get_contents()[0], code)
        with pymupdf.open("pdf", made.tobytes()) as document:
            page = document[0]
            assert may_hide_text(page, text_page(page)) is expected


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    def draw(page: pymupdf.Page) -> None:
        for x, name in ((72, "left"), (320, "right")):
            write("\n".join(f"{name} column, line {n} of six" for n in range(6)), x, 90)(page)

    text = read_pdf(save(tmp_path / "a.pdf", draw), ReadOptions()).pages[0].text
    assert text.index("left column, line 5") < text.index("right column, line 0")
