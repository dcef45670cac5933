"""Text-like ink on a grey picture, by connected components; NumPy only, no model, no language.

Print and handwriting leave rows of marks of like height on a common line. That is what is looked
for, in both writing directions; photographs, charts, seals and rules seldom form such rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PIL import Image

from regcomments.read.ink_marks import Boxes, Ints, Mask, components, without_rules

Grey = npt.NDArray[np.uint8]
Viewed = tuple[Grey, Mask | None]
Floats = npt.NDArray[np.float64]

QUARTERS = 4  # parts of a picture whose letters are told apart (TextLook.quarters)

# Side of the squares, in pixels, whose median is taken for paper. Letters up to about this
# height fill less than half of a square, so that the paper wins on white and on coloured ground.
_TILE = 48
# Grey levels by which ink differs from its paper: clear print, and faint print, which is looked
# for where there is no other. JPEG and the grain of paper stay below the second.
_CLEAR, _FAINT = 48, 16
# Faint print is looked for on even paper only: this part of the picture is so close to paper.
_EVEN_PART, _EVEN_LEVELS = 0.7, 8
# Grey levels by which the paper of a page may vary and still be taken for one tone: the grain of
# a scan, far below the contrasts above.
_LIKE_PAPER = 4
# Letters in clear print from which faint print is not looked for.
_SOME = 6
# Components beyond this number are texture (halftone, noise), not print: a page of small print
# at 100 dpi has about 6,000.
_MAX_COMPONENTS = 20_000
# The part of a picture's height looked at first: short letters end above the middle of the page.
# Of 42 pages with a hundred letters and more it settled 29, the middle third 28 and cost a third
# more.
SAMPLE = (0.25, 0.5)
# Letters in level rows from which the picture is not turned to look for upright ones.
_PLENTY = 400


@dataclass(frozen=True)
class TextLook:
    """How much of a picture looks like lines of writing.

    `ink` is the part of the picture that is not paper, `lines` counts rows of letter-like marks,
    `letters` estimates the letters in them from their width, `longest` is the estimate for the
    longest row; `height` is the median height of the rows in pixels, `share` the part of the
    picture that their boxes take. `vertical` tells that the rows run top to bottom (a page on
    its side). `lone` estimates the letters in level marks of a word's shape, whether or not they
    stand in a row: blurred letters that touch. `quarters` parts `letters` by the quarter of the
    picture in which a row's middle lies: from the top, from the right where rows are vertical.
    """

    ink: float = 0.0
    lines: int = 0
    letters: int = 0
    longest: int = 0
    height: float = 0.0
    share: float = 0.0
    vertical: bool = False
    lone: int = 0
    quarters: tuple[int, ...] = (0,) * QUARTERS


def paper_of(grey: Grey) -> tuple[Grey, Grey]:
    """Return the darkest and the lightest that the paper may be at each pixel of `grey`.

    Paper with an edge is right at the border of a banner, paper without one on a photograph or
    in a shadow: ink differs from both.
    """
    rows, cols = grey.shape
    down, across = -(-rows // _TILE), -(-cols // _TILE)
    padded = np.pad(grey, ((0, down * _TILE - rows), (0, across * _TILE - cols)), mode="edge")
    tiles = padded.reshape(down, _TILE, across, _TILE)[:, ::2, :, ::2].swapaxes(1, 2)
    paper = np.median(tiles.reshape(down, across, -1), axis=2)
    # A square filled by a mark takes the paper of its neighbours.
    edge = np.pad(paper, 1, mode="edge")
    around = np.stack(
        [edge[i : i + down, j : j + across] for i in range(3) for j in range(3)], axis=2
    )
    paper = np.median(around, axis=2).astype(np.uint8)
    steep = np.repeat(np.repeat(paper, _TILE, axis=1)[:, :cols], _TILE, axis=0)[:rows]
    if int(paper.max()) - int(paper.min()) <= _LIKE_PAPER:
        return steep, steep
    soft = Image.fromarray(paper).resize((across * _TILE, down * _TILE), Image.Resampling.BILINEAR)
    smooth = np.asarray(soft)[:rows, :cols]
    return np.minimum(steep, smooth), np.maximum(steep, smooth)


def off_paper(grey: Grey) -> tuple[Grey, Grey]:
    """Return by how many grey levels each pixel is darker, and lighter, than the paper there."""
    darkest, lightest = paper_of(grey)
    return darkest - np.minimum(grey, darkest), np.maximum(grey, lightest) - lightest


def _letter_like(boxes: Boxes, shape: tuple[int, int]) -> Mask:
    """Return which components could be letters, or words whose letters touch."""
    width, height = boxes.x1 - boxes.x0, boxes.y1 - boxes.y0
    fill = boxes.area / np.maximum(width * height, 1)
    return (
        (height >= 4)
        & (height <= 0.2 * max(shape))
        & (width <= 14 * height)
        & (height <= 10 * width)
        & (fill > 0.05)
        & ((fill < 0.9) | (width < 0.6 * height))
    )


def _letters_in_words(boxes: Boxes) -> int:
    """Return the letters that marks of a word's shape hold, estimated from their width.

    From twice as wide as high and from 8 pixels (6 points) of height; print fills a fifth to
    four fifths of a word's box, smudges and bars more, frames and edges less.
    """
    width, height = boxes.x1 - boxes.x0, boxes.y1 - boxes.y0
    fill = boxes.area / np.maximum(width * height, 1)
    words = (width >= 2 * height) & (height >= 8) & (fill > 0.2) & (fill < 0.8)
    return round(float((width[words] / (0.6 * height[words])).sum()))


def _rows(boxes: Boxes, shape: tuple[int, int]) -> Ints:
    """Return the row of writing that each box belongs to.

    Each box is drawn as a bar through its middle, as long as a word space on either side; bars
    that touch make a row (run-length smearing, Wong, Casey and Wahl 1982, on boxes).
    """
    bars = np.zeros(shape, bool)
    height = boxes.y1 - boxes.y0
    reach = np.clip(height, 4, None)
    top = boxes.y0 + height * 3 // 10
    bottom = np.maximum(top + 1, boxes.y1 - height * 3 // 10)
    left = np.maximum(boxes.x0 - reach * 7 // 10, 0)
    right = boxes.x1 + reach * 7 // 10
    for a, b, c, d in zip(
        top.tolist(), bottom.tolist(), left.tolist(), right.tolist(), strict=True
    ):
        bars[a:b, c:d] = True
    _, run_of, (row, start, _) = components(bars)
    key = row * (shape[1] + 2) + start
    middle = (top + bottom) // 2 * (shape[1] + 2) + boxes.x0
    return run_of[np.searchsorted(key, middle, side="right") - 1]


@dataclass(frozen=True)
class _Rows:
    """Rows that look like writing: estimated letters, height, middle and length in pixels."""

    letters: Ints
    height: Floats
    middle: Floats
    length: Floats


def _medians(values: Ints | Floats, group_of: Ints, begin: Ints, size: Ints) -> Floats:
    """Return the median of each group of `values`, which stand group by group from `begin` on."""
    ordered = values[np.lexsort((values, group_of))]
    return (ordered[begin + (size - 1) // 2] + ordered[begin + size // 2]) / 2


def _groups(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Return of sorted `keys` the number of each item's group, where groups begin, their sizes."""
    begin = np.flatnonzero(np.diff(keys, prepend=-1))
    size = np.diff(begin, append=len(keys))
    return np.repeat(np.arange(len(begin)), size), begin, size


