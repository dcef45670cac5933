"""Mail: text files, Outlook messages, saved web pages."""

from __future__ import annotations

import hashlib
from email.message import EmailMessage

import pytest
from kind_files import LETTER, message, picture_bytes
from ole_files import message_file, message_tree
from regcomments.read import ReadOptions, documents_inside, read_attachment
from regcomments.status import Reason, Status

_LONG = b"A text that is attached. " * 200  # streams of the test's Outlook files are padded below
_BASE64 = b"Content-Transfer-Encoding: base64\n\n8NLJ18XU\n"
_UNENDED = b"--x\n\none\n--x\n\ntwo"


def _read(tmp_path, data, name="attachment_1.eml"):
    path = tmp_path / name
    path.write_bytes(data)
    return read_attachment(path, ReadOptions())


def test_head_body_and_attachment(tmp_path):
    result = _read(tmp_path, message(body="Dear all,\nwe agree.", note_txt=b"attached words"))
    assert (result.status, result.kind) == (Status.OK, "eml")
    assert result.text == (
        "From: ann@example.org\nTo: docket@example.gov\nSubject: Our comment\n\n"
        "Dear all,\nwe agree."
    )
    assert [(m.name, m.result.text) for m in result.members] == [("note.txt", "attached words")]


@pytest.mark.parametrize(
    ("plain", "html", "expected"),
    [
        (LETTER, f"<p>{LETTER}</p>", LETTER),
        ("", "<p>only <b>rich</b></p>", "only rich"),
        ("Get a better program.", "<p>" + "many words " * 30 + "</p>", "many words " * 29),
    ],
)
def test_one_of_two_bodies(tmp_path, plain, html, expected):
    text = _read(tmp_path, message(body=plain, html=html)).text
    assert expected.strip() in text
    assert text.count(expected.split()[0] + " " + expected.split()[1]) <= 30


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"Subject: =?utf-8?q?caf=C3=A9?=\nMIME-Version: 1.0\n\nx", "Subject: café"),
        (b"Subject: caf\xe9\nMIME-Version: 1.0\n\nx", "Subject: café"),
        (b"Subject: =?bad?x?!?=\nMIME-Version: 1.0\n\nx", "Subject: =?bad?x?!?="),
        (b"Subject: two\n lines\nMIME-Version: 1.0\n\nx", "Subject: two lines"),
        (
            b"MIME-Version: 1.0\nContent-Type: text/plain; charset=koi8-r\n" + _BASE64,
            "Привет",
        ),
        (b"MIME-Version: 1.0\nContent-Type: text/plain; charset=zlib\n\nwords", "words"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nno boundary", "no boundary"),
        (
            b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n" + _UNENDED,
            "one\n\ntwo",
        ),
    ],
)
def test_damaged_and_foreign_messages(tmp_path, raw, expected):
    assert expected in _read(tmp_path, raw).text


def test_a_signed_message_that_outlook_keeps_as_an_attachment(tmp_path):
    raw = (
        b'Content-Type: multipart/signed; micalg=sha1;\r\n\tboundary="x"\r\n\r\n--x\r\n'
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nV2UgYWdyZWUu\r\n"
        b"--x\r\nContent-Type: application/pkcs7-signature; name=smime.p7s\r\n\r\nMIIabc\r\n--x--"
    )
    result = _read(tmp_path, raw, "smime.p7m")
    assert (result.kind, result.text, result.members) == ("eml", "We agree.", ())


def test_a_text_file_attached_to_the_html_side_is_a_member(tmp_path):
    raw = (
        b"MIME-Version: 1.0\nSubject: s\nContent-Type: multipart/alternative; boundary=a\n\n"
        b"--a\nContent-Type: text/plain\n\nSee my notes.\n"
        b"--a\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nContent-Type: text/html\n\n<p>See my notes.\n"
        b"--b\nContent-Type: text/plain; name=notes.txt\n"
        b"Content-Disposition: attachment; filename=notes.txt\n\nThe levee leaks.\n"
        b"--b--\n--a--\n"
    )
    result = _read(tmp_path, raw)
    assert result.text == "Subject: s\n\nSee my notes."
    assert [(m.name, m.result.text) for m in result.members] == [("notes.txt", "The levee leaks.")]


