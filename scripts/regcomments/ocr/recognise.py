"""Read one page picture with Tesseract: orientation, preparation, words, and what to believe.

Most pages take one pass. Only a page that reads badly is tried turned, flattened, enlarged or
as sparse text, and the best reading is kept. Runs in the bounded process (tasks.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import tesserocr
from PIL import Image

from regcomments.ocr import ink, prepare
from regcomments.ocr.engines import PageInk
from regcomments.ocr.raster import MAX_PIXELS, Grey
from regcomments.ocr.tabulate import find_rules

Render = Callable[[int], tuple[Grey, int]]

GOOD = 75.0  # mean confidence above which nothing else is tried; clean scans have 88 to 96
_BETTER = 1.1  # another reading must be worth this much more to replace a plainer one
_UPRIGHT = 60.0  # mean confidence that only upright pages reach; turned ones have 25 to 50
_SURE_LINES = 3  # lines of writing seen up or down the page that make it worth turning first
_LETTERS_ENOUGH = 0.4  # of the letters seen: fewer read means that something was missed
_CAPITAL = (18, 60)  # pixels of word height that Tesseract reads well; 25 to 35 are best
_BEST_CAPITAL = 26
_HIGH_DPI = 300  # for small print
_HUGE = 250  # pixels of word height, over an inch: a guess at a picture, not a word
_MAX_FACTOR = 4.0  # of enlargement; beyond it there is nothing to be seen in the pixels
_BAND = 320  # pixels: five to ten lines of print at 200 dpi
_LITTLE = 150  # letters seen; a page with fewer is its own sample
_SAMPLE_CHARS = 12  # that make a sample's confidence mean something
_SPARSE_LETTERS = 400  # a map or chart has fewer; on print this mode only costs time
_POINTS = 72  # per inch
_GUESSED_DPI = 96  # of a picture: a screenshot more often than a photograph of a page
_MIN_SIDE = 32  # pixels; below, Tesseract finds no lines
_SHORT = 150  # pixels in height; such a strip holds one block of text


@dataclass(frozen=True)
class Word:
    """One word: text, confidence 0 to 100, box in pixels, number of its line and paragraph."""

    text: str
    confidence: float
    box: tuple[int, int, int, int]
    line: int
    paragraph: int


@dataclass(frozen=True)
class Reading:
    """All words of one pass, and how the picture was treated for it."""

    words: tuple[Word, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def chars(self) -> int:
        """Characters read."""
        return sum(len(word.text) for word in self.words)

    @property
    def confidence(self) -> float:
        """Mean confidence of the characters, 0 to 100."""
        total = sum(len(word.text) * word.confidence for word in self.words)
        return total / max(1, self.chars)

    @property
    def upright(self) -> bool:
        """False when the words run up or down: Tesseract reads such blocks, but lays them out
        wrongly."""
        sides = [(w.box[2] - w.box[0], w.box[3] - w.box[1]) for w in self.words if len(w.text) > 3]
        return 2 * sum(across < down for across, down in sides) <= len(sides)

    @property
    def value(self) -> float:
        """What the reading is worth: characters, counted by how far they can be believed."""
        value = sum(len(w.text) * max(0.0, w.confidence - 40) / 60 for w in self.words)
        return value if self.upright else value / 2


def read_page(render: Render, options: dict[str, Any]) -> dict[str, Any]:
    """Return the words read on a page, its ink, and remarks, as JSON values.

    `render(dpi)` gives the page in grey; `options` has `languages`, `data_path`, `dpi`.
    """
    grey, dpi = render(options["dpi"])
    seen = ink.measure(ink.small(grey, dpi))
    if seen.share == 0.0:
        return {"words": [], "flags": [], "ink": asdict(seen), "rules": [], "size": [0, 0]}
    reader = _Reader(render, options, grey, dpi, seen)
    reading = reader.read()
    scale = _POINTS / reader.resolution
    rules = find_rules(reader.picture, reader.resolution) if reading.words else []
    return {
        "words": [
            [w.text, round(w.confidence), w.line, w.paragraph, [round(x * scale, 1) for x in w.box]]
            for w in reading.words
        ],
        "flags": list(reading.flags),
        "ink": asdict(seen),
        "rules": rules,
        "size": [round(side * scale, 1) for side in reversed(reader.picture.shape)],
    }


class _Reader:
    """Tries treatments of one page, cheapest first, and keeps the best reading.

    Whether a treatment is worth a pass over the whole page is found out on a sample: a band of
    a few lines, which costs a tenth of it.
    """

    def __init__(
        self, render: Render, options: dict[str, Any], grey: Grey, dpi: int, seen: PageInk
    ) -> None:
        self._render = render
        self._api = _api(options["data_path"], options["languages"])
        self._dpi = dpi
        self._seen = seen
        self._page, self._cleaned = prepare.clean(prepare.dark_on_light(_padded(grey)))
        if prepare.busy(self._page):
            # Halftone at half the size is grey again, and print is still large enough.
            self._page, self._dpi = prepare.scaled(self._page, 0.5), dpi // 2
        # What the words of the best reading lie on, and its dpi (a guess for pictures).
        self.picture, self.resolution = self._page, self._dpi or _GUESSED_DPI
        self._turn = 0
        self._best = Reading()

    def read(self) -> Reading:
        """Return the best reading found."""
        if not prepare.busy(self._page):
            self._read_as_is()
            if not self._good() and self._seen.lines:
                self._mend_orientation()
            if not self._good() or (not self._dpi and self._small_print()):
                self._try_sizes()
            if not self._good() and self._seen.lines:
                self._try("flattened", prepare.flatten_paper(self._page))
            if not self._good() and self._seen.letters < _SPARSE_LETTERS:
                self._pass(self._page, (*self._flags(), "sparse"), sparse=True)
        if self._cleaned:
            self._best = replace(self._best, flags=(self._cleaned, *self._best.flags))
        return self._best

    def _read_as_is(self) -> None:
        """Read the page as it stands, or turned at once where its lines run up or down."""
        if self._seen.sideways and self._seen.lines >= _SURE_LINES:
            self._turn_by_sample((90, 270))
        self._pass(self._page, self._flags())

    def _mend_orientation(self) -> None:
        """Read the page again in another orientation if a sample of it reads well so."""
        if self._best.confidence >= _UPRIGHT and self._best.upright:
            return
        before = self._turn
        self._turn_by_sample(tuple(turn for turn in (180, 90, 270, 0) if turn != before))
        if self._turn != before:
            self._pass(self._page, self._flags())

    def _good(self) -> bool:
        enough = self._best.chars >= _LETTERS_ENOUGH * self._seen.letters
        return (
            enough and self._best.chars > 0 and self._best.confidence >= GOOD and self._best.upright
        )

    def _small_print(self) -> bool:
        return 0 < _word_height(self._best.words) < _CAPITAL[0]

    def _flags(self) -> tuple[str, ...]:
        return (f"rotated:{self._turn}",) if self._turn else ()

    def _pass(
        self, grey: Grey, flags: tuple[str, ...], *, sparse: bool = False, factor: float = 1.0
    ) -> None:
        """Read all of `grey`, `factor` times as large as the page, and keep what is better."""
        level, angle = prepare.straight(grey)
        if angle:
            flags = (*flags, f"deskewed:{angle:.1f}")
        reading = replace(_recognise(self._api, level, self._dpi, sparse=sparse), flags=flags)
        if reading.value > self._best.value * _BETTER:
            self._best = reading
            self.picture = level
            self.resolution = round((self._dpi or _GUESSED_DPI) * factor)

    def _try(self, name: str, grey: Grey, factor: float = 1.0) -> None:
        """Read all of `grey`, the page treated and `factor` times as large, if a sample gains."""
        top, bottom = self._sample(self._page)
        plain = _recognise(self._api, self._page[top:bottom], self._dpi)
        band = grey[round(top * factor) : round(bottom * factor)]
        if _recognise(self._api, band, self._dpi).value > plain.value * _BETTER:
            self._pass(grey, (*self._flags(), name), factor=factor)

    def _sample(self, page: Grey) -> tuple[int, int]:
        """Return the rows (first, end) of a sample of `page`: all of it when it says little."""
        if self._seen.letters < _LITTLE:
            return 0, page.shape[0]
        return prepare.densest_band(page, _BAND)

    def _turn_by_sample(self, turns: tuple[int, ...]) -> None:
        """Turn the page for good if a sample reads well in one of `turns`."""
        page, base = self._page, self._turn
        for turn in turns:
            turned = prepare.upright(page, (turn - base) % 360)
            top, bottom = self._sample(turned)
            level, _ = prepare.straight(turned[top:bottom])
            reading = _recognise(self._api, level, self._dpi)
            enough = reading.chars >= _SAMPLE_CHARS and reading.upright
            if enough and reading.confidence >= GOOD:
                self._page, self._turn = turned, turn
                return

    def _try_sizes(self) -> None:
        """Read again at the size that suits the height of the words found, or of the picture."""
        height = _word_height(self._best.words)
        if height and _CAPITAL[0] <= height <= _CAPITAL[1]:
            return
        if self._dpi and 0 < height < _CAPITAL[0]:
            grey, dpi = self._render(_HIGH_DPI)
            grey, _ = prepare.clean(prepare.dark_on_light(grey))
            self._try(f"dpi:{dpi}", prepare.upright(grey, self._turn), dpi / self._dpi)
            return
        for factor in [_BEST_CAPITAL / height] if height < _HUGE and height else [2.0, 0.4, 0.15]:
            factor = min(factor, _MAX_FACTOR, (MAX_PIXELS / self._page.size) ** 0.5)
            if min(self._page.shape) * factor >= _MIN_SIDE and abs(factor - 1) > 0.1:
                grey = prepare.scaled(self._page, factor)
                self._try(f"scaled:{factor:.1f}", grey, factor)


def _recognise(
    api: tesserocr.PyTessBaseAPI, grey: Grey, dpi: int, *, sparse: bool = False
) -> Reading:
    """Return the words of one pass over `grey`."""
    mode = tesserocr.PSM.SPARSE_TEXT if sparse else tesserocr.PSM.AUTO
    if not sparse and grey.shape[0] < _SHORT:
        mode = tesserocr.PSM.SINGLE_BLOCK
    api.SetPageSegMode(mode)
    api.SetImage(Image.fromarray(grey))
    api.SetSourceResolution(dpi or 200)
    try:
        if not api.Recognize():
            return Reading()
        return Reading(tuple(_words(api)))
    finally:
        api.Clear()


def _words(api: tesserocr.PyTessBaseAPI) -> Iterator[Word]:
    iterator = api.GetIterator()
    if iterator is None:
        return
    line = paragraph = 0
    for item in tesserocr.iterate_level(iterator, tesserocr.RIL.WORD):
        if item.Empty(tesserocr.RIL.WORD):
            continue
        line += item.IsAtBeginningOf(tesserocr.RIL.TEXTLINE)
        paragraph += item.IsAtBeginningOf(tesserocr.RIL.PARA)
        text = (item.GetUTF8Text(tesserocr.RIL.WORD) or "").strip()
        box = item.BoundingBox(tesserocr.RIL.WORD)
        if text and box:
            yield Word(text, item.Confidence(tesserocr.RIL.WORD), tuple(box), line, paragraph)


def _word_height(words: tuple[Word, ...]) -> float:
    heights = [w.box[3] - w.box[1] for w in words if len(w.text) > 2 and w.confidence > 30]
    return float(np.median(heights)) if heights else 0.0


def _padded(grey: Grey) -> Grey:
    """Return `grey` with a margin if it is small: text at the very edge is lost otherwise."""
    if min(grey.shape) > 600:
        return grey
    return np.pad(grey, 20, mode="constant", constant_values=int(np.median(grey)))


@lru_cache(maxsize=2)
def _api(data_path: str, languages: str) -> tesserocr.PyTessBaseAPI:
    tesserocr.set_leptonica_log_level(tesserocr.LeptLogLevel.NONE)
    api = tesserocr.PyTessBaseAPI(path=data_path, lang=languages)
    api.SetVariable("debug_file", "/dev/null")
    return api
