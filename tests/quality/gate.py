"""Measures the readers on the gate's files, and keeps the floor that may only rise.

python -m tests.quality.gate             print each missed check and the tallies
python -m tests.quality.gate --update    raise the floor to what was measured
python -m tests.quality.gate --shared    the same for the real files beside the repository
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from regcomments.read.worker import Worker
from regcomments.records import Extraction

from tests.quality.build import all_cases, write
from tests.quality.score import Check, Output, Tally, check, tally

FLOOR = Path(__file__).with_name("floor.json")
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "cases"
# The closing line of the scorer there, with and without --strict.
SUMMARY = re.compile(
    r"files (\d+); status right (\d+); facts (\d+)/(\d+); forbidden strings (\d+); "
    r"OCR page lists (\d+)/(\d+); table rows (\d+)/(\d+)"
)


def measure_generated(folder: Path) -> list[Check]:
    """Write the gate's files below `folder`, read them in a worker, return all checks."""
    cases = all_cases()
    with Worker() as worker:
        return [
            item
            for case, path in zip(cases, write(folder, cases), strict=True)
            for item in check(case, output_of(worker.read(path)))
        ]


def output_of(result: Extraction) -> Output:
    """Return what the scorer looks at; the texts of documents inside follow the file's own."""
    return Output(
        status=str(result.status),
        reason=result.reason and str(result.reason),
        text=whole_text(result),
        ocr_pages=tuple(result.ocr_pages),
    )


def whole_text(result: Extraction) -> str:
    """Return the text of a file and of the documents inside it."""
    return "\n\n".join([result.text, *(whole_text(member.result) for member in result.members)])


def measure_shared(folder: Path) -> tuple[dict[str, Tally], str]:
    """Read the real files, score them with the scorer beside them; return tallies and its report.

    Raises subprocess.CalledProcessError when that scorer fails.
    """
    wanted = [json.loads(line) for line in (SHARED / "cases.jsonl").read_text("utf-8").splitlines()]
    readable = [case for case in wanted if case["status"] in ("ok", "ocr_needed")]
    outputs = folder / "outputs.jsonl"
    with Worker() as worker, outputs.open("w", encoding="utf-8") as handle:
        for name in (case["file"] for case in wanted):
            result = worker.read(SHARED / "files" / name)
            row = {
                "file": name,
                "status": str(result.status),
                "text": whole_text(result),
                "ocr_pages": list(result.ocr_pages),
            }
            handle.write(json.dumps(row) + "\n")
    plain, strict = (run_scorer(outputs, *flags) for flags in ((), ("--strict",)))
    number = list(map(int, SUMMARY.search(plain).groups()))
    # That scorer leaves out what a wrong status made unanswerable; here it counts as missed.
    facts = sum(len(case["must"]) + len(case.get("must_once", ())) for case in readable)
    tables = [case["table"] for case in wanted if case.get("table") and case["status"] == "ok"]
    rows = sum(len(table["rows"]) for table in tables)
    return {
        "status": Tally(number[1], number[0]),
        "status_strict": Tally(int(SUMMARY.search(strict)[2]), number[0]),
        "facts": Tally(number[2], facts),
        "forbidden": Tally(number[0] - number[4], number[0]),
        "ocr_pages": Tally(number[5], len(readable)),
        "rows": Tally(number[7], rows),
    }, plain


def run_scorer(outputs: Path, *flags: str) -> str:
    """Return what the scorer of the real files prints on `outputs`; SUMMARY finds its figures."""
    command = [sys.executable, str(SHARED / "score.py"), str(SHARED), str(outputs), *flags]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class Floor:
    """What was reached: the cases it was measured on, their misses, the tallies of the real files.

    `missed` counts the failed checks by `measure case`.
    """

    cases: frozenset[str] = frozenset()
    missed: Mapping[str, int] = field(default_factory=dict)
    shared: Mapping[str, Tally] = field(default_factory=dict)


def load_floor() -> Floor:
    """Return the pinned floor."""
    raw = json.loads(FLOOR.read_text("utf-8"))
    shared = {measure: Tally(*pair) for measure, pair in raw["shared"].items()}
    return Floor(frozenset(raw["cases"]), raw["missed"], shared)


def save_floor(floor: Floor) -> None:
    """Write the floor."""
    raw = {
        "missed": dict(sorted(floor.missed.items())),
        "shared": {measure: [pair.right, pair.total] for measure, pair in floor.shared.items()},
        "cases": sorted(floor.cases),
    }
    text = json.dumps(raw, indent=1)
    FLOOR.write_text(re.sub(r"\[\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2]", text) + "\n", "utf-8")


def misses(checks: Iterable[Check]) -> dict[str, int]:
    """Return how many checks failed, by `measure case`."""
    return Counter(f"{item.measure} {item.case}" for item in checks if not item.passed)


def fallen(floor: Floor, checks: Sequence[Check]) -> list[str]:
    """Return the misses of pinned cases beyond those known, and the pinned cases that are gone."""
    out = [f"case gone: {name}" for name in sorted(floor.cases - {item.case for item in checks})]
    for key, count in sorted(misses(checks).items()):
        known = floor.missed.get(key, 0)
        if count > known and key.split(" ", 1)[1] in floor.cases:
            out.append(f"{key}: {count} missed, {known} known")
    return out


def raised(floor: Floor, checks: Sequence[Check]) -> Floor:
    """Return the floor that `checks` reach. Raises ValueError when they lie below `floor`.

    A new case may come with misses; from then on it is held to them.
    """
    below = fallen(floor, checks)
    if below:
        raise ValueError("the floor may only rise: " + "; ".join(below))
    return replace(floor, cases=frozenset(item.case for item in checks), missed=misses(checks))


def fallen_shared(pinned: Mapping[str, Tally], measured: Mapping[str, Tally]) -> list[str]:
    """Return the measures of the real files that fell below those pinned."""
    return [
        f"{measure}: {measured[measure].right}, floor {pair.right} of {pair.total}"
        for measure, pair in pinned.items()
        if measured[measure].right < pair.right
    ]


def raised_shared(floor: Floor, measured: Mapping[str, Tally]) -> Floor:
    """Return the floor with the tallies of the real files. Raises ValueError when they fell."""
    below = fallen_shared(floor.shared, measured)
    if below:
        raise ValueError("the floor may only rise: " + "; ".join(below))
    return replace(floor, shared=dict(measured))


def main() -> int:
    """Print the misses and tallies of one set; with --update, raise its floor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="raise the floor")
    parser.add_argument("--shared", action="store_true", help="the real files")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.shared:
            measured, report = measure_shared(Path(folder))
            print(report)
        else:
            checks = measure_generated(Path(folder))
            for item in checks:
                if not item.passed:
                    print(item.measure, item.case, item.what, sep="\t")
            measured = tally(checks)
    for measure, pair in measured.items():
        print(f"{measure}: {pair.right}/{pair.total}")
    if args.update:
        floor = load_floor()
        try:
            save_floor(raised_shared(floor, measured) if args.shared else raised(floor, checks))
        except ValueError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
