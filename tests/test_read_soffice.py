"""Kinds that go through LibreOffice where it is installed."""

from __future__ import annotations

import os
import stat
import subprocess
import time

import pytest
from kind_files import LETTER
from ole_files import ole_file, word_file
from regcomments.read import ReadOptions, office, read_attachment
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A shell script in the place of LibreOffice; returns a function that writes it."""
    script = tmp_path / "soffice.bin"

    def write(body):
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(office, "program", lambda: script)

    return write


def _letter(tmp_path):
    path = tmp_path / "letter.doc"
    path.write_bytes(word_file(LETTER + "\r"))
    return path


@pytest.mark.slow
@pytest.mark.skipif(office.program() is None, reason="LibreOffice isn't installed")
def test_the_real_program(tmp_path):
    path = tmp_path / "letter.rtf"
    path.write_bytes(rb"{\rtf1\ansi " + LETTER.encode() + rb"\par}")
    document = office.read_office(path, ReadOptions(scratch=tmp_path))
    assert LETTER in document.body
    assert document.method.startswith("libreoffice+")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["letter.rtf"]


def test_without_it_there_is_no_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(office, "program", lambda: None)
    with pytest.raises(UnreadableError) as caught:
        office.read_office(_letter(tmp_path), ReadOptions())
    assert (caught.value.status, caught.value.reason) == (Status.UNSUPPORTED, Reason.NO_READER)


@pytest.mark.parametrize("body", ["exit 1", "exit 0", "kill -9 $$"])
def test_no_result(tmp_path, fake, body):
    fake(body)
    with pytest.raises(UnreadableError) as caught:
        office.convert(_letter(tmp_path), _folder(tmp_path))
    assert caught.value.reason == Reason.NO_READER


def test_it_is_started_again_when_it_asks(tmp_path, fake):
    fake("[ -e again ] && touch out/in.docx || { touch again; exit 81; }")
    assert office.convert(_letter(tmp_path), _folder(tmp_path)).name == "in.docx"


def test_the_deadline_ends_it_and_its_children(tmp_path, fake, monkeypatch):
    monkeypatch.setattr(office, "DEADLINE", 1.0)
    fake(f"sleep 60 & echo $! > {tmp_path}/child; wait")
    start = time.monotonic()
    with pytest.raises(UnreadableError) as caught:
        office.convert(_letter(tmp_path), _folder(tmp_path))
    assert caught.value.reason == Reason.TIMEOUT
    assert time.monotonic() - start < 20
    child = int((tmp_path / "child").read_text())
    assert not _runs(child)


def test_it_sees_little_of_the_system(tmp_path, fake):
    fake("env > out/env; ls -A . > out/ls; ulimit -v > out/memory; touch out/in.docx")
    folder = _folder(tmp_path)
    office.convert(_letter(tmp_path), folder)
    seen = (folder / "out" / "env").read_text()
    assert f"HOME={folder}" in seen
    assert "http_proxy=http://127.0.0.1:9" in seen
    known = {"PATH", "HOME", "LANG", "LC_ALL", "PWD", "TMPDIR", "_", "SHLVL", "OLDPWD"}
    names = {line.partition("=")[0] for line in seen.splitlines()}
    assert not (names & set(os.environ)) - known
    assert 0 < int((folder / "out" / "memory").read_text()) <= office.MEMORY // 1024
    profile = folder / "profile" / "user" / "registrymodifications.xcu"
    assert "DisableMacrosExecution" in profile.read_text()


def test_the_network_is_cut_off_where_that_is_allowed(tmp_path, fake):
    if subprocess.run(["unshare", "-rn", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no network namespaces here")
    fake("cat /proc/net/dev > out/net; touch out/in.docx")
    folder = _folder(tmp_path)
    office.convert(_letter(tmp_path), folder)
    devices = [line for line in (folder / "out" / "net").read_text().splitlines() if ":" in line]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]


def test_kinds_without_a_reader_of_ours_go_there(tmp_path, fake):
    fake("exit 1")
    path = tmp_path / "a.vsd"
    path.write_bytes(ole_file({"VisioDocument": b"x"}))
    result = read_attachment(path, ReadOptions())
    assert (result.status, result.reason) == (Status.UNSUPPORTED, Reason.NO_READER)
    assert result.error == "LibreOffice can't convert .vsd"


def _folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def _runs(pid: int) -> bool:
    for _ in range(50):
        try:
            with open(f"/proc/{pid}/stat") as handle:
                if handle.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except FileNotFoundError:
            return False
        time.sleep(0.1)
    return True
