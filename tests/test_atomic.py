"""Writes that never leave half a file."""

import os

import pytest
from regcomments import atomic
from regcomments.atomic import write_atomic


@pytest.mark.parametrize("durable", [False, True])
@pytest.mark.parametrize(("data", "raw"), [("é\n", b"\xc3\xa9\n"), (b"\x00\xff", b"\x00\xff")])
def test_writes(tmp_path, data, raw, durable):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    write_atomic(path, data, durable=durable)
    assert path.read_bytes() == raw
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_umask_says_who_may_read(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        write_atomic(tmp_path / "file", b"x")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode


def test_old_file_survives_an_error(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_unencodable_text_leaves_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_atomic(tmp_path / "file", "\ud800")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "案" * 85])
def test_longest_name(tmp_path, name):
    path = tmp_path / name
    write_atomic(path, b"x")
    assert path.read_bytes() == b"x"
