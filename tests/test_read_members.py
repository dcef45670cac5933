"""Documents inside documents: archives, limits, names, and fetching a member again."""

from __future__ import annotations

import io
import zipfile

import pytest
from kind_files import LETTER, message, picture, picture_bytes, zipped
from regcomments.read import ReadOptions, archive, documents_inside, read_attachment
from regcomments.read.members import MAX_NAME, MemberReader, NameBook, Part, read_parts
from regcomments.records import Extraction, UnreadableError
from regcomments.status import Reason, Status


def _read(tmp_path, data, options=None, name="attachment_1.zip"):
    path = tmp_path / name
    path.write_bytes(data)
    return read_attachment(path, options or ReadOptions())


def _flat(result: Extraction) -> dict[str, Extraction]:
    found = {}
    for member in result.members:
        found[member.name] = member.result
        found |= {f"{member.name}/{name}": inner for name, inner in _flat(member.result).items()}
    return found


def test_members_are_read_in_order(tmp_path):
    data = zipped(
        {
            "b/letter.txt": LETTER,
            "a.html": "<p>page</p>",
            "__MACOSX/._x": "fork",
            "._y": "fork",
            "Thumbs.db": "x",
            "folder/": "",
            "scan.png": picture_bytes("PNG"),
            "tool.exe": b"MZ\x90\0" + bytes(100),
        }
    )
    result = _read(tmp_path, data)
    assert (result.status, result.text, result.pages) == (Status.OK, "", None)
    assert [(m.name, m.result.status) for m in result.members] == [
        ("b/letter.txt", Status.OK),
        ("a.html", Status.OK),
        ("scan.png", Status.OCR_NEEDED),
        ("tool.exe", Status.UNSUPPORTED),
    ]
    assert result.members[0].result.text == LETTER


@pytest.mark.parametrize(
    ("members", "status", "reason"),
    [
        ({}, Status.FAILED, Reason.NO_PAGES),
        ({"a.pdf": b"%PDF-1.4", "b.pdf": b"%PDF-1.4", "c.txt": b""}, Status.FAILED, Reason.CORRUPT),
        ({"a.exe": b"MZ\x90\0"}, Status.UNSUPPORTED, Reason.NOT_A_DOCUMENT),
        ({"a.exe": b"MZ\x90\0", "b.txt": b""}, Status.FAILED, Reason.EMPTY_FILE),
        ({"a.exe": b"MZ\x90\0", "b.txt": b"words"}, Status.OK, None),
    ],
)
def test_a_container_is_as_good_as_its_best_member(tmp_path, members, status, reason):
    result = _read(tmp_path, zipped(members))
    assert (result.status, result.reason) == (status, reason)


def test_a_torn_archive(tmp_path):
    result = _read(tmp_path, zipped({"a.txt": LETTER})[:-20])
    assert (result.status, result.reason) == (Status.FAILED, Reason.CORRUPT)


def test_encrypted_members(tmp_path):
    data = bytearray(zipped({"a.txt": "open", "b.txt": "locked"}))
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.rindex(sign)
        data[at + offset] |= 1
    found = _flat(_read(tmp_path, bytes(data)))
    assert found["a.txt"].status == Status.OK
    assert (found["b.txt"].status, found["b.txt"].reason) == (Status.FAILED, Reason.ENCRYPTED)


def test_a_damaged_member_costs_only_itself(tmp_path):
    data = zipped({"a.txt": "first words", "b.txt": LETTER}, stored=True)
    found = _flat(_read(tmp_path, data.replace(b"first words", b"other words")))
    assert (found["a.txt"].status, found["a.txt"].reason) == (Status.FAILED, Reason.CORRUPT)
    assert found["b.txt"].status == Status.OK


def test_nesting_is_bounded(tmp_path):
    data = b"deepest"
    for level in range(6):
        data = zipped({f"level{level}.{'zip' if level else 'txt'}": data})
    found = _flat(_read(tmp_path, data, ReadOptions(max_member_depth=2)))
    assert max(name.count("/") for name in found) == 2
    deepest = max(found, key=lambda name: name.count("/"))
    assert (found[deepest].status, found[deepest].reason) == (Status.FAILED, Reason.TOO_LARGE)


def test_counts_and_sizes_are_bounded(tmp_path):
    many = zipped({f"{at}.txt": f"words {at}" for at in range(9)})
    result = _read(tmp_path, many, ReadOptions(max_members=4))
    assert len(result.members) == 4
    assert result.warnings == ("5 more documents inside were not read",)
    big = zipped({"big.txt": "x" * 5000, "small.txt": "y"})
    found = _flat(_read(tmp_path, big, ReadOptions(max_member_bytes=1000)))
    assert (found["big.txt"].status, found["big.txt"].reason) == (Status.FAILED, Reason.TOO_LARGE)
    assert found["small.txt"].status == Status.OK


