"""Binary Office files, WordPerfect, Works: Word, PowerPoint and Excel before 2007."""

from __future__ import annotations

import struct

import pytest
from kind_files import LETTER, picture_bytes, wordperfect5, wordperfect6
from ole_files import excel_file, ole_file, powerpoint_file, word_file
from regcomments.read import ReadOptions, msdoc, office, read_attachment
from regcomments.status import Reason, Status


def _biff(kind, form, *values):
    data = struct.pack(form, *values)
    return struct.pack("<HH", kind, len(data)) + data


_OLD_EXCEL = b"".join(
    (
        _biff(0x0009, "<HH", 2, 0x10),
        _biff(0x0004, "<HH3sB3s", 0, 0, bytes(3), 3, b"Old"),
        _biff(0x0002, "<HH3sH", 0, 1, bytes(3), 7),
        _biff(0x0003, "<HH3sd", 1, 0, bytes(3), 0.5),
        _biff(0x0005, "<HH3sBB", 1, 1, bytes(3), 1, 0),
        _biff(0x000A, ""),
    )
)


@pytest.fixture(autouse=True)
def _own_readers_only(monkeypatch):
    monkeypatch.setattr(office, "program", lambda: None)


def _read(tmp_path, data, name="attachment_1.doc"):
    path = tmp_path / name
    path.write_bytes(data)
    return read_attachment(path, ReadOptions())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("One.\rTwo “é” 日本.\r", "One.\n\nTwo “é” 日本."),
        ("Line\x0bbreak\tand\xa0space\r", "Line\nbreak and\u00a0space"),
        ("no\x1ebreak soft\x1fhyphen\r", "no-break softhyphen"),
        ('\x13HYPERLINK "http://x.org/a"\x14the link\x15 on\r', "the link on <http://x.org/a>"),
        ("\x13PAGE \x143\x15 of \x13NUMPAGES\x15 many\r", "3 of many"),
        ("\x13IF \x13X\x14hidden\x15 = 1\x14shown\x15\r", "shown"),
        ("\x01picture\x08 marks\r", "picture marks"),
        ("\uf0b7 bullet\r", "• bullet"),
        ("emoji 😀 then\rnext\r", "emoji 😀 then\n\nnext"),
        ("unended \x13field", "unended"),
    ],
)
def test_word_characters(tmp_path, source, text):
    assert _read(tmp_path, word_file(source)).text == text


def test_word_tables_and_headings(tmp_path):
    source = "Title\rBefore.\rA\x07B\x07\x07C\rD\x07\x07\x07After.\r"
    rows = tuple(at for at in (source.index("\x07\x07") + 1, len(source) - 8))
    inside = (source.index("\rD"),)
    result = _read(tmp_path, word_file(source, rows=rows, headings=(5,), inside=inside))
    assert result.text == ("### Title\n\nBefore.\n\n| A | B |\n| --- | --- |\n| C D |  |\n\nAfter.")


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (word_file(LETTER, encrypted=True), Status.FAILED, Reason.ENCRYPTED),
        (word_file("\r"), Status.OK, Reason.BLANK),
        (ole_file({"WordDocument": b"x" * 5000}), Status.FAILED, Reason.CORRUPT),
        (word_file("text " + "\x03\x04\x0e\x0f" * 30), Status.FAILED, Reason.CORRUPT),
        (word_file(LETTER)[:3000], Status.FAILED, Reason.CORRUPT),
        (ole_file({"EncryptedPackage": b"x"}), Status.FAILED, Reason.ENCRYPTED),
        (ole_file({"DRMContent": b"x"}), Status.FAILED, Reason.RIGHTS_MANAGED),
        (ole_file({"VisioDocument": b"x"}), Status.UNSUPPORTED, Reason.NO_READER),
    ],
)
def test_word_outcomes(tmp_path, data, status, reason):
    result = _read(tmp_path, data)
    assert (result.status, result.reason) == (status, reason)


def test_a_scan_pasted_into_word(tmp_path):
    scan = picture_bytes("JPEG", quality=100) + bytes(30_000) + b"\xff\xd9"
    tree_file = word_file("\x01\r")
    assert _read(tmp_path, tree_file).reason == Reason.BLANK
    data = word_file("\x01\r", extra={"Data": b"head" + scan})
    result = _read(tmp_path, data)
    assert (result.status, result.reason, result.ocr_pages) == (
        Status.OCR_NEEDED,
        Reason.IMAGE,
        (1,),
    )
    assert msdoc.picture(tmp_path / "attachment_1.doc", 1) == scan
    with pytest.raises(LookupError):
        msdoc.picture(tmp_path / "attachment_1.doc", 2)


def test_powerpoint(tmp_path):
    slides = (("First slide", "one\rtwo"), (), ("Third",))
    result = _read(tmp_path, powerpoint_file(slides), "a.ppt")
    assert (result.status, result.pages) == (Status.OK, 3)
    assert result.text == "First slide\n\none\ntwo\n\nThird"


def test_powerpoint_without_its_directory(tmp_path):
    whole = powerpoint_file((("First slide",),))
    torn = whole.replace(struct.pack("<I", 0xE391C05F), bytes(4))
    assert _read(tmp_path, torn, "a.ppt").text == "First slide"
    locked = whole.replace(struct.pack("<I", 0xE391C05F), struct.pack("<I", 0xF3D1C4DF))
    assert _read(tmp_path, locked, "a.ppt").reason == Reason.ENCRYPTED


