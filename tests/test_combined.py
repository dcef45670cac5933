"""combined.md: what is written comes back, whatever the texts hold."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regcomments import combined
from regcomments.combined import Combined, CombinedError, Entry, FrontMatter, OcrNote
from regcomments.status import Reason, Status
from regcomments.textnorm import normalise

LINES = [
    *("---", "...", "", " ", "\t", "## attachment_2.pdf", "\\## attachment_2.pdf", "##", "## "),
    *("## Inline comment", "\\\\## x", "### attachment_1.zip/a.txt", "### Attachment_1", "### x"),
    *("# Title", "#### deep", "_(ok — 0 chars extracted)_", "\\_(ok — 0 chars extracted)_"),
    *("_(failed — same as attachment_1.pdf)_", "\\\\_(ok — x)_", "_(ok - no)_", "key: value"),
    *("attachments:", "  - file: attachment_9.pdf", "\x00", "a\x00b", "\ud800", "x\r\ny", "\x0c"),
    *("C:\\dir\\file", "\\", "\\\\", "\u2028", "\x85", "\ufeff", "| a | b |", "```", "<!-- x -->"),
]

FILES = [
    *("attachment_1.pdf", "attachment_2.PDF", "Attachment_3.docx", "attachment_4", "attachment_5."),
    *("attachment_1.pdf/letter.doc", "attachment_6.zip/a b/## c: d.txt", "attachment_7.x y"),
]

texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=10)), max_size=6).map("\n".join),
)
file_names = st.lists(
    st.sampled_from(FILES),
    unique=True,
    max_size=4,
)


@st.composite
def documents(draw):
    entries, bodies = [], {}
    for name in draw(file_names):
        entry = Entry(
            file=name,
            status=draw(st.sampled_from(Status)),
            chars=draw(st.integers(0, 10**6)),
            reason=draw(st.none() | st.sampled_from(Reason)),
            pages=draw(st.none() | st.integers(0, 5000)),
            ocr_pages=tuple(draw(st.lists(st.integers(1, 99), max_size=3))),
            ocr=draw(st.none() | st.just(OcrNote("marker", "2.1", (1, 2)))),
            method=draw(st.none() | st.just("pymupdf")),
            sha256=draw(st.none() | st.just("0" * 64)),
            same_as=draw(st.none() | st.just("attachment_9.pdf")),
            error=draw(st.none() | texts.map(combined.one_line).filter(bool)),
        )
        entries.append(entry)
        bodies[name] = "" if entry.same_as else draw(texts)
    head = FrontMatter(
        comment_id=draw(st.sampled_from(["D-1-0001", "007", "No", 'it\'s: "x", ü'])),
        docket_id=draw(st.sampled_from(["D-1", "1e5", "2026-04-23"])),
        extracted_at="2026-04-23T13:45:00Z",
        chars=draw(st.integers(0, 10**9)),
        attachments=tuple(entries),
        inline_missing=draw(st.booleans()),
        tool=draw(st.none() | st.just("regcomments 0.1.0")),
        warnings=tuple(draw(st.lists(texts.map(combined.one_line), max_size=2))),
    )
    return Combined(head, draw(texts), bodies)


@given(documents())
@settings(max_examples=150, deadline=None)
def test_round_trip(document):
    text = combined.render(document)
    back = combined.parse(text)
    assert back.head == document.head
    assert back.inline == normalise(document.inline)
    assert back.texts == {name: normalise(body) for name, body in document.texts.items()}
    assert combined.render(back) == text
    text.encode("utf-8")


@given(documents())
@settings(max_examples=40, deadline=None)
def test_head_alone_is_the_same_head(tmp_path_factory, document):
    path = tmp_path_factory.mktemp("head") / "combined.md"
    path.write_bytes(combined.render(document).encode("utf-8"))
    assert combined.read_head(path) == document.head == combined.read(path).head


HEAD = FrontMatter("D-1-0001", "D-1", "2026-04-23T13:45:00Z", 12453)
CONTRACT = """\
---
comment_id: D-1-0001
docket_id: D-1
extracted_at: 2026-04-23T13:45:00Z
chars: 12453
attachments:
  - file: attachment_1.pdf
    status: ok
    chars: 12300
  - file: attachment_2.pdf
    status: ocr_needed
    chars: 0
---

## Inline comment

body

## attachment_1.pdf

text

## attachment_2.pdf

