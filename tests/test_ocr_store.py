"""The write-once store: names, bytes, union, damage, races."""

import json
import os
import threading
from dataclasses import replace

import pytest
from regcomments.ocr import store
from regcomments.ocr.engines import Opinion, Outcome, PageResult

from tests.ocr_fakes import FaultyEngine

SHA = "ab" * 32
ENGINE = FaultyEngine()
OTHER = replace(ENGINE, digest="ffffffffffff", name="marker")


def text(number: int, words: str = "read", **more) -> PageResult:
    return PageResult(number, Outcome.TEXT, words, 0.9, **more)


def failed(number: int) -> PageResult:
    return PageResult(number, Outcome.FAILED, error="HTTP 500")


def save(state, results, attempts=None, engine=ENGINE, part=False):
    return store.write(state, SHA, engine, results, attempts or {}, part=part)


def test_reads_back_what_was_written(tmp_path):
    page = text(
        3,
        "a \ufffd ü 漢\n\nline",
        flags=("rotated:90",),
        second=Opinion("tesseract", "b", 0.25),
        seconds=4.2,
    )
    path = save(tmp_path, [page, PageResult(1, Outcome.NOTHING)])
    assert path == tmp_path / "_ocr" / "ab" / f"{SHA}.faulty-0123456789ab.json"
    found = store.lookup(tmp_path, SHA)
    assert found.pages[3].result == replace(page, seconds=0.0)
    assert found.pages[1].result.outcome == Outcome.NOTHING
    assert list(found.pages) == [1, 3]
    assert found.done == {"faulty-0123456789ab": {1, 3}}


def test_same_results_same_bytes_in_any_order_and_time(tmp_path):
    one = save(tmp_path / "a", [text(1, seconds=1.0), text(2)])
    two = save(tmp_path / "b", [text(2), text(1, seconds=9.0)])
    assert one.read_bytes() == two.read_bytes()
    assert one.name == two.name


def test_nothing_stored_is_none(tmp_path):
    assert store.lookup(tmp_path, SHA) is None
    save(tmp_path, [text(1)])
    assert store.lookup(tmp_path, "cd" * 32) is None


def test_a_file_is_never_changed(tmp_path):
    first = save(tmp_path, [failed(1), text(2)])
    before = first.read_bytes()
    second = save(tmp_path, [text(1, "later")], {1: 2})
    third = save(tmp_path, [text(1, "another"), text(3)])
    assert first.read_bytes() == before
    assert len({first, second, third}) == 3
    found = store.lookup(tmp_path, SHA)
    assert {n: p.result.outcome for n, p in found.pages.items()} == dict.fromkeys(
        (1, 2, 3), Outcome.TEXT
    )


@pytest.mark.parametrize(
    ("there", "new", "files"),
    [
        ([text(1)], [text(1)], 1),  # the same bytes
        ([text(1, "one")], [text(1, "two")], 1),  # done already: the first stands
        ([text(1)], [failed(1)], 1),  # worse than what is there
        ([failed(1)], [text(1)], 2),  # better
        ([text(1)], [text(1), text(2)], 2),  # holds more
    ],
)
def test_a_taken_name(tmp_path, there, new, files):
    save(tmp_path, there)
    save(tmp_path, new)
    assert len(store.stored_files(tmp_path, SHA)) == files


def test_parts_and_attempts_have_names_of_their_own(tmp_path):
    names = [
        save(tmp_path, [text(1), text(25)], part=True).name,
        save(tmp_path, [failed(26), text(50)], part=True).name,
        save(tmp_path, [text(26)], {26: 2}, part=True).name,
    ]
    stem = f"{SHA}.faulty-0123456789ab"
    assert names == [
        f"{stem}.p0001-0025.json",
        f"{stem}.p0026-0050.json",
        f"{stem}.p0026-0026.a2.json",
    ]
    found = store.lookup(tmp_path, SHA)
    assert found.attempts["faulty-0123456789ab"] == {1: 1, 25: 1, 26: 2, 50: 1}
    assert found.pages[26].attempt == 2


@pytest.mark.parametrize(
    ("mine", "theirs", "preferred", "wins"),
    [
        (text(1, "mine"), text(1, "theirs"), "faulty", "mine"),
        (text(1, "mine"), text(1, "theirs"), "marker", "theirs"),
        (text(1, "mine"), text(1, "theirs"), "marker-ffffffffffff", "theirs"),
        (failed(1), text(1, "theirs"), "faulty", "theirs"),
        (PageResult(1, Outcome.UNREADABLE, "7"), text(1, "theirs"), "faulty", "theirs"),
        (PageResult(1, Outcome.UNREADABLE, "7"), failed(1), "marker", "7"),
    ],
)
def test_which_result_wins(tmp_path, mine, theirs, preferred, wins):
    save(tmp_path, [mine])
    save(tmp_path, [theirs], engine=OTHER)
    assert store.lookup(tmp_path, SHA, preferred).pages[1].result.markdown == wins


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\x00" * 200,
        b"[]",
        b"{" * 5000,
        b'{"schema": 99}',
        b'{"schema": 1, "sha256": "%s"}' % (b"cd" * 32),
    ],
)
def test_damage_is_told_and_left_out(tmp_path, damage):
    path = save(tmp_path, [text(1)])
    bad = path.with_name(path.name.replace(".json", ".a2.json"))
    bad.write_bytes(damage)
    found = store.lookup(tmp_path, SHA)
    assert found.pages[1].result.markdown == "read"
    assert len(found.problems) == 1 and bad.name in found.problems[0]


