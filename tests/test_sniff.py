"""The kind of a file by its content, whatever its name says."""

from __future__ import annotations

import random

import pytest
from kind_files import LETTER, message, picture_bytes, samples, wordperfect6, workbook, zipped
from ole_files import ole_file
from regcomments.read.sniff import Kind, sniff

_SAMPLES = samples()
_KINDS = {
    "a.txt": Kind.TEXT,
    "a.html": Kind.HTML,
    "a.xml": Kind.XML,
    "a.rtf": Kind.RTF,
    "a.doc": Kind.DOC,
    "a.ppt": Kind.PPT,
    "a.xls": Kind.XLS,
    "a.msg": Kind.MSG,
    "a.eml": Kind.EML,
    "a.zip": Kind.ZIP,
    "a.pptx": Kind.PPTX,
    "a.xlsx": Kind.XLSX,
    "a.odt": Kind.ODT,
    "a.wpd": Kind.WPD,
    "a.png": Kind.IMAGE,
    "a.tif": Kind.IMAGE,
    "a.jpg": Kind.IMAGE,
    "a.epub": Kind.EPUB,
}


def _kind(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data)
    return sniff(path)


@pytest.mark.parametrize("name", sorted(_KINDS))
@pytest.mark.parametrize("suffix", ["own", ".docx", ".dat", ""])
def test_the_content_decides(tmp_path, name, suffix):
    named = name if suffix == "own" else f"attachment_1{suffix}"
    assert _kind(tmp_path, named, _SAMPLES[name]) == _KINDS[name]


def test_every_sample_is_listed():
    assert set(_KINDS) == set(_SAMPLES)


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.docx", b"%PDF-1.4\n1 0 obj", Kind.PDF),
        ("a.txt", b"junk before the header\n%PDF-1.7\n", Kind.PDF),
        ("a.txt", b"x" * 1500 + b"%PDF-1.7\n", Kind.TEXT),
        ("a.pdf", b"<!DOCTYPE html><html><body>Not found</body></html>", Kind.HTML),
        ("a.pdf", b"these words are no PDF", Kind.PDF),
        ("a.doc", b"\xef\xbb\xbf{\\rtf1 text}", Kind.RTF),
        ("a.doc", LETTER.encode(), Kind.TEXT),
        ("a.dat", LETTER.encode("utf-16"), Kind.TEXT),
        ("a.dat", LETTER.encode("utf-16-le"), Kind.TEXT),
        ("a.dat", LETTER.encode("utf-32"), Kind.TEXT),
        ("a.dat", "<html><body>wide</body></html>".encode("utf-16"), Kind.HTML),
        ("a.htm", b"Dear sir, <b>no</b>", Kind.HTML),
        ("a.txt", b"<p>A fragment</p>", Kind.HTML),
        ("a.txt", b"<comment>unknown words</comment>", Kind.XML),
        ("a.sgml", b"<!DOCTYPE rule SYSTEM 'x'><rule>text", Kind.XML),
        ("a.txt", b"<jane@example.org> wrote: hello", Kind.TEXT),
        ("a.txt", b"From: Ann\nTo: CMS\nSubject: the rule\n\nDear all", Kind.TEXT),
        ("a.eml", b"From: Ann\nTo: CMS\nSubject: the rule\n\nDear all", Kind.EML),
        ("a.txt", b"BM is how we begin. And so on, for long.", Kind.TEXT),
        ("a.bin", b"MZ\x90\x00\x03" + bytes(200), Kind.NOT_A_DOCUMENT),
        ("a.pdf", b"ID3\x04\x00" + bytes(100), Kind.NOT_A_DOCUMENT),
        ("a.mov", b"\x00\x00\x00\x14ftypqt  " + bytes(50), Kind.NOT_A_DOCUMENT),
        ("a.heic", b"\x00\x00\x00\x18ftypheic" + bytes(50), Kind.IMAGE),
        ("a.dat", b"RIFF\x10\x00\x00\x00WAVEfmt ", Kind.NOT_A_DOCUMENT),
        ("a.rar", b"Rar!\x1a\x07\x01\x00" + bytes(50), Kind.ARCHIVE),
        ("a.ps", b"%!PS-Adobe-3.0\n", Kind.POSTSCRIPT),
        ("a.xyz", bytes(range(256)) * 8, Kind.UNKNOWN),
        ("a.pdf", bytes(range(256)) * 8, Kind.PDF),
        ("a.docx", b"PK\x03\x04 torn word/document.xml", Kind.DOCX),
        ("a.zip", zipped({"docs/word/notes.txt": "no package"}), Kind.ZIP),
        ("a.zip", zipped({"a.pdf": "%PDF-1.4 stored"}, stored=True), Kind.ZIP),
        ("a.docx", zipped({"word/document.xml": "<w/>"}), Kind.DOCX),
        ("a.jar", zipped({"META-INF/MANIFEST.MF": "x", "A.class": "y"}), Kind.NOT_A_DOCUMENT),
        ("a.xls", ole_file({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}), Kind.ENCRYPTED),
        (
            "a.docx",
            ole_file({"EncryptedPackage": b"x", "DRMEncryptedDataSpace": b"y"}),
            Kind.RIGHTS_MANAGED,
        ),
        ("a.doc", ole_file({"Workbook": b"x"}), Kind.XLS),
        ("a.pub", ole_file({"Quill": {"QuillSub": b"x"}}), Kind.OFFICE_OTHER),
        ("attachment_1", wordperfect6(b"x"), Kind.WPD),
    ],
)
def test_kinds_told_apart(tmp_path, name, data, kind):
    assert _kind(tmp_path, name, data) == kind


