"""The comparison with other tools counts what it should, and survives a tool that hangs or dies."""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.benchmarks import fidelity, prose
from tests.benchmarks.fidelity_sets import Answer, FileSet, Result, Score, generated_files, lay_out
from tests.benchmarks.peers import run
from tests.benchmarks.peers.environments import ENVIRONMENTS
from tests.benchmarks.peers.measure import TOOLS, held, load_phrases, pick
from tests.benchmarks.peers.readers import READERS
from tests.benchmarks.peers.run import Reading, empty_files, read_files
from tests.benchmarks.pool import build_pool
from tests.quality.build import all_cases

TOOL = """#!{python}
import json, os, sys, time
print(json.dumps({{"version": "7"}}), flush=True)
for line in sys.stdin:
    name = os.path.basename(json.loads(line))
    if name == "slow":
        time.sleep(60)
    if name == "deadly":
        os._exit(3)
    answer = {{"error": "broken"}} if name == "bad" else {{"text": name * 200_000, "tables": []}}
    print(json.dumps({{**answer, "cpu": 0.25}}), flush=True)
"""


@dataclass(frozen=True)
class Stand:
    python: Path


@pytest.fixture
def tool(tmp_path, monkeypatch):
    script = tmp_path / "python"
    script.write_text(TOOL.format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setitem(run.ENVIRONMENTS, "stand-in", Stand(script))
    return "stand-in"


def test_a_file_that_hangs_or_kills_the_tool_costs_only_itself(tool, tmp_path):
    names = ["a", "slow", "b", "deadly", "bad", "c"]
    got = read_files(tool, [tmp_path / name for name in names], tmp_path, deadline=2)
    assert got.version == "7"
    assert [(reading.text[:1], reading.failure) for reading in got.readings] == [
        ("a", ""),
        ("", "over 2 s"),
        ("b", ""),
        ("", "the process died"),
        ("", "broken"),
        ("c", ""),
    ]
    assert len(got.readings[0].text) == 200_000  # more than one read of the pipe
    assert empty_files(got.readings) == 3
    assert 0 < got.cpu < 10
    assert got.wall > 2


def test_a_tool_that_cannot_start_is_an_error(tool, tmp_path):
    run.ENVIRONMENTS[tool].python.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(EOFError):
        read_files(tool, [tmp_path / "a"], tmp_path)


def test_our_reader_answers_like_the_others(tmp_path):
    letter = tmp_path / "attachment_1.txt"
    letter.write_text("We support the rule.")
    empty = tmp_path / "attachment_2.pdf"
    empty.write_bytes(b"")
    got = read_files("regcomments", [letter, empty], tmp_path)
    assert got.readings[0].text == "We support the rule."
    assert got.readings[1].failure.startswith("ValueError: failed: empty_file")
    assert got.cpu > 0.1  # the worker's seconds are among them


def test_every_tool_has_a_reader_and_pinned_requirements():
    assert set(TOOLS) == set(READERS)
    for name, environment in ENVIRONMENTS.items():
        pinned = environment.requirements.read_text("utf-8")
        package = READERS[name][0].replace(".", "-")
        assert f"\n{package}==" in f"\n{pinned}"
        assert "--hash=sha256:" in pinned
        assert "://" not in pinned


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It can't be late.\nNobody in Old\nFerry disputes it.", 2),
        ("**It** can’t be late. Nobody in Old Ferry", 1),
        ("", 0),
    ],
)
def test_sentences_are_found_whatever_the_line_ends_and_quotes(text, count):
    wanted = ["It can’t be late.", "Nobody in Old Ferry disputes it."]
    assert held([Reading(text, 0.0)], [wanted]) == count


def test_phrases_are_sentences_of_the_letter(tmp_path):
    letter = prose.letter(Random(3), 9)
    phrases = prose.phrases(letter)
    assert len(set(phrases)) == prose.PHRASES
    assert all(phrase[-1] in ".”" and ". " not in phrase for phrase in phrases)
    assert not any("[^" in phrase or "\0" in phrase for phrase in phrases)


@pytest.mark.slow
def test_pool_keeps_what_its_letters_say(tmp_path):
    pool = build_pool(tmp_path, 0)
    rows = [{"sha256": key, "phrases": value} for key, value in pool.phrases.items()]
    kept = tmp_path / "phrases.jsonl"
    kept.write_text("\n".join(map(json.dumps, rows)))
    assert load_phrases(kept) == pool.phrases
    for path in map(Path, pool.paths["txt"]):
        wanted = pool.phrases[hashlib.sha256(path.read_bytes()).hexdigest()]
        assert held([Reading(path.read_text("cp1252"), 0.0)], [wanted]) == len(wanted) > 0


def test_samples_are_the_same_each_time():
    files = [Path(f"{number}.pdf") for number in range(50)]
    assert pick(files, 9) == pick(files[::-1], 9)
    assert len(pick(files, 80)) == 50


def test_generated_files_score_full_marks_and_none(tmp_path):
    files = generated_files(tmp_path)
    nothing = files.score([Answer("") for _ in files.names])
    assert (nothing.rows, nothing.forbidden) == (0, 0)
    perfect = files.score(
        [
            Answer(
                "\n".join([*case.must, *case.once, *case.order]),
                tables=([list(row) for row in case.rows],) if case.rows else (),
            )
            for case in all_cases()
        ]
    )
    assert perfect.rows == files.rows
    # A string that is asked for twice, once alone and once in an order, stands twice here.
    assert perfect.facts > 0.9 * sum(files.facts.values()) > nothing.facts


def result(tool: str, facts: int, rows: int, cpu: float, held: set[tuple[str, str]]) -> Result:
    return Result(tool, "1", Score(facts, 0, rows, frozenset(held)), 0, cpu)


def test_the_page_says_where_another_tool_is_better():
    files = FileSet(("a.pdf", "b.docx"), (), {"a.pdf": 2, "b.docx": 1}, 1, lambda answers: None)
    ours = result("regcomments", 2, 1, 5.0, {("a.pdf", "x"), ("b.docx", "z")})
    quick = result("quick", 1, 0, 1.0, {("a.pdf", "y")})
    slow = result("slow", 1, 0, 9.0, {("a.pdf", "x")})
    page = fidelity.section(files, [ours, quick, slow], "{files} files\n\n")
    assert "2 files" in page
    assert "| regcomments | 1 | 2 | 0 | 1 | 0 | 5.0 |" in page
    assert "| pdf | 2 | 1 | 1 | 1 |" in page
    assert "- quick: 1.0 s of CPU against 5.0." in page
    assert "- slow" not in page
    assert "doesn't: 1 pdf (quick)." in page


def test_files_are_laid_out_as_settled_comments(tmp_path):
    source = tmp_path / "x.pdf"
    source.write_bytes(b"%PDF-")
    (comment,) = lay_out([source], tmp_path / "state")
    (copy,) = comment.iterdir()
    assert copy.name == "attachment_1.pdf"
    assert copy.stat().st_mtime < source.stat().st_mtime - 3600
