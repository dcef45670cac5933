"""Pages out of every kind of queued file, through the bounded process."""

from __future__ import annotations

import io
import zipfile
from hashlib import sha256

import numpy as np
import pymupdf
import pytest
from docx import Document as new_docx
from docx.shared import Inches
from kind_files import opendocument, zipped
from PIL import Image, ImageOps
from regcomments.ocr import raster
from regcomments.ocr.ink import measure, small
from regcomments.ocr.source import FileSource, PageError, PageProcess
from regcomments.read import ReadOptions, office, read_document
from regcomments.read.picturefacts import measure_picture

from tests.ocr_fakes import LETTER, picture, scan_pdf, text_pdf


@pytest.fixture(scope="module")
def process():
    with PageProcess() as started:
        yield started


def source(process, path, inside="", data=None):
    digest = sha256(data if data is not None else path.read_bytes()).hexdigest()
    name = f"{path.name}/{inside}" if inside else path.name
    return FileSource(process, path, inside, name, digest, (1,))


def image_of(page: bytes) -> Image.Image:
    return Image.open(io.BytesIO(page))


def png(image: Image.Image, kind: str = "PNG", **options) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


LETTER_PAGE = picture(text_pdf([LETTER]), dpi=100)


def test_pdf_pages_at_the_dpi_asked_for(process, tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(text_pdf([["one"], LETTER]))
    file = source(process, path)
    assert image_of(file.image(2, 100)).size == (850, 1100)
    assert image_of(file.image(2, 200)).mode == "L"
    assert file.ink(2).lines == len(LETTER)
    assert sum(file.ink(2).strips[:2]) > 200 > sum(file.ink(2).strips[2:])


def test_a_page_of_its_own(process, tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(text_pdf([["one"], ["two"]]))
    single = source(process, path).pdf(2)
    with pymupdf.open(stream=single) as document:
        assert (document.page_count, document[0].get_text().strip()) == (1, "two")
    assert source(process, path).pdf(2) == single


def test_turned_and_locked_pages(process, tmp_path):
    path = tmp_path / "a.pdf"
    with pymupdf.open(stream=text_pdf([LETTER])) as document:
        document[0].set_rotation(90)
        document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="")
    file = source(process, path)
    assert image_of(file.image(1, 100)).size == (1100, 850)
    assert file.ink(1).sideways
    with pymupdf.open(stream=file.pdf(1)) as document:
        assert document[0].rotation == 90 and not document.is_encrypted


def test_a_poster_is_scaled_down(process, tmp_path):
    path = tmp_path / "a.pdf"
    with pymupdf.open() as document:
        document.new_page(width=14000, height=14000).insert_text((72, 720), "BIG", fontsize=300)
        document.save(path)
    side = image_of(source(process, path).image(1, 300)).width
    assert side * side <= raster.MAX_PIXELS * 1.01


def test_frames_of_a_tif(process, tmp_path):
    path = tmp_path / "a.tif"
    frames = [Image.new("1", (600, 400), 1), LETTER_PAGE.convert("1")]
    path.write_bytes(png(frames[0], "TIFF", save_all=True, append_images=frames[1:],
                         compression="group4"))  # fmt: skip
    file = source(process, path)
    assert image_of(file.image(1, 200)).size == (600, 400)
    assert image_of(file.image(2, 200)).size == LETTER_PAGE.size
    with pymupdf.open(stream=file.pdf(2)) as document:
        assert document.page_count == 1 and document[0].rect.width == 612


@pytest.mark.parametrize(
    ("mode", "paper"), [("RGBA", 255), ("LA", 255), ("P", 255), ("CMYK", 255), ("I;16", 255)]
)
def test_pictures_of_any_mode_are_dark_on_white(tmp_path, mode, paper):
    path = tmp_path / "a.img"
    if mode == "I;16":
        wide = np.asarray(LETTER_PAGE).astype(np.uint16) * 257
        path.write_bytes(png(Image.fromarray(wide)))
    elif mode in ("RGBA", "LA"):
        ink = Image.merge("LA", (Image.new("L", LETTER_PAGE.size, 0), ImageOps.invert(LETTER_PAGE)))
        path.write_bytes(png(ink.convert(mode)))
    else:
        path.write_bytes(png(LETTER_PAGE.convert("RGB").convert(mode), "TIFF"))
    pages = raster.open_pages(path, "", sha256(path.read_bytes()).hexdigest(), tmp_path)
    grey, dpi = pages.grey(1, 200)
    assert dpi == 0 and int(np.median(grey)) == paper
    assert measure(small(grey, 100)).lines == len(LETTER)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "I;16"])
