"""CPU a page of a born-digital PDF, side by side with PyMuPDF's bare text of the same pages.

    python -m tests.benchmarks.bench_pages [--letters N] [--rounds N] [--shared FOLDER]

Three readings of each file in turn, the least of some rounds of each: `"\\n".join` of
`page.get_text()`; ours without the search for tables; ours whole, as the worker reads. The files
are generated letters with and without tables, generated forms, columns and oddities (those of the
quality gate), and the real ones of <shared>/cases when these are there. Files with a page that
needs OCR are left out; pages that grading had to render are suspects, which have a limit of their
own: files with one are counted apart. Prints one table and exits 1 when a limit is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pymupdf
from regcomments.read import ReadOptions, pdf, preload, read_document
from regcomments.records import Document
from samples.pdf import letter_pdf

from tests.benchmarks import prose
from tests.benchmarks.pool import page_count
from tests.quality.build import all_cases, write

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
WHOLE, FACTS = 1.5, 0.5  # times the bare text
GRADING, SUSPECT = 20.0, 300.0  # ms
LETTERS, ROUNDS = 40, 3
_MADE_SLOW = "bomb"  # such files have a deadline, not a price
_TEXT = ReadOptions(pdf_tables="text")
_ALL = ReadOptions()

Figure = tuple[str, float, float | None, str]  # name, value, limit, unit


@dataclass
class Costs:
    """CPU seconds of some files: bare text, ours without tables, ours whole, facts in it."""

    pages: int = 0
    bare: float = 0.0
    text: float = 0.0
    whole: float = 0.0
    facts: float = 0.0

    def add(self, pages: int, seconds: Sequence[float]) -> None:
        """Count a file in: its pages, and its seconds in the order of the fields."""
        self.pages += pages
        self.bare += seconds[0]
        self.text += seconds[1]
        self.whole += seconds[2]
        self.facts += seconds[3]


@dataclass
class Grading:
    """CPU seconds of the facts of each page, suspects (pages that were rendered) apart."""

    pages: list[float] = field(default_factory=list)
    suspects: list[float] = field(default_factory=list)


def figures(
    letters: int = LETTERS, rounds: int = ROUNDS, shared: Path = SHARED
) -> list[tuple[str, float, float | None, str]]:
    """Return (name, value, limit or None, unit) of each figure; it is missed above its limit."""
    preload()
    pymupdf.TOOLS.mupdf_display_errors(False)
    found: list[Figure] = []
    grading = Grading()
    with tempfile.TemporaryDirectory() as folder:
        for name, files in _groups(Path(folder), letters, shared):
            plain, suspect = _measure(files, rounds, grading)
            found += _of_group(name, plain, suspect)
    pages = grading.pages + grading.suspects
    found.append(("grading, mean of all pages", 1000 * sum(pages) / len(pages), GRADING, "ms"))
    if grading.suspects:
        most = max(grading.suspects)
        found.append(("grading, dearest suspect", 1000 * most, SUSPECT, "ms"))
    return found


def _of_group(name: str, plain: Costs, suspect: Costs) -> Iterator[Figure]:
    if plain.pages:
        yield f"{name}: bare text", 1000 * plain.bare / plain.pages, None, "ms a page"
        own = (plain.text - plain.facts) / plain.bare
        yield f"{name}: text alone to bare", own, WHOLE, "x"
        yield f"{name}: page facts to bare", plain.facts / plain.bare, FACTS, "x"
        yield f"{name}: text and facts to bare", plain.text / plain.bare, WHOLE, "x"
        yield f"{name}: whole to bare", plain.whole / plain.bare, WHOLE, "x"
    if suspect.pages:
        both = (plain.whole + suspect.whole) / (plain.bare + suspect.bare)
        yield f"{name}: whole, with the files that have suspects", both, None, "x"


def _groups(folder: Path, letters: int, shared: Path) -> Iterator[tuple[str, list[Path]]]:
    random = Random(7)
    made = {"letters": [], "letters with tables": []}
    for number in range(letters):
        letter = prose.letter(random, page_count(random))
        path = folder / f"letter-{number}.pdf"
        path.write_bytes(letter_pdf(letter))
        found = read_document(path, _ALL).pages
        tables = any("| --- |" in page.text for page in found)
        made["letters with tables" if tables else "letters"].append(path)
    yield from made.items()
    cases = [case for case in all_cases() if case.name.endswith(".pdf")]
    yield "generated cases", write(folder / "gate", cases)
    real = sorted((shared / "cases" / "files").glob("*.pdf"))
    if real:
        yield "real cases", [path for path in real if not path.name.startswith(_MADE_SLOW)]


def _measure(files: Sequence[Path], rounds: int, grading: Grading) -> tuple[Costs, Costs]:
    """Return the costs of the born-digital ones of `files`, those without suspects first."""
    plain, suspect = Costs(), Costs()
    for path in files:
        try:
            document = read_document(path, _ALL)
            _bare(path)
        except Exception as error:  # refused by either: nothing to compare
            print(f"left out: {path.name}: {type(error).__name__}: {error}"[:160])
            continue
        best = [float("inf")] * 3
        pages: list[list[float]] = []
        for _ in range(rounds):
            best[0] = min(best[0], _seconds(_bare, path))
            with _facts_timed() as timed:
                best[1] = min(best[1], _seconds(read_document, path, _TEXT))
            pages.append(timed)
            best[2] = min(best[2], _seconds(read_document, path, _ALL))
        least = [min(times) for times in zip(*pages, strict=True)]
        looked = _note_grading(document, least, grading)
        if document.kind == "pdf" and document.pages and not _needs_ocr(document):
            (suspect if looked else plain).add(len(document.pages), [*best, sum(least)])
    return plain, suspect


def _note_grading(document: Document, seconds: Sequence[float], grading: Grading) -> bool:
    """File the seconds of each page; return whether one of the document's own was rendered."""
    facts = [page.facts or {} for page in document.pages]
    looked = [bool(fact.get("looked")) for fact in facts]
    # Members are read in between, so seconds belong to pages only where there are none.
    if len(seconds) == len(looked):
        for rendered, value in zip(looked, seconds, strict=True):
            (grading.suspects if rendered else grading.pages).append(value)
    return any(looked)


def _needs_ocr(document: Document) -> bool:
    return any(page.needs_ocr for page in document.pages)


def _bare(path: Path) -> str:
    with pymupdf.open(path) as document:
        return "\n".join(page.get_text() for page in document)


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    started = time.process_time()
    work(*arguments)
    return time.process_time() - started


@contextmanager
def _facts_timed() -> Iterator[list[float]]:
    """Give a list to which the CPU seconds of each page's facts are added while reading."""
    timed: list[float] = []
    measure = pdf.measure

    def clocked(*arguments: object) -> object:
        started = time.process_time()
        try:
            return measure(*arguments)
        finally:
            timed.append(time.process_time() - started)

    pdf.measure = clocked
    try:
        yield timed
    finally:
        pdf.measure = measure


def main() -> int:
    """Print the figures; return 1 when one misses its limit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--letters", type=int, default=LETTERS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--shared", type=Path, default=SHARED)
    given = parser.parse_args()
    missed = 0
    for name, value, limit, unit in figures(given.letters, given.rounds, given.shared):
        over = limit is not None and value > limit
        missed += over
        bound = "" if limit is None else f"  limit {limit:g}{'  MISSED' if over else ''}"
        print(f"{name:56}{value:8.2f} {unit}{bound}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