def test_a_cut_file_doesnt_block_its_name(tmp_path):
    path = save(tmp_path, [text(1), text(2)])
    path.write_bytes(path.read_bytes()[:90])
    again = save(tmp_path, [text(1), text(2)])
    assert again != path
    assert sorted(store.lookup(tmp_path, SHA).pages) == [1, 2]


def test_names_that_are_not_ours_are_ignored(tmp_path):
    path = save(tmp_path, [text(1)])
    for name in (f"{SHA}.x.json", f"{SHA}.faulty-0123456789ab.json.tmp", f".{path.name}"):
        path.with_name(name).write_text("no")
    assert store.lookup(tmp_path, SHA).problems == ()


def test_many_writers_of_one_name_lose_nothing(tmp_path):
    def work(number: int) -> None:
        save(tmp_path, [text(number)])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 13)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(store.lookup(tmp_path, SHA).pages) == list(range(1, 13))
    leftovers = [name for name in os.listdir(tmp_path / "_ocr" / "ab") if name.startswith(".")]
    assert leftovers == []


def test_without_hard_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = save(tmp_path, [text(1)])
    assert json.loads(path.read_bytes())["pages"]["1"]["markdown"] == "read"
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        save(tmp_path, [text(1)])
    assert list((tmp_path / "_ocr" / "ab").iterdir()) == []
    assert store.lookup(tmp_path, SHA) is None


def test_stores_are_joined_by_copying(tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    save(here, [text(1)], part=True)
    save(there, [text(2)], part=True)
    for path in store.stored_files(there, SHA):
        (here / "_ocr" / "ab" / path.name).write_bytes(path.read_bytes())
    assert sorted(store.lookup(here, SHA).pages) == [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"attempt": float("inf")},
        {"attempt": 0},
        {"attempt": True},
        {"attempt": "2"},
        {"markdown": None},
        {"markdown": "half a \ud800 sign"},
        {"confidence": "sure"},
        {"confidence": 10**400},
        {"error": {"code": 500}},
        {"flags": "doubtful"},
        {"flags": [1]},
        {"second": {"engine": "tesseract", "markdown": 5, "agreement": 0.5}},
        {"second": {"engine": "tesseract", "markdown": "", "agreement": "half"}},
        {"second": {"engine": "tesseract", "markdown": "\udfff", "agreement": 0.5}},
    ],
    ids=str,
)
def test_damaged_value_in_a_stored_page_is_left_out_and_ends_no_run(tmp_path, change):
    path = save(tmp_path, [text(1)])
    content = json.loads(path.read_bytes())
    content["pages"]["1"] |= change
    path.write_text(json.dumps(content))
    found = store.lookup(tmp_path, SHA)
    assert found.pages == {} and len(found.problems) == 1


@pytest.mark.parametrize(
    "page",
    [
        PageResult(1, Outcome.FAILED, error="HTTP 500: \ud800"),
        PageResult(1, Outcome.TEXT, "a \udc00 sign"),
        text(1, second=Opinion("tesseract", "a \udc00 sign", 0.5)),
        text(1, flags=("odd \ud800",)),
    ],
    ids=["error", "markdown", "second", "flag"],
)
def test_lost_pages_when_a_server_answers_half_a_surrogate_pair(tmp_path, page):
    save(tmp_path, [page, text(2, "the other page")])
    found = store.lookup(tmp_path, SHA)
    assert found.problems == () and sorted(found.pages) == [1, 2]


def test_invalid_json_from_a_confidence_that_is_no_number(tmp_path):
    path = save(tmp_path, [replace(text(1), confidence=float("nan"))])
    assert "NaN" not in path.read_text()
    path.write_text(path.read_text().replace('"attempt"', '"confidence": NaN, "attempt"'))
    assert store.lookup(tmp_path, SHA).pages[1].result.confidence is None


def test_attempts_uncounted_when_the_name_of_the_next_one_is_taken(tmp_path):
    """Results of another host with the same pages may bear the name of our next attempt."""
    key = "faulty-0123456789ab"
    pages = [failed(1), text(2), failed(3), failed(4)]
    theirs = [failed(1), failed(2), text(3), failed(4)]
    save(tmp_path, pages, part=True)
    assert save(tmp_path, theirs, part=True).name.endswith(".a2.json")
    for attempt in (2, 3):
        save(tmp_path, [failed(1), failed(4)], {1: attempt, 4: attempt}, part=True)
        assert store.lookup(tmp_path, SHA).attempts[key][1] == attempt


def test_temporary_files_left_behind_by_a_kill_are_removed_a_day_later(tmp_path):
    folder = save(tmp_path, [text(1)]).parent
    old, new = folder / ".abc123.tmp", folder / ".def456.tmp"
    for path in (old, new):
        path.write_text("half a res")
    os.utime(old, (1e9, 1e9))
    os.utime(save(tmp_path, [text(2)], part=True), (1e9, 1e9))
    store._sweep.cache_clear()  # as in another process
    save(tmp_path, [text(3)], part=True)
    assert (old.exists(), new.exists()) == (False, True)
    assert sorted(store.lookup(tmp_path, SHA).pages) == [1, 2, 3]
