"""Running text: blocks of prose are taken out before unruled tables are sought."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from regcomments.tables.lines import Line, Piece
from regcomments.tables.tolerances import DEFAULT, Tolerances


def wordy(piece: Piece, tol: Tolerances = DEFAULT) -> bool:
    """Tell whether a piece reads like a line of running text: many words, most of letters."""
    text = piece.text
    if len(text) < 2 * tol.prose_words - 1:  # words of one letter
        return False
    words = text.split()
    if len(words) < tol.prose_words:
        return False
    return sum([w[0].isalpha() for w in words]) >= 0.7 * len(words)


def prose_pieces(lines: Sequence[Line], tol: Tolerances = DEFAULT) -> set[Piece]:
    """Return the pieces that belong to blocks of running text.

    A block is three or more lines close below each other with a common left edge, most of them
    wordy. A column of a table is none, however wordy: its neighbours stand on its very lines.
    """
    columns: dict[int, list[Piece]] = defaultdict(list)
    level: set[Piece] = set()
    for line in lines:
        short = [p for p in line.pieces if not wordy(p, tol)]
        for piece in line.pieces:
            # Left edges are compared on a grid of 4 pt, and with its left neighbour.
            columns[int(piece.box.x0 // 4)].append(piece)
            if any(q is not piece and _level(piece, q, tol) for q in short):
                level.add(piece)
    found: set[Piece] = set()
    for key in sorted(columns):
        stack = sorted(columns[key] + columns.get(key + 1, []), key=lambda p: p.box.y0)
        run: list[Piece] = []
        for piece in [*stack, None]:
            if piece is None or (run and not _follows(run[-1], piece)):
                found.update(_block(run, level, tol))
                run = []
            if piece is not None:
                run.append(piece)
    return found


def _level(a: Piece, b: Piece, tol: Tolerances) -> bool:
    """Both stand on one line of print: their middles agree closely."""
    height = min(a.box.y1 - a.box.y0, b.box.y1 - b.box.y0)
    return abs(a.box.y0 + a.box.y1 - b.box.y0 - b.box.y1) / 2 <= tol.level_h * height


def _follows(upper: Piece, lower: Piece) -> bool:
    height = max(upper.box.y1 - upper.box.y0, lower.box.y1 - lower.box.y0)
    return lower.box.y0 - upper.box.y0 <= 2.4 * height


def _block(run: list[Piece], level: set[Piece], tol: Tolerances) -> list[Piece]:
    out: list[Piece] = []
    part: list[Piece] = []
    for piece in [*run, None]:
        if piece is not None and wordy(piece, tol):
            part.append(piece)
        elif piece is not None and part and part[-1] not in level and wordy(part[-1], tol):
            # The last line of a paragraph is short, and alone on its line.
            if piece not in level:
                part.append(piece)
        else:
            if len(part) >= 3:
                out += _unless_level(part, level)
            part = []
    if out:
        return out
    # Narrow columns of print have fewer words a line; no neighbour may share their baselines.
    stretch: list[Piece] = []
    for piece in [*run, None]:
        if piece is not None and piece not in level:
            # A paragraph begins with a full line; what is shorter belongs to something above.
            if stretch or len(piece.text.split()) > 3:
                stretch.append(piece)
            continue
        counts = sorted(len(p.text.split()) for p in stretch)
        words = [w for p in stretch for w in p.text.split()]
        letters = sum(w[:1].isalpha() for w in words)
        if len(counts) >= 4 and counts[len(counts) // 2] >= 4 and letters >= 0.8 * len(words):
            out += stretch
        stretch = []
    return out


def _unless_level(part: list[Piece], level: set[Piece]) -> list[Piece]:
    return [] if sum(p in level for p in part) >= 0.6 * len(part) else part
