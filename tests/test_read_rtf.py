"""RTF: characters, tables, notes, fields, what is hidden."""

from __future__ import annotations

import time

import pytest
from kind_files import picture_bytes
from regcomments.read import ReadOptions, read_attachment, rtf
from regcomments.read.rtf_compressed import decompress
from regcomments.read.rtf_reader import rtf_to_markdown
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

_FONTS = (
    rb"{\fonttbl{\f0 Arial;}{\f1\fcharset204 Times;}{\f2\fcharset2 Symbol;}{\f3\fcharset128 MS;}}"
)


def _read(body: bytes, head: bytes = rb"\ansi\ansicpg1252") -> str:
    return rtf_to_markdown(b"{\\rtf1" + head + _FONTS + body + b"}")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rb" Dear Sir,\par We agree.", "Dear Sir,\n\nWe agree."),
        (b"\\pard\r\nsplit wo\r\nrds\\par", "split words"),
        (rb"a\line b\tab c", "a\nb c"),
        (rb"it\rquote s \ldblquote so\rdblquote \emdash ok \'e9\'93", "it’s “so”—ok é“"),
        (rb"\u8364?5 \u-10179?\u-8704? \uc2\u233??x \uc0\u233 y", "€5 😀 éx éy"),
        (rb"{\f1\'ef\'f0\'e8} {\f2\'b7} {\f3\'82\'a0}", "при • あ"),
        (rb"\{braces\} back\\slash non\~break", "{braces} back\\slash non\u00a0break"),
        (rb"hy\_phen opt\-ional", "hy-phen optional"),
        (rb"seen {\v hidden}{\deleted gone}\plain kept", "seen kept"),
        (rb"a{\*\unknowndest text}b{\info{\title t}}c{\pict 8950}d", "abcd"),
        (rb'{\field{\*\fldinst HYPERLINK "http://x.org"}{\fldrslt a}} b', "a b <http://x.org>"),
        (rb"{\field{\*\fldinst PAGE}{\fldrslt 3}}", "3"),
        (
            (
                rb"{\field{\*\fldinst {FORMCHECKBOX }{{\*\formfield{\fftype1\ffres1\ffdefres0}}}}"
                rb"{\fldrslt}} Yes"
            ),
            "☒ Yes",
        ),
        (
            (
                rb"{\field{\*\fldinst FORMCHECKBOX {\*\formfield{\fftype1\ffres25\ffdefres0}}}"
                rb"{\fldrslt}} No"
            ),
            "☐ No",
        ),
        (
            (
                rb"so {\mmath{\*\moMath{\mf{\mfPr{\mtype bar}}{\mnum{\mr a}}{\mden{\mr b}}}{\mr =}"
                rb"{\msSup{\me{\mr x}}{\msup{\mr 2}}}}}{\mmathPict{\pict 00}}."
            ),
            "so a/b=x^2.",
        ),
        (rb"{\upr{old}{\*\ud{n\u233?w}}}", "néw"),
        (rb"{\listtext\pard 1.\tab}First\par{\pntext\f2\'b7\tab}Next", "1. First\n\n• Next"),
        (rb"{\object{\*\objdata 0102}{\result shown}}", "shown"),
        (rb"{\shp{\*\shpinst{\sp{\sn x}{\sv y}}{\shptxt box\par}}{\shprslt twice}}", "box"),
        (rb"{\*\do\dobxpage\dptxbx{\dptxbxtext\pard box\par}\dpx1}", "box"),
        (rb"left\column right", "left\n\nright"),
        (rb"\bin3 {{{after", "after"),
        (rb"unclosed {\b bold", "unclosed bold"),
    ],
)
def test_text(body, text):
    assert _read(body) == text


def test_code_pages():
    assert _read(rb"\'ef\'f0\'e8", rb"\ansi\ansicpg1251") == "при"
    assert _read(rb"caf\'8e", rb"\mac") == "café"
    assert _read(rb"\'82\'a0", rb"\ansi\ansicpg932") == "あ"
    assert _read(rb"\'e9", rb"\ansi\ansicpg99999") == "é"


