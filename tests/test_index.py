"""The index: columns, increments, damage, page facts, stale and orphaned items."""

import csv
import os
import random
import shutil

import pytest
from regcomments import index
from regcomments.errors import UserError
from regcomments.index import heads, rebuild, stale
from regcomments.index_rows import format_pages, parse_pages
from state_files import OLD_NS, digests, entry, sample_state, write_comment

TABLES = ["_index.csv", "_attachments.csv", "_index.parquet", "_attachments.parquet"]


INDEX_CSV = """\
comment_id,docket_id,extracted_at,chars,n_attachments,n_ok,n_ocr_needed,n_failed,\
n_unsupported,n_members,n_pages,n_ocr_pages,inline_chars,inline_missing,n_warnings,tool
D-1-0002,D-1,2026-04-23T13:45:00Z,0,0,0,0,0,0,0,0,0,0,false,0,
D-1-0010,D-1,2026-04-23T13:45:00Z,108,3,1,1,1,0,0,5,3,8,false,0,regcomments 0.1.0
D-1-10000,D-1,2026-04-23T13:45:00Z,65,3,3,0,0,0,1,4,0,8,true,1,
D-2-0001,D-2,2026-04-23T13:45:00Z,8,1,0,0,0,1,0,0,0,8,false,0,
"""


def rows(path):
    with open(path, newline="", encoding="utf-8") as handle:
        return list(csv.DictReader(handle))


def tables(state):
    return {
        name: value for name, value in digests(state).items() if "/" not in name or "_runs" in name
    }


def full_copy(state, tmp_path):
    """Rebuild the index of a copy of `state` (times kept) from nothing; return its tables."""
    copy = tmp_path / f"copy{random.random()}"
    shutil.copytree(
        state, copy, ignore=shutil.ignore_patterns("_index*", "_attachments*", "failures*")
    )
    rebuild(copy)
    return tables(copy)


@pytest.fixture
def state(tmp_path):
    return sample_state(tmp_path / "state")


def test_index_csv(state):
    report = rebuild(state)
    assert (report.comments, report.pending, report.read) == (4, 0, 4)
    assert report.problems == () and report.changed
    assert (state / "_index.csv").read_text("utf-8") == INDEX_CSV


def test_attachments_csv(state):
    rebuild(state)
    found = rows(state / "_attachments.csv")
    assert " ".join(found[0]) == (
        "docket_id comment_id file status reason chars pages n_ocr_pages method sha256 bytes error "
        "same_as ocr_engine n_ocr_read ocr_pages"
    )
    assert [
        (row["comment_id"], row["file"], row["status"], row["reason"], row["bytes"])
        for row in found
    ] == [
        ("D-1-0010", "attachment_1.pdf", "ok", "", "10"),
        ("D-1-0010", "attachment_2.pdf", "ocr_needed", "scanned", "10"),
        ("D-1-0010", "attachment_10.pdf", "failed", "corrupt", "10"),
        ("D-1-10000", "attachment_1.pdf", "ok", "", "10"),
        ("D-1-10000", "attachment_1.docx", "ok", "", "10"),
        ("D-1-10000", "attachment_2.zip", "ok", "", "10"),
        ("D-1-10000", "attachment_2.zip/a, b.txt", "ok", "", ""),
        ("D-2-0001", "attachment_1.mp3", "unsupported", "", "10"),
    ]
    assert found[1]["n_ocr_pages"] == "3" and found[1]["ocr_pages"] == "1-3"
    assert found[2]["error"] == 'no "xref", at all'
    assert found[3]["ocr_engine"] == "tesseract 5.5.0" and found[3]["n_ocr_read"] == "3"
    assert found[4]["same_as"] == "attachment_1.pdf"


def test_failures_csv(state):
    write_comment(
        state,
        "D-3",
        "D-3-0001",
        entry(status="ocr_needed", reason="ocr_failed", pages=9, ocr_pages=(2, 3)),
    )
    (state / "D-3" / "D-3-0002").mkdir()
    (state / "D-3" / "D-3-0002" / "combined.md").write_text("no front matter")
    rebuild(state)
    found = [tuple(row.values()) for row in rows(state / "_runs" / "failures.csv")]
    assert [row[:6] for row in found] == [
        ("D-1", "D-1-0010", "attachment_10.pdf", "", "failed", "corrupt"),
        ("D-3", "D-3-0001", "attachment_1.pdf", "2", "ocr_needed", "ocr_failed"),
        ("D-3", "D-3-0001", "attachment_1.pdf", "3", "ocr_needed", "ocr_failed"),
        ("D-3", "D-3-0002", "combined.md", "", "failed", "damaged_combined"),
    ]
    assert "no front matter" in found[3][6]


def test_second_run_reads_nothing_and_changes_no_byte(state):
    rebuild(state)
    before = digests(state)
    report = rebuild(state)
    assert report.read == 0 and not report.changed
    assert digests(state) == before
    assert not rebuild(state, full=True).changed
    assert digests(state) == before


