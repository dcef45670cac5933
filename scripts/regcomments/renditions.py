"""Two files with one text: renditions of a letter, and copies of a file.

On a public docket 688 of 862 comments with several files held pairs such as `attachment_1.docx`
and `attachment_1.pdf`. Their text goes into combined.md once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from regcomments.records import Extraction
from regcomments.status import Status

AGREEMENT = 0.9  # share of the poorer file's words found in the richer one (design, section 2)
# A run of this many words that only the poorer file has is a sentence of its own: keep both.
LONGEST_RUN = 12

_WORD = re.compile(r"\w+")
_STEM = re.compile(r"attachment_(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """`file` repeats `same_as`, or was compared with it; `agreement` is 0 to 1."""

    file: str
    other: str
    agreement: float
    same: bool


def words(text: str) -> list[str]:
    """Return the words of `text`, case folded, hyphens at line ends undone."""
    return _WORD.findall(re.sub(r"[-\u00ad]\s*\n\s*", "", text).casefold())


def compare(poorer: Sequence[str], richer: Sequence[str]) -> tuple[float, int]:
    """Return how much of the words `poorer` is among the words `richer`.

    First the share of its words found there (each as often as it stands there), 0 to 1; then the
    longest run of its consecutive words of which none is found.
    """
    left = Counter(richer)
    found = run = longest = 0
    for word in poorer:
        if left[word] > 0:
            left[word] -= 1
            found += 1
            run = 0
        else:
            run += 1
            longest = max(longest, run)
    return (found / len(poorer) if poorer else 0.0), longest


def find_pairs(results: Mapping[str, Extraction]) -> list[Pair]:
    """Return the pairs among the attachments of one comment, by file name in natural order.

    Byte-identical files pair with the first of their kind (agreement 1). Files of the same number
    are compared when both hold text. A file is the poorer one of at most one pair.
    """
    if len(results) < 2:
        return []
    pairs: list[Pair] = []
    first_by_sha: dict[str, str] = {}
    for name, result in results.items():
        if result.sha256 is None or not result.size:
            continue
        first = first_by_sha.setdefault(result.sha256, name)
        if first != name:
            pairs.append(Pair(name, first, 1.0, True))
    taken = {pair.file for pair in pairs}
    by_number: dict[int, list[str]] = {}
    for name in results:
        match = _STEM.match(name)
        if match and name not in taken:
            by_number.setdefault(int(match[1]), []).append(name)
    for names in by_number.values():
        with_text = [name for name in names if results[name].text]
        if len(with_text) < 2:
            continue
        said = {name: words(results[name].text) for name in with_text}
        distinct = {name: set(own) for name, own in said.items()}
        ranked = sorted(with_text, key=lambda name: _rank(name, results[name], distinct))
        richest = ranked[0]
        for name in ranked[1:]:
            agreement, run = compare(said[name], said[richest])
            same = agreement >= AGREEMENT and run < LONGEST_RUN
            # A page that still wants OCR may hold what the other file lacks.
            same = same and results[richest].status == Status.OK and not results[name].members
            pairs.append(Pair(name, richest, agreement, same))
    return pairs


def _rank(name: str, result: Extraction, distinct: Mapping[str, set[str]]) -> tuple:
    """Order files of one number, richest first: read whole, most distinct words, DOCX first."""
    own = distinct[name]
    others = [words_there for other, words_there in distinct.items() if other != name]
    surplus = sum(len(own - other) - len(other - own) for other in others)
    return (result.status != Status.OK, -surplus, result.kind != "docx", name)
