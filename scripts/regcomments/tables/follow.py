"""Tables that go on over the page break."""

from __future__ import annotations

from collections.abc import Sequence

from regcomments.tables.columns import overlap
from regcomments.tables.draft import Draft
from regcomments.tables.items import PageItems
from regcomments.tables.tolerances import DEFAULT, Tolerances


def goes_on(
    upper_page: PageItems,
    upper: Draft,
    lower_page: PageItems,
    lower: Draft,
    tol: Tolerances = DEFAULT,
) -> bool:
    """Tell whether `lower`, first on its page, goes on with `upper`, last on the page before.

    Both have the same columns at the same places, and nothing but page headers and footers
    stands between them.
    """
    if upper.n_cols != lower.n_cols or lower_page.number != upper_page.number + 1:
        return False
    if abs(upper_page.width - lower_page.width) > 1:
        return False
    if _between(upper_page, upper.box.y1, upper_page.height * (1 - tol.margin_share)):
        return False
    if _between(lower_page, lower_page.height * tol.margin_share, lower.box.y0):
        return False
    a, b = column_extents(upper), column_extents(lower)
    shared = [k for k in range(upper.n_cols) if a[k] and b[k]]
    if not shared:
        return False
    hits = 0
    for k in shared:
        (a0, a1), (b0, b1) = a[k], b[k]
        hits += overlap(a0, a1, b0, b1) >= 0.5 * min(a1 - a0, b1 - b0)
    return hits >= 0.8 * len(shared)


def column_extents(draft: Draft) -> list[tuple[float, float] | None]:
    """Return the left and right end of the text of every column, None where it has none."""
    out: list[tuple[float, float] | None] = [None] * draft.n_cols
    for p in draft.filled:
        if p.cols > 1:
            continue
        lo, hi = min(w.x0 for w in p.words), max(w.x1 for w in p.words)
        old = out[p.col]
        out[p.col] = (lo, hi) if old is None else (min(lo, old[0]), max(hi, old[1]))
    return out


def _between(page: PageItems, top: float, bottom: float) -> bool:
    return any(top < (i.y0 + i.y1) / 2 < bottom for i in page.items)


def last_of(drafts: Sequence[Draft]) -> int:
    """Return the index of the draft that reaches furthest down."""
    return max(range(len(drafts)), key=lambda k: (drafts[k].box.y1, -k))
