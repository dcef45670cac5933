"""The edge: PyMuPDF and liteparse pages to text items and rulings."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pymupdf

from regcomments.read.pdf_quads import uncorrected_boxes
from regcomments.tables.items import Box, PageItems, Ruling, TextItem
from regcomments.tables.paragraphs import Paragraphs, beside_no_ruling
from regcomments.tables.rulings import box_edges, outermost, rulings_of
from regcomments.tables.tolerances import DEFAULT, Tolerances

Turn = int  # quarter turns clockwise that make a page's text upright


def page_items(
    page: pymupdf.Page,
    tol: Tolerances = DEFAULT,
    textpage: pymupdf.TextPage | None = None,
    *,
    words: Sequence[Sequence] | None = None,
    directions: Collection[tuple[float, float]] | None = None,
    drawn: bool = True,
    rulings: Sequence[Ruling] | None = None,
    paragraphs: Paragraphs | None = None,
) -> tuple[PageItems, Turn]:
    """Return a page's words and rulings, turned so that most of its text is upright.

    `words` are those of `textpage` to look at, if not all of them. `directions` are those of all
    its lines, as unit vectors, when known; `drawn` tells whether anything but text is drawn;
    `rulings` are its drawn lines, when known. Each saves a look.
    `paragraphs` are blocks of upright text whose lines come as one item each, if at hand.
    """
    if words is None:
        words = words_of(page, textpage)
    box = page.cropbox
    width, height = box.width, box.height
    upright = directions is not None and all(d == (1.0, 0.0) for d in directions)
    straight = directions is not None and not any(map(_is_slanted, directions))
    turn = 0 if upright else _text_turn(page, words, textpage)
    if rulings is None:
        rulings = rulings_of(page, tol) if drawn else []
    slanted = () if straight else _slanted_lines(page, words, textpage)
    if slanted:
        words = [w for w in words if w[5:7] not in slanted]
    if turn:
        items = [TextItem(*turn_box(w, turn, width, height), w[4]) for w in words]
    elif paragraphs:
        whole = beside_no_ruling(paragraphs, rulings, tol)
        items = [TextItem._make(w[:5]) for w in words if w[5] not in whole]
        items += [item for lines in whole.values() for item in lines]
    else:
        items = [TextItem._make(w[:5]) for w in words]
    if turn:
        rulings = [Ruling(*turn_box(r, turn, width, height)) for r in rulings]
        if turn % 2:
            width, height = height, width
    return PageItems(page.number + 1, width, height, tuple(items), tuple(rulings)), turn


def words_of(page: pymupdf.Page, textpage: pymupdf.TextPage | None = None) -> list[tuple]:
    """Return the words of a page: x0, y0, x1, y1, text, number of block, line and word."""
    if textpage is None:
        textpage = page.get_textpage(flags=pymupdf.TEXTFLAGS_WORDS)
    with uncorrected_boxes():
        return textpage.extractWORDS()


def turn_box(box: Sequence[float], turn: Turn, width: float, height: float) -> Box:
    """Return a box after `turn` quarter turns clockwise of a page of that size (points)."""
    x0, y0, x1, y1 = box[:4]
    turn %= 4
    if turn == 1:
        return Box(height - y1, x0, height - y0, x1)
    if turn == 2:
        return Box(width - x1, height - y1, width - x0, height - y0)
    if turn == 3:
        return Box(y0, width - x1, y1, width - x0)
    return Box(x0, y0, x1, y1)


def _text_turn(page: pymupdf.Page, words: Sequence[Any], textpage: pymupdf.TextPage | None) -> Turn:
    """Quarter turns that set the text upright: 0 unless most long words are taller than wide."""
    long_words = [w for w in words if len(w[4]) >= 3]
    tall = sum(w[3] - w[1] > 1.2 * (w[2] - w[0]) for w in long_words)
    if tall * 2 <= len(long_words) and not _may_be_upside_down(words):
        return 0
    votes = [0, 0, 0, 0]
    for block in _blocks_of(page, textpage):
        for line in block.get("lines", ()):
            dx, dy = line["dir"]
            angle = round(math.degrees(math.atan2(dy, dx)) / 90) % 4
            votes[(-angle) % 4] += len(line["spans"])
    return max(range(4), key=lambda k: votes[k])


def _slanted_lines(
    page: pymupdf.Page, words: Sequence[Any], textpage: pymupdf.TextPage | None
) -> set[tuple[int, int]]:
    """Block and line numbers of text set aslant, as watermarks are.

    The directions are asked for only when a long word is tall and no wider than high.
    """
    heights = sorted(w[3] - w[1] for w in words)
    usual = heights[len(heights) // 2] if heights else 0.0
    if not any(
        len(w[4]) >= 3 and w[3] - w[1] > 2 * usual and w[2] - w[0] < 1.4 * (w[3] - w[1])
        for w in words
    ):
        return set()
    found = set()
    for block in _blocks_of(page, textpage):
        for number, line in enumerate(block.get("lines", ())):
            if _is_slanted(line["dir"]):
                found.add((block["number"], number))
    return found


def _blocks_of(page: pymupdf.Page, textpage: pymupdf.TextPage | None) -> list[dict[str, Any]]:
    """Return MuPDF's blocks, numbered as the words of the same text page are."""
    if textpage is not None:
        return textpage.extractDICT()["blocks"]
    return page.get_text("dict", flags=pymupdf.TEXTFLAGS_WORDS)["blocks"]


