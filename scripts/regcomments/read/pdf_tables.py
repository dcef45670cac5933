"""Puts pipe tables in the place of the words of a table. The seam to regcomments.tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import pymupdf

from regcomments.read.pdf_bidi import RTL
from regcomments.read.pdf_forms import Entry
from regcomments.read.pdf_line import TABLE, Line
from regcomments.read.pdf_printed import PrintedPage
from regcomments.tables.items import Box, PageItems, TextItem
from regcomments.tables.paragraphs import paragraphs_of
from regcomments.tables.pipe import pipe_tables
from regcomments.tables.rulings import rulings_of_vectors
from regcomments.tables.sources import Turn, page_items
from regcomments.tables.tolerances import DEFAULT, Tolerances

_LONG = 28  # characters; a line of a three-column page has some 40, most cells fewer than 20
_LEVEL = {(1.0, 0.0)}  # the direction of upright text
_SLACK = 0.5  # points by which a word may stand out of its table


def with_tables(
    page: pymupdf.Page,
    lines: Sequence[Line],
    text: PrintedPage,
    entries: Sequence[Entry] = (),
    *,
    drawn: bool = True,
    words: Callable[[], Sequence[Sequence] | None] = lambda: None,
) -> Sequence[Line]:
    """Return `lines` with each table that is found with confidence as one line of pipe rows.

    It stands where the first of its words stood. Left as plain lines are tables whose pipe rows
    do not hold exactly the words of the lines they replace, tables with filled fields, which the
    rows would lack, and right-to-left ones, whose cells are read by place and so in the wrong
    order. `drawn` and `words` are as in `page_geometry`, the words asked for when needed.
    """
    if not tabular(lines):
        return lines
    replaced: dict[int, str] = {}
    gone: set[int] = set()
    rotation = page.rotation
    geometry, turn = page_geometry(
        page, lines, text, drawn=drawn, filled=bool(entries), words=words()
    )
    for table in pipe_tables(geometry, turn):
        box = _as_shown(table.bbox, page) if rotation else table.bbox
        inside = [k for k, line in enumerate(lines) if _inside(line[1:5], box)]
        if (
            inside
            and gone.isdisjoint(inside)
            and not RTL.search(table.markdown)
            and not any(_inside(entry.rect, box) for entry in entries)
            and _same_letters([lines[k].text for k in inside], table.markdown)
        ):
            first = lines[inside[0]]
            replaced[inside[0]] = Line(
                table.markdown, *box, first.size, box.x0, box.y1, block=first.block, marks=TABLE
            )
            gone.update(inside)
    if not replaced:
        return lines
    kept = ((k, replaced.get(k, line)) for k, line in enumerate(lines))
    return [line for k, line in kept if k in replaced or k not in gone]


def page_geometry(
    page: pymupdf.Page,
    lines: Sequence[Line],
    text: PrintedPage,
    *,
    drawn: bool,
    filled: bool,
    words: Sequence[Sequence] | None = None,
    tol: Tolerances = DEFAULT,
) -> tuple[PageItems, Turn]:
    """Return in what the tables of a page are sought, and the turn that makes it upright.

    `lines` are those that the page shows, `words` those of `text`, None for all of them; `drawn`
    tells whether anything but text may be drawn, `filled` whether `lines` or `words` hold filled
    fields, which the others lack.
    """
    directions = None if page.rotation else {(line.dx, line.dy) for line in lines}
    rulings = paragraphs = None
    if drawn and text.with_annotations and text.vectors is not None:
        rulings = rulings_of_vectors(text.vectors, tol)
    if directions == _LEVEL and not filled:
        paragraphs = paragraphs_of(
            (
                (line.block, TextItem(line.x0, line.y0, line.x1, line.y1, line.text))
                for line in lines
            ),
            tol,
        )
    return page_items(
        page,
        tol,
        text.textpage,
        words=words,
        directions=directions or None,
        drawn=drawn,
        rulings=rulings,
        paragraphs=paragraphs,
    )


def tabular(lines: Sequence[Line]) -> bool:
    """Tell whether enough lines stand side by side for a table to be worth the search.

    Two heights with three pieces each, or five with two; list marks do not count, nor more than
    one long piece at a height, which are columns of prose. On 119 pages of ICDAR 2013 this lets
    60 of the 61 pages with a table pass; the search costs as much as reading one or two pages.
    """
    short: dict[int, int] = defaultdict(int)
    long: set[int] = set()
    for line in lines:
        if line.vertical:
            return False
        text = line.text
        # Pieces of a row differ in height by a fraction of a point.
        height = round((line.oy if abs(line.dx) > abs(line.dy) else line.ox) / 3)
        if len(text) > _LONG:
            long.add(height)
        elif len(text) > 3 or text[-1].isalnum():
            short[height] += 1
    counts = sorted((n + (height in long) for height, n in short.items()), reverse=True)
    return (len(counts) > 1 and counts[1] >= 3) or (len(counts) > 4 and counts[4] >= 2)


def _same_letters(texts: Sequence[str], markdown: str) -> bool:
    """Tell whether a table holds the letters and digits of `texts`, no more and no less."""
    return sorted(filter(str.isalnum, "".join(texts))) == sorted(filter(str.isalnum, markdown))


def _inside(rect: Sequence[float], box: Box) -> bool:
    return box.holds((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2, _SLACK)


def _as_shown(box: Box, page: pymupdf.Page) -> Box:
    turned = pymupdf.Rect(*box) * page.rotation_matrix
    turned.normalize()
    return Box(*turned)
