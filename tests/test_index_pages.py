"""Page facts and pairs of renditions, from the parts of shards to their tables."""

import gzip
import json
import os
import shutil
import subprocess
import sys

import duckdb
import pytest
from regcomments import index_pages, pagestore
from regcomments.errors import UserError
from regcomments.index import rebuild
from regcomments.records import Page
from regcomments.renditions import Pair
from regcomments.status import Reason
from state_files import OLD_NS, digests, sample_state


@pytest.fixture
def state(tmp_path):
    return sample_state(tmp_path / "state")


def facts(page=1, needs_ocr=False, reason=None, **more):
    return Page(
        page, needs_ocr=needs_ocr, reason=reason, facts={"width": 612.0, "chars": 9, **more}
    )


def pages_of(state):
    table = duckdb.sql(f"SELECT * FROM '{state}/_pages.parquet'")
    return [dict(zip(table.columns, row, strict=True)) for row in table.fetchall()]


def test_page_facts_are_gathered(state):
    pagestore.append_facts(state, "D-1/odd name", {"b" * 64: (facts(2), facts(1, chars=7))})
    pagestore.append_facts(
        state, "D-2", {"a" * 64: (facts(1, True, Reason.SCANNED, looked=True, marks="é"),)}
    )
    assert pagestore.append_facts(state, "D-3", {"c" * 64: (Page(1),)}) is None
    rebuild(state)
    found = pages_of(state)
    assert [(row["sha256"][0], row["page"], row["chars"]) for row in found] == [
        ("a", 1, 9),
        ("b", 1, 7),
        ("b", 2, 9),
    ]
    assert list(found[0])[:5] == ["sha256", "page", "needs_ocr", "reason", "ocr_engine"]
    assert found[0]["needs_ocr"] and found[0]["reason"] == "scanned" and found[0]["marks"] == "é"
    assert [name for name in os.listdir(state / "_pages") if name.endswith(".gz")] == []
    before = digests(state)
    rebuild(state)
    assert digests(state) == before


def test_the_last_facts_of_a_page_win(state):
    first = pagestore.append_facts(state, "s", {"a" * 64: (facts(1, chars=1), facts(2, chars=2))})
    os.utime(first, ns=(OLD_NS, OLD_NS))
    pagestore.append_facts(state, "a", {"a" * 64: (facts(1, chars=3),)})
    rebuild(state)
    assert [row["chars"] for row in pages_of(state)] == [3, 2]
    pagestore.append_facts(state, "z", {"a" * 64: (facts(2, chars=4, extra="new"),)})
    rebuild(state)
    assert [row["chars"] for row in pages_of(state)] == [3, 4]
    assert pages_of(state)[1]["extra"] == "new"


def test_types_of_facts_widen(state):
    pagestore.append_facts(state, "a", {"a" * 64: (facts(1, ink=1, odd=True),)})
    rebuild(state)
    pagestore.append_facts(
        state, "b", {"a" * 64: (facts(2, ink=0.25, odd="x", far=float("inf"), big=2**40),)}
    )
    rebuild(state)
    found = pages_of(state)
    assert [row["ink"] for row in found] == [1.0, 0.25]
    assert [row["odd"] for row in found] == ["true", "x"]
    assert found[1]["big"] == 2**40


def test_equal_parts_have_equal_bytes_and_one_name(state):
    given = {"a" * 64: (facts(1),)}
    path = pagestore.append_facts(state, "s", given)
    raw = path.read_bytes()
    assert pagestore.append_facts(state, "s", given) == path and path.read_bytes() == raw
    assert raw[4:8] == b"\0\0\0\0"  # no time in the gzip header
    assert pagestore.append_facts(state, "s", {"a" * 64: (facts(2),)}) != path


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not gzip",
        gzip.compress(b'{"sha256": "a", "page": 1}\n' * 99)[:-9],
        gzip.compress(b"{]\n"),
        gzip.compress(b"[1]\n"),
        gzip.compress(b'{"page": 1}\n'),
        gzip.compress(b'{"sha256": "a", "page": "one"}\n'),
        gzip.compress(b"\xff\n"),
    ],
)
def test_a_damaged_part_is_set_aside(state, raw):
    pagestore.append_facts(state, "good", {"a" * 64: (facts(1),)})
    (state / "_pages" / "bad.facts.jsonl.gz").write_bytes(raw)
    (state / "_pages" / "bad.pairs.jsonl.gz").write_bytes(raw)
    report = rebuild(state)
    if raw:  # an empty part of pairs has no rows
        assert "_pages/_damaged/bad.pairs.jsonl.gz" in report.damaged_parts
    assert "_pages/_damaged/bad.facts.jsonl.gz" in report.damaged_parts
    assert (state / "_pages" / "_damaged" / "bad.facts.jsonl.gz").read_bytes() == raw
    assert len(pages_of(state)) == 1
    assert rebuild(state).damaged_parts == ()


def test_a_damaged_table_of_pages_is_set_aside(state):
    (state / "_pages.parquet").write_bytes(b"garbage")
    pagestore.append_facts(state, "good", {"a" * 64: (facts(1),)})
    assert rebuild(state).damaged_parts == ("_pages/_damaged/_pages.parquet",)
    assert len(pages_of(state)) == 1


