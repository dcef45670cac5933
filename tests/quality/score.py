"""Scores what came out of a file against its case. Pure functions on text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.quality.case import Case

# Backslashes that Markdown needs, marks that show nothing: bidi controls, soft hyphens, joiners.
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
_MARKUP = re.compile(r"(?m)^#{1,6} |\*\*|<br ?/?>")
_READ = ("ok", "ocr_needed")

MEASURES = ("status", "facts", "forbidden", "ocr_pages", "rows")


@dataclass(frozen=True)
class Output:
    """What the readers made of one file: status, reason, text with its members' texts."""

    status: str
    reason: str | None = None
    text: str = ""
    ocr_pages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Check:
    """One question to one output: its measure, the case, what was asked, whether it held."""

    measure: str
    case: str
    what: str
    passed: bool


@dataclass(frozen=True)
class Tally:
    """How many checks of one measure held, of how many."""

    right: int
    total: int


def flat(text: str, nospace: bool = False) -> str:
    """Return `text` in compatibility form, without Markdown, white space as one blank or none."""
    text = _MARKUP.sub(" ", _UNSEEN.sub("", unicodedata.normalize("NFKC", text)))
    return ("" if nospace else " ").join(_ESCAPE.sub(r"\1", text).split())


def table_rows(text: str) -> list[tuple[str, ...]]:
    """Return the rows of all pipe tables in `text`, cells flattened, rule lines left out."""
    rows = []
    for line in text.splitlines():
        line = line.strip()
        if len(line) > 1 and line[0] == "|" == line[-1]:
            cells = tuple(flat(cell) for cell in re.split(r"(?<!\\)\|", line[1:-1]))
            if not all(re.fullmatch(":?-+:?", cell) for cell in cells):
                rows.append(cells)
    return rows


def check(case: Case, output: Output) -> Iterator[Check]:
    """Yield the checks of one case. Facts are asked of files that should and could be read."""
    status = output.status in (case.status, *case.also)
    reason = case.reason is None or output.reason == case.reason
    said = f"{output.status}/{output.reason}, want {case.status}/{case.reason or 'any'}"
    yield Check("status", case.name, said, status and reason)
    if case.status in _READ and output.status not in case.also:
        read = output.status in _READ
        for what, held in _facts(case, output.text):
            yield Check("facts", case.name, what, read and held)
        pages = read and output.ocr_pages == case.ocr_pages
        said = f"pages {output.ocr_pages}, want {case.ocr_pages}"
        yield Check("ocr_pages", case.name, said, pages)
        found = table_rows(output.text)
        for row in case.rows:
            want = tuple(map(flat, row))
            yield Check("rows", case.name, " | ".join(row), any(_holds(r, want) for r in found))
    for text in case.must_not:
        yield Check("forbidden", case.name, repr(text), text not in output.text)


def tally(checks: Iterable[Check]) -> dict[str, Tally]:
    """Return the count of each measure."""
    counts = {measure: [0, 0] for measure in MEASURES}
    for item in checks:
        counts[item.measure][0] += item.passed
        counts[item.measure][1] += 1
    return {measure: Tally(*pair) for measure, pair in counts.items()}


def _facts(case: Case, text: str) -> Iterator[tuple[str, bool]]:
    # Table cells read as words too, since a fact may cross them.
    have = flat(text.replace("|", " "), case.nospace)
    for fact in case.must:
        yield fact, flat(fact, case.nospace) in have
    for fact in case.once:
        count = have.count(flat(fact, case.nospace))
        yield f"once, {count} times: {fact}", count == 1
    if case.order:
        places = [have.find(flat(fact, case.nospace)) for fact in case.order]
        yield f"order {places}: {case.order}", places[0] >= 0 and places == sorted(places)


def _holds(row: tuple[str, ...], want: tuple[str, ...]) -> bool:
    return any(row[i : i + len(want)] == want for i in range(len(row) - len(want) + 1))
