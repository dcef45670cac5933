"""Text items to lines, and lines to pieces: what stands together is one piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from regcomments.tables.items import Box, TextItem, hull
from regcomments.tables.tolerances import DEFAULT, Tolerances

# Points; the largest page that Acrobat makes is 14,400 of its units of up to 1/72 inch.
FAR = 1e6

_HYPHEN = re.compile(r"[^\W\d_][-\u2010\u00ad]$")
_LEADERS = re.compile(r"\s*(?:[.·…_]\s?){4,}$")
_TAIL = re.compile(r"[a-z]{1,3}")
# Short words that may well stand on the last line of a cell by themselves.
_SHORT_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "de", "for", "in", "is", "it", "kg", "km", "mg", "mm"}
    | {"no", "nor", "not", "of", "off", "on", "or", "per", "so", "the", "to", "up", "via", "yr"}
    | {"age", "all", "any", "but", "day", "et", "la", "usd", "use", "vs", "yes"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A run of items on one line without a wide gap inside, in reading order.

    Pieces are compared by identity: they are put into sets, and hashing all their words is dear.
    """

    box: Box
    words: tuple[TextItem, ...]

    @property
    def text(self) -> str:
        """The words joined by single spaces."""
        return " ".join(word.text for word in self.words)


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
        i
        for i in items
        if -FAR < i.x0 <= i.x1 < FAR and -FAR < i.y0 <= i.y1 < FAR and i.text.strip()
    ]
    kept.sort(key=lambda i: (i.y0 + i.y1, i))
    return kept


def _one_line(items: Sequence[TextItem], tol: Tolerances) -> bool:
    mids = [i.y0 + i.y1 for i in items]
    heights = [i.y1 - i.y0 for i in items]
    return (max(mids) - min(mids)) / 2 <= tol.line_h * max(min(heights), 2.0)


def rows_of(items: Sequence[TextItem], tol: Tolerances = DEFAULT) -> list[list[TextItem]]:
    """Return sorted items in y-buckets, top to bottom, each from left to right.

    An item joins a bucket when its middle lies within `line_h` of the smaller of both heights
    from the bucket's first item, so a page of mixed sizes needs no common threshold.
    """
    buckets: list[list[TextItem]] = []
    heads: list[tuple[float, float]] = []
    for item in items:
        mid, height = (item.y0 + item.y1) / 2, item.y1 - item.y0
        # Only the last few buckets can be near: middles only grow.
        for k in range(len(heads) - 1, max(-1, len(heads) - 5), -1):
            if mid - heads[k][0] <= tol.line_h * max(min(height, heads[k][1]), 2.0):
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
    runs: list[list[TextItem]] = []
    right = 0.0
    for item in row:
        if runs:
            last = runs[-1][-1]
            limit = tol.glue_h * min(item.y1 - item.y0, last.y1 - last.y0)
            if _dots(item.text):  # leaders belong to what they lead from …
                limit = tol.leader_h * (last.y1 - last.y0)
            elif _dots(last.text):  # … and never to what they lead to
                limit = 0.0
            cut = any(
                (last.x0 + last.x1) / 2 < x < (item.x0 + item.x1) / 2
                and last.x1 - 2 <= x <= item.x0 + 2
                for x in cuts
            )
            if item.x0 - right < limit and not cut:
                runs[-1].append(item)
                right = max(right, item.x1)
                continue
        runs.append([item])
        right = item.x1
    return [Piece(hull(run), tuple(run)) for run in runs]


def _dots(text: str) -> bool:
    return not text.strip(".·…_")


def lines_of(
    items: Iterable[TextItem], cuts: Sequence[float] = (), tol: Tolerances = DEFAULT
) -> list[Line]:
    """Return the lines of a set of items from top to bottom."""
    lines = []
    for row in rows_of(sort_items(items), tol):
        pieces = pieces_of(row, cuts, tol)
        lines.append(Line(hull(p.box for p in pieces), tuple(pieces)))
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
    if len(items) < 2 or _one_line(items, tol):
        return _LEADERS.sub("", " ".join(i.text.strip() for i in sorted(items)))
    text, last = "", None
    for row in rows_of(sort_items(items), tol):
        line = " ".join(item.text.strip() for item in row)
        if last is None:
            text = line
        elif _HYPHEN.search(text) or _is_tail(last, line, right):
            text += line
        else:
            text += " " + line
        last = row
    return _LEADERS.sub("", text)


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
    return median(i.y1 - i.y0 for i in items) if items else 10.0
