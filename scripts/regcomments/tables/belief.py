"""Whether an unruled block is a table: not prose, no contents page, no form, no chart."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise

from regcomments.tables.draft import Draft
from regcomments.tables.rows import figures
from regcomments.tables.tolerances import DEFAULT, Tolerances

_LEADER = re.compile(r"\.{4,}|(?:\. ){3,}[. ]*|…{2,}|_{5,}")
_SECTION = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})+|[A-Z]\.\d{1,2}|[IVX]{1,5}\.)\s")
_PAGE = re.compile(r"\d{1,4}|[ivxl]{1,6}")


def texts_of(draft: Draft) -> list[tuple[int, int, str]]:
    """Return row, column and text of every filled place."""
    return [(p.row, p.col, " ".join(w.text for w in p.words)) for p in draft.filled]


def reads_as_prose(draft: Draft, tol: Tolerances = DEFAULT) -> bool:
    """Tell whether the cells beside the first column are lines of running text."""
    body = [text for _, col, text in texts_of(draft) if col > 0]
    if sum(len(t.split()) > tol.prose_words for t in body) > 0.3 * len(body):
        return True
    # Columns of print: many words a cell, no figures, lines that begin in mid-sentence.
    numeric = sum(map(figures, body))
    words = sum(len(t.split()) for t in body)
    small = sum(t[:1].islower() for t in body)
    return numeric < 0.15 * len(body) and (words >= 3.5 * len(body) or small >= 0.5 * len(body))


def is_contents(draft: Draft) -> bool:
    """Tell whether a draft lists sections and their pages.

    Its leaders show it, or numbered sections beside page numbers that only grow.
    """
    texts = texts_of(draft)
    columns: dict[int, list[str]] = defaultdict(list)
    for _, col, text in texts:
        columns[col].append(text)
    if sum(bool(_LEADER.search(t)) for _, _, t in texts) >= 0.3 * draft.n_rows:
        # Tables of figures have leaders too, but more than the one column that contents have.
        numeric = [c for c, v in columns.items() if c and 2 * sum(map(figures, v)) >= len(v)]
        return len(numeric) < 2
    sections = sum(bool(_SECTION.match(t)) for _, _, t in texts)
    if sections < 0.2 * draft.n_rows:
        return False
    for values in columns.values():
        pages = [int(v) for v in values if v.isdecimal() and len(v) <= 4]
        listed = sum(bool(_PAGE.fullmatch(v)) for v in values)
        growing = all(a <= b for a, b in pairwise(pages))
        if len(pages) >= 3 and listed >= 0.7 * len(values) and growing:
            return True
    return False


def believable(
    draft: Draft, vouched: bool = False, strict: bool = False, tol: Tolerances = DEFAULT
) -> bool:
    """Tell whether an unruled draft is a table.

    `vouched` says that a rule runs below its heading: then two rows of two cells pass, and
    cells need not be figures. `strict` asks for figures whatever else speaks for it.
    """
    texts = texts_of(draft)
    body = [text for _, col, text in texts if col > 0]
    places = draft.n_rows * draft.n_cols
    if draft.n_rows < 2 or draft.n_cols < 2 or not body or len(texts) < tol.fill_share * places:
        return False
    # So many columns are seldom, and then full; letters strewn over a page make many.
    if draft.n_cols > 14 and len(texts) < 0.5 * places:
        return False
    # A font without Unicode values leaves signs that stand anywhere.
    signs = "".join("".join(_LEADER.sub("", t).split()) for _, _, t in texts)
    if sum(map(str.isalnum, signs)) < 0.6 * len(signs):
        return False
    per_row = Counter(row for row, _, _ in texts)
    if sum(n >= 0.4 * draft.n_cols for n in per_row.values()) < 2:
        return False
    if is_contents(draft) or reads_as_prose(draft, tol) or _constant(draft):
        return False
    numeric = sum(map(figures, body))
    if draft.n_rows == 2 and not vouched:
        # A heading and one row: only when the row is figures and the heading is not.
        first = [t for row, _, t in texts if row == 0]
        second = [t for row, _, t in texts if row == 1]
        return (
            draft.n_cols >= 3
            and len(texts) == places
            and not any(map(figures, first))
            and sum(map(figures, second)) >= 2
        )
    if numeric >= tol.figure_share * len(body):
        return True
    if strict:
        return False
    if vouched and len(texts) >= 0.7 * places:
        return True
    # Words only: letterheads are as tabular as a table of three rows.
    return draft.n_cols >= 3 and len(texts) >= (0.6 if draft.n_rows > 3 else 0.9) * places


def _constant(draft: Draft) -> bool:
    """All columns but one say the same in every row: boxes to tick."""
    seen: dict[int, set[str]] = defaultdict(set)
    count: Counter[int] = Counter()
    for _, col, text in texts_of(draft):
        seen[col].add(text)
        count[col] += 1
    same = sum(len(seen[c]) == 1 and count[c] >= 3 for c in seen)
    return same >= draft.n_cols - 1
