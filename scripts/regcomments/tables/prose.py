"""Running text: blocks of prose are taken out before unruled tables are sought."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from regcomments.tables.lines import Line, Piece
from regcomments.tables.tolerances import DEFAULT, Tolerances


def wordy(piece: Piece, tol: Tolerances = DEFAULT) -> bool:
    """Tell whether a piece reads like a line of running text: many words, most of letters."""
    words = piece.text.split()
    if len(words) < tol.prose_words:
        return False
    return sum(w[:1].isalpha() for w in words) >= 0.7 * len(words)


def prose_pieces(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> set[Piece]:
    """Return the pieces that belong to blocks of running text.

    A block is three or more lines close below each other with a common left edge, most of them
    wordy; two such blocks side by side are a page set in columns.
    """
    columns: dict[int, list[Piece]] = defaultdict(list)
    for line in lines:
        for piece in line.pieces:
            # Left edges are compared on a grid of 4 pt, and with its left neighbour.
            columns[int(piece.box.x0 // 4)].append(piece)
    found: set[Piece] = set()
    for key in sorted(columns):
        stack = sorted(columns[key] + columns.get(key + 1, []), key=lambda p: p.box.y0)
        run: list[Piece] = []
        for piece in stack:
            if run and not _follows(run[-1], piece):
                found |= _block(run, tol)
                run = []
            run.append(piece)
        found |= _block(run, tol)
    return found


def _follows(upper: Piece, lower: Piece) -> bool:
    height = max(upper.box.y1 - upper.box.y0, lower.box.y1 - lower.box.y0)
    return lower.box.y0 - upper.box.y0 <= 2.4 * height


def _block(run: list[Piece], tol: Tolerances) -> set[Piece]:
    if len(run) < 3:
        return set()
    flags = [wordy(p, tol) for p in run]
    out: set[Piece] = set()
    start = 0
    # The last line of a paragraph is short: one such line between wordy ones stays with them.
    for k in range(1, len(run) + 1):
        if k == len(run) or (not flags[k] and not flags[k - 1]):
            part = run[start:k]
            if sum(flags[start:k]) >= max(2, 0.6 * len(part)):
                out.update(part)
            start = k
    return out
