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

Render = Callable[[int], tuple[Grey, int]]

GOOD = 75.0  # mean confidence above which nothing else is tried; clean scans have 88 to 96
_BETTER = 1.1  # another reading must be worth this much more to replace a plainer one
_UPRIGHT = 60.0  # mean confidence that only upright pages reach; turned ones have 25 to 50
_SURE_LINES = 3  # lines of writing seen up or down the page that make it worth turning first
_LETTERS_ENOUGH = 0.4  # of the letters seen: fewer read means that something was missed
_CAPITAL = (18, 60)  # pixels of word height that Tesseract reads well; 30 is best
_BEST_CAPITAL = 32
_HIGH_DPI = 300  # for small print
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
    def value(self) -> float:
        """What the reading is worth: characters, counted by how far they can be believed."""
        return sum(len(w.text) * max(0.0, w.confidence - 40) / 60 for w in self.words)


def read_page(render: Render, options: dict[str, Any]) -> dict[str, Any]:
    """Return the words read on a page, its ink, and remarks, as JSON values.

    `render(dpi)` gives the page in grey; `options` has `languages`, `data_path`, `dpi`.
    """
    grey, dpi = render(options["dpi"])
    seen = ink.measure(ink.small(grey, dpi))
    if seen.share == 0.0:
        return {"words": [], "flags": [], "ink": asdict(seen)}
    reader = _Reader(render, options, grey, dpi, seen)
    reading = reader.read()
    return {
        "words": [[w.text, round(w.confidence), w.line, w.paragraph] for w in reading.words],
        "flags": list(reading.flags),
        "ink": asdict(seen),
    }


class _Reader:
    """Tries treatments of one page, cheapest first, and keeps the best reading."""

    def __init__(
        self, render: Render, options: dict[str, Any], grey: Grey, dpi: int, seen: PageInk
    ) -> None:
        self._render = render
        self._api = _api(options["data_path"], options["languages"])
        self._options = options
        self._dpi = dpi
        self._seen = seen
        self._page = prepare.dark_on_light(_padded(grey))
        self._turn = 0
        self._turned: set[int] = set()
        self._best = Reading()

    def read(self) -> Reading:
        """Return the best reading found."""
        if self._seen.sideways and self._seen.lines >= _SURE_LINES:
            self._try_turned((90, 270))
        if not self._good():
            level, angle = prepare.straight(self._page)
            self._try(level, (f"deskewed:{angle:.1f}",) if angle else ())
        if not self._good() and self._best.confidence < _UPRIGHT:
            self._try_turned((90, 270, 180))
        if not self._good():
            self._try_sizes()
        if not self._good():
            page, flags = self._upright()
            self._try(prepare.flatten_paper(page), (*flags, "flattened"))
        if not self._good():
            page, flags = self._upright()
            self._try(page, (*flags, "sparse"), _sparse=True)
        return self._best

    def _good(self) -> bool:
        enough = self._best.chars >= _LETTERS_ENOUGH * self._seen.letters
        return enough and self._best.chars > 0 and self._best.confidence >= GOOD

    def _try(self, grey: Grey, flags: tuple[str, ...], *, _sparse: bool = False) -> Reading:
        reading = replace(_recognise(self._api, grey, self._dpi, sparse=_sparse), flags=flags)
        if reading.value > self._best.value * _BETTER:
            self._best = reading
        return reading

    def _try_turned(self, turns: tuple[int, ...]) -> None:
        found = _orientation(self._options["data_path"], ink.small(self._page, self._dpi))
        for turn in sorted(turns, key=lambda turn: turn != found):
            if turn in self._turned:
                continue
            self._turned.add(turn)
            level, angle = prepare.straight(prepare.upright(self._page, turn))
            flags = (f"rotated:{turn}",) + ((f"deskewed:{angle:.1f}",) if angle else ())
            before = self._best
            self._try(level, flags)
            if self._best is not before:
                self._turn = turn
                if self._good():
                    return

    def _upright(self) -> tuple[Grey, tuple[str, ...]]:
        page = prepare.upright(self._page, self._turn)
        return page, (f"rotated:{self._turn}",) if self._turn else ()

    def _try_sizes(self) -> None:
        """Read again at the size that suits the height of the words found, or of the picture."""
        page, flags = self._upright()
        height = _word_height(self._best.words)
        if height and _CAPITAL[0] <= height <= _CAPITAL[1]:
            return
        if self._dpi and (not height or height < _CAPITAL[0]):
            grey, _ = self._render(_HIGH_DPI)
            grey = prepare.upright(prepare.dark_on_light(grey), self._turn)
            self._try(grey, (*flags, f"dpi:{_HIGH_DPI}"))
            return
        factors = [_BEST_CAPITAL / height] if height else [2.0, 0.5]
        for factor in factors:
            factor = min(factor, 4.0, (MAX_PIXELS / page.size) ** 0.5)
            if min(page.shape) * factor >= _MIN_SIDE and abs(factor - 1) > 0.1:
                self._try(prepare.scaled(page, factor), (*flags, f"scaled:{factor:.1f}"))


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


def _orientation(data_path: str, grey: Grey) -> int:
    """Return by how many degrees clockwise the page must be turned, 0 when nothing is found."""
    api = _osd(data_path)
    if api is None:
        return 0
    api.SetImage(Image.fromarray(grey))
    api.SetSourceResolution(ink.DPI)
    try:
        found = api.DetectOrientationScript()
    except RuntimeError:
        return 0
    finally:
        api.Clear()
    return (360 - int(found["orient_deg"])) % 360 if found else 0


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


@lru_cache(maxsize=1)
def _osd(data_path: str) -> tesserocr.PyTessBaseAPI | None:
    """Return the orientation detector, None when its model is not installed."""
    try:
        return tesserocr.PyTessBaseAPI(path=data_path, lang="osd", psm=tesserocr.PSM.OSD_ONLY)
    except RuntimeError:
        return None
