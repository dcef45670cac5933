"""Tesseract on generated pages: what stands there is read, what doesn't isn't invented."""

from __future__ import annotations

import re

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageOps
from regcomments.errors import UserError
from regcomments.ocr.engines import EngineUnavailableError, Outcome, make
from regcomments.ocr.judge import judge
from regcomments.ocr.recognise import read_page
from regcomments.ocr.tesseract import TesseractEngine, find_models, page_result, settings_from

from tests.ocr_fakes import LETTER, picture, text_pdf

TRUTH = " ".join(LETTER)
MODELS = str(find_models("eng"))
MOST_ERRORS = 0.02  # of the characters; 0.00 to 0.01 measured


def read(image: Image.Image, dpi: int = 200):
    """Return the judged result for a page picture; `dpi` 0 for a picture of unknown scale."""

    def render(wanted: int):
        if dpi == 0 or wanted == dpi:
            return np.asarray(image), dpi
        size = tuple(round(side * wanted / dpi) for side in image.size)
        return np.asarray(image.resize(size, Image.Resampling.BICUBIC)), wanted

    options = {"languages": "eng", "data_path": MODELS, "dpi": 200}
    return judge(page_result(1, read_page(render, options)))


def errors(text: str, truth: str) -> float:
    """Return the edits between two texts, white space aside, as a share of the true one."""
    a, b = re.sub(r"\s+", "", truth), re.sub(r"\s+", "", text.replace("’", "'"))
    previous = list(range(len(b) + 1))
    for row, char in enumerate(a, 1):
        current = [row]
        for col, other in enumerate(b, 1):
            current.append(
                min(previous[col] + 1, current[-1] + 1, previous[col - 1] + (char != other))
            )
        previous = current
    return previous[-1] / len(a)


@pytest.fixture(scope="module")
def letter() -> Image.Image:
    return picture(text_pdf([LETTER], 11))


def noisy(image: Image.Image, sigma: float) -> Image.Image:
    grain = np.random.default_rng(1).normal(0, sigma, (image.height, image.width))
    return Image.fromarray(np.clip(np.asarray(image) + grain, 0, 255).astype(np.uint8))


def speckled(image: Image.Image, share: float) -> Image.Image:
    values, chance = np.asarray(image).copy(), np.random.default_rng(2).random(image.size[::-1])
    values[chance < share / 2], values[chance > 1 - share / 2] = 0, 255
    return Image.fromarray(values)


def toned(image: Image.Image, low: int, high: int) -> Image.Image:
    return image.point(lambda value: low + value * (high - low) // 255)


def shaded(image: Image.Image) -> Image.Image:
    light = np.linspace(0.35, 1.0, image.width)[None, :]
    return Image.fromarray((np.asarray(image) * light).astype(np.uint8))


def skewed(image: Image.Image, degrees: float) -> Image.Image:
    return image.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)


WORN = {
    "as it is": lambda image: image,
    "turned left": lambda image: image.rotate(90, expand=True),
    "turned right": lambda image: image.rotate(270, expand=True),
    "upside down": lambda image: image.rotate(180),
    "skewed": lambda image: skewed(image, 2.5),
    "much skewed": lambda image: skewed(image, -6),
    "turned, skewed, grainy": lambda image: noisy(skewed(image, 1.5), 20).rotate(90, expand=True),
    "grain": lambda image: noisy(image, 50),
    "specks": lambda image: speckled(image, 0.05),
    "faint": lambda image: toned(image, 205, 255),
    "white on black": ImageOps.invert,
    "dark paper": lambda image: toned(image, 20, 130),
    "uneven light": shaded,
    "100 dpi": lambda image: image.resize((850, 1100)).resize(image.size),
    "blurred": lambda image: image.filter(ImageFilter.GaussianBlur(1.2)),
}


@pytest.mark.parametrize("wear", WORN)
def test_a_worn_letter_is_read(letter, wear):
    result = read(WORN[wear](letter))
    assert result.outcome == Outcome.TEXT
    assert errors(result.markdown, TRUTH) <= MOST_ERRORS
    assert result.confidence >= 0.85


def test_a_small_screenshot_is_enlarged(letter):
    shot = picture(text_pdf([LETTER], 11), dpi=72).crop((60, 60, 560, 280))
    result = read(shot, dpi=0)
    assert errors(result.markdown, TRUTH) <= MOST_ERRORS


@pytest.mark.parametrize("text", ["I support this rule.", "NO", "Withdraw CMS-1800-P now!"])
def test_a_single_line_is_read(text):
    result = read(picture(text_pdf([[text]], 14)))
    assert (result.outcome, result.markdown) == (Outcome.TEXT, text)


def test_lines_and_paragraphs_are_kept(letter):
    lines = read(letter).markdown.split("\n")
    assert LETTER[2] in lines and LETTER[5] in lines