def test_a_page_of_a_picture_is_dark_on_white(tmp_path, mode):
    if mode == "I;16":
        image = Image.fromarray(np.asarray(LETTER_PAGE).astype(np.uint16) * 16)
    else:
        ink = Image.merge("LA", (Image.new("L", LETTER_PAGE.size, 0), ImageOps.invert(LETTER_PAGE)))
        image = ink.convert(mode)
    path = tmp_path / "a.png"
    path.write_bytes(png(image))
    pages = raster.open_pages(path, "", sha256(path.read_bytes()).hexdigest(), tmp_path)
    with pymupdf.open(stream=pages.pdf(1)) as document:
        pixels = document[0].get_pixmap(dpi=72, colorspace=pymupdf.csGRAY).samples
    assert min(pixels) < 64 and int(np.median(np.frombuffer(pixels, np.uint8))) == 255


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_what_is_left_of_a_cut_off_picture_is_read(process, tmp_path, kind):
    data = png(LETTER_PAGE, kind)
    path = tmp_path / "a.img"
    path.write_bytes(data[: len(data) * 3 // 4])
    file = source(process, path)
    assert 1 < file.ink(1).lines < len(LETTER)
    page = np.asarray(image_of(file.image(1, 200)))
    assert page.shape[::-1] == LETTER_PAGE.size
    assert int(np.median(page[-20:])) > 240  # paper where nothing could be decoded


def test_postscript_in_a_picture_is_never_run(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    program = tmp_path / "gs"
    program.write_text(f"#!/bin/sh\necho > {ran}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 600 700\n%%EndComments\nshowpage\n"
    path = tmp_path / "a.docx"
    document = new_docx()
    document.add_picture(io.BytesIO(png(LETTER_PAGE)), width=Inches(6))
    document.save(path)
    parts = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            parts[name] = eps if name.startswith("word/media/") else archive.read(name)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    pages = raster.open_pages(path, "", sha256(path.read_bytes()).hexdigest(), tmp_path)
    with pytest.raises(raster.RasterError, match="can't be opened"):
        pages.grey(1, 100)
    assert measure_picture(eps) is None
    assert not any(page.needs_ocr for page in read_document(path, ReadOptions()).pages)
    assert not ran.exists()


def test_a_photograph_taken_sideways_is_turned_by_its_exif(process, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "a.jpg"
    path.write_bytes(png(Image.new("L", (400, 300), 200), "JPEG", exif=exif))
    assert image_of(source(process, path).image(1, 200)).size == (300, 400)


def test_pictures_in_a_word_file(process, tmp_path):
    path = tmp_path / "a.docx"
    document = new_docx()
    document.add_paragraph("See below.")
    document.add_picture(io.BytesIO(png(LETTER_PAGE)), width=Inches(6))
    document.save(path)
    assert source(process, path).ink(1).lines == len(LETTER)
    with pytest.raises(PageError, match="picture"):
        source(process, path).image(7, 200)


@pytest.mark.parametrize("start", [b"\xffWPC", b"\x31\xbe\x00\x00"], ids=["wpd", "write"])
def test_pictures_of_what_libreoffice_converts(tmp_path, monkeypatch, start):
    def convert(path, folder):
        document = new_docx()
        document.add_picture(io.BytesIO(png(LETTER_PAGE)), width=Inches(6))
        document.save(folder / "out.docx")
        return folder / "out.docx"

    monkeypatch.setattr(office, "convert", convert)
    path = tmp_path / "a.bin"
    path.write_bytes(start + bytes(60))
    pages = raster.open_pages(path, "", sha256(path.read_bytes()).hexdigest(), tmp_path)
    assert pages.grey(1, 100)[0].shape == LETTER_PAGE.size[::-1]
    with pytest.raises(LookupError):
        pages.grey(2, 100)


def test_unpacked_members_do_not_pile_up(process, tmp_path):
    scans = [scan_pdf([LETTER_PAGE], dpi) for dpi in (90, 100, 110)]
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({f"{number}.pdf": scan for number, scan in enumerate(scans)}))
    for number, scan in enumerate(scans):
        assert source(process, path, f"{number}.pdf", scan).ink(1).lines == len(LETTER)
    assert len([p for p in process._scratch.rglob("*.pdf") if p.is_file()]) == 1


def test_pictures_in_a_workbook_by_their_number(process, tmp_path):
    frames = "".join(
        f'<draw:frame><draw:image xlink:href="Pictures/{name}.png"/></draw:frame>' for name in "ba"
    )
    body = f"<table:table><table:table-row><table:table-cell>{frames}</table:table-cell>"
    extra = {"Pictures/b.png": png(Image.new("L", (300, 200))), "Pictures/a.png": png(LETTER_PAGE)}
    path = tmp_path / "a.ods"
    closing = "</table:table-row></table:table>"
    path.write_bytes(opendocument(body + closing, "spreadsheet", extra=extra))
    assert image_of(source(process, path).image(1, 200)).size == (300, 200)
    assert image_of(source(process, path).image(2, 200)).size == LETTER_PAGE.size


def test_documents_inside_archives(process, tmp_path):
    scan = scan_pdf([LETTER_PAGE], 100)
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("letters/one.pdf", scan)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("more/inner.zip", inner.getvalue())
        archive.writestr("two.pdf", text_pdf([["other"]]))
    file = source(process, path, "more/inner.zip/letters/one.pdf", scan)
    assert file.ink(1).lines == len(LETTER)
    with pytest.raises(PageError, match="no longer there, or has changed"):
        source(process, path, "two.pdf", scan).ink(1)


@pytest.mark.parametrize(
    ("name", "data", "page", "told"),
    [
        ("a.pdf", text_pdf([["one"]]), 2, "no page 2"),
        ("a.pdf", text_pdf([["one"]]), 0, "no page 0"),
        ("a.pdf", b"%PDF-1.7\n" + b"\xff" * 300, 1, "."),
        ("a.png", png(LETTER_PAGE)[:60], 1, "."),
        ("a.png", png(Image.new("L", (3, 3))), 1, "too small"),
        ("a.tif", b"II*\x00" + b"\xff" * 60, 1, "."),
        ("a.zip", b"PK\x03\x04" + b"\x00" * 60, 1, "."),
        ("a.zip", zipped({"b.png": png(LETTER_PAGE)}), 1, "not a PDF"),
        ("a.pdf", b"", 1, "."),
    ],
)
def test_what_cant_be_rendered_is_told(process, tmp_path, name, data, page, told):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PageError, match=told):
        source(process, path).image(page, 200)


def test_a_picture_bomb_is_refused(process, tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(Image.new("1", (15_000, 15_000))))
    with pytest.raises(PageError, match="pixels"):
        source(process, path).image(1, 200)
