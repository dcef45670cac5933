"""Facts of pages and pictures: what is counted, what it costs, what damage does."""

from __future__ import annotations

import dataclasses
import io

import numpy as np
import pymupdf
import pytest
from PIL import Image
from regcomments.read import ink, ink_marks
from regcomments.read.pagefacts import PageFacts, measure
from regcomments.read.picturefacts import measure_picture
from regcomments.read.sanity import text_sanity

from tests import page_files as files


def facts_of(page: pymupdf.Page, seen: dict[int, float] | None = None) -> PageFacts:
    return measure(page, page.get_text(), None, seen)


def test_facts_survive_a_row() -> None:
    facts = facts_of(files.page_of(files.scan()))
    row = facts.to_dict()
    assert all(isinstance(value, float | int | str | bool) for value in row.values())
    assert PageFacts.from_dict({**row, "sha256": "ab", "unknown": 1}) == facts
    without = {key: value for key, value in row.items() if key != "letters"}
    assert PageFacts.from_dict({**without, "lines": None}).letters == -1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {"chars": 0, "tokens": 0, "bad_chars": 0}),
        ("I support this rule.", {"chars": 17, "tokens": 4, "odd_words": 0, "bad_chars": 0}),
        ("a\x01b \ue012\ufffd c", {"chars": 6, "bad_chars": 3, "single_tokens": 1}),
        ("Line\nends\tand\r\nform feed\x0c are white space", {"bad_chars": 0}),
        ("ynpaBneHl4e Cl>opMa npVIMeHeH 3aKa3LJI4K", {"words": 4, "odd_words": 4}),
        ("M3a write to a.b@example.org at http://x.y/Z?q=A(b)", {"odd_words": 1}),
        ("Ångström & naïve Żółw", {"small_letters": 14, "small_vowels": 5}),
        ('"7+%-', {"symbols": 3, "symbol_kinds": 3, "words": 0}),
        ("我们支持这项规定 и мы тоже", {"odd_words": 0, "small_letters": 0, "bad_chars": 0}),
    ],
)
def test_text_sanity(text: str, expected: dict[str, int]) -> None:
    found = dataclasses.asdict(text_sanity(text))
    assert {key: found[key] for key in expected} == expected


def test_ordinary_language_is_not_odd() -> None:
    text = (
        "\n".join(files.LINES) * 3 + " McDonald's iPhone HHS-2021-0001 §482.15(b)(3) and/or $4,100"
    )
    sanity = text_sanity(text)
    assert sanity.odd_words <= 0.02 * sanity.words
    assert 0.35 < sanity.small_vowels / sanity.small_letters < 0.45


def test_text_page_is_not_rendered() -> None:
    facts = facts_of(files.page_of(files.letter(), files.logo()))
    assert not facts.looked
    assert facts.images == 1
    assert facts.unmapped_chars == -1


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_text_layer_covers_its_ink_on_turned_pages(rotation: int) -> None:
    page = files.page_of(files.photo(pymupdf.Rect(72, 400, 540, 760)), files.letter())
    page.set_rotation(rotation)
    facts = facts_of(page)
    assert facts.looked
    assert facts.letters == 0


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_letters_of_a_scan_are_counted(turn: int) -> None:
    facts = facts_of(files.page_of(files.scan(rotate=turn)))
    true = sum(len(line.replace(" ", "")) for line in files.LINES)
    assert 0.5 * true < facts.letters < 1.6 * true
    assert facts.vertical == (turn in (90, 270))
    assert abs(facts.lines - len(files.LINES)) <= 6


def test_a_slanted_watermark_covers_only_itself() -> None:
    plain = facts_of(files.page_of(files.scan()))
    marked = facts_of(files.page_of(files.scan(), files.watermark()))
    assert marked.letters > 0.5 * plain.letters


def test_writing_under_visible_text_is_not_counted_twice() -> None:
    hidden = files.letter(render_mode=3)
    facts = facts_of(files.page_of(files.scan(), hidden))
    assert facts.looked
    assert facts.letters <= 10


def test_a_picture_seen_before_is_not_looked_at_again() -> None:
    background = files.photo(pymupdf.Rect(72, 400, 540, 760))
    document = files.document_of([(background, files.letter())])
    document.fullcopy_page(0)
    seen: dict[int, float] = {}
    first, second = (facts_of(page, seen) for page in document)
    assert (first.looked, second.looked) == (True, False)
    assert second.image_share == pytest.approx(first.image_share)


