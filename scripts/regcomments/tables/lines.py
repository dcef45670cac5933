"""Text items to lines, and lines to pieces: what stands together is one piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from regcomments.read.pdf_layout import clean
from regcomments.tables.items import Box, TextItem, hull
from regcomments.tables.tolerances import DEFAULT, Tolerances
from regcomments.textnorm import normalise

# Points; the largest page that Acrobat makes is 14,400 of its units of up to 1/72 inch.
FAR = 1e6

_HYPHEN = re.compile(r"[^\W\d_][-\u2010\u00ad]$")
_LEADING = ".·…_"  # what leaders are made of
_TAIL = re.compile(r"[a-z]{1,3}")
# Short words that may well stand on the last line of a cell by themselves.
_SHORT_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "de", "for", "in", "is", "it", "kg", "km", "mg", "mm"}
    | {"no", "nor", "not", "of", "off", "on", "or", "per", "so", "the", "to", "up", "via", "yr"}
    | {"age", "all", "any", "but", "day", "et", "la", "usd", "use", "vs", "yes"}
)


class Piece:
    """A run of items on one line without a wide gap inside, in reading order.

    `text` are the words joined by single spaces. Pieces are compared by identity: they are put
    into sets, and hashing all their words is dear. No dataclass, because a page has hundreds.
    """

    __slots__ = ("box", "text", "words")

    def __init__(self, box: Box, words: tuple[TextItem, ...]) -> None:
        self.box = box
        self.words = words
        self.text = " ".join([word[4] for word in words])


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """The pieces of one line from left to right."""

    box: Box
    pieces: tuple[Piece, ...]


def sort_items(items: Iterable[TextItem]) -> list[TextItem]:
    """Return the non-blank items by middle, left edge and text: the same for any input order.

    Boxes that are no boxes (damaged files give NaN and turned-over ones) are left out.
    """
    kept = [
        (i[1] + i[3], i)
        for i in items
        if -FAR < i[0] <= i[2] < FAR and -FAR < i[1] <= i[3] < FAR and not i[4].isspace() and i[4]
    ]
    kept.sort()
    return [i for _, i in kept]


def on_one_line(items: Sequence[TextItem], tol: Tolerances = DEFAULT) -> bool:
    """Tell whether the items, one or more, certainly make one line."""
    mids = [i[1] + i[3] for i in items]
    heights = [i[3] - i[1] for i in items]
    return (max(mids) - min(mids)) / 2 <= tol.line_h * max(min(heights), 2.0)


def rows_of(items: Sequence[TextItem], tol: Tolerances = DEFAULT) -> list[list[TextItem]]:
    """Return sorted items in y-buckets, top to bottom, each from left to right.

    An item joins a bucket when its middle lies within `line_h` of the smaller of both heights
    from the bucket's first item, so a page of mixed sizes needs no common threshold.
    """
    buckets: list[list[TextItem]] = []
    heads: list[tuple[float, float]] = []
    line_h = tol.line_h
    for item in items:
        _, y0, _, y1, _ = item
        mid, height = (y0 + y1) / 2, y1 - y0
        # Only the last few buckets can be near: middles only grow.
        for k in range(len(heads) - 1, max(-1, len(heads) - 5), -1):
            head, other = heads[k]
            lower = height if height < other else other
            if mid - head <= line_h * (lower if lower > 2.0 else 2.0):
                buckets[k].append(item)
                break
        else:
            buckets.append([item])
            heads.append((mid, height))
    for bucket in buckets:
        bucket.sort()
    return buckets


def pieces_of(
    row: Sequence[TextItem], cuts: Sequence[float] = (), tol: Tolerances = DEFAULT
) -> list[Piece]:
    """Return a bucket's items glued into pieces, cut at wide gaps and at the x of `cuts`."""
    if len(row) == 1:
        return [Piece(Box._make(row[0][:4]), tuple(row))]
    pieces: list[Piece] = []
    run: list[TextItem] = []
    left = top = right = bottom = 0.0
    last_x0 = last_x1 = last_height = 0.0
    last_dots = False
    for item in row:
        x0, y0, x1, y1, text = item
        height = y1 - y0
        dots = text[:1] in _LEADING and not text.strip(_LEADING)
        if run:
            limit = tol.glue_h * (height if height < last_height else last_height)
            if dots:  # leaders belong to what they lead from …
                limit = tol.leader_h * last_height
            elif last_dots:  # … and never to what they lead to
                limit = 0.0
            if x0 - right < limit and not (
                cuts
                and any(
                    (last_x0 + last_x1) / 2 < x < (x0 + x1) / 2 and last_x1 - 2 <= x <= x0 + 2
                    for x in cuts
                )
            ):
                run.append(item)
                if x0 < left:
                    left = x0
                if x1 > right:
                    right = x1
                if y0 < top:
                    top = y0
                if y1 > bottom:
                    bottom = y1
                last_x0, last_x1, last_height, last_dots = x0, x1, height, dots
                continue
            pieces.append(Piece(Box(left, top, right, bottom), tuple(run)))
        run = [item]
        left, top, right, bottom = x0, y0, x1, y1
        last_x0, last_x1, last_height, last_dots = x0, x1, height, dots
    if run:
        pieces.append(Piece(Box(left, top, right, bottom), tuple(run)))
    return pieces


