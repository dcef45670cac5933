"""Pages made to take time or memory are read within bounds; each took minutes or worse once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pymupdf
import pytest
from regcomments.tables.items import PageItems, Ruling, TextItem
from regcomments.tables.lattice import grids_of, segments_of
from regcomments.tables.lines import text_of
from regcomments.tables.reconstruct import page_drafts
from regcomments.tables.rows import figures
from regcomments.tables.rulings import outermost, rulings_of

SECONDS = 6  # of CPU; all take under 2 on a slow machine, and took 40 or more


def _long_cell() -> object:
    box = ((72, 100 + 12 * k, 200, 110 + 12 * k) for k in range(9000))
    return text_of([TextItem(*b, "abc def ghi jkl mno") for b in box])


def _leaders() -> object:
    return text_of([TextItem(72, 100, 200, 110, "." * 60_000 + "x.")])


def _odd_figures() -> object:
    return [figures("1" * 4000 + ")" * 4000 + "xyz"), figures("1 -" * 4000 + "xyz")]


def _one_path_of_boxes() -> object:
    with pymupdf.open() as made:
        page = made.new_page()
        boxes = (b"%d %d 6 5 re\n" % (k % 90 * 7, k // 90 * 7) for k in range(60_000))
        xref = made.get_new_xref()
        made.update_object(xref, "<<>>")
        made.update_stream(xref, b"0.5 g\n" + b"".join(boxes) + b"f\n")
        page.set_contents(xref)
        data = made.tobytes()
    with pymupdf.open("pdf", data) as document:
        return rulings_of(document[0])


def _heat_map() -> object:
    boxes = [(k % 77 * 8, k // 77 * 9, k % 77 * 8 + 6, k // 77 * 9 + 7) for k in range(12_000)]
    return outermost(boxes)


def _crossing_sheets() -> object:
    return outermost([(k, 12_000 - k, 30_000 + k, 60_000 - k) for k in range(12_000)])


def _comb() -> object:
    rungs = [Ruling(50, 50 + 10 * k, 60 if k % 2 else 140, 50 + 10 * k) for k in range(1800)]
    rails = [Ruling(50 + 12 * j, 50, 50 + 12 * j, 25_060) for j in range(8)]
    return grids_of(*segments_of([*rungs, *rails]))


def _hatched_lines() -> object:
    items = [
        TextItem(72 + 200 * j, 100 + 12 * k, 120 + 200 * j, 110 + 12 * k, "ab")
        for k in range(2000)
        for j in range(3)
    ]
    rules = [Ruling(60, 98 + 3 * k, 560, 98 + 3 * k) for k in range(20_000)]
    return page_drafts(PageItems(1, 612, 62_000, tuple(items), tuple(rules)))


@pytest.mark.parametrize(
    "work",
    [
        *(_long_cell, _leaders, _odd_figures, _one_path_of_boxes),
        *(_heat_map, _crossing_sheets, _comb, _hatched_lines),
    ],
)
def test_time_without_bounds(work: Callable[[], object]) -> None:
    start = time.process_time()
    work()
    assert time.process_time() - start < SECONDS


def test_boxes_in_no_other_are_those_of_the_plain_rule() -> None:
    chance = random.Random(3)
    boxes = []
    for _ in range(400):
        x, y = chance.randint(0, 600), chance.randint(0, 700)
        boxes.append((x, y, x + chance.choice((3, 40, 200)), y + chance.choice((4, 30, 400))))

    def within(a: tuple, b: tuple) -> bool:
        return b[0] - 1 <= a[0] and b[1] - 1 <= a[1] and a[2] <= b[2] + 1 and a[3] <= b[3] + 1

    def area(b: tuple) -> float:
        return (b[2] - b[0]) * (b[3] - b[1])

    kept: list[tuple] = []
    for box in sorted(set(boxes), key=lambda b: (-area(b), b)):
        if not any(within(box, k) for k in kept):
            kept.append(box)
    assert outermost(boxes) == kept
    assert len(kept) < len(set(boxes))
