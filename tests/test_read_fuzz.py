"""Damaged files of every kind end in a status, quickly."""

from __future__ import annotations

import random
import time

import pytest
from kind_files import LETTER, samples
from regcomments.read import ReadOptions, office, read_attachment
from regcomments.status import Status

_SAMPLES = samples()
_ROUNDS = 30
_MANY_ROUNDS = 300
_SLOWEST = 10.0  # seconds for one damaged file of a few kilobytes on a busy machine
_PICTURES = {"a.png", "a.tif", "a.jpg"}


@pytest.fixture(autouse=True)
def _own_readers_only(monkeypatch):
    monkeypatch.setattr(office, "program", lambda: None)


@pytest.mark.parametrize("name", sorted(_SAMPLES))
def test_the_whole_file_reads(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(_SAMPLES[name])
    result = read_attachment(path, ReadOptions())
    if name in _PICTURES:
        assert (result.status, result.ocr_pages) == (Status.OCR_NEEDED, (1,))
        return
    inside = "".join(member.result.text for member in result.members)
    assert result.status == Status.OK
    assert LETTER in result.text + inside


@pytest.mark.parametrize("name", sorted(_SAMPLES))
def test_damaged_files_end_in_a_status(tmp_path, name):
    _read_damaged(tmp_path, name, _ROUNDS, random.Random(name))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_SAMPLES))
def test_many_damaged_files_end_in_a_status(tmp_path, name):
    _read_damaged(tmp_path, name, _MANY_ROUNDS, random.Random(name + "!"))


def _read_damaged(tmp_path, name, rounds, source):
    path = tmp_path / name
    for _ in range(rounds):
        path.write_bytes(_damaged(_SAMPLES[name], source))
        start = time.monotonic()
        result = read_attachment(path, ReadOptions(scratch=tmp_path))
        assert result.status in Status
        assert result.status in (Status.OK, Status.OCR_NEEDED) or result.reason
        assert time.monotonic() - start < _SLOWEST
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def _damaged(data: bytes, source: random.Random) -> bytes:
    """Flip, cut, drop, repeat or overwrite some bytes."""
    raw = bytearray(data)
    for _ in range(source.randrange(1, 6)):
        if not raw:
            break
        at = source.randrange(len(raw))
        size = source.randrange(1, 40)
        kind = source.randrange(5)
        if kind == 0:
            raw[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            del raw[at:]
        elif kind == 2:
            del raw[at : at + size]
        elif kind == 3:
            raw[at:at] = raw[at : at + size] * source.randrange(1, 30)
        else:
            raw[at : at + size] = source.randbytes(size)
    return bytes(raw)
