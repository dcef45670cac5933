"""The path grammar of the state folder."""

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from regcomments import layout

names = st.text(alphabet="aAb-_ 0129²٣é", min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("unsorted", "expected"),
    [
        (["attachment_10.pdf", "attachment_2.pdf"], ["attachment_2.pdf", "attachment_10.pdf"]),
        (["D-10000", "D-0099", "D-9999"], ["D-0099", "D-9999", "D-10000"]),
        (["a1", "a", "a01"], ["a", "a01", "a1"]),
        (["b", "A", "a"], ["A", "a", "b"]),
        (["²", "1²", "1"], ["1", "1²", "²"]),  # str.isdigit, but no number
        (["x" + "9" * 240, "x1"], ["x1", "x" + "9" * 240]),
    ],
)
def test_natural_order(unsorted, expected):
    assert sorted(unsorted, key=layout.natural_key) == expected
    assert layout.natural_sorted(unsorted) == expected


@given(st.lists(names, unique=True))
def test_natural_sorted_is_sorting_by_the_key(items):
    assert layout.natural_sorted(items) == sorted(items, key=layout.natural_key)


@given(names, names)
def test_keys_tell_all_names_apart(one, other):
    assert (layout.natural_key(one) == layout.natural_key(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "valid"),
    [
        ("CMS-2017-0092", True),
        ('it\'s, "odd"', True),
        ("ünï", True),
        ("", False),
        ("_ocr", False),
        (".snakemake", False),
        ("..", False),
        ("a/b", False),
        ("a\0b", False),
        ("a\nb", False),
        ("a\u2028b", False),
        ("a\udcffb", False),
    ],
)
def test_item_names(name, valid):
    assert layout.is_item_name(name) is valid


@pytest.fixture
def state(tmp_path):
    comment = tmp_path / "D-1" / "D-1-0001"
    comment.mkdir(parents=True)
    for name in (
        "attachment_10.pdf",
        "attachment_2.PDF",
        "attachment_2.pdf",
        "attachment_3",
        "attachment_4.tar.gz",
        "attachment_5.pdf.tables.json",
        "notes.txt",
        "attachment_x.pdf",
        "attachment_\u0663.pdf",
        "attachment_6.p\ndf",
        ".hidden",
    ):
        (comment / name).write_text("12345")
    (comment / "attachment_7.pdf").mkdir()
    (comment / "attachment_8.pdf").symlink_to("/etc/hostname")
    return tmp_path


def test_scan_folder(state):
    found = layout.scan_folder(state / "D-1" / "D-1-0001")
    assert [(item.name, item.number, item.ext, item.size) for item in found.attachments] == [
        ("attachment_2.PDF", 2, "pdf", 5),
        ("attachment_2.pdf", 2, "pdf", 5),
        ("attachment_3", 3, "", 5),
        ("attachment_4.tar.gz", 4, "tar.gz", 5),
        ("attachment_10.pdf", 10, "pdf", 5),
    ]
    assert found.combined_mtime_ns is None
    assert found.others == (
        "attachment_6.p\ndf",
        "attachment_7.pdf",
        "attachment_8.pdf",
        "attachment_x.pdf",
        "attachment_\u0663.pdf",
        "notes.txt",
    )


def test_combined_that_is_a_link_is_none(state):
    folder = state / "D-1" / "D-1-0001"
    (folder / "combined.md").symlink_to("/etc/hostname")
    found = layout.scan_folder(folder)
    assert found.combined_mtime_ns is None and "combined.md" in found.others


def test_stray_bytes_in_a_name_are_reported(state):
    folder = state / "D-1" / "D-1-0001"
    try:
        with open(os.fsencode(folder) + b"/attachment_9.\xff", "wb"):
            pass
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    found = layout.scan_folder(folder)
    assert "attachment_9.\udcff" in found.others


def test_levels(state):
    (state / "_ocr").mkdir()
    (state / "_index.csv").touch()
    (state / "stray.txt").touch()
    (state / "D-1" / ".DS_Store").touch()
    (state / "D-1" / "loose.pdf").touch()
    (state / "D-2").symlink_to(state / "D-1")
    (state / "D-1" / "D-1-0010").mkdir()
    (state / "D-1" / "D-1-0009").mkdir()
    (state / "D-1" / "bad\nname").mkdir()
    assert layout.dockets(state) == ["D-1"]
    assert layout.comments(state, "D-1") == ["D-1-0001", "D-1-0009", "D-1-0010"]
    assert list(layout.unexpected(state)) == [
        "D-1/.DS_Store",
        "D-1/bad\nname",
        "D-1/loose.pdf",
        "D-2",
        "stray.txt",
    ]


def test_absent_state(tmp_path):
    absent = tmp_path / "none"
    assert layout.dockets(absent) == []
    assert layout.comments(absent, "D") == []
    assert list(layout.unexpected(absent)) == []


def test_ocr_path(tmp_path):
    path = layout.ocr_path(tmp_path, "ab" + "0" * 62, "tesseract")
    assert path.relative_to(tmp_path).parts[:2] == ("_ocr", "ab")


def test_sorting_a_large_docket_is_quick():
    ids = [f"CMS-2017-0092-{number:04d}" for number in range(100_000, 0, -1)]
    started = time.process_time()
    ordered = layout.natural_sorted(ids)
    spent = time.process_time() - started
    assert ordered == ids[::-1]
    started = time.process_time()
    sorted(ids, key=layout.natural_key)
    assert spent < (time.process_time() - started) / 2
