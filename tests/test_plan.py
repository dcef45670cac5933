"""The plan: which comments are pending, and how they are cut into shards."""

import os
import time
from pathlib import Path

import pytest
from regcomments.plan import PlanOptions, make_plan, preview, wanted_comments


def make_state(root: Path, counts: dict[str, int], done: int = 0, size: int = 10) -> Path:
    for docket, count in counts.items():
        for number in range(1, count + 1):
            folder = root / docket / f"{docket}-{number:04d}"
            folder.mkdir(parents=True)
            (folder / "attachment_1.txt").write_bytes(b"x" * size)
            if number <= done:
                (folder / "combined.md").write_text("---\n---\n")
    return root


def spans(plan):
    return [
        (shard.docket, shard.first[-4:], shard.last[-4:], shard.comments) for shard in plan.shards
    ]


@pytest.mark.parametrize(
    ("counts", "done", "options", "expected"),
    [
        ({"A-1": 3}, 0, {}, [("A-1", "0001", "0003", 3)]),
        ({"A-1": 3}, 2, {}, [("A-1", "0003", "0003", 1)]),
        ({"A-1": 3}, 3, {}, []),
        ({"A-1": 2, "B-1": 2}, 0, {"docket": "B-1"}, [("B-1", "0001", "0002", 2)]),
        (
            {"A-1": 4, "B-1": 4},
            0,
            {"limit": 5},
            [("A-1", "0001", "0004", 4), ("B-1", "0001", "0001", 1)],
        ),
        ({"A-1": 30}, 0, {}, [("A-1", "0001", "0025", 25), ("A-1", "0026", "0030", 5)]),
        ({"A-1": 3}, 0, {"shard_bytes": 15}, [("A-1", f"000{n}", f"000{n}", 1) for n in (1, 2, 3)]),
        (
            {"A-1": 3},
            0,
            {"shard_comments": 2},
            [("A-1", "0001", "0002", 2), ("A-1", "0003", "0003", 1)],
        ),
    ],
)
def test_shards_hold_what_is_pending(tmp_path, counts, done, options, expected):
    plan = make_plan(make_state(tmp_path, counts, done), PlanOptions(**options))
    assert spans(plan) == expected


def test_absent_state_has_no_shards(tmp_path):
    assert make_plan(tmp_path / "nowhere", PlanOptions()).shards == ()


def test_things_that_are_no_comments_are_not_planned(tmp_path):
    state = make_state(tmp_path / "state", {"A-1": 1})
    (state / "_ocr" / "ab").mkdir(parents=True)
    (state / ".hidden" / "x").mkdir(parents=True)
    (state / "A-1" / "_tmp").mkdir()
    (state / "stray.txt").write_text("x")
    outside = tmp_path / "outside"
    outside.mkdir()
    (state / "A-1" / "link").symlink_to(outside, target_is_directory=True)
    assert spans(make_plan(state, PlanOptions())) == [("A-1", "0001", "0001", 1)]


def test_young_files_are_left_for_the_next_run(tmp_path):
    state = make_state(tmp_path, {"A-1": 2})
    old = time.time() - 600
    os.utime(state / "A-1" / "A-1-0001" / "attachment_1.txt", (old, old))
    plan = make_plan(state, PlanOptions(settle_seconds=120))
    assert spans(plan) == [("A-1", "0001", "0001", 1)]
    assert plan.settling == 1


def test_a_job_finds_the_comments_of_its_stretch(tmp_path):
    state = make_state(tmp_path, {"A-1": 12}, done=2)
    names = wanted_comments(state, "A-1", None, "A-1-0002", "A-1-0005")
    assert [name[-4:] for name in names] == ["0003", "0004", "0005"]


def test_natural_order_puts_9_before_10(tmp_path):
    for number in (10, 9, 100):
        (tmp_path / "A-1" / f"A-1-{number}").mkdir(parents=True)
    names = list(wanted_comments(tmp_path, "A-1", None, "A-1-9", "A-1-10"))
    assert names == ["A-1-9", "A-1-10"]


def test_preview_counts_comments_attachments_and_bytes(tmp_path):
    lines = preview(make_plan(make_state(tmp_path, {"A-1": 3, "B-1": 1}), PlanOptions()))
    assert lines[0] == "  A-1: 3 comments, 3 attachments, 0.0 MB, 1 shards"
    assert lines[-1] == "pending in 2 dockets: 4 comments, 4 attachments, 0.0 MB, 2 shards"
