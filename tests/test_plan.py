"""The plan: which comments are pending, and how they are cut into shards."""

import os
import time
from pathlib import Path

import pytest
from regcomments.layout import natural_key, natural_sorted
from regcomments.plan import (
    FEWEST_SECONDS,
    MIN_SECONDS,
    SHARDS_A_SLOT,
    Item,
    Plan,
    PlanOptions,
    Shard,
    cut,
    dockets_between,
    make_plan,
    preview,
    wanted_comments,
)


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
            [("A-1", "0001", "0001", 5)],
        ),
        ({"A-1": 1, "B-1": 1, "C-1": 1}, 0, {}, [("A-1", "0001", "0001", 3)]),
        (
            {"A-1": 1, "B-1": 2},
            0,
            {"shard_comments": 2},
            [("A-1", "0001", "0001", 1), ("B-1", "0001", "0002", 2)],
        ),
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
    assert lines[0] == "  A-1: 3 comments, 3 attachments, 0.0 MB"
    assert lines[-1] == "pending in 2 dockets: 4 comments, 4 attachments, 0.0 MB, 1 shards"


def test_a_docket_that_cannot_be_read_is_a_shard_of_its_own(tmp_path, monkeypatch):
    state = make_state(tmp_path, {"A-1": 1, "B-1": 1, "C-1": 1})
    real = os.scandir

    def scandir(path):
        if str(path).endswith("B-1"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    plan = make_plan(state, PlanOptions())
    assert [(shard.docket, shard.comments) for shard in plan.shards] == [
        ("A-1", 1),
        ("B-1", 0),
        ("C-1", 1),
    ]
    assert set(plan.dockets) == {"A-1", "C-1"}


@pytest.mark.parametrize("slots", [1, 2, 8])
@pytest.mark.parametrize("files", [1, 3])
def test_stretches_cover_every_comment_once_in_order(slots, files):
    sizes = {f"D-{number:03d}": 1 + number * number % 97 for number in range(60)}
    items = [
        Item(docket, f"{docket}-{number}", files, 1000)
        for docket, size in sizes.items()
        for number in range(1, size + 1)
    ]
    shards, dockets = cut(items, PlanOptions(slots=slots))
    found = []
    for shard in shards:
        low, high = natural_key(shard.first), natural_key(shard.last)
        for docket in sizes:
            for item in items if shard.docket <= docket <= shard.through else ():
                key = natural_key(item.comment)
                if item.docket != docket:
                    continue
                if docket == shard.docket and key < low:
                    continue
                if docket == shard.through and key > high:
                    continue
                found.append(item)
    assert found == items
    assert sum(shard.comments for shard in shards) == len(items)
    assert sum(counts[1] for counts in dockets.values()) == len(items) * files
    work = sum(shard.seconds for shard in shards)
    rounds = min(max(int(work / MIN_SECONDS) // slots, 1), SHARDS_A_SLOT)
    bound = max(FEWEST_SECONDS, work / (rounds * slots)) + 0.5
    assert all(shard.seconds <= bound for shard in shards)
    assert len(shards) <= rounds * slots


@pytest.mark.parametrize(
    ("comments", "slots", "shards"),
    [(100, 8, 1), (1000, 2, 2), (7500, 2, 2), (7500, 8, 8), (20_000, 2, 6), (11_000, 1, 3)],
)
def test_each_process_has_as_many_shards(comments, slots, shards):
    items = [Item("D-1", f"D-1-{n}", int(n % 4 == 0), 1000) for n in range(comments)]
    found, _ = cut(items, PlanOptions(slots=slots))
    assert len(found) == shards


def test_dockets_between_leaves_out_those_before_and_behind(tmp_path):
    for name in ("A-1", "B-1", "C-1", "D-1"):
        (tmp_path / name).mkdir()
    assert dockets_between(tmp_path, "B-1", "D-1") == ["B-1", "C-1", "D-1"]
    assert dockets_between(tmp_path, "B-1", "B-1") == ["B-1"]
    assert dockets_between(tmp_path, "A-0", "B-1") == ["A-0", "A-1", "B-1"]


@pytest.mark.parametrize(
    ("done", "redo", "pending"), [((), False, 4), ((1, 2), False, 2), ((2, 4), True, 2)]
)
def test_pending_and_done_in_any_order(tmp_path, done, redo, pending):
    from regcomments.redo import parse_redo

    state = make_state(tmp_path, {"A-1": 4})
    for number in done:
        (state / "A-1" / f"A-1-{number:04d}" / "combined.md").write_text("---\n---\n")
    plan = make_plan(state, PlanOptions(redo=parse_redo("all" if redo else ""), stale=True))
    assert plan.comments == pending
    assert plan.attachments == pending
    assert plan.stale == 0


def test_a_file_added_later_is_stale(tmp_path):
    state = make_state(tmp_path, {"A-1": 3}, done=3)
    for number in (1, 2, 3):
        combined = state / "A-1" / f"A-1-{number:04d}" / "combined.md"
        os.utime(combined, (1_700_000_000, 1_700_000_000))
    folder = state / "A-1" / "A-1-0003"
    for number in (1, 2):
        for path in sorted((state / "A-1" / f"A-1-{number:04d}").iterdir()):
            os.utime(path, (1_600_000_000, 1_600_000_000))
        os.utime(state / "A-1" / f"A-1-{number:04d}", (1_600_000_000, 1_600_000_000))
    (folder / "attachment_2.txt").write_text("new")
    assert make_plan(state, PlanOptions(stale=True)).stale == 1
    assert make_plan(state, PlanOptions()).stale is None


@pytest.mark.parametrize("count", [128, 700, 5000])
@pytest.mark.parametrize("stale", [True, False])
def test_a_large_docket_is_estimated_but_every_pending_comment_is_found(tmp_path, count, stale):
    """Every third has an attachment of 3,000 bytes; every fifth is done."""
    expected = []
    for number in range(1, count + 1):
        folder = tmp_path / "A-1" / f"A-1-{number:04d}"
        folder.mkdir(parents=True)
        if number % 3 == 0:
            (folder / "attachment_1.txt").write_bytes(b"x" * 3000)
        if number % 5 == 0:
            (folder / "combined.md").write_text("---\n---\n")
        else:
            expected.append(folder.name)
    plan = make_plan(tmp_path, PlanOptions(stale=stale))
    found = [
        name
        for shard in plan.shards
        for name in wanted_comments(tmp_path, "A-1", None, shard.first, shard.last)
    ]
    assert found == expected
    assert plan.comments == plan.dockets["A-1"][0] == len(expected)
    assert plan.attachments == sum(shard.attachments for shard in plan.shards)
    assert plan.attachments == pytest.approx(len(expected) / 3, rel=0.35)
    assert plan.size == pytest.approx(len(expected) * 1000, rel=0.35)
    about = count > 128  # 103 are pending then
    assert plan.sampled == ({"A-1"} if about else set())
    assert ("about" in preview(plan)[-1]) is about


@pytest.mark.parametrize(
    "options",
    [{"limit": 10_000}, {"settle_seconds": 1}, {"shard_bytes": 100}, {"shard_comments": 5}],
)
def test_what_needs_every_folder_lists_every_folder(tmp_path, options):
    state = make_state(tmp_path, {"A-1": 200}, size=20)
    for path in state.glob("A-1/*/attachment_1.txt"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    (state / "A-1" / "A-1-0002" / "attachment_2.txt").write_bytes(b"y" * 7)
    os.utime(state / "A-1" / "A-1-0002" / "attachment_2.txt", (1_700_000_000, 1_700_000_000))
    plan = make_plan(state, PlanOptions(**options))
    assert (plan.comments, plan.attachments, plan.size) == (200, 201, 4007)
    assert not plan.sampled
    assert all(shard.size <= options.get("shard_bytes", 1 << 30) for shard in plan.shards)
    assert all(shard.comments <= options.get("shard_comments", 4000) for shard in plan.shards)


def test_an_estimate_is_told_in_few_figures():
    shard = Shard("A-1", "1", "A-1", "9", 4321, 987, 123_456_789)
    exact = Shard("B-1", "1", "B-1", "2", 2, 3, 4_000_000)
    dockets = {"A-1": (4321, 987, 123_456_789), "B-1": (2, 3, 4_000_000)}
    lines = preview(Plan((shard, exact), dockets=dockets, sampled=frozenset({"A-1"})))
    assert lines == [
        "  A-1: 4321 comments, about 1000 attachments, about 100 MB",
        "  B-1: 2 comments, 3 attachments, 4.0 MB",
        "pending in 2 dockets: 4323 comments, about 990 attachments, about 130 MB, 2 shards",
    ]


@pytest.mark.parametrize(
    "names",
    [
        ["A-9", "A-10", "A-0100", "A-100", "A-099"],
        ["A-1", "A-2", "A-"],
        ["A-1", "A-1-1", "A-12"],
        ["A-10", "A-9", "A-100"],
        ["B-\u0663", "B-2", "B-10"],
        ["12", "9", "100"],
    ],
)
def test_numbered_names_are_in_natural_order_by_the_short_way_too(names):
    assert natural_sorted(names) == sorted(names, key=natural_key)