def _off_line(marks: Boxes, group_of: Ints, begin: Ints, size: Ints) -> Floats:
    """Return how far each foot stands off the line through the feet of its row, which may slope."""
    x = (marks.x0 + marks.x1) / 2
    x = x - (np.add.reduceat(x, begin) / size)[group_of]
    spread = np.add.reduceat(x * x, begin)
    slope = np.add.reduceat(x * marks.y1, begin) / np.where(spread > 0, spread, np.inf)
    # Descenders pull the slope a little; rows steeper than 1 in 5 are no rows.
    foot = marks.y1 - np.clip(slope, -0.2, 0.2)[group_of] * x
    return foot - _medians(foot, group_of, begin, size)[group_of]


def _writing(boxes: Boxes, shape: tuple[int, int]) -> _Rows:
    """Return the rows of three marks and more that look like writing."""
    row_of = _rows(boxes, shape)
    order = np.argsort(row_of, kind="stable")
    order = order[np.bincount(row_of)[row_of[order]] >= 3]
    group_of, begin, size = _groups(row_of[order])
    height = (boxes.y1 - boxes.y0)[order]
    tall = _medians(height, group_of, begin, size)
    same = (height > 0.5 * tall[group_of]) & (height < 2.0 * tall[group_of])
    alike = np.bincount(group_of, weights=same, minlength=len(size)) / np.maximum(size, 1)
    # From here on only the marks of like height, and only rows that are mostly made of them.
    chosen = same & (alike >= 0.6)[group_of]
    marks = boxes.pick(order[chosen])
    tall = tall[alike >= 0.6]
    group_of, begin, size = _groups(group_of[chosen])
    if not len(size):
        empty = np.zeros(0)
        return _Rows(np.zeros(0, np.int64), empty, empty, empty)
    near = np.abs(_off_line(marks, group_of, begin, size)) <= np.maximum(1.5, 0.25 * tall)[group_of]
    on_line = np.add.reduceat(near.astype(np.int64), begin) / size
    length = np.maximum.reduceat(marks.x1, begin) - np.minimum.reduceat(marks.x0, begin)
    filled = np.add.reduceat(marks.x1 - marks.x0, begin)
    letters = np.maximum(np.rint(filled / (0.6 * tall)).astype(np.int64), size)
    middle = np.add.reduceat(marks.y0 + marks.y1, begin) / (2 * size)
    good = (on_line >= 0.5) & (length >= 3 * tall) & (letters >= 4)
    return _Rows(letters[good], tall[good], middle[good], length[good].astype(float))


