"""The two sets of files whose right answers are known, and how a tool's texts score on them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import regcomments
from regcomments import combined

from tests.benchmarks.measuring import snakemake
from tests.benchmarks.peers.run import read_files
from tests.quality import gate
from tests.quality.build import all_cases, write
from tests.quality.case import Case
from tests.quality.score import Output, check

DOCKET = "FIDELITY-2031-0001"
_PAST = 1_700_000_000  # so that no run waits for the files to settle
_READ = ("ok", "ocr_needed")
_MUST, _ONCE = "must ", "once "


@dataclass(frozen=True)
class Answer:
    """A tool's text of one file; `status` and `ocr_pages` are ours alone."""

    text: str
    status: str = "ok"
    ocr_pages: tuple[int, ...] = ()
    tables: tuple[list[list[str]], ...] = ()


@dataclass(frozen=True)
class Score:
    """What came out: facts held, forbidden strings present, rows of tables whose cells stand apart.

    `held` names the facts held as (file, fact).
    """

    facts: int
    forbidden: int
    rows: int
    held: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class FileSet:
    """Files with right answers: their names and paths, how many facts and rows are asked for."""

    names: tuple[str, ...]
    paths: tuple[Path, ...]
    facts: Mapping[str, int]  # by file
    rows: int
    score: Callable[[Sequence[Answer]], Score]


@dataclass(frozen=True)
class Result:
    """One tool on one set; `cpu` in seconds of all its processes, `empty` files without text."""

    tool: str
    version: str
    score: Score
    empty: int
    cpu: float


def real_files(work: Path) -> FileSet | None:
    """Return the files beside the repository, scored by the scorer there; None when it has none."""
    if not gate.SHARED.is_dir():
        return None
    lines = (gate.SHARED / "cases.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    names = tuple(case["file"] for case in cases)
    facts = {
        case["file"]: [
            *(f"{_MUST}{fact}" for fact in case["must"]),
            *(f"{_ONCE}{fact}" for fact in case.get("must_once", ())),
        ]
        for case in cases
        if case["status"] in _READ
    }
    tables = [case["table"] for case in cases if case.get("table") and case["status"] == "ok"]

    def score(answers: Sequence[Answer]) -> Score:
        outputs = work / "outputs.jsonl"
        with outputs.open("w", encoding="utf-8") as handle:
            for name, answer in zip(names, answers, strict=True):
                row = {"file": name, "status": answer.status, "text": answer.text}
                row |= {"ocr_pages": answer.ocr_pages, "tables": answer.tables}
                handle.write(json.dumps(row) + "\n")
        report = gate.run_scorer(outputs)
        number = list(map(int, gate.SUMMARY.search(report).groups()))
        read = {n for n, answer in zip(names, answers, strict=True) if answer.status in _READ}
        asked = {(name, fact) for name in facts.keys() & read for fact in facts[name]}
        return Score(number[2], number[4], number[7], frozenset(asked - _missed(report)))

    return FileSet(
        names=names,
        paths=tuple(gate.SHARED / "files" / name for name in names),
        facts={name: len(of_file) for name, of_file in facts.items()},
        rows=sum(len(table["rows"]) for table in tables),
        score=score,
    )


def _missed(report: str) -> set[tuple[str, str]]:
    missed = set()
    for line in report.splitlines():
        name, _, said = line.partition("\t")
        what, _, fact = said.partition(": ")
        if what == "missing":
            missed.add((name, f"{_MUST}{fact}"))
        elif what.endswith(" times"):
            missed.add((name, f"{_ONCE}{fact}"))
    return missed


def generated_files(work: Path) -> FileSet:
    """Write the files of the quality gate below `work` and return them."""
    cases = all_cases()
    asked = {case.name: _held(case, Answer("", case.status))[1] for case in cases}

    def score(answers: Sequence[Answer]) -> Score:
        held: set[tuple[str, str]] = set()
        forbidden = rows = 0
        for case, answer in zip(cases, answers, strict=True):
            held |= _held(case, answer)[0]
            forbidden += sum(not item.passed for item in _checks(case, answer, "forbidden"))
            tabled = answer.tables and Answer(_pipes(answer.tables), answer.status)
            rows += sum(item.passed for item in _checks(case, tabled or answer, "rows"))
        return Score(len(held), forbidden, rows, frozenset(held))

    return FileSet(
        names=tuple(case.name for case in cases),
        paths=tuple(write(work / "generated", cases)),
        facts=asked,
        rows=sum(len(case.rows) for case in cases if case.status in _READ),
        score=score,
    )


def _checks(case: Case, answer: Answer, measure: str) -> list:
    # A tool without statuses is asked for the facts of every file that can be read.
    status = answer.status
    if status == "ok" and case.status in _READ:
        status = case.status
    output = Output(status, text=answer.text, ocr_pages=answer.ocr_pages)
    return [item for item in check(case, output) if item.measure == measure]


def _held(case: Case, answer: Answer) -> tuple[set[tuple[str, str]], int]:
    """Return the facts held, named by their number, and how many were asked for."""
    items = _checks(case, answer, "facts")
    held = {(case.name, str(number)) for number, item in enumerate(items) if item.passed}
    return held, len(items)


def _pipes(tables: Sequence[list[list[str]]]) -> str:
    lines = []
    for table in tables:
        for row in table:
            cells = (" ".join(cell.split()).replace("|", "\\|") for cell in row)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def lay_out(paths: Sequence[Path], folder: Path) -> list[Path]:
    """Copy each file into a comment folder of its own below `folder`; return these folders."""
    out = []
    for number, path in enumerate(paths, 1):
        comment = folder / "comments" / DOCKET / f"{DOCKET}-{number:04d}"
        comment.mkdir(parents=True)
        copy = comment / f"attachment_1{path.suffix}"
        shutil.copyfile(path, copy)
        os.utime(copy, (_PAST, _PAST))
        out.append(comment)
    return out


def run_ours(files: FileSet, folder: Path) -> tuple[list[Answer], float]:
    """Run `extract_all` over the files laid out in `folder`; return what combined.md says.

    The second value is the CPU seconds of the whole run. Raises subprocess.CalledProcessError when
    the run fails.
    """
    comments = lay_out(files.paths, folder)
    cost = snakemake(folder, "-j", "2", "extract_all")
    answers = []
    for comment in comments:
        read = combined.read(comment / "combined.md")
        entries = read.head.attachments
        text = "\n\n".join(read.texts[entry.file] for entry in entries)
        answers.append(Answer(text, str(entries[0].status), tuple(entries[0].ocr_pages)))
    return answers, cost.cpu


def measure(tool: str, files: FileSet, work: Path) -> Result:
    """Run one tool over a set; ours is the whole workflow, another one its reader process."""
    if tool == "regcomments":
        answers, cpu = run_ours(files, work / "ours")
        version = regcomments.__version__
        shutil.rmtree(work / "ours")
    else:
        run = read_files(tool, files.paths, work)
        answers = [Answer(reading.text, tables=reading.tables) for reading in run.readings]
        cpu, version = run.cpu, run.version
    empty = sum(not answer.text.strip() for answer in answers)
    return Result(tool, version, files.score(answers), empty, cpu)