_(ocr_needed — 0 chars extracted)_
"""


def test_the_contract_to_the_letter():
    entries = (
        Entry("attachment_1.pdf", Status.OK, 12300),
        Entry("attachment_2.pdf", Status.OCR_NEEDED, 0),
    )
    document = Combined(replace(HEAD, attachments=entries), "body", {"attachment_1.pdf": "text"})
    assert combined.render(document) == CONTRACT


def test_optional_keys_come_in_their_order():
    entry = Entry(
        "attachment_1.pdf",
        Status.OCR_NEEDED,
        5,
        Reason.MIXED,
        pages=3,
        ocr_pages=(2,),
        ocr=OcrNote("tesseract", "5.5", (1,)),
        method="pymupdf",
        sha256="ab",
        same_as="attachment_2.pdf",
        error="two\nlines",
    )
    head = replace(
        HEAD, attachments=(entry,), inline_missing=True, tool="regcomments 1", warnings=("w",)
    )
    text = combined.render(Combined(head))
    keys = re.findall(r"^ *(?:- )?([a-z_0-9]+):", text.split("\n---\n")[0], re.MULTILINE)
    assert " ".join(keys) == (
        "comment_id docket_id extracted_at chars attachments file status chars reason pages "
        "ocr_pages ocr method sha256 same_as error inline tool warnings"
    )
    assert 'error: "two lines"' in text
    assert "_(ocr_needed — same as attachment_2.pdf)_" in text


def test_no_attachments():
    text = combined.render(Combined(HEAD))
    assert "attachments: []" in text and text.endswith("## Inline comment\n")
    assert combined.parse(text) == Combined(HEAD)


@pytest.mark.parametrize("name", ["attachment_1.p\ndf", "attachment_1.zip/a\r## attachment_2.pdf"])
def test_a_name_cannot_forge_a_section(name):
    head = replace(HEAD, attachments=(Entry(name, Status.OK, 0),))
    with pytest.raises(CombinedError):
        combined.render(Combined(head))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text[:40],
        lambda text: text.replace("---\n", "", 1),
        lambda text: text.replace("chars: 12453\n", ""),
        lambda text: text.replace("chars: 12453", "chars: many"),
        lambda text: text.replace("chars: 12453", "chars: .inf"),
        lambda text: text.replace("status: ok", "status: fine"),
        lambda text: text.replace("chars: 0", "chars: 0\n    reason: because"),
        lambda text: text.replace("chars: 0", "chars: 0\n    ocr_pages: 7"),
        lambda text: text.replace("chars: 0", "chars: 0\n    pages: three"),
        lambda text: text.replace("chars: 0", "chars: 0\n    ocr: tesseract"),
        lambda text: text.replace("  - file: attachment_1.pdf", "  - name: x"),
        lambda text: text.replace("## attachment_1.pdf\n", ""),
        lambda text: text.replace("## Inline comment\n", ""),
        lambda text: text.replace("chars: 12453", "chars: " + "[" * 9000),
    ],
)
def test_damaged_files_are_refused(change):
    with pytest.raises(CombinedError):
        combined.parse(change(CONTRACT))


@pytest.mark.parametrize(
    "raw",
    [b"", b"---\n", b"\xff\xfe", b"text\n---\n", b"---\na: \xff\n---\n", b"---\n" + b"x" * 99999],
)
def test_damaged_heads_are_refused(tmp_path, raw):
    path = tmp_path / "combined.md"
    path.write_bytes(raw)
    with pytest.raises(CombinedError):
        combined.read_head(path)


def test_a_head_without_end_is_not_read_for_ever(tmp_path):
    path = tmp_path / "combined.md"
    with open(path, "wb") as handle:
        handle.write(b"---\n")
        handle.truncate(1 << 30)  # sparse
    with pytest.raises(CombinedError, match="does not end"):
        combined.read_head(path)


def test_a_long_head_is_read(tmp_path):
    entries = tuple(Entry(f"attachment_{n}.pdf", Status.OK, n) for n in range(1, 3000))
    head = replace(HEAD, attachments=entries)
    path = tmp_path / "combined.md"
    path.write_text(combined.render(Combined(head)), "utf-8")
    assert combined.read_head(path) == head


def test_same_but_time():
    other = CONTRACT.replace("2026-04-23", "2026-05-01")
    assert combined.same_but_time(CONTRACT, other)
    assert not combined.same_but_time(CONTRACT, other.replace("body", "Body"))
    assert not combined.same_but_time(CONTRACT, CONTRACT + "extracted_at: x\n")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [("a\n b\t c", "a b c"), ("x" * 400, "x" * 299 + "…"), ("\x00\ud800\ufffe", "\ufffd\ufffd")],
)
def test_one_line(raw, expected):
    assert combined.one_line(raw) == expected
