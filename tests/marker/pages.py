"""Scanned pages with known text, drawn for the tests of marker."""

from __future__ import annotations

import pymupdf
from PIL import Image
from rapidfuzz.distance import Levenshtein

DPI = 200
LETTER = [
    [
        "Juniper Valley Health Center",
        "To the Administrator: our center serves three towns along the river, and",
        "most of the people we see have no other doctor within an hour by road. We",
        "write about the proposed change to the payment for care at a distance. In",
        "the last year our nurses held 2,184 visits by telephone, and one in five of",
        "them kept a patient out of the emergency room.",
    ],
    [
        "The rule would end that payment for visits without a picture. Many of our",
        "patients have no fast line at home; for them the telephone is the visit. We",
        "ask that visits by voice alone be paid at the present rate until the lines",
        "have been built that the state has promised to every household.",
    ],
    [
        "We also ask for a plain table of the codes that may be used, with examples,",
        "and for a year in which honest mistakes are not punished. Small offices learn",
        "such rules from one another, and slowly.",
        "Respectfully submitted by the nurses and doctors of the center",
    ],
]
LEFT = [
    "The county has nine thousand",
    "people and one small hospital",
    "which has not had a surplus in",
    "any of the last eleven years.",
    "Its laboratory closed in May.",
]
RIGHT = [
    "We therefore support the floor",
    "for rural payments and ask that",
    "it begin with the next quarter",
    "rather than in the following",
    "year, when it may be too late.",
]
TABLE = [
    ["Service", "Visits", "Paid"],
    ["Wound care", "1,846", "92.40"],
    ["Dialysis", "3,112", "240.15"],
    ["Physical therapy", "2,067", "71.80"],
    ["Home visits", "948", "118.00"],
]


def draw(texts: list[tuple[float, float, str]], size: float = 12) -> pymupdf.Document:
    """Return a letter page with these texts at x and y in points."""
    document = pymupdf.open()
    page = document.new_page(width=612, height=792)
    for x, y, text in texts:
        page.insert_text((x, y), text, fontsize=size)
    return document


def lines_at(x: float, lines: list[str], top: float = 90) -> list[tuple[float, float, str]]:
    """Return texts one below the other."""
    return [(x, top + 20 * row, line) for row, line in enumerate(lines)]


def ruled_table(rows: list[list[str]]) -> pymupdf.Document:
    """Return a page with a table whose cells have borders."""
    document = draw([])
    page = document[0]
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            x, y = 80 + 150 * column, 100 + 30 * row
            page.draw_rect((x, y, x + 150, y + 30), width=0.7)
            page.insert_text((x + 8, y + 20), cell, fontsize=12)
    return document


def photograph(document: pymupdf.Document) -> Image.Image:
    """Return the first page as a grey picture."""
    with document:
        pix = document[0].get_pixmap(dpi=DPI, colorspace=pymupdf.csGRAY)
        return Image.frombytes("L", (pix.width, pix.height), pix.samples)


def scan(*pictures: Image.Image, rotate: int = 0) -> bytes:
    """Return a PDF with these pictures as pages; `rotate` is the pages' /Rotate in degrees."""
    import io

    with pymupdf.open() as document:
        for picture in pictures:
            out = io.BytesIO()
            picture.save(out, "PNG", compress_level=1)
            width, height = (side * 72 / DPI for side in picture.size)
            page = document.new_page(width=width, height=height)
            page.insert_image(page.rect, stream=out.getvalue())
            page.set_rotation(rotate)
        return document.tobytes(deflate=True, no_new_id=True)


def letter_scan(pages: int = 3) -> bytes:
    """Return the letter as a scan of its first `pages` pages."""
    return scan(*(photograph(draw(lines_at(72, lines))) for lines in LETTER[:pages]))


def blank_page() -> Image.Image:
    """Return a letter page with nothing on it."""
    return Image.new("L", (1700, 2200), 255)


def plain(text: str) -> str:
    """Return the words of a markdown text with single blanks: marks, pipes and escapes gone."""
    for mark in ("|", "#", "*", "\\"):
        text = text.replace(mark, " ")
    return " ".join(word for word in text.split() if word.strip("-"))


def error_rate(text: str, truth: str) -> float:
    """Return the character error rate of `text`."""
    wanted = plain(truth)
    return Levenshtein.distance(plain(text), wanted) / max(1, len(wanted))
