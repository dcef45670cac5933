"""Do scans stay seen when they get worse? Text pages rasterised in many ways, then graded.

usage: bench_degraded.py [--shared FOLDER]

Takes born-digital pages of <shared>/tables/icdar2013 and <shared>/cases, makes a picture of each,
spoils it, and puts it on an empty page: every one needs OCR. Then the same with the page's words
as an invisible layer (none does), with a filing stamp, and with a diagonal watermark (all do).
"""

from __future__ import annotations

import argparse
import io
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageFilter
from regcomments.grade import judge
from regcomments.read.pagefacts import PageFacts, measure

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
CASES = {
    "pdf-text-02": (0, 3), "pdf-form-09": (2,), "pdf-enc-owner-08": (1,), "pdf-cjk-07": (0,),
    "pdf-rtl-01": (0,), "pdf-xfa-02": (0,), "pdf-cjk-01": (0,), "pdf-short-01": (0,),
    "pdf-enc-owner-06": (0,), "pdf-rtl-03": (0,),
}  # fmt: skip
NOT_LATIN_OR_SHORT = ("cjk", "rtl", "short", "owner-06")

Spoil = Callable[[Image.Image], Image.Image]
Draw = Callable[[pymupdf.Page, pymupdf.Page], object]


def levels(low: int, high: int) -> Spoil:
    return lambda image: image.point(lambda value: low + value * (high - low) // 255)


def grain(image: Image.Image) -> Image.Image:
    noise = np.random.default_rng(3).normal(0, 30, (image.height, image.width))
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def salt(image: Image.Image) -> Image.Image:
    pixels = np.asarray(image)
    hit = np.random.default_rng(3).random(pixels.shape) < 0.01
    return Image.fromarray(np.where(hit, 255 - pixels, pixels))


def shadow(image: Image.Image) -> Image.Image:
    light = np.linspace(0.4, 1, image.width)
    return Image.fromarray((np.asarray(image) * light).astype(np.uint8))


def halved(image: Image.Image) -> Image.Image:
    sheet = Image.new("L", image.size, 255)
    small = image.resize((image.width // 2, image.height // 2))
    sheet.paste(small, (image.width // 4, image.height // 4))
    return sheet


def turned(degrees: float) -> Spoil:
    return lambda image: image.rotate(
        degrees, Image.Resampling.BILINEAR, expand=degrees == 90, fillcolor=255
    )


def bilevel(image: Image.Image) -> Image.Image:
    return image.point(lambda value: 255 * (value > 150)).convert("1")


WAYS: dict[str, tuple[int, int | None, Spoil]] = {  # dpi, JPEG quality or PNG, what is done
    "clean": (150, None, lambda image: image),
    "75 dpi, JPEG 30": (75, 30, lambda image: image),
    "bilevel, 200 dpi": (200, None, bilevel),
    "bilevel, 100 dpi": (100, None, bilevel),
    "3 degrees askew": (150, 60, turned(3)),
    "8 degrees askew": (150, 60, turned(8)),
    "on its side": (150, 60, turned(90)),
    "grain": (150, 60, grain),
    "salt and pepper": (150, None, salt),
    "faint": (150, 60, levels(190, 230)),
    "fainter": (150, 60, levels(215, 245)),
    "grey paper": (150, 60, levels(60, 160)),
    "blurred": (150, 60, lambda image: image.filter(ImageFilter.GaussianBlur(2))),
    "in shadow": (150, 60, shadow),
    "inverted": (150, 60, levels(255, 0)),
    "half size": (200, None, halved),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=SHARED)
    shared = parser.parse_args().shared
    pymupdf.TOOLS.mupdf_display_errors(False)
    files = [(path, (0,)) for path in sorted((shared / "tables/icdar2013").glob("*.pdf"))[::2]]
    files += [(shared / f"cases/files/{name}.pdf", pages) for name, pages in CASES.items()]
    sources = [(path.stem, pymupdf.open(path)[number]) for path, pages in files for number in pages]
    for way in WAYS:
        graded = [(name, page, facts_of(page, way)) for name, page in sources]
        missed = [name for name, _, facts in graded if not judge(facts).needs_ocr]
        rates = [facts.letters / len("".join(page.get_text().split())) for _, page, facts in graded]
        print(
            f"{way:18}missed {len(missed)} of {len(graded)}; letters a character: median "
            f"{statistics.median(rates):.2f}, least {min(rates):.2f}; {', '.join(missed)}"
        )
    latin = [s for s in sources if not any(part in s[0] for part in NOT_LATIN_OR_SHORT)]
    layers: tuple[tuple[str, Draw, bool], ...] = (
        ("its own words", words, False),
        ("filing stamp", stamp, True),
        ("watermark", watermark, True),
    )
    for title, layer, needs in layers:
        wrong = [
            name
            for name, page in latin
            if judge(facts_of(page, "clean", layer)).needs_ocr is not needs
        ]
        print(f"layer: {title:18}wrong {len(wrong)} of {len(latin)}; {', '.join(wrong)}")


def facts_of(source: pymupdf.Page, way: str, layer: Draw | None = None) -> PageFacts:
    """Return the facts of a page that shows `source` as a spoilt picture, under a text layer."""
    dpi, quality, spoil = WAYS[way]
    pixmap = source.get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY, alpha=False)
    image = spoil(Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples))
    data = io.BytesIO()
    if quality:
        image.save(data, "JPEG", quality=quality)
    else:
        image.save(data, "PNG")
    with pymupdf.open() as made:
        page = made.new_page(width=source.rect.width, height=source.rect.height)
        page.insert_image(page.rect, stream=data.getvalue())
        if layer:
            layer(page, source)
        with pymupdf.open("pdf", made.tobytes()) as again:
            return measure(again[0], again[0].get_text())


def words(page: pymupdf.Page, source: pymupdf.Page) -> None:
    for *box, word, _, _, _ in source.get_text("words"):
        rect = pymupdf.Rect(box) * source.rotation_matrix
        if word.isascii():
            size = max(1, min(rect.height * 0.8, 1.9 * rect.width / len(word)))
            point = (rect.x0, rect.y1 - 0.2 * rect.height)
            page.insert_text(point, word, fontsize=size, render_mode=3)


def stamp(page: pymupdf.Page, source: pymupdf.Page) -> None:
    text = "Case 1:20-cv-01234 Document 12-1 Filed 02/03/20 Page 3 of 10"
    page.insert_text((30, 14), text, fontsize=9, color=(0, 0, 1))


def watermark(page: pymupdf.Page, source: pymupdf.Page) -> None:
    pivot = pymupdf.Point(100, 500)
    turn = (pivot, pymupdf.Matrix(50))
    page.insert_text(pivot, "CONFIDENTIAL DRAFT", fontsize=40, color=(0.8, 0.8, 0.8), morph=turn)


if __name__ == "__main__":
    main()