def test_the_whole_tree_has_one_budget(tmp_path):
    inner = zipped({f"{at}.txt": f"words {at}" for at in range(5)})
    outer = zipped({f"{at}.zip": inner + bytes(at) for at in range(1, 6)})
    found = _flat(_read(tmp_path, outer, ReadOptions(max_members=5)))
    read = [name for name, result in found.items() if result.reason != Reason.TOO_LARGE]
    assert len(read) == 10


def test_pages_of_all_members_are_reported_together(tmp_path):
    fax = io.BytesIO()
    frames = [picture("a"), picture("b"), picture("c")]
    frames[0].save(fax, "TIFF", save_all=True, append_images=frames[1:])
    seen = []
    data = zipped({"a.tif": fax.getvalue(), "b.tif": fax.getvalue() + b"x", "c.txt": "words"})
    _read(tmp_path, data, ReadOptions(on_pages=seen.append))
    assert seen == [2, 5, 7, 10, 12]


def test_sizes_that_lie(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_UNPACKED", 10_000)
    data = zipped({"a.txt": "x" * 50_000})
    lying = data.replace((50_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    found = _flat(_read(tmp_path, lying))
    assert found["a.txt"].status == Status.FAILED


def test_a_file_that_contains_itself():
    options = ReadOptions(read_member=None)
    reader = MemberReader(lambda path, options: options.read_member("x", b"same", options), options)
    result = reader("x", b"same", ReadOptions(read_member=reader, depth=1))
    assert (result.status, result.reason) == (Status.FAILED, Reason.TOO_LARGE)
    assert "itself" in result.error


def test_members_without_a_reader_are_only_counted():
    members, warnings = read_parts([Part("a", lambda: b"x")], ReadOptions())
    assert (members, warnings) == ((), ["1 more documents inside were not read"])


def test_a_member_that_cannot_be_loaded():
    def load():
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "locked")

    options = ReadOptions(read_member=lambda name, data, options: Extraction(Status.OK))
    members, _ = read_parts([Part("a", load), Part("b", lambda: b"x")], options)
    assert [m.result.reason for m in members] == [Reason.ENCRYPTED, None]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("letter.pdf", "letter.pdf"),
        ("a\\b\\c.txt", "a/b/c.txt"),
        ("/etc/passwd", "etc/passwd"),
        ("line\nbreak\x00.txt", "line break .txt"),
        ("", "unnamed"),
        (None, "unnamed"),
        ("lone\udc80", "lone"),
    ],
)
def test_names_are_cleaned(raw, name):
    assert NameBook().name(raw) == name


def test_names_are_unique_and_short():
    book = NameBook()
    names = [book.name("a.b/c.txt") for _ in range(3)] + [book.name("noend") for _ in range(2)]
    assert names == ["a.b/c.txt", "a.b/c (2).txt", "a.b/c (3).txt", "noend", "noend (2)"]
    assert len(book.name("x" * 5000 + ".pdf")) == MAX_NAME
    assert book.name("y" * 5000 + ".pdf").endswith(".pdf")


def test_the_names_of_members_lead_back_to_their_bytes(tmp_path):
    inner = zipped({"deep.txt": "deep words", "same.txt": "first"})
    data = zipped({"a/inner.zip": inner, "mail.eml": message(note_txt=b"attached words")})
    path = tmp_path / "attachment_1.zip"
    path.write_bytes(data)
    assert list(documents_inside(path, "a/inner.zip")) == [inner]
    assert list(documents_inside(path, "a/inner.zip/deep.txt")) == [b"deep words"]
    assert list(documents_inside(path, "mail.eml/note.txt")) == [b"attached words"]
    for name in ("none", "a/inner.zip/none", "a/inner.zip/deep.txt/deeper", "a", ""):
        assert list(documents_inside(path, name)) == []


def test_names_may_hold_slashes_and_each_other(tmp_path):
    deep = "a/b/c/d/e/f/g/inner.zip"
    inner = zipped({"x/y/deep.txt": "deep words"})
    path = tmp_path / "attachment_1.zip"
    path.write_bytes(zipped({deep: inner, "z.zip": zipped({"q.txt": "one"}), "z.zip/q.txt": "two"}))
    assert list(documents_inside(path, f"{deep}/x/y/deep.txt")) == [b"deep words"]
    assert list(documents_inside(path, "z.zip/q.txt")) == [b"one", b"two"]


def test_two_members_of_one_name(tmp_path):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed, pytest.warns(UserWarning, match="Duplicate"):
        packed.writestr("a.txt", "first")
        packed.writestr("a.txt", "second")
    result = _read(tmp_path, out.getvalue())
    assert [(m.name, m.result.text) for m in result.members] == [
        ("a.txt", "first"),
        ("a (2).txt", "second"),
    ]
    path = tmp_path / "attachment_1.zip"
    assert list(documents_inside(path, "a (2).txt")) == [b"second"]


def test_nothing_is_left_in_the_scratch_folder(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    _read(tmp_path, zipped({"../../evil.txt": "x"}), ReadOptions(scratch=scratch))
    assert not list(scratch.iterdir())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["attachment_1.zip", "scratch"]
