"""The makers of sample dockets and of benchmark corpora keep what they promise."""

from __future__ import annotations

import sqlite3
from collections import Counter
from random import Random

import make_sample_dockets
import pymupdf
import pytest
from regcomments import combined, layout
from samples import oddities
from samples.letter import final, load, notes_of, parse, revisions
from samples.pdf import letter_pdf
from samples.pdfwriter import Lock
from samples.scan import Scanner

from tests.benchmarks import make_corpus
from tests.benchmarks.pool import page_count


def snapshot(folder) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def dockets(tmp_path_factory):
    out = tmp_path_factory.mktemp("dockets")
    assert make_sample_dockets.main(["--out", str(out)]) == 0
    return out


def test_sample_dockets_are_the_same_each_time(dockets, tmp_path):
    make_sample_dockets.main(["--out", str(tmp_path)])
    assert snapshot(tmp_path) == snapshot(dockets)


def test_sample_dockets_leave_what_is_there(dockets):
    before = snapshot(dockets)
    made_by_us = dockets / "comments/CMS-2031-0121/CMS-2031-0121-0024/combined.md"
    made_by_us.write_text("done")
    make_sample_dockets.main(["--out", str(dockets)])
    assert made_by_us.read_text() == "done"
    made_by_us.unlink()
    assert snapshot(dockets) == before


def test_sample_dockets_hold_what_the_demo_shows(dockets):
    state = dockets / "comments"
    names = [path.name for path in state.glob("*/*/attachment_*")]
    kinds = Counter(name.rpartition(".")[2] for name in names)
    assert layout.dockets(state) == ["CMS-2031-0121", "CMS-2031-0144", "HHS-2032-0007"]
    assert len(list(state.glob("*/*"))) == 60
    assert kinds.keys() == {"pdf", "docx", "txt", "html", "tif", "jpg", "zip", "xyz"}
    contents = Counter(path.read_bytes() for path in state.glob("CMS-2031-0121/*/*.pdf"))
    assert max(contents.values()) == 12  # the form letter
    assert sum(path.stat().st_size for path in state.rglob("*") if path.is_file()) < 25e6
    connection = sqlite3.connect(dockets / "bib.sqlite")
    rows = dict(connection.execute("SELECT id, abstract FROM items"))
    connection.close()
    folders = {path.name for path in state.glob("*/*")}
    assert rows.keys() < folders
    bodies = "".join(body for body in rows.values() if body)
    assert all(mark in bodies for mark in ("<br/>", "&amp;", "&rsquo;"))


def test_letters_are_set_whole():
    letter = load("lakeshore_system")
    with pymupdf.open(stream=letter_pdf(letter), filetype="pdf") as document:
        text = " ".join(" ".join(page.get_text() for page in document).split())
    for word in (
        "“the day on which the drug is administered.”",
        "Page 2 of 2",
        "48,216",
        "§ 410.84(b)",
    ):
        assert word in text


@pytest.mark.parametrize(
    ("lock", "password", "opens"),
    [
        (Lock(user="maple"), "", False),
        (Lock(user="maple"), "wrong", False),
        (Lock(user="maple"), "maple", True),
        (Lock(), "", True),
    ],
)
def test_locked_letters(lock, password, opens):
    data = letter_pdf(load("form_letter"), lock)
    assert b"Keep Care" not in data
    with pymupdf.open(stream=data, filetype="pdf") as document:
        assert bool(document.authenticate(password)) == opens
        if opens:
            assert "keep care at home" in document[0].get_text()


def test_form_values_stand_in_fields_alone():
    data = oddities.form_pdf("Form", [("Name", "Anselm"), ("Town", "Eau Claire")])
    with pymupdf.open(stream=data, filetype="pdf") as document:
        assert [widget.field_value for widget in document[0].widgets()] == ["Anselm", "Eau Claire"]


def test_scanned_pages_are_gray_pictures_of_the_page():
    (image,) = Scanner(dpi=60, quarter_turns=1).scan(letter_pdf(load("cardiologist")))
    assert image.mode == "L"
    assert image.width > image.height  # lies on its side
    assert sum(image.histogram()[:100]) > 500  # has ink


def test_markup():
    letter = parse("from: A | B\ndate: now\nre: x\nsign: C\n\n1. one\n2. two\n\n| a | b |\n| c | |")
    bullets, grid = letter.blocks
    assert (bullets.items, bullets.numbered) == (("one", "two"), True)
    assert grid.rows == (("a", "b"), ("c", ""))
    assert notes_of("x[^n] y") == ("x\0 y", ["n"])
    assert final("{-old-}{+new+} rule") == "new rule"
    assert revisions("a{+b+}") == [("plain", "a"), ("ins", "b")]


@pytest.mark.parametrize("comments", [1, 40, 1000, 164_000])
def test_docket_sizes_have_a_heavy_tail(comments):
    sizes = make_corpus.docket_sizes(comments)
    assert sum(sizes) == comments
    assert min(sizes) >= 0
    if comments > 100_000:
        assert sizes[0] == comments // 4
        assert sizes[1:] == sorted(sizes[1:], reverse=True) or max(sizes[1:]) == sizes[1]


def test_a_fifth_has_attachments_mostly_short_pdfs():
    made = list(make_corpus.sketches(20_000))
    assert made == list(make_corpus.sketches(20_000))
    assert len({sketch.comment for sketch in made}) == 20_000
    files = [file for sketch in made for file in sketch.files]
    assert 0.18 < sum(bool(sketch.files) for sketch in made) / 20_000 < 0.22
    assert 0.78 < sum(file.endswith("pdf") for file in files) / len(files) < 0.90
    random = Random(5)
    pages = sorted(page_count(random) for _ in range(3000))
    assert pages[1500] == 2
    assert pages[2400] <= 5 < 20 < pages[-1]


def test_names_only_corpus(tmp_path, monkeypatch):
    monkeypatch.setattr(make_corpus, "_LINKS", 100)
    made = make_corpus.build(tmp_path, 1200, names_only=True, done=True)
    state = tmp_path / "comments"
    assert not (tmp_path / "bib.sqlite").exists()
    folders = list(state.glob("*/*"))
    assert len(folders) == 1200
    files = list(state.glob("*/*/attachment_*"))
    assert len(files) == made.files > 200
    assert max(path.stat().st_nlink for path in files) == 101
    heads = [combined.read(folder / "combined.md").head for folder in folders[:100]]
    assert [head.comment_id for head in heads] == [folder.name for folder in folders[:100]]
    with pytest.raises(FileExistsError):
        make_corpus.build(tmp_path, 10)


@pytest.mark.slow
def test_corpus_with_contents(tmp_path):
    made = make_corpus.build(tmp_path, 600)
    files = list((tmp_path / "comments").glob("*/*/attachment_*"))
    assert len(files) == made.files
    assert made.unique > 10
    assert all(path.stat().st_size > 300 for path in files)
    assert len({path.stat().st_ino for path in files}) < len(files)
    connection = sqlite3.connect(tmp_path / "bib.sqlite")
    (rows,) = connection.execute("SELECT count(*) FROM items").fetchone()
    connection.close()
    assert 560 < rows < 600
