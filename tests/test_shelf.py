"""Outcomes kept on disk for other shards: what is kept, what is not, and when it is not trusted."""

import hashlib
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from regcomments.config import Settings
from regcomments.read import shelf as shelf_module
from regcomments.read.limits import WorkerLimits
from regcomments.read.options import ReadOptions
from regcomments.read.remember import Remembering
from regcomments.read.shelf import Shelf, from_json, to_json, trim, version_of
from regcomments.read.worker import OcrLookup
from regcomments.records import Extraction, Member, Page
from regcomments.redo import parse_redo
from regcomments.shard import run_shard
from regcomments.status import Reason, Status

SHA = "ab" * 32
PLAIN = Extraction(Status.OK, text="We agree.", kind="pdf", method="m", sha256=SHA, size=9)
FACTS = {"ink": 0.25, "chars": 12, "script": "Latin", "stamp": False}
SCAN = replace(
    PLAIN,
    status=Status.OCR_NEEDED,
    reason=Reason.MIXED,
    pages=2,
    ocr_pages=(2,),
    page_facts=(Page(1, facts=FACTS), Page(2, needs_ocr=True, reason=Reason.SCANNED)),
    warnings=("one", "two — ü\u2028"),
)
FAILED = replace(PLAIN, status=Status.FAILED, reason=Reason.MEMORY)


def holding(part: Extraction) -> Extraction:
    return replace(PLAIN, members=(Member("a \udcff.pdf", part),))


@pytest.mark.parametrize("result", [PLAIN, SCAN, holding(SCAN), holding(holding(PLAIN))])
def test_an_entry_says_what_the_reading_said(tmp_path, result):
    again = from_json(to_json(result))
    assert again == result
    assert all(
        type(a) is type(b) for a, b in zip(vars(again).values(), vars(result).values(), strict=True)
    )
    Shelf(tmp_path, "v1").keep(result, ".pdf")
    assert Shelf(tmp_path, "v1").find(SHA, ".pdf") == result
    assert Shelf(tmp_path, "v1").find(SHA, ".docx") is None
    assert Shelf(tmp_path, "v2").find(SHA, ".pdf") is None


@pytest.mark.parametrize(
    ("result", "ext"),
    [
        (FAILED, ".pdf"),
        (replace(PLAIN, status=Status.UNSUPPORTED, reason=Reason.NO_READER), ".pdf"),
        (holding(FAILED), ".pdf"),
        (replace(SCAN, ocr_engine="tesseract 5.5", ocr_read=(1,)), ".pdf"),
        (holding(replace(SCAN, ocr_engine="tesseract 5.5", ocr_read=(1,))), ".pdf"),
        (replace(PLAIN, sha256=None), ".pdf"),
        (replace(PLAIN, text="x" * shelf_module.MOST_CHARACTERS), ".pdf"),
        (PLAIN, ".Ü"),
        (PLAIN, "." + "x" * 200),
    ],
)
def test_what_another_reading_might_better_is_not_kept(tmp_path, result, ext):
    Shelf(tmp_path, "v1").keep(result, ext)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "damage", [b"", b"\0" * 300, b"x\x9c", "cut", "other"], ids=["empty", "zero", "zip", "cut", "o"]
)
def test_a_damaged_entry_is_not_trusted_and_written_anew(tmp_path, damage):
    shelf = Shelf(tmp_path, "v1")
    shelf.keep(PLAIN, "")
    path = next(path for path in tmp_path.rglob("*.json.z"))
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    elif damage == "other":  # an entry under the name of another
        shelf.keep(replace(PLAIN, sha256="ab" + "cd" * 31), "")
        path.write_bytes(next(p for p in path.parent.iterdir() if p != path).read_bytes())
    else:
        path.write_bytes(damage)
    assert shelf.find(SHA, "") is None
    shelf.keep(PLAIN, "")
    assert shelf.find(SHA, "") == PLAIN


def test_trouble_with_the_folder_is_forgetting(tmp_path):
    (tmp_path / "file").write_text("in the way")
    shelf = Shelf(tmp_path / "file", "v1")
    shelf.keep(PLAIN, "")
    assert shelf.find(SHA, "") is None


def test_the_version_tells_options_code_and_packages(tmp_path, monkeypatch):
    first = version_of(ReadOptions(), WorkerLimits())
    assert version_of(ReadOptions(), WorkerLimits()) == first
    assert version_of(ReadOptions(max_pages=7), WorkerLimits()) != first
    assert version_of(ReadOptions(), WorkerLimits(memory_mb=999)) != first
    seen = {first}
    packages = tmp_path / "packages"
    (packages / "reader-1.0.dist-info").mkdir(parents=True)
    monkeypatch.syspath_prepend(packages)
    for change in (
        lambda: None,
        lambda: (packages / "reader-1.0.dist-info").rename(packages / "reader-1.1.dist-info"),
        lambda: monkeypatch.setattr(shelf_module, "_PACKAGE", packages),
        lambda: (packages / "new.py").write_text("changed = 1"),
    ):
        change()
        shelf_module._environment.cache_clear()
        seen.add(version_of(ReadOptions(), WorkerLimits()))
    shelf_module._environment.cache_clear()
    assert len(seen) == 5