def test_a_picture_with_writing_is_looked_at_on_every_page() -> None:
    picture = files.show(files.picture_of(files.letter()), pymupdf.Rect(72, 320, 540, 780))
    document = files.document_of([(files.letter(), picture)])
    document.fullcopy_page(0)
    seen: dict[int, float] = {}
    assert [facts_of(page, seen).looked for page in document] == [True, True]
    assert not seen


def test_masked_marks_are_equal() -> None:
    first, second = (facts_of(files.page_of(files.stamp(n))).marks for n in (3, 8))
    assert first == second != ""


def test_damaged_page_gives_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    page = files.page_of(files.scan())

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("cannot draw")

    monkeypatch.setattr(pymupdf.Page, "get_pixmap", broken)
    facts = facts_of(page)
    assert facts.render_failed
    assert not facts.looked
    assert facts.images == 1


@pytest.mark.parametrize("size", [(3, 3), (700, 5000), (14400, 14400), (200, 50)])
def test_size_of_the_render_is_bounded(
    size: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = files.page_of(files.scan(), width=size[0], height=size[1])
    sizes: list[int] = []
    real = pymupdf.Page.get_pixmap

    def spy(*args: object, **kwargs: object) -> pymupdf.Pixmap:
        pixmap = real(*args, **kwargs)
        sizes.append(pixmap.width * pixmap.height)
        return pixmap

    monkeypatch.setattr(pymupdf.Page, "get_pixmap", spy)
    assert facts_of(page).looked
    assert sizes[0] <= 1_700_000


def test_components_agree_with_a_flood_fill() -> None:
    rng = np.random.default_rng(2)
    for density in (0.1, 0.4, 0.6):
        mask = rng.random((40, 57)) < density
        boxes, _, _ = ink_marks.components(mask)
        expected = flood(mask)
        found = sorted(zip(boxes.y0, boxes.x0, boxes.y1, boxes.x1, boxes.area, strict=True))
        assert [tuple(int(v) for v in box) for box in found] == expected


def flood(mask: np.ndarray) -> list[tuple[int, int, int, int, int]]:
    """Components by the plainest way there is."""
    todo = {(int(y), int(x)) for y, x in np.argwhere(mask)}
    found = []
    while todo:
        stack, part = [todo.pop()], []
        while stack:
            y, x = stack.pop()
            part.append((y, x))
            for near in [(y + i, x + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
                if near in todo:
                    todo.remove(near)
                    stack.append(near)
        rows, cols = [y for y, _ in part], [x for _, x in part]
        found.append((min(rows), min(cols), max(rows) + 1, max(cols) + 1, len(part)))
    return sorted(found)


def test_rules_go_and_letters_stay() -> None:
    mask = np.zeros((300, 300), bool)
    mask[50, 10:280] = mask[10:280, 60:63] = True  # a line across, a rule down
    mask[100:140, 100:260] = True  # a block
    mask[200:220, 100:104] = True  # a stem
    kept = ink_marks.without_rules(mask)
    assert not kept[50, 100] and not kept[30, 61]
    assert kept[100:140, 100:260].all() and kept[200:220, 100:104].all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 400), (400, 1), (30, 30)])
def test_tiny_pictures_are_blank(shape: tuple[int, int]) -> None:
    assert ink.look(np.full(shape, 255, np.uint8)).letters == 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n broken",
        files.picture_of(files.letter())[:3000],
        files.png(Image.new("L", (20, 20), 0)),
        b"\xd7\xcd\xc6\x9a" + bytes(200),  # a WMF
    ],
)
def test_pictures_that_cannot_be_measured(data: bytes) -> None:
    assert measure_picture(data) is None


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_picture_bomb_is_refused() -> None:
    data = io.BytesIO()
    Image.new("1", (40_000, 3_000), 1).save(data, "PNG")
    assert measure_picture(data.getvalue()) is None


def test_transparent_picture_lies_on_white() -> None:
    ink_only = Image.open(io.BytesIO(files.picture_of(files.letter())))
    clear = Image.new("RGBA", ink_only.size, (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), mask=ink_only.point(lambda value: 255 - value))
    facts = measure_picture(files.png(clear))
    assert facts is not None
    assert facts.letters > 250