def certain(chars: int) -> int:
    """Return the letters in a sample that settle what is asked of a page with `chars` of text.

    grade.Rule asks for 8 letters where there is no text, 5 more a character of text, 250 at the
    most: this is many more, so that a rule that is moved gives the same verdict on stored facts.
    """
    return min(300 + 4 * chars, 400)


def look_first(part: Callable[[float, float], Viewed], chars: int, *, faint: bool) -> TextLook:
    """Return what `look` finds in a sample of a picture where that settles it, else in all of it.

    `part(top, bottom)` gives the picture between two parts of its height, and what is covered
    there; `chars` are the characters of the text around it.
    """
    seen = look(*part(*SAMPLE), faint=False)
    return seen if seen.letters >= certain(chars) else look(*part(0.0, 1.0), faint=faint)


def parts_of(grey: Grey, covered: Mask | None = None) -> Callable[[float, float], Viewed]:
    """Return the function that `look_first` asks for the parts of a picture."""

    def part(top: float, bottom: float) -> Viewed:
        rows = slice(int(top * len(grey)), int(bottom * len(grey)))
        return grey[rows], None if covered is None else covered[rows]

    return part


def parts_of_image(grey: Image.Image, size: tuple[int, int]) -> Callable[[float, float], Viewed]:
    """Return the parts of a grey picture scaled to `size`; what is not asked for isn't scaled."""

    def part(top: float, bottom: float) -> Viewed:
        box = (0, top * grey.height, grey.width, bottom * grey.height)
        rows = max(1, round(size[1] * (bottom - top)))
        return np.asarray(grey.resize((size[0], rows), Image.Resampling.BILINEAR, box)), None

    return part


def look(grey: Grey, covered: Mask | None = None, *, faint: bool = True) -> TextLook:
    """Return how much of `grey` (8-bit, 2-D) looks like writing, outside `covered` if given.

    Faint writing is looked for as well if `faint` is set and no clear writing is found.
    """
    if not grey.size:
        return TextLook()
    darker, lighter = off_paper(grey)
    if covered is not None:
        darker[covered] = lighter[covered] = 0
    # A pixel is darker or lighter than its paper or neither, never both.
    inked = (
        float(np.count_nonzero(darker > _CLEAR) + np.count_nonzero(lighter > _CLEAR)) / grey.size
    )
    if faint:
        uneven = np.count_nonzero(np.maximum(darker, lighter) > _EVEN_LEVELS)
        faint = uneven <= (1 - _EVEN_PART) * grey.size
    best = TextLook(inked)
    for contrast in (_CLEAR, _FAINT) if faint else (_CLEAR,):
        for mask in (darker > contrast, lighter > contrast):
            found = _look_at(mask, inked)
            if (found.letters, found.lone) > (best.letters, best.lone):
                best = found
        if best.letters >= _SOME:
            break
    return best


def _look_at(mask: Mask, inked: float) -> TextLook:
    best = TextLook(inked)
    if not mask.any():
        return best
    mask = without_rules(mask)
    boxes, _, _ = components(mask)
    for vertical in (False, True):
        if vertical and best.letters >= _PLENTY:
            break
        turned = Boxes(boxes.y0, boxes.x0, boxes.y1, boxes.x1, boxes.area) if vertical else boxes
        shape = mask.shape[::-1] if vertical else mask.shape
        chosen = turned.pick(_letter_like(turned, shape))
        if not vertical and len(chosen) <= _MAX_COMPONENTS:
            best = replace(best, lone=_letters_in_words(chosen))
        if not 3 <= len(chosen) <= _MAX_COMPONENTS:
            continue
        rows = _writing(chosen, shape)
        if rows.letters.sum() > best.letters:
            best = _told(rows, shape, TextLook(inked, vertical=vertical, lone=best.lone))
    return best


def _told(rows: _Rows, shape: tuple[int, int], look: TextLook) -> TextLook:
    """Return `look` with what `rows` say, of which there is one at the least."""
    quarter = np.minimum(rows.middle * QUARTERS / shape[0], QUARTERS - 1).astype(np.int64)
    if look.vertical:
        quarter = QUARTERS - 1 - quarter
    quarters = np.bincount(quarter, weights=rows.letters, minlength=QUARTERS)
    return replace(
        look,
        lines=len(rows.letters),
        letters=int(rows.letters.sum()),
        longest=int(rows.letters.max()),
        height=float(np.median(rows.height)),
        share=float((rows.length * rows.height).sum()) / (shape[0] * shape[1]),
        quarters=tuple(map(int, quarters)),
    )