def test_a_ruled_table_becomes_pipe_rows():
    rows = [["State", "Hospitals", "Rate"], ["Ohio", "111", "21.3%"], ["Maine", "185", "35.5%"]]
    with pymupdf.open() as document:
        page = document.new_page(width=612, height=792)
        page.insert_text((72, 80), "Facilities by state are given below.", fontsize=12)
        for row, cells in enumerate(rows):
            for col, cell in enumerate(cells):
                box = pymupdf.Rect(72 + col * 120, 104 + row * 24, 192 + col * 120, 128 + row * 24)
                page.draw_rect(box)
                page.insert_text((box.x0 + 8, box.y1 - 8), cell, fontsize=11)
        image = picture(document.tobytes())
    for turned in (image, skewed(image, 1.0).rotate(90, expand=True)):
        lines = read(turned).markdown.split("\n")
        assert lines[0] == "Facilities by state are given below."
        assert "| Ohio | 111 | 21.3% |" in lines and "| State | Hospitals | Rate |" in lines


def test_two_columns_are_read_one_after_the_other():
    with pymupdf.open() as document:
        page = document.new_page(width=612, height=792)
        for row, line in enumerate(LETTER[1:8]):
            page.insert_text((40, 90 + row * 14), line[:40], fontsize=9)
            page.insert_text((330, 90 + row * 14), line[:30][::-1].lower(), fontsize=9)
        text = read(picture(document.tobytes())).markdown
    left, right = text.find(LETTER[7][:20]), text.find(LETTER[1][:30][::-1].lower()[:12])
    assert 0 <= left < right


def blank() -> Image.Image:
    return Image.new("L", (1700, 2200), 255)


def clouds(size: int) -> Image.Image:
    values = np.random.default_rng(3).normal(128, 90, (size, size)).clip(0, 255)
    image = Image.fromarray(values.astype(np.uint8))
    return image.resize((1700, 2200), Image.Resampling.BICUBIC)


def stripes() -> Image.Image:
    return Image.fromarray(np.tile((np.arange(1700) // 7 % 2 * 255).astype(np.uint8), (2200, 1)))


def circles() -> Image.Image:
    image, chance = blank(), np.random.default_rng(4)
    pen = ImageDraw.Draw(image)
    for x, y, side in zip(
        chance.integers(100, 1500, 60), chance.integers(100, 2000, 60),
        chance.integers(20, 150, 60), strict=True
    ):  # fmt: skip
        pen.ellipse((int(x), int(y), int(x + side), int(y + side)), outline=0, width=4)
    return image


def edges() -> Image.Image:
    image = blank()
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 60, 2200), fill=30)
    pen.line((0, 1100, 1700, 1105), fill=180, width=2)
    return image


def signature() -> Image.Image:
    image = blank()
    points = [
        (500 + n * 15, 1200 + int(60 * np.sin(n * 0.9) * np.cos(n * 0.31))) for n in range(40)
    ]
    ImageDraw.Draw(image).line(points, fill=10, width=4)
    return image


WORDLESS = {
    "blank": blank,
    "black": lambda: toned(blank(), 5, 5),
    "grain": lambda: noisy(toned(blank(), 250, 250), 4),
    "specks": lambda: speckled(blank(), 0.002),
    "clouds": lambda: clouds(60),
    "stripes": stripes,
    "circles": circles,
    "edges of the feeder": edges,
    "signature": signature,
}


@pytest.mark.parametrize("kind", WORDLESS)
def test_nothing_is_read_where_nothing_is_written(kind):
    result = read(WORDLESS[kind]())
    assert (result.outcome, result.markdown) == (Outcome.NOTHING, "")


def scribble() -> Image.Image:
    image, chance = blank(), np.random.default_rng(5)
    pen = ImageDraw.Draw(image)
    for line in range(20):
        x, y = 150, 200 + line * 90
        while x < 1500:
            word = [(x + n * 6, y + int(chance.integers(-18, 18))) for n in range(10)]
            pen.line(word, fill=20, width=3)
            x += 90
    return image


def test_what_looks_like_writing_but_cant_be_read_is_said_to_be_so():
    result = read(scribble())
    assert result.outcome == Outcome.UNREADABLE
    assert "can't read" in result.error
    assert len(result.markdown) < 20


def test_the_same_picture_gives_the_same_words(letter):
    worn = noisy(skewed(letter, 1.5), 30)
    options = {"languages": "eng", "data_path": MODELS, "dpi": 200}
    one, two = (read_page(lambda _: (np.asarray(worn), 200), options) for _ in range(2))
    assert one == two


def test_the_digest_tells_settings_apart():
    plain, again = TesseractEngine(), make({"ocr": {"languages": ["eng"], "dpi": 200}})
    finer = make({"ocr": {"engine": "tesseract", "dpi": 300}})
    assert plain.digest == again.digest != finer.digest
    assert re.fullmatch(r"[0-9a-f]{12}", plain.digest) and plain.version.startswith("5.")


@pytest.mark.parametrize(
    ("section", "told"),
    [
        ({"engine": "abbyy"}, "tesseract or marker"),
        ({"languages": ["eng", "tlh"]}, "install the wheels"),
        ({"languages": "../../etc"}, "looks like"),
        ({"dpi": 5000}, "72 to 600"),
    ],
)
def test_wrong_settings_are_told_in_one_line(section, told):
    with pytest.raises(UserError, match=told):
        make({"ocr": section})


def test_a_missing_model_is_an_engine_that_isnt_there():
    with pytest.raises(EngineUnavailableError):
        TesseractEngine(settings_from({"languages": ["tlh"]}))