def test_the_oldest_go_first(tmp_path):
    for number in range(6):
        path = tmp_path / f"{number}"
        path.write_bytes(b"x" * 5000)
        os.utime(path, (1000 + number, 1000 + number))
    one = (tmp_path / "0").stat().st_blocks * 512
    trim(tmp_path, 2 * one)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["4", "5"]
    trim(tmp_path / "absent", 0)


def test_a_shelf_stays_within_bounds_and_old_versions_go(tmp_path, monkeypatch):
    monkeypatch.setattr(shelf_module, "_TRIMMED", 256)
    monkeypatch.setattr(shelf_module, "MOST_BYTES", 0)
    for version in range(5):
        Shelf(tmp_path, f"v{version}").keep(PLAIN, "")
        os.utime(tmp_path / f"v{version}", (version, version))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v2", "v3", "v4"]
    assert Shelf(tmp_path, "v4").find(SHA, "") is None


class FakeWorker:
    """Reads a file as its own text; `then` is done to the file after that."""

    def __init__(self, result: Extraction, then=lambda path: None) -> None:
        self.reads = 0
        self._result, self._then = result, then

    def read(self, path: Path) -> Extraction:
        self.reads += 1
        raw = path.read_bytes()
        self._then(path)
        return replace(self._result, sha256=hashlib.sha256(raw).hexdigest(), size=len(raw))


def read_twice(tmp_path, result, between=lambda: None, **more) -> int:
    """Read a file in two shards; return how often the second one reads."""
    path = tmp_path / "attachment_1.pdf"
    path.write_bytes(b"content")
    first = FakeWorker(result, more.pop("then", lambda path: None))
    since = more.pop("since", 0.0)
    Remembering(first, shelf=Shelf(tmp_path / "read", "v1"), **more).read(path)
    path.write_bytes(b"content")
    between()
    second = FakeWorker(result)
    reader = Remembering(second, shelf=Shelf(tmp_path / "read", "v1", since), **more)
    assert reader.read(path).text == result.text
    assert first.reads == 1
    assert reader.repeated == 1 - second.reads
    return second.reads


@pytest.mark.parametrize(
    ("result", "after", "reads"), [(PLAIN, None, 0), (SCAN, None, 0), (PLAIN, -9, 0), (PLAIN, 9, 1)]
)
def test_another_shard_does_not_read_again(tmp_path, result, after, reads):
    since = 0.0 if after is None else time.time() + after
    assert read_twice(tmp_path, result, since=since) == reads


@pytest.mark.parametrize("change", [b"other content", b"contenT"])
def test_a_file_that_changes_meanwhile_is_not_kept(tmp_path, change):
    assert read_twice(tmp_path, PLAIN, then=lambda path: path.write_bytes(change)) == 1


@pytest.mark.parametrize(
    ("result", "before", "reads"),
    [(SCAN, False, 1), (SCAN, True, 1), (PLAIN, False, 0), (PLAIN, True, 0)],
)
def test_what_the_ocr_store_holds_is_not_missed(tmp_path, result, before, reads):
    digest = hashlib.sha256(b"content").hexdigest()
    folder = tmp_path / "_ocr" / digest[:2]
    folder.mkdir(parents=True)

    def store():
        (folder / f"{digest}.tesseract-0123456789ab.json").write_text("{}")

    if before:
        store()
    assert read_twice(tmp_path, result, between=store, ocr=OcrLookup(tmp_path)) == reads


def test_without_a_result_in_the_ocr_store_nothing_is_missed(tmp_path):
    (tmp_path / "_ocr").mkdir()
    assert read_twice(tmp_path, SCAN, ocr=OcrLookup(tmp_path)) == 0


def test_shards_share_and_redo_reads_anew(tmp_path):
    state, memory = tmp_path / "state", tmp_path / "read"
    for docket in ("A-1", "B-1"):
        folder = state / docket / f"{docket}-1"
        folder.mkdir(parents=True)
        (folder / "attachment_1.txt").write_text("We ask you to keep the rule as it is.")

    def shard(docket: str, redo: str = "") -> int:
        counts = run_shard(
            Settings(state=str(state), bib="none"),
            docket=docket,
            first=f"{docket}-1",
            last=f"{docket}-1",
            redo=parse_redo(redo),
            memory=memory,
        )
        assert counts.attachments == 1
        return counts.repeated

    assert [shard("A-1"), shard("B-1"), shard("B-1", "status=ok")] == [0, 1, 0]
    assert [shard("A-1", "status=ok"), shard("B-1", "status=ok")] == [0, 0]  # of a run each
    texts = [path.read_text().split("## Inline")[1] for path in state.rglob("combined.md")]
    assert texts[0] == texts[1]