def test_changes_are_read_and_nothing_else(state, tmp_path):
    rebuild(state)
    write_comment(state, "D-1", "D-1-0010", entry(chars=7), inline="changed")
    write_comment(state, "D-1", "D-1-0001", entry(chars=1))  # before the first
    write_comment(state, "D-1", "D-1-0500", entry(chars=2), entry("attachment_2.pdf"))
    write_comment(state, "D-9", "D-9-0001")
    shutil.rmtree(state / "D-2")
    (state / "D-1" / "D-1-0002" / "combined.md").unlink()
    report = rebuild(state)
    assert (report.comments, report.pending, report.read) == (5, 1, 4)
    assert [row["comment_id"] for row in rows(state / "_index.csv")] == [
        "D-1-0001",
        "D-1-0010",
        "D-1-0500",
        "D-1-10000",
        "D-9-0001",
    ]
    assert tables(state) == full_copy(state, tmp_path)


def test_sizes_of_attachments_are_kept_true(state, tmp_path):
    rebuild(state)
    (state / "D-1" / "D-1-0010" / "attachment_1.pdf").write_bytes(b"longer than it was")
    (state / "D-2" / "D-2-0001" / "attachment_1.mp3").unlink()
    report = rebuild(state)
    assert report.read == 2 and report.changed
    sizes = [row["bytes"] for row in rows(state / "_attachments.csv")]
    assert sizes == ["18", "10", "10", "10", "10", "10", "", ""]
    assert tables(state) == full_copy(state, tmp_path)


def test_any_history_gives_the_bytes_of_a_rebuild_from_nothing(tmp_path):
    """Forty random steps over a few dockets, the index compared after each fourth."""
    state = tmp_path / "state"
    state.mkdir()
    rng = random.Random(4)
    names = ["A-1", "A-10", "A-2", "b é", 'it\'s, "q"']
    for step in range(40):
        docket = rng.choice(names)
        comment = f"{docket}-{rng.randrange(30):0{rng.choice([1, 4])}d}"
        folder = state / docket / comment
        if folder.exists() and rng.random() < 0.3:
            shutil.rmtree(folder)
        else:
            files = [f"attachment_{n}.pdf" for n in range(rng.randrange(4))]
            entries = [entry(file, chars=rng.randrange(99)) for file in files]
            write_comment(state, docket, comment, *entries)
        if rng.random() < 0.2:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "combined.md").write_bytes(rng.randbytes(20))
        if step % 4 == 3:
            rebuild(state)
            assert tables(state) == full_copy(state, tmp_path)


IDS = [
    "it's",
    'a "quoted" id',
    "a,b",
    "ünï-ço∂é",
    " lead",
    "trail ",
    "NULL",
    "1e5",
    "007",
    "#",
    "=1+1",
]


def test_ids_come_back_to_the_letter(tmp_path):
    for name in IDS:
        write_comment(tmp_path, name, name, entry(error=name, status="failed"))
    rebuild(tmp_path)
    assert sorted(row["comment_id"] for row in rows(tmp_path / "_index.csv")) == sorted(IDS)
    before = digests(tmp_path)
    assert rebuild(tmp_path).read == 0
    assert digests(tmp_path) == before
    assert {row["docket_id"] for row in rows(tmp_path / "_runs" / "failures.csv")} == set(IDS)


def head(extracted_at="2026-04-23T13:45:00Z", chars="1"):
    text = f"comment_id: a\ndocket_id: b\nextracted_at: {extracted_at}\nchars: {chars}\n"
    return f"---\n{text}attachments: []\n---\n".encode()


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"---\ncomment_id: x\n",
        b"\xff\xfe\x00",
        head(extracted_at="yesterday"),
        head(extracted_at="2026-13-01T00:00:00Z"),
        head(chars="-1"),
        head(chars="99999999999999999999"),
    ],
)
def test_damaged_combined_is_named_and_the_rest_goes_on(state, raw):
    rebuild(state)
    path = state / "D-1" / "D-1-0010" / "combined.md"
    path.write_bytes(raw)
    report = rebuild(state)
    assert [problem.path for problem in report.problems] == ["D-1/D-1-0010/combined.md"]
    assert report.problems[0].detail
    assert report.comments == 3
    assert "D-1-0010" not in (state / "_index.csv").read_text("utf-8")
    assert "D-1-0010" not in (state / "_attachments.csv").read_text("utf-8")
    assert rebuild(state).problems == report.problems
    write_comment(state, "D-1", "D-1-0010")
    assert rebuild(state).comments == 4


def test_combined_that_is_no_file(state):
    path = state / "D-1" / "D-1-0010" / "combined.md"
    path.unlink()
    path.symlink_to("/etc/passwd")
    (state / "D-1" / "D-1-0002" / "combined.md").unlink()
    (state / "D-1" / "D-1-0002" / "combined.md").mkdir()
    report = rebuild(state)
    assert [problem.detail for problem in report.problems] == ["not a regular file"] * 2


