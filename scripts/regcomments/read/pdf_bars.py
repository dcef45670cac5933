"""Words under dark bars that the page itself draws: blacked out by hand, the text left below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from regcomments.read.pdf_line import UPRIGHT, WHITE, Line
from regcomments.read.pdf_visible import Rect
from regcomments.tables.rulings import Vector

# Of 1: no channel of a bar is lighter. Text of a colour that can be read on it shows a contrast.
_DARK = 0.3
_OPAQUE = 0.99
_THICK = 4.0  # points; less is a rule under or through the words
# Share of a line's height, and of a word's width, that a bar must take to cover it. A line's box
# has room for accents and tails, which bars leave free.
_COVERED = 0.5
# Points left out around what is looked at: there the edge of the bar is a contrast by itself.
_EDGE = 1.5

Words = Callable[[], Iterable[Sequence]]


def dark_bars(vectors: Iterable[Vector] | None) -> list[Rect]:
    """Return the boxes, in points, of what is filled with a dark colour and may hide words."""
    return [
        tuple(v.box)
        for v in vectors or ()
        if v.lightest <= _DARK
        and not v.stroked
        and v.upright
        and v.alpha >= _OPAQUE
        and min(v.box.x1 - v.box.x0, v.box.y1 - v.box.y0) >= _THICK
    ]


def under_bars(lines: Sequence[Line], bars: Sequence[Rect], words: Words) -> Sequence[Line]:
    """Return `lines`, what lies under a bar marked as perhaps not to be seen (WHITE).

    A line that lies there in part is cut at its words. The box of what is marked is the part
    under the bar, so that a look there tells whether it shows. `words` gives PyMuPDF's list of
    words of the page, asked only where a line must be cut.
    """
    out: list[Line] = []
    blocks: dict[int, list[Sequence]] | None = None
    for line in lines:
        over = [bar for bar in bars if _share_of_height(line, bar) > _COVERED]
        over = [bar for bar in over if _overlap(line.x0, line.x1, bar[0], bar[2]) > 0]
        if not over or line.dx < UPRIGHT:
            out.append(line)
            continue
        if blocks is None:
            blocks = defaultdict(list)
            for word in words():
                blocks[word[5]].append(word)
        out.extend(_cut(line, over, _words_of(line, blocks[line.block])))
    return out


def _cut(line: Line, bars: Sequence[Rect], words: Sequence[Sequence]) -> Iterable[Line]:
    if "".join([word[4] for word in words]) != "".join(line.text.split()):
        yield line  # pieces of other lines among them, or right-to-left text
        return
    for bar, run in groupby(words, lambda word: _bar_over(word, bars)):
        piece = list(run)
        text = " ".join([word[4] for word in piece])
        part = line._replace(text=text, x0=piece[0][0], x1=piece[-1][2], ox=piece[0][0])
        if bar is not None:
            x0, x1 = max(part.x0, bar[0]) + _EDGE, min(part.x1, bar[2]) - _EDGE
            y0, y1 = max(part.y0, bar[1]) + _EDGE, min(part.y1, bar[3]) - _EDGE
            if x0 < x1 and y0 < y1:
                part = part._replace(x0=x0, y0=y0, x1=x1, y1=y1, marks=part.marks | WHITE)
        yield part


def _bar_over(word: Sequence, bars: Sequence[Rect]) -> Rect | None:
    for bar in bars:
        if _overlap(word[0], word[2], bar[0], bar[2]) > _COVERED * (word[2] - word[0]):
            return bar
    return None


def _words_of(line: Line, words: Iterable[Sequence]) -> list[Sequence]:
    """Return those of a block's words that stand in the box of `line`."""
    return [
        word
        for word in words
        if line.x0 - 1 <= (word[0] + word[2]) / 2 <= line.x1 + 1
        and line.y0 <= (word[1] + word[3]) / 2 <= line.y1
    ]


def _share_of_height(line: Line, bar: Rect) -> float:
    return _overlap(line.y0, line.y1, bar[1], bar[3]) / max(line.y1 - line.y0, 1e-6)


def _overlap(a0: float, a1: float, b0: float, b1: float) -> float:
    return max(0.0, min(a1, b1) - max(a0, b0))
