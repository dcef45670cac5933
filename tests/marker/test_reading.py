"""Text of scans as the real marker gives it: right, once, and the same again."""

import pytest
from PIL import Image

from tests.marker.pages import (
    LEFT,
    LETTER,
    RIGHT,
    TABLE,
    blank_page,
    draw,
    error_rate,
    letter_scan,
    lines_at,
    photograph,
    ruled_table,
    scan,
)

MOST_ERRORS = 0.02


def test_letter_of_three_pages(case, standin, engine):
    letter = case(letter_scan(), 3)
    report = letter.read(engine)
    assert report.failures == []
    for number, text in letter.texts(engine).items():
        assert error_rate(text, "\n".join(LETTER[number - 1])) <= MOST_ERRORS, text
    assert len(standin.requests("full_page")) == 3
    assert standin.requests("layout") == []  # with force_ocr no layout is asked for
    confidences = {page.result.confidence for page in letter.stored(engine).pages.values()}
    assert confidences == {0.951}


def sideways(turn: Image.Transpose) -> Image.Image:
    return photograph(draw(lines_at(72, LETTER[0]))).transpose(turn)


ONE_PAGE = {
    "two columns": (
        lambda: scan(photograph(draw(lines_at(72, LEFT) + lines_at(330, RIGHT)))),
        "\n".join(LEFT + RIGHT),
    ),
    "table": (lambda: scan(photograph(ruled_table(TABLE))), "\n".join(map(" ".join, TABLE))),
    # Turned to the left on the glass; the scanner's software noted it in /Rotate.
    "rotated by the page": (
        lambda: scan(sideways(Image.Transpose.ROTATE_90), rotate=90),
        "\n".join(LETTER[0]),
    ),
    "sideways": (lambda: scan(sideways(Image.Transpose.ROTATE_90)), "\n".join(LETTER[0])),
    "letterhead and footer": (
        lambda: scan(
            photograph(
                draw(
                    [
                        (72, 40, "Office of the Tribal Health Director"),
                        *lines_at(72, LETTER[1], 120),
                        (72, 765, "Box 40, Juniper Valley"),
                    ]
                )
            )
        ),
        "\n".join(["Office of the Tribal Health Director", *LETTER[1], "Box 40, Juniper Valley"]),
    ),
}


@pytest.mark.parametrize("name", ONE_PAGE)
def test_text_of_one_page(case, standin, engine, name):
    draw_pdf, truth = ONE_PAGE[name]
    one = case(draw_pdf(), 1)
    report = one.read(engine)
    assert report.failures == []
    text = one.texts(engine)[1]
    assert error_rate(text, truth) <= MOST_ERRORS, text


def test_blank_page_is_nothing_and_not_a_failure(case, standin, engine):
    pages = scan(blank_page(), photograph(draw(lines_at(72, LETTER[0]))), blank_page())
    mixed = case(pages, 3)
    report = mixed.read(engine)
    assert report.failures == []
    assert mixed.outcomes(engine) == {1: "nothing", 2: "text", 3: "nothing"}


def test_second_run_reads_nothing_again(case, standin, engine):
    letter = case(letter_scan(2), 2)
    letter.read(engine)
    before = letter.files()
    standin.post("/_reset")
    report = letter.read(engine)
    assert (report.already, report.read) == (2, 0)
    assert standin.requests() == []
    assert letter.files() == before


def test_same_pages_give_the_same_bytes(case, standin, engine):
    letter = case(letter_scan(2), 2)
    letter.read(engine)
    first = letter.files()
    for path in (letter.state / "_ocr").rglob("*.json"):
        path.unlink()
    letter.read(engine)
    assert letter.files() == first
    ((name, data),) = first.items()
    assert f".{engine.name}-{engine.digest}." in name
    for fact in (engine.version, "datalab-to/surya-ocr-2", engine.digest):
        assert fact.encode() in data
