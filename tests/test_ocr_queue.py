"""The queue: what is wanted, once per content, minus what the store has; and its jobs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from regcomments.ocr import store
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.ocr.plan import pages_a_job
from regcomments.ocr.queue import (
    Queue,
    Row,
    build_queue,
    read_queue,
    read_rows,
    shards,
    write_queue,
    write_rows,
)

from tests.ocr_fakes import FaultyEngine, entry, head, put

ENGINE = FaultyEngine()
A, B = "aa" * 32, "bb" * 32


def heads_of(state, *comments):
    return [(state / "T-2024-0001" / item.comment_id / "combined.md", item) for item in comments]


def test_only_wanted_pages_and_each_content_once(tmp_path):
    heads = heads_of(
        tmp_path,
        head("C-10", entry("attachment_1.pdf", (2, 5), A)),
        head("C-2", entry("attachment_1.pdf", (2, 5), A), entry("attachment_2.pdf", (), B)),
        head("C-3", entry("attachment_1.zip/a/b.pdf", (1,), B)),
    )
    queue = build_queue(heads, tmp_path, ENGINE)
    assert queue.rows == (
        Row("T-2024-0001", "C-2", "attachment_1.pdf", A, (2, 5), 9),
        Row("T-2024-0001", "C-3", "attachment_1.zip/a/b.pdf", B, (1,), 9),
    )
    assert queue.comments == tuple(("T-2024-0001", c) for c in ("C-2", "C-3", "C-10"))
    assert queue.pages == 3
    assert build_queue(reversed(heads), tmp_path, ENGINE) == queue
    assert build_queue(((p.parent, h) for p, h in heads), tmp_path, ENGINE) == queue


@pytest.mark.parametrize(
    ("outcome", "attempt", "queued", "counted"),
    [
        (Outcome.TEXT, 1, False, "stored"),
        (Outcome.NOTHING, 1, False, "stored"),
        (Outcome.UNREADABLE, 1, False, "unreadable"),
        (Outcome.FAILED, 1, True, None),
        (Outcome.FAILED, 2, True, None),
        (Outcome.FAILED, 3, False, "exhausted"),
    ],
)
def test_what_the_store_has(tmp_path, outcome, attempt, queued, counted):
    result = PageResult(2, outcome, "text" if outcome == Outcome.TEXT else "")
    store.write(tmp_path, A, ENGINE, [result], {2: attempt}, part=False)
    heads = heads_of(tmp_path, head("C-1", entry("attachment_1.pdf", (1, 2), A)))
    queue = build_queue(heads, tmp_path, ENGINE, max_attempts=3)
    assert queue.rows[0].pages == ((1, 2) if queued else (1,))
    counts = {name: getattr(queue, name) for name in ("stored", "unreadable", "exhausted")}
    assert counts == {**dict.fromkeys(counts, 0), **({counted: 1} if counted else {})}
    other = replace(ENGINE, digest="ffffffffffff")
    assert build_queue(heads, tmp_path, other).rows[0].pages == (1, 2)


def test_wanted_pages_dont_move_while_hosts_read(tmp_path):
    heads = heads_of(tmp_path, head("C-1", entry("attachment_1.pdf", (1, 2), A)))
    before = build_queue(heads, tmp_path, ENGINE).wanted
    store.write(tmp_path, A, ENGINE, [PageResult(1, Outcome.TEXT, "x")], {}, part=True)
    after = build_queue(heads, tmp_path, ENGINE)
    assert after.wanted == before and after.rows != before


def test_stored_pages_of_a_twin_are_still_merged(tmp_path):
    store.write(tmp_path, A, ENGINE, [PageResult(1, Outcome.TEXT, "x")], {}, part=False)
    twins = heads_of(
        tmp_path, *(head(f"C-{n}", entry("attachment_1.pdf", (1,), A)) for n in (1, 2))
    )
    queue = build_queue(twins, tmp_path, ENGINE)
    assert queue.rows == ()
    assert queue.comments == (("T-2024-0001", "C-1"), ("T-2024-0001", "C-2"))


def test_twins_that_were_graded_differently_are_read_together(tmp_path):
    heads = heads_of(
        tmp_path,
        head("C-1", entry("attachment_1.pdf", (1,), A)),
        head("C-2", entry("attachment_1.pdf", (3, 1), A)),
    )
    assert build_queue(heads, tmp_path, ENGINE).rows[0].pages == (1, 3)


def test_missing_hashes_are_made_or_told(tmp_path):
    digest = put(tmp_path, "C-1", "attachment_1.pdf", b"%PDF-1.4 x")
    heads = heads_of(
        tmp_path,
        head("C-1", entry("attachment_1.pdf", (1,)), entry("attachment_2.pdf", (1,))),
    )
    queue = build_queue(heads, tmp_path, ENGINE)
    assert [row.sha256 for row in queue.rows] == [digest]
    assert len(queue.problems) == 1 and "attachment_2.pdf" in queue.problems[0]


def test_files_read_back(tmp_path):
    rows = (Row("D", "C \u2028", "attachment_1.zip/brief\u00fc.pdf", A, (1, 3), None),)
    heads = heads_of(tmp_path, head("C-1", entry("attachment_1.pdf", (1, 2), A)))
    queue = build_queue(heads, tmp_path, ENGINE)
    write_queue(tmp_path / "q", queue)
    assert read_queue(tmp_path / "q") == replace(queue, wanted=())
    write_rows(tmp_path / "r", rows)
    assert tuple(read_rows(tmp_path / "r")) == rows


rows_strategy = st.lists(st.integers(1, 700), max_size=60).map(
    lambda counts: [
        Row("D", f"C-{n}", "attachment_1.pdf", f"{n:064x}", tuple(range(1, count + 1)))
        for n, count in enumerate(counts)
    ]
)


@given(rows_strategy)
def test_jobs_hold_every_page_once_within_bounds(rows):
    jobs = shards(rows, 300)
    sizes = [sum(len(row.pages) for row in job) for job in jobs]
    pages = sorted((row.sha256, page) for job in jobs for row in job for page in row.pages)
    assert pages == sorted((row.sha256, page) for row in rows for page in row.pages)
    assert all(0 < size <= 300 for size in sizes)
    assert sizes == sorted(sizes, reverse=True)
    assert sum(size < 150 for size in sizes) <= 1  # two half-empty ones would have been one
    assert shards(list(reversed(rows)), 300) == jobs


@pytest.mark.parametrize(
    ("pages", "slots", "expected"),
    [(120, 1, 300), (1000, 1, 300), (120, 2, 30), (120, 8, 7), (10, 8, 4), (9000, 2, 300)],
)
def test_pages_of_a_job(pages, slots, expected):
    assert pages_a_job(pages, 300, slots) == expected


def test_crash_of_the_queue_on_a_name_that_isnt_utf_8(tmp_path):
    """A folder's name is bytes; those that aren't UTF-8 come as surrogates."""
    row = Row("T-2024-0001", "C-\udcff", "caf\udce9\u2028.pdf", A, (1,), 1)
    write_rows(tmp_path / "rows.jsonl", [row])
    assert read_rows(tmp_path / "rows.jsonl") == [row]
    queue = Queue("faulty-1", (row,), (row.comment_key,), problems=("C-\udcff: not there",))
    write_queue(tmp_path / "queue.jsonl", queue)
    assert read_queue(tmp_path / "queue.jsonl") == queue


@pytest.mark.parametrize("inside", ["", "/letter.pdf"])
def test_lost_pages_when_the_first_of_two_comments_with_a_content_lost_its_file(tmp_path, inside):
    name = "attachment_1.zip" if inside else "attachment_1.pdf"
    put(tmp_path, "C-2", name, b"kept")
    entries = [head(comment, entry(name + inside, (1,), A)) for comment in ("C-1", "C-2", "C-3")]
    heads = heads_of(tmp_path, *entries)
    (row,) = build_queue(heads, tmp_path, ENGINE).rows
    assert (row.comment, row.file) == ("C-2", name + inside)
    put(tmp_path, "C-1", name, b"back")
    assert build_queue(heads, tmp_path, ENGINE).rows[0].comment == "C-1"
