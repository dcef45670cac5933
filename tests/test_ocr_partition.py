"""Shares of hosts: every page once, the same everywhere, and near the ideal."""

import random
import statistics
from dataclasses import replace

import pytest
from regcomments.errors import UserError
from regcomments.hosts import load_facts
from regcomments.ocr.partition import (
    Host,
    host_of,
    makespan,
    partition,
    plan_text,
    remaining,
    shares,
)
from regcomments.ocr.queue import Row
from regcomments.workflow import host_facts

HOSTS = [Host("rig", 1.0), Host("laptop", 0.62), Host("rack", 0.45)]
SPEEDS = {host.name: host.speed for host in HOSTS}


def corpus(rng: random.Random, files: int = 1800) -> list[Row]:
    """Return a queue like the real one: log-normal page counts with a heavy tail, one docket
    with two fifths of the pages, a few comments with many attachments, 45 dockets."""
    counts = [max(1, min(900, int(rng.lognormvariate(1.4, 1.25)))) for _ in range(files)]
    dockets = [f"CMS-{rng.randint(2009, 2025)}-{rng.randint(1, 220):04d}" for _ in range(45)]
    big, total, rows = 0, sum(counts), []
    for number, count in enumerate(counts):
        docket = dockets[0] if big < 0.4 * total else rng.choice(dockets[1:])
        big += count if docket == dockets[0] else 0
        comment = number - number % 9 if number % 40 < 9 else number
        rows.append(
            Row(
                docket,
                f"{docket}-{comment:05d}",
                f"attachment_{number % 9 + 1}.pdf",
                f"{number:064x}",
                tuple(range(1, count + 1)),
            )
        )
    return rows


def pages_of(rows) -> list[tuple[str, int]]:
    return sorted((row.sha256, page) for row in rows for page in row.pages)


def loads(parts) -> dict[str, int]:
    return {name: sum(len(row.pages) for row in rows) for name, rows in parts.items()}


def test_every_page_once_and_the_same_on_every_host():
    rng = random.Random(7)
    rows = corpus(rng)
    parts = partition(rows, HOSTS)
    assert pages_of(row for part in parts.values() for row in part) == pages_of(rows)
    shuffled, hosts = rows[:], HOSTS[::-1]
    rng.shuffle(shuffled)
    assert partition(shuffled, hosts) == parts


def test_comments_stay_whole_unless_large():
    rows = corpus(random.Random(3))
    owner: dict[tuple[str, str], set[str]] = {}
    pages: dict[tuple[str, str], int] = {}
    for name, part in partition(rows, HOSTS).items():
        for row in part:
            owner.setdefault(row.comment_key, set()).add(name)
            pages[row.comment_key] = pages.get(row.comment_key, 0) + len(row.pages)
    limit = 0.2 * sum(pages.values()) * 0.45 / 2.07
    assert all(len(names) == 1 for key, names in owner.items() if pages[key] <= limit)


def test_near_the_ideal_over_heavy_tailed_queues():
    exact, off = [], []
    for seed in range(20):
        rng = random.Random(seed)
        counts = loads(partition(corpus(rng), HOSTS))
        total = sum(counts.values())
        exact.append(makespan(counts, SPEEDS) / (total / sum(SPEEDS.values())))
        for _ in range(50):
            true = {name: speed * rng.uniform(0.8, 1.2) for name, speed in SPEEDS.items()}
            off.append(makespan(counts, true) / (total / sum(true.values())))
    assert max(exact) <= 1.02
    assert statistics.mean(off) <= 1.12


def test_one_giant_file_is_read_by_all():
    rows = [Row("D", "C", "attachment_1.pdf", "a" * 64, tuple(range(1, 5001)))]
    parts = partition(rows, HOSTS)
    assert pages_of(row for part in parts.values() for row in part) == pages_of(rows)
    counts = loads(parts)
    assert makespan(counts, SPEEDS) <= 1.02 * 5000 / sum(SPEEDS.values())
    assert all(len(part) == 1 for part in parts.values())


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_small_queues_lose_nothing(count):
    rows = [Row("D", f"C{n}", "attachment_1.pdf", f"{n:064x}", (1,)) for n in range(count)]
    parts = partition(rows, HOSTS)
    assert pages_of(row for part in parts.values() for row in part) == pages_of(rows)
    assert set(parts) == {"rig", "laptop", "rack"}


def test_a_host_that_is_away_gets_nothing():
    rows = corpus(random.Random(1), 60)
    away = [Host("rig", 1.0), Host("laptop", 0.62, active=False)]
    parts = partition(rows, away)
    assert set(parts) == {"rig"}
    assert pages_of(parts["rig"]) == pages_of(rows)
    with pytest.raises(UserError, match="no host is active"):
        partition(rows, [Host("rig", 1.0, active=False)])


def test_hosts_that_start_late_dont_take_what_others_have():
    rows = corpus(random.Random(5), 300)
    early = partition(rows, HOSTS)
    # The rig has read all of its share before the others draw their plan.
    read = set(pages_of(early["rig"]))
    left = [
        replace(row, pages=tuple(p for p in row.pages if (row.sha256, p) not in read))
        for row in rows
    ]
    late = {name: remaining(part, left) for name, part in partition(rows, HOSTS).items()}
    assert late["rig"] == ()
    assert {name: late[name] for name in ("laptop", "rack")} == {
        name: early[name] for name in ("laptop", "rack")
    }


def test_plan_says_pages_hours_and_the_end():
    rows = [Row("D", "C", "attachment_1.pdf", "a" * 64, tuple(range(1, 2071)))]
    text = plan_text(shares(rows, HOSTS))
    assert "rig" in text and "2070 pages" in text
    assert "of the ideal 0.28 h" in text
    assert plan_text(shares([], HOSTS)).endswith("0 pages, the last host is done after 0.00 h")


def load_hosts(folder):
    return [host_of(facts) for facts in load_facts(folder)]


def test_host_files(tmp_path):
    (tmp_path / "rig.yaml").write_text("pages_per_second: 2\ngpu: RTX 4090\nserver: {x: 1}\n")
    (tmp_path / "rack.yaml").write_text("pages_per_second: 0.5\nactive: false\n")
    assert load_hosts(tmp_path) == [
        Host("rack", 0.5, active=False),
        Host("rig", 2.0, gpu="RTX 4090"),
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", "pages_per_second: fast", "pages_per_second: 0", "pages_per_second: -1",
             "pages_per_second: .inf", "pages_per_second: 1\nactive: perhaps", "{", "gpu: x"]
)  # fmt: skip
def test_bad_host_files_are_named(tmp_path, text):
    (tmp_path / "rig.yaml").write_text(text)
    with pytest.raises(UserError, match=r"rig\.yaml"):
        load_hosts(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "gpu: x", "pages_per_second: fast", "pages_per_second: 1\nactve: no",
             "pages_per_second: 1\nserver: http://rig:8000", "pages_per_second: 1\nname: rack"]
)  # fmt: skip
def test_crash_of_every_run_on_a_bad_host_file(tmp_path, text):
    folder = tmp_path / "config" / "hosts"
    folder.mkdir(parents=True)
    (folder / "rig.yaml").write_text(text)
    for host in ("rig", None):
        with pytest.raises(UserError, match=r"rig\.yaml"):
            host_facts({"host": host}, tmp_path)
