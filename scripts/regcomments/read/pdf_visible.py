"""Which lines of a PDF page can be seen, and each of them once. Geometry only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from regcomments.read.pdf_line import HIDDEN, TINY, WHITE, Line

Rect = tuple[float, float, float, float]

# A copy counts as the shadow of a line when it is moved by at most this share of the type size:
# drop shadows are 0.05 to 0.15 em, the next line of text is 1 em away.
_SHADOW = 0.35
# Share of a line's area that must lie under visible text to call it a second layer of it.
_COVERED = 0.5
# A bucket of lines by height is so many points high.
_BUCKET = 8.0


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
    over a picture is kept: it is the OCR layer of a scan. Invisible text over visible text
    doubles it, and over blank paper nobody sees it: both go.
    """
    if not any(line.marks for line in lines):
        shown = _without_shadows(lines)
        dropped = len(shown) < len(lines)
        return Visible(shown, 0, _length(lines) - _length(shown) if dropped else 0)
    shown = _without_shadows([line for line in lines if not line.marks & HIDDEN])
    repeated = _length(lines, exclude=HIDDEN) - _length(shown)
    keep = {id(line) for line in shown}
    hidden = 0
    ask: list[Line] = []
    boxes = [] if all(not line.marks & HIDDEN for line in lines) else list(images())
    index = _index(line for line in shown if not line.marks)
    layer: list[Line] = []
    for line in lines:
        if line.marks & TINY:
            keep.discard(id(line))
            hidden += len(line.text)
        elif line.marks & HIDDEN:
            if _share_under(line, index) > _COVERED:
                repeated += len(line.text)
            elif any(_overlap(line, box) > _COVERED * _area(line) for box in boxes):
                layer.append(line)
            else:
                ask.append(line)
        elif line.marks & WHITE and id(line) in keep:
            ask.append(line)
    keep.update(id(line) for line in _without_shadows(layer))
    for line, ink in zip(ask, has_ink([line[1:5] for line in ask]) if ask else (), strict=True):
        if ink:
            keep.add(id(line))
        else:
            keep.discard(id(line))
            hidden += len(line.text)
    return Visible([line for line in lines if id(line) in keep], hidden, repeated)


def _length(lines: Iterable[Line], exclude: int = 0) -> int:
    return sum(len(line.text) for line in lines if not line.marks & exclude)


def _without_shadows(lines: Sequence[Line]) -> Sequence[Line]:
    """Return `lines` without those that repeat an earlier one at nearly the same place."""
    if len({line.text for line in lines}) == len(lines):
        return lines
    seen: dict[str, list[Line]] = defaultdict(list)
    kept: list[Line] = []
    for line in lines:
        text = line.text
        near = _SHADOW * line.size
        for other in seen[text]:
            if (
                abs(other.x0 - line.x0) <= near
                and abs(other.y0 - line.y0) <= near
                and abs(other.x1 - line.x1) <= 2 * near
            ):
                break
        else:
            seen[text].append(line)
            kept.append(line)
    return kept if len(kept) < len(lines) else lines


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