def test_a_forwarded_message_is_a_member(tmp_path):
    outer = EmailMessage()
    outer["Subject"], outer["Message-ID"] = "Fwd", "<2@example.org>"
    outer.set_content("see below")
    inner = EmailMessage()
    inner["Subject"] = "The original"
    inner.set_content("inner words")
    inner.add_attachment(b"deep words", "text", "plain", filename="deep.txt")
    outer.add_attachment(inner)
    result = _read(tmp_path, outer.as_bytes())
    (member,) = result.members
    assert member.name == "The original.eml"
    assert "inner words" in member.result.text
    assert member.result.members[0].result.text == "deep words"
    fetched = documents_inside(tmp_path / "attachment_1.eml", "The original.eml/deep.txt")
    assert list(fetched) == [b"deep words"]


def test_logos_are_left_out_scans_are_not(tmp_path):
    mail = EmailMessage()
    mail["Message-ID"] = "<3@example.org>"
    mail.set_content("words")
    for name, data in (("logo.png", b"small"), ("scan.png", picture_bytes("PNG"))):
        padded = data + bytes(30_000 if name == "scan.png" else 0)
        mail.add_attachment(
            padded, "image", "png", filename=name, disposition="inline", cid=f"<{name}>"
        )
    result = _read(tmp_path, mail.as_bytes())
    assert [(m.name, m.result.status) for m in result.members] == [("scan.png", Status.OCR_NEEDED)]


def test_an_encrypted_message(tmp_path):
    raw = (
        b"MIME-Version: 1.0\nContent-Type: application/pkcs7-mime; name=smime.p7m\n"
        b"Content-Transfer-Encoding: base64\n\nMIAGCSqGSIb3\n"
    )
    result = _read(tmp_path, raw)
    assert (result.status, result.reason) == (Status.FAILED, Reason.ENCRYPTED)


def test_a_saved_web_page(tmp_path):
    page = (
        b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n"
        b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"<p>caf=C3=A9</p><script>no</script>\n--x\nContent-Type: image/png\n\nxx\n--x--\n"
    )
    result = _read(tmp_path, page, "page.mht")
    assert (result.text, result.kind) == ("café", "mhtml")


def test_outlook(tmp_path):
    inner = message_tree(
        {0x37: "Original", 0x1000: "inner words"}, attachments=(("deep.txt", _LONG),), header=24
    )
    data = message_file(
        {0x37: "Our comment", 0x0C1A: "Ann", 0x5D01: "ann@example.org", 0x1000: "We agree."},
        attachments=(("note.txt", _LONG), ("note.txt", _LONG), ("Fwd", inner)),
    )
    result = _read(tmp_path, data, "a.msg")
    assert result.text == "From: Ann <ann@example.org>\nSubject: Our comment\n\nWe agree."
    assert [m.name for m in result.members] == ["note.txt", "note (2).txt", "Fwd.eml"]
    assert result.members[0].result.text == _LONG.decode().strip()
    forwarded = result.members[2].result
    assert forwarded.text == "Subject: Original\n\ninner words"
    (deep,) = documents_inside(tmp_path / "a.msg", "Fwd.eml/deep.txt")
    assert deep.startswith(_LONG)
    (again,) = documents_inside(tmp_path / "a.msg", "Fwd.eml")
    assert hashlib.sha256(again).hexdigest() == forwarded.sha256


@pytest.mark.parametrize(
    ("bodies", "expected"),
    [
        ({"html": b"<html><body><p>rich words</p></body></html>"}, "rich words"),
        ({"rtf": b"\x30\0\0\0\x18\0\0\0MELA\0\0\0\0{\\rtf1 formatted words}"}, "formatted words"),
        ({"rtf": b"broken"}, ""),
    ],
)
def test_outlook_bodies(tmp_path, bodies, expected):
    text = _read(tmp_path, message_file({0x37: "S"}, **bodies), "a.msg").text
    assert text == f"Subject: S\n\n{expected}".strip()