def test_excel(tmp_path):
    result = _read(tmp_path, excel_file([["Year", "Cost"], [2024, 1.5]]), "a.xls")
    assert result.text == "### Costs\n\n| Year | Cost |\n| --- | --- |\n| 2024 | 1.5 |"
    locked = _read(tmp_path, excel_file([["x"]], locked=True), "a.xls")
    assert (locked.status, locked.reason) == (Status.FAILED, Reason.ENCRYPTED)
    older = _read(tmp_path, _OLD_EXCEL, "a.xls")
    assert older.text == "### Sheet\n\n| Old | 7 |\n| --- | --- |\n| 0.5 | TRUE |"


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (b"Two\x80words.\xccNext\x84one", "Two words.\n\nNext-one"),
        (b"caf\x0f\x80\xf0\x1c\x04\xf0\x80\xf0\x20\x04\xf0x\x20", "café ’ “xß"),
        (b"a\xd0\x04\x08\x00\x00\x08\x00\xd0b", "a\n\nb"),
        (b"a\xf2\x0c\xf2bold\xf3\x0c\xf3\x80b", "abold b"),
        (b"x\xd4\x00\x0a\x00hid\x0a\x00\xd4y", "xy"),
        (b"x\xd4\x00\x0a\x00not\x84closed", "xãnot-closed"),
        (b"x\xf2not\x84closed", "xnot-closed"),
        (b"\xc6A\xc6B\xc5C\xc6D\xbfend", "| A | B |\n| --- | --- |\n| C | D |\n\nend"),
        (b"cut\xe5", "cut"),
    ],
)
def test_wordperfect6(tmp_path, codes, text):
    assert _read(tmp_path, wordperfect6(codes), "a.wpd").text == text


def test_wordperfect6_notes(tmp_path):
    body = b"Body\x80text."
    note = b"A\x80note."
    index = 32
    entries = bytes(14) + struct.pack("<BBHHII", 0, 8, 1, 0, 10 + len(note), index + 14 * 2)
    data = bytearray(wordperfect6(b"")[:32])
    data[14:16] = struct.pack("<H", index)
    struct.pack_into("<H", entries := bytearray(entries), 2, 2)
    packet = struct.pack("<HII", 1, 10, len(note)) + note
    data += entries + packet
    data[4:8] = struct.pack("<I", len(data))
    assert _read(tmp_path, bytes(data) + body, "a.wpd").text == "Body text.\n\nA note."


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        (b"Two words.\nNext\xa9one\rgoes on", "Two words.\n\nNext-one goes on"),
        (b"caf\xc0\x29\x01\xc0 \xc0\x1c\x04\xc0", "café ’"),
        (b"a\xc3\x0c\xc3bold\xc4\x0c\xc4 b", "abold b"),
    ],
)
def test_wordperfect5(tmp_path, codes, text):
    assert _read(tmp_path, wordperfect5(codes), "a.wp").text == text


def test_wordperfect5_skips_groups_by_their_length(tmp_path):
    group = b"\xd0\x01\x06\x00ab\x06\x00\x01\xd0"
    assert _read(tmp_path, wordperfect5(b"x" + group + b"y"), "a.wp").text == "xy"


def test_wordperfect5_notes_and_tables(tmp_path):
    def group(kind, part, inner):
        size = struct.pack("<H", len(inner) + 4)
        return bytes([kind, part]) + size + inner + size + bytes([part, kind])

    foot = group(0xD6, 0, bytes(3) + b"\x00" + bytes(2 + 9) + b"A note.")
    end = group(0xD6, 1, bytes(3) + bytes(4) + b"An end.")
    cells = [group(0xDC, part, b"") for part in (0, 1, 2)]
    table = cells[0] + b"A" + cells[0] + b"B" + cells[1] + b"C" + cells[0] + b"D" + cells[2]
    codes = b"Body" + foot + b" and" + end + b" on.\n" + table + b"After."
    assert _read(tmp_path, wordperfect5(codes), "a.wp").text == (
        "Body[1] and[2] on.\n\n| A | B |\n| --- | --- |\n| C | D |\n\nAfter.\n\n"
        "[1]: A note.\n\n[2]: An end."
    )


def test_wordperfect4_has_no_signature(tmp_path):
    codes = b"\xcb\n\x01\xf6\x01\xcb\xd0BlBp\xd0\xd8.,\xd8" + bytes(8)
    result = _read(tmp_path, codes + LETTER.encode() + b"\rsoft\nhard", "letter.doc")
    assert result.method == "wordperfect/4"
    assert result.text == LETTER + " soft\n\nhard"


def test_wordperfect_with_a_password(tmp_path):
    data = bytearray(wordperfect6(b"x"))
    data[12:14] = b"\x12\x34"
    assert _read(tmp_path, bytes(data), "a.wpd").reason == Reason.ENCRYPTED


def test_works(tmp_path):
    text = b"A letter in Works.\r\nIts end."
    head = bytearray(0x100)
    struct.pack_into("<II", head, 0x22, 0x100, 0x100 + len(text))
    old = ole_file({"MN0": bytes(head) + text, "MM": b"x"})
    assert _read(tmp_path, old, "a.wps").text == "A letter in Works.\nIts end."
    wide = "Works 2000 text".encode("utf-16-le")
    entry = b"\x18\x00TEXT" + bytes(6) + b"TEXT" + struct.pack("<II", 0x40, len(wide))
    new = ole_file({"MatOST": b"x", "CONTENTS": (b"CHNKWKS\0" + entry).ljust(0x40, b"\0") + wide})
    assert _read(tmp_path, new, "a.wps").text == "Works 2000 text"
    other = _read(tmp_path, ole_file({"MatOST": b"x", "CONTENTS": b"?"}), "a.wps")
    assert (other.status, other.reason) == (Status.UNSUPPORTED, Reason.NO_READER)