def _is_slanted(direction: Sequence[float]) -> bool:
    return min(abs(direction[0]), abs(direction[1])) > 0.05


def _may_be_upside_down(words: Sequence[Any]) -> bool:
    """The words of most lines run from right to left, or too few lines have two words to tell."""
    back = forth = 0
    for a, b in pairwise(words):
        if a[5:7] == b[5:7]:
            if b[0] < a[0]:
                back += 1
            else:
                forth += 1
    return back >= forth or back + forth < 5


def liteparse_layout(
    path: Path, geometry: bool = True
) -> list[tuple[PageItems, list[tuple[str, str, Box | None]]]]:
    """Return liteparse's pages: geometry (with its table boxes) and (kind, text, box) blocks.

    Without `geometry` its words and lines, a third of the time, are left out.

    Its OCR is off, so it never downloads. Raises whatever liteparse raises for a file that it
    cannot read.
    """
    # Imported here: only the structural path needs it (0.1 s).
    from liteparse import LiteParse

    parser = LiteParse(
        ocr_enabled=False,
        extract_blocks=True,
        extract_vector_graphics=geometry,
        emit_word_boxes=geometry,
        quiet=True,
    )
    return [(liteparse_page(p), _blocks(p)) for p in parser.parse(str(path)).pages]


def _blocks(page: Any) -> list[tuple[str, str, Box | None]]:
    out = []
    for b in page.blocks or ():
        box = None
        if b.bbox:
            box = Box(b.bbox.x, b.bbox.y, b.bbox.x + b.bbox.width, b.bbox.y + b.bbox.height)
        text = b.text or ""
        if not text and (b.rows or b.header):
            rows = [b.header or [], *(b.rows or [])]
            text = "\n".join("\t".join(c.text for c in row) for row in rows if row)
        out.append((b.kind, text, box))
    return out


def liteparse_page(page: Any, tol: Tolerances = DEFAULT) -> PageItems:
    """Return the geometry of one liteparse page: words, drawn lines, table boxes."""
    items: list[TextItem] = []
    for t in page.text_items:
        # Words, where liteparse gives them: its items run over column edges. The height is the
        # item's, since a word's own is that of its ink: a dash would seem to stand off its line.
        for w in t.words or (t,):
            if w.text.strip():
                items.append(TextItem(w.x, t.y, w.x + w.width, t.y + t.height, w.text))
    boxes = tuple(box for kind, _, box in _blocks(page) if kind == "table" and box)
    rulings = tuple(_vector_rulings(page.vector_graphics, tol)) if page.vector_graphics else ()
    return PageItems(page.page_num, page.width, page.height, tuple(items), rulings, boxes)


def _vector_rulings(graphics: Any, tol: Tolerances) -> list[Ruling]:
    if len(graphics.shapes) + len(graphics.lines) > tol.max_paths:
        return []
    out = [
        Ruling(min(v.x1, v.x2), min(v.y1, v.y2), max(v.x1, v.x2), max(v.y1, v.y2))
        for v in graphics.lines
        if v.stroke
    ]
    fills = []
    for shape in graphics.shapes:
        x, y, width, height = shape.bbox
        if not shape.fill or shape.has_curve:
            continue
        box = (x, y, x + width, y + height)
        if min(width, height) <= tol.rule_thick_pt:
            out.append(Ruling(*box))
        elif not str(shape.fill_color).endswith("ffffff"):
            fills.append(box)
    for box in outermost(fills):
        out.extend(box_edges(box, tol.rule_thick_pt))
    return out
