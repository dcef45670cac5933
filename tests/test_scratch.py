"""Scratch folders: named after their process, and swept once that is gone."""

import os
import subprocess
import time

import pytest
from regcomments import layout, scratch


@pytest.fixture
def gone() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def make(folder, name: str, hours: float):
    path = folder / name
    path.mkdir()
    (path / "page.png").write_bytes(b"x")
    past = time.time() - hours * 3600
    os.utime(path, (past, past))
    return path


@pytest.mark.parametrize(
    ("name", "hours", "swept"),
    [
        ("regcomments-{gone}-abc", 30, True),
        ("regcomments-marker-{gone}-abc", 30, True),
        ("regcomments-{gone}-abc", 1, False),
        ("regcomments-{mine}-abc", 30, False),
        ("regcomments-abc", 30, False),
        ("other-{gone}-abc", 30, False),
    ],
)
def test_folders_of_dead_processes_go(tmp_path, gone, name, hours, swept):
    path = make(tmp_path, name.format(gone=gone, mine=os.getpid()), hours)
    assert scratch.sweep(tmp_path) == int(swept)
    assert path.exists() is not swept


def test_link_is_not_followed(tmp_path, gone):
    kept = make(tmp_path, "kept", 30)
    (tmp_path / f"regcomments-{gone}-abc").symlink_to(kept)
    assert scratch.sweep(tmp_path) == 0
    assert (kept / "page.png").exists()


def test_new_folder_names_its_process():
    path = scratch.make_scratch("ocr")
    try:
        assert path.name.startswith(f"regcomments-ocr-{os.getpid()}-")
    finally:
        path.rmdir()


@pytest.mark.parametrize(("hours", "found"), [(30, True), (1, False)])
def test_half_written_combined_is_seen(tmp_path, hours, found):
    half = tmp_path / ".combined.md.1234-abcd.tmp"
    half.write_text("---")
    past = time.time() - hours * 3600
    os.utime(half, (past, past))
    folder = layout.scan_folder(tmp_path)
    assert folder.unfinished == ((half.name,) if found else ())
    assert folder.others == ()
