"""Paragraphs come to the search for tables as lines; what could be a cell comes as words."""

from __future__ import annotations

import pytest
from regcomments.tables.items import Ruling, TextItem
from regcomments.tables.paragraphs import beside_no_ruling, paragraphs_of

PROSE = "The agency should keep the rule as it stands today"


def _lines(texts: list[str], x: float = 72, y: float = 100, step: float = 14) -> list[TextItem]:
    return [
        TextItem(x, y + step * k, x + 5 * len(text), y + step * k + 13, text)
        for k, text in enumerate(texts)
    ]


def _numbered(*blocks: list[TextItem]) -> list[tuple[int, TextItem]]:
    return [(number, line) for number, block in enumerate(blocks) for line in block]


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ([_lines([PROSE] * 3)], [0]),
        ([_lines([PROSE] * 3), _lines([PROSE] * 4, y=160)], [0, 1]),
        ([_lines([PROSE, PROSE, "today."])], [0]),  # the last line is short
        ([_lines([PROSE] * 2)], []),  # too few lines
        ([_lines([PROSE] * 3), _lines(["12"], x=400, y=114)], []),  # a figure beside it
        ([_lines(["Year", "Cost", "Hours"])], []),
        ([_lines(["10 20 30 40 50 60 70 80 90"] * 4)], []),
        ([_lines([PROSE + "  1,200"] * 3)], []),  # cells parted by blanks
        ([_lines([PROSE] * 3, step=0)], []),  # side by side in one block
        ([], []),
    ],
)
def test_paragraphs_of(blocks: list[list[TextItem]], expected: list[int]) -> None:
    found = paragraphs_of(_numbered(*blocks))
    assert sorted(found) == expected
    assert all(found[number] == blocks[number] for number in expected)


@pytest.mark.parametrize(
    ("ruling", "kept"),
    [
        (Ruling(300, 90, 300, 150), False),
        (Ruling(300, 400, 300, 500), True),
        (Ruling(72, 110, 500, 110), True),  # a level line parts no cells side by side
    ],
)
def test_an_upright_line_at_their_height_undoes_paragraphs(ruling: Ruling, kept: bool) -> None:
    found = paragraphs_of(_numbered(_lines([PROSE] * 3)))
    assert bool(beside_no_ruling(found, [ruling])) is kept
