"""CPU of our Word reader beside python-docx's paragraph join, file by file in one process.

    python -m tests.benchmarks.bench_docx              # or: make bench-docx

Files: letters as the benchmark corpus has them, those of the quality gate, and the real ones when
they lie beside the repository. The join reads neither tables, notes, text boxes and headers nor
imported parts, and looks into no picture, so a file made of these alone costs it nothing but the
opening: of each file over LIMIT the part that judging pictures takes is told, and how much text
each returns. Files that one of the two can't open are left out and counted. Exits 1 when the total
of all is over LIMIT.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TypeVar

from docx import Document
from regcomments.read import word
from regcomments.read.options import ReadOptions
from regcomments.records import UnreadableError
from samples.word import letter_docx

from tests.benchmarks import prose
from tests.benchmarks.pool import page_count
from tests.quality.build import all_cases
from tests.quality.gate import SHARED

LIMIT = 2.0
LETTERS = 25
ROUNDS = 5
# A round over a heavy file is a fair measure by itself.
ENOUGH_SECONDS = 1.0
T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """One file: CPU seconds and characters, ours and of the join.

    `pictures` is the part of ours that goes into judging whether pictures hold writing.
    """

    name: str
    ours: float
    pictures: float
    join: float
    our_chars: int
    join_chars: int

    @property
    def ratio(self) -> float:
        """Our CPU over that of the join."""
        return self.ours / self.join


def join_paragraphs(path: Path) -> str:
    """Return the text as python-docx's users join it."""
    return "\n".join(paragraph.text for paragraph in Document(path).paragraphs)


def read_ours(path: Path) -> tuple[str, float]:
    """Return the body that our reader makes, and the CPU seconds of judging its pictures."""
    judge = word.picture_pages
    spent = 0.0

    def clocked(*arguments: object) -> object:
        nonlocal spent
        started = time.process_time()
        pages = judge(*arguments)
        spent += time.process_time() - started
        return pages

    word.picture_pages = clocked
    try:
        body = word.read_word(path, ReadOptions()).body
        return body, spent
    finally:
        word.picture_pages = judge


def compare(path: Path, name: str, rounds: int = ROUNDS) -> Pair | None:
    """Return the least CPU of interleaved rounds; None when python-docx or we can't read it."""
    ours: list[tuple[float, float]] = []
    join: list[float] = []
    spent = 0.0
    try:
        while len(ours) < rounds and spent < ENOUGH_SECONDS:
            (text, pictures), seconds = _timed(read_ours, path)
            ours.append((seconds, pictures))
            joined, other = _timed(join_paragraphs, path)
            join.append(other)
            spent += seconds + other
    except UnreadableError:
        return None
    except Exception:  # python-docx raises whatever its XML and zip layers do
        return None
    return Pair(name, *min(ours), min(join), len(text), len(joined))


def _timed(read: Callable[[Path], T], path: Path) -> tuple[T, float]:
    gc.collect()  # neither pays for the other's garbage
    started = time.process_time()
    result = read(path)
    return result, time.process_time() - started


def files(work: Path) -> dict[str, list[tuple[str, Path]]]:
    """Write the generated files below `work`; return all by set, with their names."""
    random = Random(0)
    letters = []
    for number in range(LETTERS):
        path = work / f"letter-{number:02d}.docx"
        path.write_bytes(letter_docx(prose.letter(random, page_count(random))))
        letters.append((path.name, path))
    cases = []
    for number, case in enumerate(all_cases()):
        if case.name.endswith(".docx"):
            path = work / f"case-{number}.docx"
            path.write_bytes(case.make())
            cases.append((case.name, path))
    real = sorted((SHARED / "files").glob("*.docx")) if SHARED.is_dir() else []
    return {
        "letters": letters,
        "generated": cases,
        "real": [(path.name, path) for path in real if not path.name.startswith("bomb")],
    }


def report(name: str, pairs: Sequence[Pair], left_out: int) -> None:
    """Print one set."""
    ours, join = sum(pair.ours for pair in pairs), sum(pair.join for pair in pairs)
    pictures = sum(pair.pictures for pair in pairs)
    middle = statistics.median(pair.ratio for pair in pairs)
    print(
        f"{name}: {len(pairs)} files ({left_out} more that one of the two can't read), ours "
        f"{ours * 1000:.0f} ms ({pictures * 1000:.0f} ms of it pictures), join "
        f"{join * 1000:.0f} ms: {ours / join:.2f}x in all, median {middle:.2f}x"
    )
    for pair in sorted(pairs, key=lambda pair: -pair.ratio):
        if pair.ratio > LIMIT:
            print(
                f"  {pair.ratio:5.2f}x {pair.name:<32} {pair.ours * 1000:6.1f} ms "
                f"({pair.pictures * 1000:.1f} pictures), join {pair.join * 1000:.1f} ms; "
                f"{pair.our_chars} characters against {pair.join_chars}"
            )


def main() -> int:
    """Print the ratios; returns 1 when the total is over the limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=("letters", "generated", "real"), action="append")
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # of zipfile, about doubled names
    all_pairs: list[Pair] = []
    with tempfile.TemporaryDirectory(prefix="regcomments-docx-") as folder:
        for name, found in files(Path(folder)).items():
            if not found or (args.only and name not in args.only):
                continue
            compare(found[0][1], "imports, before the first measured file", 1)
            measured = [compare(path, file, args.rounds) for file, path in found]
            pairs = [pair for pair in measured if pair is not None]
            report(name, pairs, len(measured) - len(pairs))
            all_pairs += pairs
    ratio = sum(pair.ours for pair in all_pairs) / sum(pair.join for pair in all_pairs)
    print(f"all: {ratio:.2f}x (limit {LIMIT:.2f}){'  MISSED' if ratio > LIMIT else ''}")
    return 1 if ratio > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
