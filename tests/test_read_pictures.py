"""Pictures: pages that want OCR, unless nothing is on them."""

from __future__ import annotations

import io

import pytest
from kind_files import picture, picture_bytes
from PIL import Image
from regcomments.read import ReadOptions, pictures, read_attachment
from regcomments.status import Reason, Status


def _read(tmp_path, data, name="attachment_1.png", options=None):
    path = tmp_path / name
    path.write_bytes(data)
    return read_attachment(path, options or ReadOptions())


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "JPEG2000"])
def test_formats(tmp_path, form):
    result = _read(tmp_path, picture_bytes(form))
    assert (result.status, result.reason) == (Status.OCR_NEEDED, Reason.IMAGE)
    assert (result.pages, result.ocr_pages) == (1, (1,))
    blank = _read(tmp_path, picture_bytes(form, words=""))
    assert (blank.status, blank.reason, blank.ocr_pages) == (Status.OK, Reason.BLANK, ())


def test_every_page_of_a_fax(tmp_path):
    pages = [picture("one"), picture(""), picture("three").convert("1")]
    out = io.BytesIO()
    pages[0].save(out, "TIFF", save_all=True, append_images=pages[1:])
    counted = []
    result = _read(tmp_path, out.getvalue(), "a.tif", ReadOptions(on_pages=counted.append))
    assert (result.pages, result.ocr_pages, counted) == (3, (1, 3), [3])
    assert result.reason == Reason.IMAGE
    limited = _read(tmp_path, out.getvalue(), "a.tif", ReadOptions(max_pages=2))
    assert (limited.status, limited.reason) == (Status.FAILED, Reason.TOO_LARGE)


def test_only_the_first_frame_of_a_moving_picture(tmp_path):
    out = io.BytesIO()
    picture("a").save(out, "GIF", save_all=True, append_images=[picture("b"), picture("c")])
    assert _read(tmp_path, out.getvalue(), "a.gif").ocr_pages == (1,)


@pytest.mark.parametrize(
    ("mode", "pixel", "ink", "blank"),
    [
        ("RGBA", (0, 0, 0, 0), (0, 0, 0, 255), False),
        ("RGBA", (0, 0, 0, 0), (255, 255, 255, 0), True),
        ("LA", (255, 255), (0, 255), False),
        ("L", 200, 202, True),
        ("L", 255, 0, False),
        ("1", 1, 0, False),
        ("P", 1, 1, True),
        ("I;16", 65535, 0, False),
    ],
)
def test_modes(tmp_path, mode, pixel, ink, blank):
    image = Image.new(mode, (60, 40), pixel)
    image.paste(ink, (10, 10, 30, 20))
    out = io.BytesIO()
    image.save(out, "TIFF" if mode == "I;16" else "PNG")
    assert (_read(tmp_path, out.getvalue()).reason == Reason.BLANK) is blank


def test_tiny_pictures_are_blank(tmp_path):
    out = io.BytesIO()
    picture("x", (300, 8)).save(out, "PNG")
    assert _read(tmp_path, out.getvalue()).reason == Reason.BLANK


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n garbage", Status.FAILED, Reason.CORRUPT),
        (b"\xff\xd8\xff\xe0garbage", Status.FAILED, Reason.CORRUPT),
        (b"\x01\xda\x01\x01" + bytes(600), Status.FAILED, Reason.CORRUPT),  # SGI: not tried
        (b"\0\0\0\x18ftypheic" + bytes(60), Status.UNSUPPORTED, Reason.NO_READER),
    ],
)
def test_damage(tmp_path, data, status, reason):
    result = _read(tmp_path, data)
    assert (result.status, result.reason) == (status, reason)


def test_a_cut_off_photograph_still_goes_to_ocr(tmp_path):
    data = picture_bytes("JPEG", words="Dear Administrator " * 3, quality=95)
    assert _read(tmp_path, data[: len(data) * 3 // 4]).status == Status.OCR_NEEDED


@pytest.mark.parametrize(("form", "mark"), [("PNG", b"IDAT"), ("JPEG", b"\xff\xda")])
def test_a_picture_cut_off_before_its_pixels_is_corrupt(tmp_path, form, mark):
    whole = picture_bytes(form)
    result = _read(tmp_path, whole[: whole.index(mark)])
    assert (result.status, result.reason) == (Status.FAILED, Reason.CORRUPT)


def test_pixels_are_bounded(tmp_path, monkeypatch):
    data = picture_bytes("PNG")
    monkeypatch.setattr(pictures, "MAX_PIXELS", 1000)
    result = _read(tmp_path, data)
    assert (result.status, result.reason) == (Status.FAILED, Reason.TOO_LARGE)
    monkeypatch.undo()
    monkeypatch.setattr(pictures, "MAX_LOOKED_AT", 1000)
    assert _read(tmp_path, picture_bytes("PNG", words="")).status == Status.OCR_NEEDED


def test_pillows_own_limits_are_restored(tmp_path):
    before = Image.MAX_IMAGE_PIXELS
    _read(tmp_path, b"\x89PNG\r\n\x1a\n garbage")
    assert before == Image.MAX_IMAGE_PIXELS
