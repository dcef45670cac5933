"""From a file to its outcome: what errors stand for, what a document's pages amount to."""

from __future__ import annotations

import errno
import hashlib

import pytest
import regcomments.read as read
from regcomments.read import ReadOptions, failure_of, preload, read_attachment, summarise
from regcomments.read.sniff import Kind
from regcomments.records import Document, Extraction, Member, Page, UnreadableError
from regcomments.status import Reason, Status

_BAD = {"needs_ocr": True, "reason": Reason.SCANNED}


def _pages(*texts):
    """Pages with text, or None for a scan, or "~" for a garbled one."""
    garbled = {"needs_ocr": True, "reason": Reason.GARBLED}
    return tuple(
        Page(number, **_BAD)
        if text is None
        else Page(number, text, **(garbled if text.startswith("~") else {}))
        for number, text in enumerate(texts, 1)
    )


@pytest.mark.parametrize(
    ("pages", "status", "reason", "text", "ocr_pages"),
    [
        (("a", "b"), Status.OK, None, "a\n\nb", ()),
        (("", ""), Status.OK, Reason.BLANK, "", ()),
        ((None, None), Status.OCR_NEEDED, Reason.SCANNED, "", (1, 2)),
        (("a", None), Status.OCR_NEEDED, Reason.MIXED, "a", (2,)),
        (("", None), Status.OCR_NEEDED, Reason.SCANNED, "", (2,)),
        (("~x", "~y"), Status.OCR_NEEDED, Reason.GARBLED, "", (1, 2)),
        (("~x", None), Status.OCR_NEEDED, Reason.SCANNED, "", (1, 2)),
        (("a", "~x"), Status.OCR_NEEDED, Reason.MIXED, "a", (2,)),
    ],
)
def test_pages_make_the_status(pages, status, reason, text, ocr_pages):
    result = summarise(Document("pdf", "test", pages=_pages(*pages), paged=True))
    assert (result.status, result.reason, result.text) == (status, reason, text)
    assert (result.pages, result.ocr_pages) == (len(pages), ocr_pages)


def test_pictures_in_a_flowing_document():
    pages = (Page(3, needs_ocr=True, reason=Reason.IMAGE),)
    result = summarise(Document("docx", "test", body="words", pages=pages))
    assert (result.status, result.reason) == (Status.OCR_NEEDED, Reason.IMAGE)
    assert (result.pages, result.ocr_pages, result.text) == (None, (3,), "words")


def test_a_stamp_over_a_scan_stays():
    pages = (Page(1, "FAX 12/3", **_BAD),)
    assert summarise(Document("pdf", "test", pages=pages, paged=True)).text == "FAX 12/3"


@pytest.mark.parametrize(
    ("results", "status", "reason"),
    [
        ([(Status.OK, None)], Status.OK, None),
        ([(Status.OCR_NEEDED, Reason.SCANNED)], Status.OK, None),
        ([(Status.FAILED, Reason.CORRUPT), (Status.OK, None)], Status.OK, None),
        ([(Status.FAILED, Reason.CORRUPT)] * 2, Status.FAILED, Reason.CORRUPT),
        (
            [
                (Status.FAILED, Reason.ENCRYPTED),
                (Status.FAILED, Reason.CORRUPT),
                (Status.FAILED, Reason.CORRUPT),
            ],
            Status.FAILED,
            Reason.CORRUPT,
        ),
        ([(Status.UNSUPPORTED, Reason.NO_READER)], Status.UNSUPPORTED, Reason.NO_READER),
        (
            [(Status.UNSUPPORTED, Reason.NO_READER), (Status.FAILED, Reason.CORRUPT)],
            Status.FAILED,
            Reason.CORRUPT,
        ),
    ],
)
@pytest.mark.parametrize("body", ["", "own words"])
def test_containers(results, status, reason, body):
    members = tuple(
        Member(str(at), Extraction(state, reason=why)) for at, (state, why) in enumerate(results)
    )
    result = summarise(Document("zip", "test", body=body, members=members))
    expected = (Status.OK, None) if body else (status, reason)
    assert (result.status, result.reason) == expected
    assert (result.error is None) is (result.status == Status.OK)
    assert result.members == members


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("two\nlines"), Reason.CORRUPT),
        (RecursionError("deep"), Reason.CORRUPT),
        (KeyError("x"), Reason.CORRUPT),
        (OSError("no number: a library's"), Reason.CORRUPT),
        (MemoryError(), Reason.MEMORY),
        (OSError(errno.ENOMEM, "no memory"), Reason.MEMORY),
        (PermissionError(errno.EACCES, "denied"), Reason.UNREADABLE),
        (OSError(errno.EIO, "disk"), Reason.UNREADABLE),
        (UnreadableError(Status.FAILED, Reason.XFA, "please\n wait"), Reason.XFA),
    ],
)
def test_errors_become_outcomes(error, reason):
    result = failure_of(error)
    assert (result.status, result.reason) == (Status.FAILED, reason)
    assert "\n" not in (result.error or "")


@pytest.mark.parametrize("error", [ValueError("broken"), MemoryError(), RecursionError()])
def test_readers_may_raise_anything(tmp_path, monkeypatch, error):
    def fail(path, options):
        raise error

    path = tmp_path / "a.txt"
    path.write_text("words")
    monkeypatch.setattr("regcomments.read.plain.read_text", fail)
    result = read_attachment(path, ReadOptions())
    assert result.status == Status.FAILED
    assert result.sha256 == hashlib.sha256(b"words").hexdigest()
    assert (result.size, result.kind) == (5, "txt")


def test_interrupts_go_through(tmp_path, monkeypatch):
    def interrupt(path, options):
        raise KeyboardInterrupt

    path = tmp_path / "a.txt"
    path.write_text("words")
    monkeypatch.setattr("regcomments.read.plain.read_text", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_attachment(path, ReadOptions())


def test_files_that_the_system_refuses(tmp_path):
    result = read_attachment(tmp_path / "missing.pdf", ReadOptions())
    assert (result.status, result.reason) == (Status.FAILED, Reason.UNREADABLE)
    assert (result.sha256, result.size) == (None, None)


def test_large_files_are_refused_unread(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("words " * 100)
    result = read_attachment(path, ReadOptions(max_bytes=100))
    assert (result.status, result.reason) == (Status.FAILED, Reason.TOO_LARGE)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"MZ\x90\0" + bytes(100), Reason.NOT_A_DOCUMENT),
        (bytes(range(256)) * 4, Reason.UNKNOWN_KIND),
        (b"%!PS-Adobe-3.0", Reason.NO_READER),
    ],
)
def test_unsupported_kinds(tmp_path, data, reason):
    path = tmp_path / "attachment_1.xyz"
    path.write_bytes(data)
    result = read_attachment(path, ReadOptions())
    assert (result.status, result.reason) == (Status.UNSUPPORTED, reason)


def test_every_reader_exists():
    for module, function in read._READERS.values():
        assert callable(read._function(module, function))
    for module in read._CONTAINERS.values():
        assert callable(read._function(module, "parts"))
    assert set(read._CONTAINERS) <= set(read._READERS)
    assert Kind.UNKNOWN not in read._READERS
    preload()
