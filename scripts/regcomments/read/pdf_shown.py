"""The lines that a PDF page shows, and those that it holds but does not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pymupdf

from regcomments.read.pdf_bars import dark_bars, under_bars
from regcomments.read.pdf_line import Line
from regcomments.read.pdf_lines import lines_of
from regcomments.read.pdf_parts import PageParts
from regcomments.read.pdf_printed import PrintedPage
from regcomments.read.pdf_visible import Rect, in_doubt, visible_lines
from regcomments.tables.seen import seen_words, words_once
from regcomments.tables.sources import words_of

# Pixels per point when looking whether text in doubt can be seen.
_LOOK_SCALE = 1.0
# Grey levels (of 255) between the darkest and the lightest spot that make a trace of ink.
_CONTRAST = 24


@dataclass(frozen=True)
class Shown:
    """The lines of a page to read, those left out, and how many characters that were.

    `overprinted` are the characters, among the `repeated` ones, that were printed over others of
    their kind: they are in no line.
    """

    lines: Sequence[Line]
    left_out: Sequence[Line] = ()
    hidden: int = 0
    repeated: int = 0
    overprinted: int = 0


def shown_lines(
    page: pymupdf.Page, parts: PageParts, printed: PrintedPage, covers: Sequence[Rect] = ()
) -> Shown:
    """Return what is to be read of `printed`, the text of `page`; boxes in points as shown.

    `covers` are the boxes of filled annotations, as shown. Raises what MuPDF raises.
    """
    lines, overprinted = lines_of(printed, page, parts)
    if covers:
        lines = in_doubt(lines, covers)
    if printed.has_fills and not parts.rotation and (bars := dark_bars(printed.vectors)):
        lines = under_bars(lines, bars, partial(words_of, page, printed.textpage))
    seen = visible_lines(lines, _image_boxes(page), _ink_finder(page))
    left_out: Sequence[Line] = ()
    if len(seen.lines) < len(lines):
        kept = set(map(id, seen.lines))
        left_out = [line for line in lines if id(line) not in kept]
    return Shown(seen.lines, left_out, seen.hidden, seen.repeated + overprinted, overprinted)


def may_draw_lines(printed: PrintedPage, parts: PageParts) -> bool:
    """Tell whether the contents of a page may draw lines or boxes; False is certain."""
    known = printed.draws()
    return parts.may_draw_lines if known is None else known


def shown_words(
    page: pymupdf.Page, textpage: pymupdf.TextPage, shown: Shown
) -> list[Sequence] | None:
    """Return PyMuPDF's words of `textpage` that are shown, None where that is all of them."""
    if not shown.left_out and not shown.overprinted:
        return None
    left_out = shown.left_out
    if page.rotation:  # words are in the coordinates of the unrotated page
        back = page.derotation_matrix
        left_out = [
            line._replace(**dict(zip(("x0", "y0", "x1", "y1"), box, strict=True)))
            for line in left_out
            for box in [(pymupdf.Rect(line[1:5]) * back).normalize()]
        ]
    words = seen_words(words_of(page, textpage), left_out)
    return words_once(words) if shown.overprinted else words


def _image_boxes(page: pymupdf.Page) -> Callable[[], list[Rect]]:
    def boxes() -> list[Rect]:
        matrix = page.rotation_matrix
        found = (box for kind, box in page.get_bboxlog() if "image" in kind or "imgmask" in kind)
        return [tuple((pymupdf.Rect(box) * matrix).normalize()) for box in found]

    return boxes


def _ink_finder(page: pymupdf.Page) -> Callable[[Sequence[Rect]], list[bool]]:
    def has_ink(rects: Sequence[Rect]) -> list[bool]:
        clip = pymupdf.Rect()
        for rect in rects:
            clip |= pymupdf.Rect(rect)
        clip &= page.rect
        if clip.is_empty:
            return [False] * len(rects)
        matrix = pymupdf.Matrix(_LOOK_SCALE, _LOOK_SCALE)
        picture = page.get_pixmap(matrix=matrix, clip=clip, colorspace=pymupdf.csGRAY, alpha=False)
        samples, width = picture.samples_mv, picture.width
        answers = []
        for x0, y0, x1, y1 in rects:
            left = max(int(x0 * _LOOK_SCALE) - picture.x, 0)
            right = min(int(x1 * _LOOK_SCALE) + 1 - picture.x, width)
            low, high = 255, 0
            top = max(int(y0 * _LOOK_SCALE) - picture.y, 0)
            bottom = min(int(y1 * _LOOK_SCALE) + 1 - picture.y, picture.height)
            for row in range(top, bottom):
                part = samples[row * width + left : row * width + right]
                if len(part):
                    low, high = min(low, *part), max(high, *part)
            answers.append(high - low > _CONTRAST)
        return answers

    return has_ink
