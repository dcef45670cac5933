"""Lines from MuPDF's dictionaries of spans and characters: marks, right-to-left order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pymupdf
from pymupdf import mupdf

from regcomments.read.pdf_bidi import Glyph, is_rtl, logical
from regcomments.read.pdf_line import HIDDEN, SHADOW, TINY, TINY_SIZE, UPRIGHT, WHITE, Line
from regcomments.read.pdf_quads import uncorrected_boxes

_DRAWN = mupdf.FZ_STEXT_FILLED | mupdf.FZ_STEXT_STROKED | mupdf.FZ_STEXT_CLIPPED
# All three channels at 0xF0 or above (of 0xFF) is white enough to vanish on paper.
_WHITE = 0xF0F0F0
# Opacity (of 255) below which text leaves no trace on paper.
_TRANSPARENT = 8
_CELL = 4.0  # points; the grid in which glyphs printed twice are sought
_WORD_GAP = 0.15  # em; a narrower gap is kerning


def marked_lines(textpage: pymupdf.TextPage) -> list[Line]:
    """Return the lines of `textpage`; one whose spans differ in visibility is cut where they do."""
    with uncorrected_boxes():
        return _lines(textpage.extractDICT()["blocks"])


def ordered_lines(textpage: pymupdf.TextPage, *, once: bool = False) -> list[Line]:
    """Return the lines of a page with right-to-left text, those lines in reading order.

    `once` leaves out glyphs that are printed again at nearly the same place by another line.
    """
    blocks = [block for block in textpage.extractRAWDICT()["blocks"] if "lines" in block]
    if once:
        _drop_overprint([line for block in blocks for line in block["lines"]])
    for block in blocks:
        block["lines"] = list(_spelled(block["lines"]))
    return _lines(blocks)


def _drop_overprint(raw_lines: Iterable[dict]) -> None:
    seen: dict[tuple[str, int, int], list[tuple[int, float, float]]] = defaultdict(list)
    for number, line in enumerate(raw_lines):
        for span in line["spans"]:
            if _marks(span):
                continue
            near = SHADOW * span["size"]
            kept = []
            for char in span["chars"]:
                x, y = char["origin"]
                column, row = int(x // _CELL), int(y // _CELL)
                reach = range(-int(near // _CELL) - 1, int(near // _CELL) + 2)
                if not any(
                    other != number and abs(ox - x) <= near and abs(oy - y) <= near
                    for i in reach
                    for j in reach
                    for other, ox, oy in seen.get((char["c"], column + i, row + j), ())
                ):
                    seen[char["c"], column, row].append((number, x, y))
                    kept.append(char)
            if len(kept) < len(span["chars"]):
                _refill(span, kept)
        boxes = [span["bbox"] for span in line["spans"] if span["chars"]]
        if boxes:
            x0, y0, x1, y1 = zip(*boxes, strict=True)
            line["bbox"] = (min(x0), min(y0), max(x1), max(y1))


def _refill(span: dict, chars: list[dict]) -> None:
    span["chars"] = chars
    inked = [char for char in chars if not char["c"].isspace()] or chars
    if inked:
        x0, y0, x1, y1 = zip(*[char["bbox"] for char in inked], strict=True)
        span["bbox"] = (min(x0), min(y0), max(x1), max(y1))
        span["origin"] = inked[0]["origin"]


def _lines(blocks: Sequence[dict]) -> list[Line]:
    lines: list[Line] = []
    # Numbered as in PyMuPDF's list of words, which knows blocks of text only.
    for number, block in enumerate(block for block in blocks if "lines" in block):
        for line in block["lines"]:
            spans = line["spans"]
            first = next((span for span in spans if span["text"].strip()), spans[0])
            text = spans[0]["text"]
            size = first["size"]
            mark = 0
            if len(spans) > 1:
                text = "".join([span["text"] for span in spans])
                size = max([span["size"] for span in spans])
            stripped = text.strip()
            if not stripped:
                continue
            if not _plain(spans):
                marks = [_marks(span) for span in spans]
                mark = marks[0]
                if marks.count(mark) < len(marks):
                    lines.extend(_cut(line, marks, number))
                    continue
            x0, y0, x1, y1 = line["bbox"]
            dx, dy = line["dir"]
            ox, oy = first["origin"]
            if len(stripped) < len(text) and dx > UPRIGHT:
                # The box holds the spaces too; they would hide the gap to the next piece.
                step = (x1 - x0) / len(text)
                x0 += step * (len(text) - len(text.lstrip()))
                x1 -= step * (len(text) - len(text.rstrip()))
            lines.append(
                Line(
                    stripped, x0, y0, x1, y1, size, ox, oy, dx, dy, number, mark, line["wmode"] > 0
                )
            )
    return lines


def _plain(spans: Sequence[dict]) -> bool:
    """Tell whether no span bears a mark; nearly all lines, so this loop is kept short."""
    for span in spans:
        if (
            not span["char_flags"] & _DRAWN
            or span["color"] & _WHITE == _WHITE
            or span["size"] < TINY_SIZE
            or span["alpha"] < _TRANSPARENT
        ):
            return False
    return True


def _spelled(raw_lines: Iterable[dict]) -> Iterable[dict]:
    """Return raw lines with the text that plain ones have, right-to-left ones in reading order.

    MuPDF breaks a right-to-left line wherever the direction turns; the pieces become one again.
    """
    row: list[dict] = []
    for line in raw_lines:
        for span in line["spans"]:
            span["text"] = "".join([char["c"] for char in span["chars"]])
        if row and not _beside(row[-1], line):
            yield from _row_in_order(row)
            row = []
        row.append(line)
    yield from _row_in_order(row)


def _beside(a: dict, b: dict) -> bool:
    size = max(a["spans"][0]["size"], 1.0)
    (ax0, ay0, ax1, ay1), (bx0, by0, bx1, by1) = a["bbox"], b["bbox"]
    return (
        a["dir"] == b["dir"]
        and abs(ay0 + ay1 - by0 - by1) < 0.6 * size
        and max(ax0 - bx1, bx0 - ax1) < size
    )


def _row_in_order(row: list[dict]) -> Iterable[dict]:
    spans = [span for line in row for span in line["spans"]]
    if not row or row[0]["dir"][0] < UPRIGHT or not is_rtl("".join(s["text"] for s in spans)):
        yield from row
        return
    glyphs = [
        Glyph(char["c"], char["bbox"][0], char["bbox"][2])
        for span in spans
        for char in span["chars"]
    ]
    size = max(span["size"] for span in spans)
    for span in spans:
        span["text"] = ""
    spans[0]["text"] = logical(glyphs, _WORD_GAP * size)
    inked = [glyph for glyph in glyphs if not glyph.char.isspace()] or glyphs
    box = (
        min(glyph.x0 for glyph in inked),
        min(line["bbox"][1] for line in row),
        max(glyph.x1 for glyph in inked),
        max(line["bbox"][3] for line in row),
    )
    yield {**row[0], "spans": spans, "bbox": box}


def _marks(span: dict) -> int:
    marks = 0
    if not span["char_flags"] & _DRAWN or span["alpha"] < _TRANSPARENT:
        marks = HIDDEN
    if span["color"] & _WHITE == _WHITE:
        marks |= WHITE
    if span["size"] < TINY_SIZE:
        marks |= TINY
    return marks


def _cut(line: dict, marks: Sequence[int], block: int) -> Iterable[Line]:
    spans = line["spans"]
    start = 0
    for end in range(1, len(spans) + 1):
        if end < len(spans) and (marks[end] == marks[start] or not spans[end]["text"].strip()):
            continue
        run = spans[start:end]
        text = "".join([span["text"] for span in run]).strip()
        if text:
            x0, y0, x1, y1 = zip(*[span["bbox"] for span in run], strict=True)
            yield Line(
                text,
                min(x0),
                min(y0),
                max(x1),
                max(y1),
                max([span["size"] for span in run]),
                *run[0]["origin"],
                *line["dir"],
                block,
                marks[start],
                bool(line["wmode"]),
            )
        start = end