@pytest.mark.parametrize(
    "start",
    [
        "MZ Clinic",
        "OTTO",
        "ID3",
        "OggS",
        "BZh",
        "MThd",
        "PAR1",
        "MSCF",
        "RIFF",
        "Citywide",
        "The wide",
    ],
)
def test_letters_that_sign_a_binary_format_may_begin_a_text(tmp_path, start):
    letter = f"{start} asks the agency to keep the café rule as it is.\r\nThank you."
    assert _kind(tmp_path, "a.txt", letter.encode("cp1252")) == Kind.TEXT
    binary = start.encode().ljust(12, b"\x00") + bytes(range(200))
    assert _kind(tmp_path, "a.txt", binary) != Kind.TEXT


def test_a_package_whose_list_of_types_does_not_inflate_is_told_by_its_parts(tmp_path):
    data = bytearray(zipped({"[Content_Types].xml": LETTER * 40, "word/document.xml": "<a/>"}))
    at = data.index(b"[Content_Types].xml") + len("[Content_Types].xml")
    data[at : at + 8] = b"\xff" * 8
    assert _kind(tmp_path, "a.bin", bytes(data)) == Kind.DOCX


def test_a_web_archive_is_not_a_mail(tmp_path):
    page = (
        b"From: <Saved by browser>\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/related; boundary="x"\n\n--x\nContent-Type: text/html\n\nhi\n'
    )
    assert _kind(tmp_path, "a.mht", page) == Kind.MHTML
    assert _kind(tmp_path, "a.txt", message()) == Kind.EML


def test_any_bytes_have_a_kind(tmp_path):
    source = random.Random(4)
    heads = [data[:600] for data in (*_SAMPLES.values(), picture_bytes("GIF"), workbook([["x"]]))]
    for _ in range(400):
        data = bytearray(source.choice(heads))
        for _ in range(source.randrange(1, 20)):
            data[source.randrange(len(data))] = source.randrange(256)
        name = f"a.{source.choice(['pdf', 'doc', 'zip', 'x', 'txt'])}"
        assert _kind(tmp_path, name, bytes(data)) in Kind