def lines_of(
    items: Iterable[TextItem],
    cuts: Sequence[float] = (),
    tol: Tolerances = DEFAULT,
    *,
    ordered: bool = False,
) -> list[Line]:
    """Return the lines of a set of items from top to bottom.

    `ordered` tells that the items are in the order of `sort_items` already.
    """
    lines = []
    for row in rows_of(list(items) if ordered else sort_items(items), tol):
        pieces = pieces_of(row, cuts, tol)
        box = pieces[0].box if len(pieces) == 1 else hull([p.box for p in pieces])
        lines.append(Line(box, tuple(pieces)))
    return lines


def text_of(
    items: Iterable[TextItem], right: float | None = None, tol: Tolerances = DEFAULT
) -> str:
    """Return the text of one cell: its lines joined by spaces, whatever the items' order.

    `right` is the right edge of the cell's room in points. A word too long for its column is cut
    anywhere by word processors ("Descriptio" / "n"): such a tail goes back to its word. A line
    that ends in a hyphen is joined without a space, and leader dots at the end go.
    """
    items = list(items)
    if len(items) < 2 or on_one_line(items, tol):
        return _without_leaders(" ".join([i[4].strip() for i in sorted(items)]))
    text, last = "", None
    for row in rows_of(sort_items(items), tol):
        line = " ".join([item[4].strip() for item in row])
        if last is None:
            text = line
        elif _HYPHEN.search(text[-2:]) or _is_tail(last, line, right):
            text += line
        else:
            text += " " + line
        last = row
    return _without_leaders(text)


def spelled(text: str) -> str:
    """Return the text of a cell as the text of its page spells it: no controls, no ligatures."""
    if text.isascii() and "\x7f" not in text:  # words end at the other controls
        return text
    return normalise(clean(text))


def _without_leaders(text: str) -> str:
    """Return the text less four leaders or more at its end, white space before them too."""
    end, count = len(text.rstrip()), 0
    while end and text[end - 1] in _LEADING:
        count += 1
        end -= 2 if text[end - 2 : end - 1].isspace() else 1
    return text[:end].rstrip() if count >= 4 else text


def _is_tail(upper: Sequence[TextItem], line: str, right: float | None) -> bool:
    """A fragment of one to three letters below a single word that fills its column."""
    word = upper[0].text.strip()
    if right is None or len(upper) != 1 or " " in word or len(word) < 5:
        return False
    if not _TAIL.fullmatch(line) or line in _SHORT_WORDS or not word[-1].isalpha():
        return False
    letter = (upper[0].x1 - upper[0].x0) / len(word)
    return right - upper[0].x1 < 1.5 * letter


def text_height(items: Sequence[TextItem]) -> float:
    """Return the median height of the items in points, 10 when there is none."""
    return median([i[3] - i[1] for i in items]) if items else 10.0
