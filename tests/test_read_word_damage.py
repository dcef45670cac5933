"""Damaged, hostile and odd Word packages: each ends in a document or in a stated reason."""

from __future__ import annotations

import io
import random
import re
import struct
import sys
import time
import zipfile

import pytest
from regcomments.read.options import ReadOptions
from regcomments.read.word import read_word
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

from tests.word_files import (
    DECLARATION,
    NAMESPACES,
    p,
    package,
    r,
    read,
    relations,
    tbl,
    tc,
    tr,
    xml,
    zipped,
)

LETTER = package(p("The rule should be withdrawn."))


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_document(data: bytes) -> bytes:
    return zipped({**members(LETTER), "word/document.xml": data})


def reason_of(folder, data: bytes) -> Reason:
    with pytest.raises(UnreadableError) as caught:
        read(folder, data)
    assert caught.value.status == Status.FAILED
    return caught.value.reason


def document_xml(body: str) -> str:
    return xml("w:document", f"<w:body>{body}</w:body>")


STRICT = (
    document_xml(p("The rule should be withdrawn."))
    .replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/",
        "http://purl.oclc.org/ooxml/wordprocessingml/",
    )
    .encode()
)
PLAIN = document_xml(p("The rule should be withdrawn.")).encode()
LATIN = document_xml(p("Déjà vu")).replace("UTF-8", "ISO-8859-1").encode("latin-1")
ENTITIES = "".join(f'<!ENTITY a{n} "{"&a" * 0}{f"&a{n - 1};" * 10}">' for n in range(1, 12))
BOMB = PLAIN.replace(
    b"<w:document", f'<!DOCTYPE x [<!ENTITY a0 "ha">{ENTITIES}]><w:document'.encode(), 1
).replace(b"The rule", b"&a11;")
FETCH = PLAIN.replace(
    b"<w:document", b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><w:document', 1
).replace(b"The rule", b"&e;")
READABLE = {
    "strict": (with_document(STRICT), "The rule should be withdrawn."),
    "byte order mark": (with_document(b"\xef\xbb\xbf" + PLAIN), "The rule should be withdrawn."),
    "UTF-16": (
        with_document(PLAIN.decode().replace("UTF-8", "UTF-16").encode("utf-16")),
        "The rule should be withdrawn.",
    ),
    "Latin-1": (with_document(LATIN), "Déjà vu"),
    "no declaration": (
        with_document(PLAIN.removeprefix(DECLARATION.encode())),
        "The rule should be withdrawn.",
    ),
    "document part elsewhere": (
        zipped(
            {
                "_rels/.rels": relations([("x", "officeDocument", "/doc/main2.xml")]),
                "doc/main2.xml": PLAIN,
            }
        ),
        "The rule should be withdrawn.",
    ),
    "no relationships": (zipped({"word/document.xml": PLAIN}), "The rule should be withdrawn."),
    "names with backslashes and capitals": (
        zipped({"Word\\Document.XML": PLAIN}),
        "The rule should be withdrawn.",
    ),
    "bytes before the package": (b"junk" * 9 + LETTER, "The rule should be withdrawn."),
    "bytes after the package": (LETTER + b"\0" * 500, "The rule should be withdrawn."),
    "broken directory": (
        LETTER.replace(b"PK\x01\x02", b"PK\x09\x09"),
        "The rule should be withdrawn.",
    ),
    "directory said to begin too late": (
        LETTER[:-6] + struct.pack("<I", len(LETTER) * 2) + LETTER[-2:],
        "The rule should be withdrawn.",
    ),
    "unknown compression in the directory": (
        re.sub(b"(PK\x01\x02.{6})\x08", rb"\g<1>c", LETTER, flags=re.DOTALL),
        "The rule should be withdrawn.",
    ),
    "stored, not deflated": (
        zipped(members(LETTER), zipfile.ZIP_STORED),
        "The rule should be withdrawn.",
    ),
    "unclosed elements": (
        with_document(PLAIN[: PLAIN.index(b"</w:t>") + 6]),
        "The rule should be withdrawn.",
    ),
    "bare ampersand": (
        with_document(PLAIN.replace(b"rule", b"rule & law")),
        "The rule & law should be withdrawn.",
    ),
    "entity bomb": (with_document(BOMB), "should be withdrawn."),
    "entity bomb in UTF-16": (
        with_document(BOMB.decode().replace("UTF-8", "UTF-16").encode("utf-16")),
        "should be withdrawn.",
    ),
    "references that XML lacks": (
        with_document(document_xml(p("a&nbsp;b&#11;&LT; AT&T c")).encode()),
        "a b < AT&T c",
    ),
    "external entity": (with_document(FETCH), "should be withdrawn."),
    "Word 2003": (
        PLAIN.replace(
            NAMESPACES["w"].encode(), b"http://schemas.microsoft.com/office/word/2003/wordml"
        ),
        "The rule should be withdrawn.",
    ),
    "one-file XML": (
        (
            '<?xml version="1.0"?><?mso-application progid="Word.Document"?><pkg:package '
            'xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"><pkg:part '
            'pkg:name="/word/document.xml"><pkg:xmlData>'
            + PLAIN.decode().removeprefix(DECLARATION)
            + "</pkg:xmlData></pkg:part></pkg:package>"
        ).encode(),
        "The rule should be withdrawn.",
    ),
}


