"""Which lines of a PDF page can be seen, and each of them once. Geometry only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regcomments.read.pdf_line import HIDDEN, SHADOW, TINY, UPRIGHT, WHITE, Line

Rect = tuple[float, float, float, float]

# Share of a line's area that must lie under visible text to call it a second layer of it.
_COVERED = 0.5
# A bucket of lines by height is so many points high.
_BUCKET = 8.0
_SAME_SIZE = 0.2  # share of the size by which copies may differ; note marks differ by more
_NEIGHBOURS = 12  # lines of about the same height that are compared with one
_CELL = 8.0  # points; most shadows move by less, so one cell and its neighbours are looked at


@dataclass(frozen=True)
class Visible:
    """The lines to keep, and how many characters were left out as hidden or as repeated."""

    lines: Sequence[Line]
    hidden: int = 0
    repeated: int = 0


def visible_lines(
    lines: Sequence[Line],
    images: Callable[[], Iterable[Rect]],
    has_ink: Callable[[Sequence[Rect]], Sequence[bool]],
) -> Visible:
    """Return what is to be seen of `lines`, each once, in the order given.

    `images` gives the boxes of the page's pictures, `has_ink` tells for each box whether the
    page shows anything there; both are asked only when some line is in doubt. Invisible text
    over a picture is kept: it is the OCR layer of a scan; likewise if there is no other text.
    Invisible text over visible text doubles it, and over blank paper nobody sees it: both go.
    """
    if not any(line.marks for line in lines):
        kept = _without_shadows(lines, range(len(lines)))
        if len(kept) == len(lines):
            return Visible(lines)
        shown = [lines[k] for k in kept]
        return Visible(shown, 0, _length(lines) - _length(shown))
    keep: set[int] = set()
    layer: list[int] = []  # invisible text over pictures
    ask: list[int] = []
    hidden = repeated = 0
    drawn = [k for k, line in enumerate(lines) if not line.marks & (HIDDEN | TINY)]
    once = _without_shadows(lines, drawn)
    repeated += _length(lines[k] for k in drawn) - _length(lines[k] for k in once)
    index = _index(lines[k] for k in once if not lines[k].marks)
    for k in once:
        (ask.append if lines[k].marks & WHITE else keep.add)(k)
    boxes = list(images()) if any(line.marks & HIDDEN for line in lines) else []
    for k, line in enumerate(lines):
        if line.marks & TINY:
            hidden += len(line.text)
        elif line.marks & HIDDEN:
            if _share_under(line, index) > _COVERED:
                repeated += len(line.text)
            elif any(_overlap(line, box) > _COVERED * _area(line) for box in boxes):
                layer.append(k)
            else:
                ask.append(k)
    read = _without_shadows(lines, layer)
    keep.update(read)
    repeated += _length(lines[k] for k in layer) - _length(lines[k] for k in read)
    if not keep and not any(lines[k].marks & WHITE for k in ask):
        # Nothing but invisible text: the layer of a scan whose picture is lost.
        return Visible([lines[k] for k in ask], hidden, repeated)
    answers = has_ink([lines[k][1:5] for k in ask]) if ask else ()
    for k, ink in zip(ask, answers, strict=True):
        if ink:
            keep.add(k)
        else:
            hidden += len(lines[k].text)
    return Visible([lines[k] for k in sorted(keep)], hidden, repeated)


def in_doubt(lines: Sequence[Line], covers: Sequence[Rect]) -> list[Line]:
    """Return `lines`, those that lie under one of `covers` marked as perhaps not to be seen."""
    return [
        line._replace(marks=line.marks | WHITE)
        if any(_overlap(line, cover) > _COVERED * _area(line) for cover in covers)
        else line
        for line in lines
    ]


def overprinted(lines: Sequence[Line]) -> bool:
    """Tell whether two upright lines of one size share baseline, a good part of extent, a word."""
    upright = sorted((line.oy, line.x0, k) for k, line in enumerate(lines) if _is_plain(line))
    for at, (oy, _, k) in enumerate(upright[:-1]):
        line = lines[k]
        if upright[at + 1][0] - oy > SHADOW * line.size:  # nearly all lines
            continue
        for other_oy, _, other in upright[at + 1 : at + 1 + _NEIGHBOURS]:
            if other_oy - oy > SHADOW * line.size:
                break
            o = lines[other]
            shared = min(line.x1, o.x1) - max(line.x0, o.x0)
            if (
                shared > max(SHADOW * line.size, _COVERED * min(line.x1 - line.x0, o.x1 - o.x0))
                and abs(line.size - o.size) < _SAME_SIZE * line.size
                and not set(line.text.split()).isdisjoint(o.text.split())
            ):
                return True
    return False


def _is_plain(line: Line) -> bool:
    return not line.marks and line.dx > UPRIGHT


def _length(lines: Iterable[Line]) -> int:
    return sum(len(line.text) for line in lines)


def _without_shadows(lines: Sequence[Line], chosen: Sequence[int]) -> Sequence[int]:
    """Return `chosen` without the lines that repeat an earlier one at nearly the same place."""
    times = Counter([lines[k].text for k in chosen])
    if len(times) == len(chosen):
        return chosen
    # By text and place in a grid of cells as large as a shadow may move, so that ten thousand
    # full stops are not compared with each other.
    seen: dict[tuple[str, int, int], list[Line]] = defaultdict(list)
    kept: list[int] = []
    for k in chosen:
        line = lines[k]
        if times[line.text] == 1:
            kept.append(k)
            continue
        near = SHADOW * line.size
        column, row = int(line.x0 // _CELL), int(line.y0 // _CELL)
        reach = range(-int(near // _CELL) - 1, int(near // _CELL) + 2)
        if not any(
            _is_shadow(line, other, near)
            for i in reach
            for j in reach
            for other in seen.get((line.text, column + i, row + j), ())
        ):
            seen[line.text, column, row].append(line)
            kept.append(k)
    return kept


def _is_shadow(line: Line, other: Line, near: float) -> bool:
    return (
        abs(other.x0 - line.x0) <= near
        and abs(other.y0 - line.y0) <= near
        and abs(other.x1 - line.x1) <= 2 * near
    )


def _index(lines: Iterable[Line]) -> dict[int, list[Line]]:
    index: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        for bucket in range(int(line.y0 // _BUCKET), int(line.y1 // _BUCKET) + 1):
            index[bucket].append(line)
    return index


def _share_under(line: Line, index: dict[int, list[Line]]) -> float:
    others = {
        id(other): other
        for bucket in range(int(line.y0 // _BUCKET), int(line.y1 // _BUCKET) + 1)
        for other in index.get(bucket, ())
    }
    return sum(_overlap(line, other[1:5]) for other in others.values()) / _area(line)


def _area(line: Line) -> float:
    return max((line.x1 - line.x0) * (line.y1 - line.y0), 1e-6)


def _overlap(line: Line, box: Rect) -> float:
    width = min(line.x1, box[2]) - max(line.x0, box[0])
    height = min(line.y1, box[3]) - max(line.y0, box[1])
    return width * height if width > 0 and height > 0 else 0.0
