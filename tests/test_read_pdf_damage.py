"""The PDF reader on damaged files: a document or a clear refusal, nothing else."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from pdf_files import field, picture, save, write
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf
from regcomments.read.pdf_members import parts
from regcomments.records import Document, UnreadableError
from regcomments.status import Status

MUTANTS = 40  # of each kind and file
SLOW_MUTANTS = 500


def rich(page: pymupdf.Page) -> None:
    """Draw what the reader looks at: text, hidden text, a picture, fields, notes, a table."""
    write()(page)
    write("hidden words", 72, 300, render_mode=3)(page)
    picture(page, (300, 300, 360, 360))
    field(page, pymupdf.PDF_WIDGET_TYPE_TEXT, "name", (72, 400, 200, 420), "Lee")
    field(page, pymupdf.PDF_WIDGET_TYPE_CHECKBOX, "agree", (72, 430, 84, 442), True)
    page.add_text_annot((300, 90), "a note")
    page.add_freetext_annot((72, 450, 300, 470), "typed")
    page.add_file_annot((400, 400), b"some bytes", "pin.txt")
    for row in range(4):
        for column in range(3):
            page.insert_text((72 + 90 * column, 500 + 16 * row), f"cell {row}{column}")
    page.insert_text((72, 600), "שלום", fontname="china-s")


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    folder = tmp_path_factory.mktemp("originals")
    files = [
        save(folder / "plain.pdf", write(), write("Page two.")),
        save(folder / "rich.pdf", rich, rich),
        save(folder / "packed.pdf", rich, deflate=True, garbage=3, use_objstms=1),
        save(
            folder / "locked.pdf",
            rich,
            encryption=pymupdf.PDF_ENCRYPT_AES_128,
            owner_pw="owner",
            user_pw="",
        ),
    ]
    with pymupdf.open(files[0]) as made:
        made.embfile_add("inner.pdf", files[1].read_bytes(), filename="inner.pdf")
        made.xref_set_key(made.pdf_catalog(), "Collection", "<< /Type /Collection >>")
        made.save(folder / "folder.pdf")
    return [path.read_bytes() for path in [*files, folder / "folder.pdf"]]


def bytes_changed(data: bytes, draw: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(draw.choice((1, 3, 10, 60))):
        out[draw.randrange(len(out))] = draw.randrange(256)
    return bytes(out)


def cut(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data))]


def piece_gone(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data))
    return data[:start] + data[start + draw.choice((1, 20, 500)) :]


def piece_twice(data: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(data))
    return data[:start] + data[start : start + draw.choice((5, 200, 2000))] + data[start:]


def numbers_changed(data: bytes, draw: random.Random) -> bytes:
    """Change digits only: references, lengths, sizes and offsets that point elsewhere."""
    out = bytearray(data)
    digits = [k for k, byte in enumerate(data) if 48 <= byte <= 57]
    for _ in range(draw.choice((1, 4, 30))):
        out[draw.choice(digits)] = draw.choice(b"0123456789")
    return bytes(out)


def names_changed(data: bytes, draw: random.Random) -> bytes:
    """Put one key in the place of another, so that objects have the wrong type."""
    names = [b"/Type", b"/Kids", b"/Parent", b"/Rect", b"/Contents", b"/Font", b"/AP", b"/V", b"/F"]
    return data.replace(draw.choice(names), draw.choice(names), draw.choice((1, 3)))


DAMAGES = [bytes_changed, cut, piece_gone, piece_twice, numbers_changed, names_changed]


def mutants(originals: list[bytes], damage, count: int) -> Iterator[bytes]:
    draw = random.Random(f"{damage.__name__} {count}")
    for data in originals:
        for _ in range(count):
            yield damage(data, draw)


def outcome(path: Path) -> Document | UnreadableError:
    try:
        return read_pdf(path, ReadOptions(max_pages=50))
    except UnreadableError as error:
        return error


def check(path: Path, originals: list[bytes], damage, count: int) -> None:
    kinds = set()
    for data in mutants(originals, damage, count):
        path.write_bytes(data)
        found = outcome(path)
        kinds.add(type(found))
        if isinstance(found, UnreadableError):
            assert found.status == Status.FAILED
            assert "\n" not in found.detail
        else:
            assert [page.number for page in found.pages] == list(range(1, len(found.pages) + 1))
    assert Document in kinds  # damage that nothing survives would test nothing


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damaged_files_end_in_a_document_or_a_refusal(
    tmp_path: Path, originals: list[bytes], damage
) -> None:
    check(tmp_path / "a.pdf", originals, damage, MUTANTS // 5)


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_thousands_of_damaged_files(tmp_path: Path, originals: list[bytes], damage) -> None:
    check(tmp_path / "a.pdf", originals, damage, SLOW_MUTANTS // 5)


def test_the_undamaged_files_are_read(tmp_path: Path, originals: list[bytes]) -> None:
    path = tmp_path / "a.pdf"
    for data in originals:
        path.write_bytes(data)
        assert isinstance(outcome(path), Document)


def test_reading_writes_nothing(capfd: pytest.CaptureFixture, tmp_path: Path, originals) -> None:
    path = tmp_path / "a.pdf"
    for data in mutants(originals, numbers_changed, 2):
        path.write_bytes(data)
        outcome(path)
    assert capfd.readouterr() == ("", "")
    assert sorted(tmp_path.iterdir()) == [path]


def test_parts_of_a_damaged_file_raise_nothing_else(tmp_path: Path, originals) -> None:
    path = tmp_path / "a.pdf"
    for data in mutants(originals[-1:], bytes_changed, 30):
        path.write_bytes(data)
        try:
            names = [part.name for part in parts(path)]
        except UnreadableError:
            continue
        assert len(names) == len(set(names))


def test_a_small_file_with_a_huge_stream_ends_soon(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        page = made.new_page()
        page.insert_text((72, 90), "The only sentence.")
        code = page.read_contents() + b"q Q " * 5_000_000
        made.update_stream(page.get_contents()[0], code, compress=True)
        made.save(path)
    assert path.stat().st_size < 200_000
    start = time.process_time()
    assert read_pdf(path, ReadOptions()).pages[0].text == "The only sentence."
    assert time.process_time() - start < 20


def test_a_page_of_full_stops_ends_soon(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        page = made.new_page()
        page.insert_text((72, 90), "A form.")
        code = b"BT /helv 9 Tf " + b"1 0 0 1 72 500 Tm (.) Tj 1 0 0 1 300 500 Tm (.) Tj " * 20_000
        made.update_stream(page.get_contents()[0], code + b"ET")
        made.save(path)
    start = time.process_time()
    text = read_pdf(path, ReadOptions()).pages[0].text
    assert text.replace("\n", "").replace(" ", "") == ".."
    assert time.process_time() - start < 20