def test_parts_stay_when_the_table_cannot_be_written(state, monkeypatch):
    path = pagestore.append_facts(state, "s", {"a" * 64: (facts(1),)})

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(index_pages, "replace_changed", full)
    with pytest.raises(UserError):
        rebuild(state)
    assert path.exists()
    monkeypatch.undo()
    rebuild(state)
    assert not path.exists() and len(pages_of(state)) == 1


def test_gathering_leaves_parts_to_another_that_is_at_it(state, monkeypatch):
    path = pagestore.append_facts(state, "s", {"a" * 64: (facts(1),)})
    with pagestore.lock(state / "_pages") as held, monkeypatch.context() as patched:
        assert held
        real = pagestore.lock
        patched.setattr(index_pages.pagestore, "lock", lambda folder: real(folder, seconds=0.1))
        rebuild(state)
        assert path.exists()
    rebuild(state)
    assert not path.exists()


def test_pairs_are_gathered(state):
    pairs = [
        ("D-1", "D-1-10000", Pair("attachment_1.docx", "attachment_1.pdf", 0.98765, True)),
        ("D-1", "D-1-0010", Pair("attachment_2.pdf", "attachment_1.pdf", 0.5, False)),
        ("D-1", "D-1-0999", Pair("attachment_1.docx", "attachment_1.pdf", 1.0, True)),
    ]
    pagestore.append_pairs(state, "s", pairs)
    rebuild(state)
    assert (state / "_runs" / "renditions.csv").read_text("utf-8").splitlines() == [
        "docket_id,comment_id,file,same_as,agreement,same",
        "D-1,D-1-0010,attachment_2.pdf,attachment_1.pdf,0.5,false",
        "D-1,D-1-10000,attachment_1.docx,attachment_1.pdf,0.9877,true",
    ]
    pagestore.append_pairs(state, "s", [("D-1", "D-1-0010", Pair(*pairs[1][2].__dict__.values()))])
    shutil.rmtree(state / "D-1" / "D-1-10000")
    before = (state / "_runs" / "renditions.csv").read_bytes()
    rebuild(state)
    after = (state / "_runs" / "renditions.csv").read_bytes()
    assert after == before[: before.rindex(b"D-1,D-1-10000")]


def test_an_edited_table_of_pairs_is_set_aside(state):
    pagestore.append_pairs(
        state, "s", [("D-1", "D-1-10000", Pair("attachment_1.docx", "attachment_1.pdf", 1.0, True))]
    )
    rebuild(state)
    path = state / "_runs" / "renditions.csv"
    good = path.read_bytes()
    path.write_text("docket_id,comment_id\nwhat,is,this\n")
    assert rebuild(state).damaged_parts == ("_runs/renditions.damaged.csv",)
    assert path.read_bytes() == good[: good.index(b"\n") + 1]


def test_rows_of_parts_are_plain_json(state):
    path = pagestore.append_facts(state, "s", {"a" * 64: (facts(1, marks="x\ud800"),)})
    (row,) = pagestore.read_part(path)
    assert row == json.loads(json.dumps(row)) and row["marks"] == "x?"


@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        ((1, None, 3), "BIGINT", [1, None, 3]),
        ((1, 2.5, None), "DOUBLE", [1.0, 2.5, None]),
        ((True, False, None), "BOOLEAN", [True, False, None]),
        ((True, 1, 2.5), "VARCHAR", ["true", "1", "2.5"]),
        (("", "é", None), "VARCHAR", ["", "é", None]),
        ((None, None, None), "VARCHAR", [None, None, None]),
        ((["a", 1], {"b": None}, 1), "VARCHAR", ['["a",1]', '{"b":null}', "1"]),
        ((1, 2**70, 3), "BIGINT", [1, None, 3]),
    ],
)
def test_columns_have_the_type_that_fits_all_values(state, values, kind, stored):
    pages = {"a" * 64: [facts(number, odd=value) for number, value in enumerate(values, start=1)]}
    pagestore.append_facts(state, "s", pages)
    rebuild(state)
    table = duckdb.sql(f"SELECT odd FROM '{state}/_pages.parquet' ORDER BY page")
    assert str(table.types[0]) == kind
    assert [row[0] for row in table.fetchall()] == stored


def test_gathering_many_pages_takes_little_memory(state):
    """One row held at a time but for the sort: 15,000 pages took twice as much in one query."""
    more = {f"fact_{number:02d}": float(number) for number in range(30)}
    for shard in range(5):
        pages = {
            f"{shard:02d}{number:04d}".ljust(64, "a"): [facts(page, **more) for page in (1, 2, 3)]
            for number in range(1000)
        }
        pagestore.append_facts(state, f"s{shard}", pages)
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from regcomments.index import rebuild\n"
        "rebuild(Path(sys.argv[1]))\n"
        # Not getrusage: that begins with what this process held when it forked.
        "status = Path('/proc/self/status').read_text()\n"
        "print(int(status.partition('VmHWM:')[2].split()[0]) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(state)], check=True, capture_output=True, text=True
    )
    assert len(pages_of(state)) == 15_000
    assert int(done.stdout) < 300