@pytest.mark.parametrize("name", READABLE)
def test_odd_but_readable(tmp_path, name):
    data, expected = READABLE[name]
    assert read(tmp_path, data).body == expected


def test_what_a_dtd_declares_is_missed(tmp_path):
    document = read(tmp_path, with_document(FETCH))
    assert document.warnings == ("what the DTD of the document part declares was left out",)


def test_wrong_checksum_is_read_with_a_warning(tmp_path):
    with zipfile.ZipFile(io.BytesIO(LETTER)) as archive:
        crc = struct.pack("<I", archive.getinfo("word/document.xml").CRC)
    document = read(tmp_path, LETTER.replace(crc, b"\1\2\3\4"))
    assert document.body == "The rule should be withdrawn."
    assert document.warnings == ("word/document.xml is damaged",)


def test_text_behind_the_break_of_a_part_is_kept(tmp_path):
    body = p("Before.") + "<w:p><w:r><w:t>a</w:t></w:q></w:p></w:body></w:document>" + p("After.")
    document = read(tmp_path, with_document(document_xml(body).encode()))
    assert "Before." in document.body and "After." in document.body
    assert "the document part is damaged" in document.warnings


UNREADABLE = {
    "no zip": (b"Just some words.", Reason.CORRUPT),
    "only a signature": (b"PK\x03\x04", Reason.CORRUPT),
    "empty package": (zipped({}), Reason.CORRUPT),
    "no document part": (zipped({"word/styles.xml": "<x/>"}), Reason.CORRUPT),
    "another main part": (
        zipped(
            {
                "_rels/.rels": relations([("x", "officeDocument", "xl/workbook.xml")]),
                "xl/workbook.xml": "<workbook/>",
            }
        ),
        Reason.CORRUPT,
    ),
    "empty document part": (with_document(b""), Reason.CORRUPT),
    "binary document part": (with_document(bytes(range(256)) * 9), Reason.CORRUPT),
    "DTD that never ends": (
        with_document(PLAIN.replace(b"<w:document", b"<!DOCTYPE x [<w:document", 1)),
        Reason.CORRUPT,
    ),
    "first 70 %": (LETTER[: len(LETTER) * 7 // 10], Reason.CORRUPT),
    "too many members": (zipped({f"{n}.xml": "" for n in range(20_001)}), Reason.TOO_LARGE),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_unreadable(tmp_path, name):
    data, reason = UNREADABLE[name]
    assert reason_of(tmp_path, data) == reason


def test_zip_password(tmp_path):
    data = bytearray(LETTER)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for match in re.finditer(re.escape(signature), LETTER):
            data[match.start() + offset] |= 1
    assert reason_of(tmp_path, bytes(data)) in (Reason.ENCRYPTED, Reason.CORRUPT)


def test_huge_part_is_refused_without_being_unpacked(tmp_path):
    started = time.process_time()
    assert reason_of(tmp_path, with_document(b"<a>" + b" " * 65_000_000)) == Reason.TOO_LARGE
    assert time.process_time() - started < 5


def test_many_tiny_elements_are_refused(tmp_path):
    inner = "<w:p/>" * 3_100_000
    data = with_document(document_xml(inner).encode())
    assert reason_of(tmp_path, data) == Reason.TOO_LARGE


def nested(kind: str, depth: int) -> str:
    text = p("Deep inside.")
    if kind == "tables":
        return "<w:tbl><w:tr><w:tc>" * depth + text + "</w:tc></w:tr></w:tbl>" * depth
    if kind == "tables of two":
        return "<w:tbl><w:tr><w:tc/><w:tc>" * depth + text + "</w:tc></w:tr></w:tbl>" * depth
    if kind == "controls":
        return "<w:sdt><w:sdtContent>" * depth + text + "</w:sdtContent></w:sdt>" * depth
    if kind == "insertions":
        return "<w:p>" + "<w:ins>" * depth + r("Deep inside.") + "</w:ins>" * depth + "</w:p>"
    if kind == "boxes":
        return (
            "<w:p><w:r><w:pict><w:txbxContent>" * depth
            + text
            + "</w:txbxContent></w:pict></w:r></w:p>" * depth
        )
    if kind == "alternatives":
        return (
            "<mc:AlternateContent><mc:Choice>" * depth
            + text
            + "</mc:Choice></mc:AlternateContent>" * depth
        )
    return (
        "<w:p>" + "<m:oMath>" * depth + "<m:t>Deep inside.</m:t>" + "</m:oMath>" * depth + "</w:p>"
    )


KINDS = ("tables", "tables of two", "controls", "insertions", "boxes", "alternatives", "math")


@pytest.mark.parametrize("depth", [30, 600, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_deep_nesting_ends_in_the_text(tmp_path, kind, depth):
    limit = sys.getrecursionlimit()
    started = time.process_time()
    document = read(tmp_path, package(nested(kind, depth)))
    assert document.body.count("Deep inside.") == 1
    assert sys.getrecursionlimit() == limit
    assert time.process_time() - started < 5


def test_a_document_imported_into_itself_ends(tmp_path):
    inner = package(p("Inner.") + '<w:altChunk r:id="c"/>', links=[("c", "aFChunk", "/chunk.docx")])
    for _ in range(5):
        inner = package(
            p("Text.") + '<w:altChunk r:id="c"/><w:altChunk r:id="c"/>',
            {"chunk.docx": inner},
            [("c", "aFChunk", "/chunk.docx")],
        )
    document = read(tmp_path, inner)
    assert document.body.count("Inner.") == 32


RICH = package(
    p("Title", '<w:pStyle w:val="H1"/>')
    + tbl(tr("a", tc("b", '<w:gridSpan w:val="2"/>')), tr("1", "2", "3"))
    + p("item", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr>')
    + '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://x.org"'
    '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>link</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    "<w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
    '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r>'
    "</m:num><m:den/></m:f></m:oMath><w:sdt><w:sdtPr><w14:checkbox/></w:sdtPr><w:sdtContent/></w:sdt>"
    "<mc:AlternateContent><mc:Choice><w:drawing><wp:inline><wp:extent cx='9' cy='9'/><a:graphic>"
    '<c:chart r:id="k"/></a:graphic></wp:inline></w:drawing></mc:Choice><mc:Fallback/>'
    "</mc:AlternateContent></w:p><w:sectPr><w:headerReference r:id='h'/></w:sectPr>",
    {
        "word/footnotes.xml": xml("w:footnotes", f'<w:footnote w:id="2">{p("note")}</w:footnote>'),
        "word/header1.xml": xml("w:hdr", p("head")),
        "word/chart.xml": xml(
            "c:chartSpace",
            '<c:chart><c:plotArea><c:ser><c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>5</c:v>'
            "</c:pt></c:numCache></c:numRef></c:val></c:ser></c:plotArea></c:chart>",
        ),
    },
    [("h", "header", "header1.xml"), ("k", "chart", "chart.xml")],
    styles='<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>',
    numbering='<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="1"><w:start w:val="1"/>'
    '<w:numFmt w:val="lowerRoman"/><w:lvlText w:val="%1.%2"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>',
)
TOKENS = [
    *(b"<w:p>", b"</w:p>", b"<w:tbl>", b"</w:tc>", b"<", b">", b'"', b"&", b"\0", b"\xff", b"-1"),
    *(b"999999999999", b"0", b"", b"<w:r>", b"<w:del>", b"<w:sdt>", b"w:fldChar", b"w:tr", b"]]>"),
    *(b"<!--", b"<w:txbxContent>", b"<mc:Choice>", b"nan", "é".encode(), "\u202e".encode()),
]


def mutated_xml(data: bytes, dice: random.Random) -> bytes:
    """Return `data` with a few pieces cut, doubled, moved or replaced, mostly at tag borders."""
    for _ in range(dice.randint(1, 6)):
        borders = [match.start() for match in re.finditer(rb'[<>"]', data)] or [0]
        start, end = sorted((dice.choice(borders), dice.choice(borders)))
        end = min(end, start + dice.randint(0, 400))
        piece = data[start:end]
        swap = dice.choice(
            [b"", piece * 2, dice.choice(TOKENS), piece[::-1], piece[: len(piece) // 2]]
        )
        data = data[:start] + swap + data[end:]
    return data


def ends_well(folder, data: bytes) -> str:
    path = folder / "fuzz.docx"
    path.write_bytes(data)
    try:
        document = read_word(path, ReadOptions())
    except UnreadableError as error:
        assert error.status == Status.FAILED
        return error.reason.value
    assert isinstance(document, Document)
    document.body.encode("utf-8", "surrogatepass")
    return "read"


def test_rich_document_is_read_before_it_is_damaged(tmp_path):
    text = read(tmp_path, RICH).body
    for word in ("### Title", "| a | b |", "1.i item", "link[^1]new", "α", "1/", "☐", "5", "head"):
        assert word in text
    assert "old" not in text


@pytest.mark.parametrize("seed", range(4))
def test_mutated_parts_end_in_a_document_or_a_reason(tmp_path, seed):
    parts = members(RICH)
    names = [name for name in parts if name.endswith((".xml", ".rels"))]
    dice = random.Random(20260101 + seed)
    outcomes = []
    for _ in range(250):
        changed = dict(parts)
        for name in dice.sample(names, dice.randint(1, 3)):
            changed[name] = mutated_xml(parts[name], dice)
        outcomes.append(ends_well(tmp_path, zipped(changed, zipfile.ZIP_STORED)))
    assert set(outcomes) <= {"read", "corrupt"}
    assert outcomes.count("read") > 125  # most damage is survivable


@pytest.mark.parametrize("seed", range(4))
def test_mutated_packages_end_in_a_document_or_a_reason(tmp_path, seed):
    dice = random.Random(20260201 + seed)
    outcomes = []
    for _ in range(250):
        data = bytearray(RICH)
        for _ in range(dice.randint(1, 8)):
            kind, at = dice.randrange(4), dice.randrange(len(data))
            if kind == 0:
                data[at] = dice.randrange(256)
            elif kind == 1:
                del data[at : at + dice.randint(1, 60)]
            elif kind == 2:
                data[at:at] = dice.randbytes(dice.randint(1, 20))
            else:
                at = max(data.rfind(b"PK", 0, at), 0)  # a header: sizes, offsets, methods, flags
                place = min(at + dice.randrange(46), len(data) - 1)
                data[place] = dice.choice([0, 1, 8, 9, 12, 127, 255])
        outcomes.append(ends_well(tmp_path, bytes(data)))
    assert set(outcomes) <= {"read", "corrupt", "too_large", "encrypted"}
    assert outcomes.count("corrupt") > 15


def test_prefixes_of_the_namespaces_do_not_matter(tmp_path):
    data = PLAIN.replace(b"w:", b"ns0:").replace(b"xmlns:w=", b"xmlns:ns0=")
    assert NAMESPACES["w"].encode() in data
    assert read(tmp_path, with_document(data)).body == "The rule should be withdrawn."