def test_notes_headers_and_footers():
    body = (
        rb"{\header ACME\par}{\headerf ACME\par}{\footer Page foot\par}"
        rb"Body{\super\chftn}{\footnote\pard See {\i there}.}{\*\annotation check this} ends.\par"
    )
    assert _read(body) == (
        "ACME\n\nBody[1] ends.\n\nPage foot\n\n[1]: See there.\n\nComment: check this"
    )


def test_tables():
    row = rb"\trowd\cellx1\cellx2\pard\intbl %b\cell %b\cell\row"
    body = rb"before\par" + row % (b"A", b"B") + row % (rb"C\par 1", b"") + rb"\pard after\par"
    assert _read(body) == ("before\n\n| A | B |\n| --- | --- |\n| C 1 |  |\n\nafter")


def test_html_wrapped_in_rtf():
    wrapped = (
        rb"{\rtf1\ansi\fromhtml1 {\*\htmltag19 <html>}{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 "
        rb"Hello {\*\htmltag84 <b>}\htmlrtf {\b\htmlrtf0 bold\htmlrtf }\htmlrtf0 "
        rb"{\*\htmltag92 </b>} a & b\htmlrtf\par}\htmlrtf0 {\*\htmltag72 </p>}}"
    )
    assert rtf_to_markdown(wrapped) == "Hello bold a & b"


def test_not_rtf():
    with pytest.raises(UnreadableError) as caught:
        rtf_to_markdown(b"no header")
    assert caught.value.reason == Reason.CORRUPT


def test_cut_off(tmp_path):
    path = tmp_path / "a.rtf"
    path.write_bytes(rb"{\rtf1\ansi{\fonttbl{\f0 Ari")
    result = read_attachment(path, ReadOptions())
    assert (result.status, result.reason) == (Status.FAILED, Reason.CORRUPT)
    path.write_bytes(rb"{\rtf1\ansi We supp")
    result = read_attachment(path, ReadOptions())
    assert (result.text, result.warnings) == ("We supp", ("the file is cut off or damaged",))


_PICTURE = picture_bytes("PNG") + bytes(4000)  # what follows the end of a PNG is ignored


@pytest.mark.parametrize(
    "written",
    [
        rb"\pngblip\picw400 " + _PICTURE.hex().encode(),
        rb"\picw400\pngblip" + b"\r\n" + _PICTURE.hex("\n", 64).encode(),
        # As Word writes it.
        rb"{\*\picprop{\sp{\sn a}{\sv 75}}}\picw4\pngblip\bliptag-7{\*\blipuid 0123456789abcdef}"
        + _PICTURE.hex("\n", 64).encode(),
        rb"\pngblip\bin%d " % len(_PICTURE) + _PICTURE,
    ],
    ids=["plain", "lines", "word", "binary"],
)
def test_a_photographed_letter(tmp_path, written):
    big = _PICTURE
    path = tmp_path / "a.rtf"
    path.write_bytes(rb"{\rtf1{\pict" + written + b"}}")
    result = read_attachment(path, ReadOptions())
    assert (result.status, result.ocr_pages) == (Status.OCR_NEEDED, (1,))
    assert rtf.picture(path, 1) == big
    with pytest.raises(LookupError):
        rtf.picture(path, 2)


def test_pictures_without_an_end_cost_little():
    data = rb"{\rtf1{\pict\pngblip" + b" " * 60 + b"ab" * 1_000_000 + b"|}"
    started = time.process_time()
    assert rtf._pictures(data) == []
    assert time.process_time() - started < 1  # 0.02 s; tried from every blank before it 2 s


def test_deep_groups_end():
    assert "words" in rtf_to_markdown(rb"{\rtf1 " + b"{" * 50_000 + b"words")


@pytest.mark.parametrize("data", [b"", b"short", bytes(40), bytes(8) + b"????" + bytes(9)])
def test_no_compressed_rtf(data):
    with pytest.raises(ValueError, match="RTF"):
        decompress(data)


def test_compressed_rtf():
    # The example of [MS-OXRTFCP] 4.1.1.
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656"
        "c090020627705b06c647d0a800fa0"
    )
    assert decompress(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    crossing = "1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0"  # 4.2.1
    assert decompress(bytes.fromhex(crossing)) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"
    assert decompress(b"\x18\0\0\0\x05\0\0\0MELA\0\0\0\0{\\rt}") == b"{\\rt}"
