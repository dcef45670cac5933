"""Tables on a scanned page: rules drawn in the picture, and words in pipe rows.

The seam to regcomments.tables, which knows geometry in points and nothing of pictures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from regcomments.ocr.raster import Grey
from regcomments.tables.draft import to_table
from regcomments.tables.items import Box, PageItems, Ruling, TextItem
from regcomments.tables.markdown import pipe_table
from regcomments.tables.pipe import confident
from regcomments.tables.reconstruct import page_drafts

_POINTS = 72  # per inch
_RULE_LENGTH = 0.4  # inches; underlines of one word and the strokes of large type are shorter
_RULE_THICK = 0.06  # inches; a thicker bar is a filled box or a picture
_MAX_RULES = 800  # beyond that the picture is hatching
_RULE_DPI = 100  # a hairline of a quarter point is still grey at this resolution
_DARK = 160  # grey level of a hairline blurred by scaling down
_SLACK = 1.0  # points by which a word may stand out of its table


@dataclass(frozen=True)
class Word:
    """A word with its confidence (0 to 100), line and paragraph numbers, and box in points."""

    text: str
    confidence: float
    line: int
    paragraph: int
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class TableText:
    """A table as pipe rows, and the indices of the words that it holds."""

    markdown: str
    words: frozenset[int]


def find_rules(grey: Grey, dpi: int) -> list[tuple[float, float, float, float]]:
    """Return the straight level and upright lines in `grey`, as thin boxes in points.

    `dpi` is the resolution of `grey`. None are returned for a picture that is all lines.
    """
    factor = _RULE_DPI / dpi
    rows, cols = grey.shape
    size = (max(1, round(cols * factor)), max(1, round(rows * factor)))
    if factor < 1:
        grey = np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.BOX))
    scale = _POINTS / (_RULE_DPI if factor < 1 else dpi)
    length, thick = (round(inches * _POINTS / scale) for inches in (_RULE_LENGTH, _RULE_THICK))
    dark = grey < _DARK
    flat = _long_runs(dark, length, max(thick, 2))
    upright = _long_runs(dark.T, length, max(thick, 2))
    found = [(x0, y0, x1, y1) for y0, y1, x0, x1 in flat]
    found += [(x0, y0, x1, y1) for x0, x1, y0, y1 in upright]
    if len(found) > _MAX_RULES:
        return []
    return [tuple(round(side * scale, 1) for side in box) for box in found]


def _long_runs(dark: np.ndarray, length: int, thick: int) -> list[tuple[int, int, int, int]]:
    """Return (first row, end row, start, end) of level bars at least `length` long."""
    rows, cols = dark.shape
    padded = np.zeros((rows, cols + 2), np.int8)
    padded[:, 1:-1] = dark
    steps = np.diff(padded.ravel())
    begin, end = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    long = end - begin >= length
    row, start = np.divmod(begin[long], cols + 2)
    stop = start + (end - begin)[long]
    if len(row) > _MAX_RULES * thick:
        return []
    bars: list[list[int]] = []
    open_bars: list[list[int]] = []
    for y, a, b in zip(row.tolist(), start.tolist(), stop.tolist(), strict=True):
        open_bars = [bar for bar in open_bars if bar[1] >= y - 1]
        for bar in open_bars:
            if a < bar[3] and b > bar[2]:
                bar[1], bar[2], bar[3] = y, min(bar[2], a), max(bar[3], b)
                break
        else:
            bar = [y, y, a, b]
            bars.append(bar)
            open_bars.append(bar)
    return [(top, low + 1, a, b) for top, low, a, b in bars if low + 1 - top <= thick]


def find_tables(
    words: Sequence[Word], rules: Sequence[Sequence[float]], width: float, height: float
) -> list[TableText]:
    """Return the tables that the words form, top to bottom; `width` and `height` in points.

    Only tables whose rows hold exactly the words that they replace: a wrong guess then changes
    the layout of a text but loses nothing of it.
    """
    items = tuple(TextItem(*word.box, word.text) for word in words)
    page = PageItems(1, width, height, items, tuple(Ruling(*rule) for rule in rules))
    out: list[TableText] = []
    taken: set[int] = set()
    for draft in page_drafts(page):
        if not confident(draft):
            continue
        inside = frozenset(k for k, word in enumerate(words) if _inside(word.box, draft.box))
        markdown = pipe_table(to_table(draft, 0, 0).grid())
        if inside and taken.isdisjoint(inside) and _same_letters(words, inside, markdown):
            out.append(TableText(markdown, inside))
            taken |= inside
    return out


def _inside(box: Sequence[float], table: Box) -> bool:
    return table.holds((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, _SLACK)


def _same_letters(words: Sequence[Word], inside: frozenset[int], markdown: str) -> bool:
    mine = Counter(char for k in inside for char in words[k].text if char.isalnum())
    return mine == Counter(char for char in markdown if char.isalnum())
