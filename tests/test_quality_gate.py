"""The readers against generated files of every kind, and against the real ones when they are there.

What they reach is pinned in quality/floor.json, which only `python -m tests.quality.gate --update`
writes, and only upwards.
"""

from __future__ import annotations

import pytest

from tests.quality import gate
from tests.quality.build import all_cases
from tests.quality.case import Case
from tests.quality.score import MEASURES, Check, Output, Tally, check, table_rows, tally


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    return gate.measure_generated(tmp_path_factory.mktemp("gate"))


def test_generated_files_reach_the_floor(checks):
    fallen = gate.fallen(gate.load_floor(), checks)
    missed = [f"{item.measure} {item.case}: {item.what}" for item in checks if not item.passed]
    assert not fallen, "\n".join([*fallen, "all misses:", *missed])


@pytest.mark.slow
@pytest.mark.skipif(not gate.SHARED.is_dir(), reason="the real files are not beside the repository")
def test_real_files_reach_the_floor(tmp_path):
    measured, report = gate.measure_shared(tmp_path)
    fallen = gate.fallen_shared(gate.load_floor().shared, measured)
    assert not fallen, "\n".join([*fallen, report])


def test_every_case_is_pinned():
    assert {case.name for case in all_cases()} == gate.load_floor().cases


def test_names_are_unique_and_every_kind_is_there():
    names = [case.name for case in all_cases()]
    assert len(names) == len(set(names))
    kinds = {name.rpartition(".")[2] for name in names}
    assert kinds >= {"pdf", "docx", "docm", "txt", "html", "rtf", "odt", "xlsx", "pptx"}
    assert kinds >= {"eml", "zip", "jpg", "png", "gif", "bmp", "tif"}


def test_every_measure_is_asked(checks):
    assert all(tally(checks)[measure].total > 10 for measure in MEASURES)


CASE = Case(
    "sample.pdf",
    bytes,
    status="ocr_needed",
    must=("a fact", "x & y"),
    once=("single",),
    order=("first", "second"),
    rows=(("A", "", "3"),),
    must_not=("secret",),
    ocr_pages=(2,),
)
GOOD = "first **a   fact** then\nsecond: x \\& y, single\n\n| A |  | 3 |\n| --- | --- | --- |\n"


@pytest.mark.parametrize(
    ("output", "missed"),
    [
        (Output("ocr_needed", "mixed", GOOD, (2,)), []),
        (Output("ok", None, GOOD, (2,)), ["status"]),
        (Output("ocr_needed", None, GOOD, (1, 2)), ["ocr_pages"]),
        (Output("ocr_needed", None, GOOD.replace("fact", "lie"), (2,)), ["facts"]),
        (Output("ocr_needed", None, GOOD + "single", (2,)), ["facts"]),
        (Output("ocr_needed", None, "second " + GOOD, (2,)), ["facts"]),
        (Output("ocr_needed", None, GOOD.replace("|  |", "|"), (2,)), ["rows"]),
        (Output("ocr_needed", None, GOOD + "secret", (2,)), ["forbidden"]),
        (
            Output("failed", "corrupt"),
            ["status", "facts", "facts", "facts", "facts", "ocr_pages", "rows"],
        ),
    ],
)
def test_scorer_sees_each_fault(output, missed):
    assert [item.measure for item in check(CASE, output) if not item.passed] == missed


def test_reason_counts_only_where_it_is_asked():
    wanted = Case("a.pdf", bytes, "failed", "encrypted")
    assert tally(check(wanted, Output("failed", "corrupt")))["status"] == Tally(0, 1)
    assert tally(check(wanted, Output("failed", "encrypted")))["status"] == Tally(1, 1)
    free = Case("a.pdf", bytes, "failed")
    assert tally(check(free, Output("failed", "corrupt")))["status"] == Tally(1, 1)


def test_table_rows_keep_escaped_bars_and_empty_cells():
    text = "| a\\|b |  | c |\n|---|---|---|\nno | table\n| d | e |"
    assert table_rows(text) == [("a|b", "", "c"), ("d", "e")]


def checks_of(*passed: bool, case: str = "a.pdf") -> list[Check]:
    return [Check("facts", case, f"fact {number}", held) for number, held in enumerate(passed)]


PINNED = gate.Floor(frozenset({"a.pdf"}), {"facts a.pdf": 1}, {"facts": Tally(90, 100)})


@pytest.mark.parametrize(
    ("checks", "falls"),
    [
        (checks_of(True, True, False), False),
        (checks_of(True, False, False), True),
        (checks_of(True, False) + checks_of(False, case="new.pdf"), False),
        (checks_of(True, case="new.pdf"), True),  # the pinned case is gone
    ],
)
def test_floor_holds_each_pinned_case_to_its_misses(checks, falls):
    assert bool(gate.fallen(PINNED, checks)) == falls
    if falls:
        with pytest.raises(ValueError, match="only rise"):
            gate.raised(PINNED, checks)


def test_floor_rises_with_what_is_reached(tmp_path, monkeypatch):
    monkeypatch.setattr(gate, "FLOOR", tmp_path / "floor.json")
    checks = checks_of(True, True) + checks_of(False, case="new.pdf")
    gate.save_floor(gate.raised(PINNED, checks))
    floor = gate.load_floor()
    assert floor.missed == {"facts new.pdf": 1}
    assert floor.cases == {"a.pdf", "new.pdf"}
    assert gate.fallen(floor, checks_of(True, False))


@pytest.mark.parametrize(("right", "falls"), [(89, True), (90, False), (95, False)])
def test_floor_of_the_real_files(right, falls):
    measured = {"facts": Tally(right, 100)}
    assert bool(gate.fallen_shared(PINNED.shared, measured)) == falls
    if falls:
        with pytest.raises(ValueError, match="only rise"):
            gate.raised_shared(PINNED, measured)
    else:
        assert gate.raised_shared(PINNED, measured).shared == measured