def test_escapes_of_surrogates_in_front_matter_do_no_harm(state):
    path = state / "D-1" / "D-1-0010" / "combined.md"
    path.write_text(path.read_text("utf-8").replace('at all"', 'at \\0 \\u2028 all"'), "utf-8")
    assert rebuild(state).problems == ()
    before = digests(state)
    assert not rebuild(state).changed and digests(state) == before


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("damage", [b"", b"PAR1 garbage PAR1", None])
def test_a_damaged_index_is_made_again(state, name, damage):
    rebuild(state)
    before = digests(state)
    if damage is None:
        (state / name).unlink()
    else:
        (state / name).write_bytes(damage)
    rebuild(state)
    assert digests(state) == before


def test_twins_of_two_runs_are_not_mixed(state):
    """A crash between the two renames leaves twins that disagree."""
    rebuild(state)
    old = (state / "_attachments.parquet").read_bytes()
    write_comment(state, "D-1", "D-1-0010", entry(chars=1))
    rebuild(state)
    before = digests(state)
    (state / "_attachments.parquet").write_bytes(old)
    rebuild(state)
    assert digests(state) == before


def test_an_index_of_another_version_is_built_anew(state, monkeypatch):
    rebuild(state)
    monkeypatch.setattr("regcomments.index_cache.INDEX_VERSION", "other")
    monkeypatch.setattr("regcomments.index_tables.INDEX_VERSION", "other")
    assert rebuild(state).read == 4
    assert rebuild(state).read == 0


def test_a_full_disk_loses_nothing(state, monkeypatch):
    rebuild(state)
    before = tables(state)
    write_comment(state, "D-1", "D-1-0010", entry(chars=1))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("regcomments.index_write.os.replace", full)
    with pytest.raises(UserError, match=r"No space left.*make room"):
        rebuild(state)
    assert tables(state) == before
    monkeypatch.undo()
    assert rebuild(state).read == 1


def test_what_killed_writers_left_is_swept(state):
    old, young = state / "._index.csv.abc.tmp", state / "._index.parquet.def.tmp"
    old.touch()
    young.touch()
    os.utime(old, ns=(OLD_NS, OLD_NS))
    rebuild(state)
    assert not old.exists() and young.exists()


def test_no_state_folder(tmp_path):
    with pytest.raises(UserError, match="--config state=DIR"):
        rebuild(tmp_path / "none")


def test_empty_state(tmp_path):
    report = rebuild(tmp_path)
    assert report.comments == 0
    assert (tmp_path / "_index.csv").read_text().count("\n") == 1
    assert not rebuild(tmp_path).changed


def test_heads(state):
    (state / "D-1" / "D-1-0002" / "combined.md").write_text("damaged")
    damaged = []
    found = list(heads(state, on_damaged=lambda path, error: damaged.append(path.parent.name)))
    assert [head.comment_id for _, head in found] == ["D-1-0010", "D-1-10000", "D-2-0001"]
    assert damaged == ["D-1-0002"]
    assert [path.parent.name for path, _ in heads(state, "D-2")] == ["D-2-0001"]
    assert [path.parent.name for path, _ in index.waiting_heads(state)] == ["D-1-0010"]
    assert list(index.waiting_heads(state, "D-2")) == []


@pytest.mark.parametrize(
    ("pages", "text"),
    [((), None), ((3,), "3"), ((1, 2, 3, 7, 9, 10), "1-3 7 9-10"), ((5, 1, 1), "1 5")],
)
def test_page_ranges(pages, text):
    assert format_pages(pages) == text
    assert parse_pages(text) == tuple(sorted(set(pages)))


def touch_later(path):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"new")
    later = max(entry.stat().st_mtime_ns for entry in os.scandir(path.parent)) + 10**10
    os.utime(path, ns=(later, later))
    os.utime(path.parent, ns=(later, later))


def test_stale(state):
    assert list(stale(state)) == []
    touch_later(state / "D-1" / "D-1-0010" / "attachment_1.pdf")  # overwritten
    (state / "D-1" / "D-1-0002" / "attachment_1.pdf").write_bytes(b"unlisted, but old")
    os.utime(state / "D-1" / "D-1-0002" / "attachment_1.pdf", ns=(OLD_NS, OLD_NS))
    later = os.stat(state / "D-1" / "D-1-0002" / "combined.md").st_mtime_ns + 10**10
    os.utime(state / "D-1" / "D-1-0002", ns=(later, later))
    (state / "D-2" / "D-2-0001" / "attachment_1.mp3").unlink()  # gone: not stale
    write_comment(state, "D-3", "D-3-0001")
    (state / "D-3" / "D-3-0001" / "combined.md").unlink()  # pending
    assert list(stale(state)) == [("D-1", "D-1-0002"), ("D-1", "D-1-0010")]
    assert list(stale(state, "D-2")) == []
    assert index.count_stale(state) == 2
    assert index.count_stale(state, "D-2") == 0


def test_stale_names_what_it_cannot_read(state):
    (state / "D-1" / "D-1-0010" / "combined.md").write_bytes(b"damaged")
    told = []
    assert list(stale(state, on_error=lambda folder, error: told.append(folder.name))) == []
    assert told == ["D-1-0010"]
