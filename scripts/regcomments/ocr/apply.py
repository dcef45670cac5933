"""Put OCR results into a document that was just read."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from regcomments.ocr.engines import DOUBTFUL, MAX_ATTEMPTS, Outcome
from regcomments.ocr.store import FileResult, StoredPage
from regcomments.records import Document, Page
from regcomments.status import Reason

_GRAM = 4  # characters; long enough that another text rarely shares them by chance
_SAME = 0.7  # of a line's grams in one place of the layer: it is there, an error in 13 allowed
_MOST_PLACES = 200  # of one gram; a page of 3,000 letters has under 50, a flood would take minutes
_DRIFT = 3  # letters by which OCR may have added or left out some on a line
_SHORT = 8  # letters; shorter lines must be there word for word


def apply_ocr(document: Document, result: FileResult, max_attempts: int = MAX_ATTEMPTS) -> Document:
    """Return `document` with the pages that OCR has dealt with.

    A page read becomes text and wants no OCR any more, nor does one on which nothing was found.
    A page that failed stays, and so does one the engine can't read; then what could be made out
    goes in. Pages that never wanted OCR are left alone.
    """
    pages = tuple(
        _apply(page, result.pages[page.number], result, max_attempts)
        if page.needs_ocr and page.number in result.pages
        else page
        for page in document.pages
    )
    doubtful = [
        page.number
        for page in pages
        if page.ocr_engine and DOUBTFUL in result.pages[page.number].result.flags
    ]
    warnings = document.warnings
    if doubtful:
        numbers = ", ".join(map(str, doubtful))
        warnings = (*warnings, f"{Reason.OCR_DOUBTFUL}: two engines disagree on page {numbers}")
    return replace(document, pages=pages, warnings=warnings)


def _apply(page: Page, stored: StoredPage, result: FileResult, max_attempts: int) -> Page:
    outcome = stored.result.outcome
    engine = f"{stored.engine} {stored.version}"
    # Garbled layers go: they are not language, and combined.md leaves them out until now.
    layer = "" if page.reason == Reason.GARBLED else page.text
    if outcome == Outcome.TEXT:
        doubtful = DOUBTFUL in stored.result.flags
        return replace(
            page,
            text=join(layer, stored.result.markdown),
            needs_ocr=False,
            reason=Reason.OCR_DOUBTFUL if doubtful else None,
            ocr_engine=engine,
        )
    if outcome == Outcome.NOTHING:
        return replace(page, text=layer, needs_ocr=False, reason=Reason.BLANK, ocr_engine=engine)
    if outcome == Outcome.UNREADABLE:
        text = join(layer, stored.result.markdown)
        return replace(page, text=text, reason=Reason.OCR_FAILED)
    tries = result.attempts[stored.key].get(page.number, 0)
    if tries >= max_attempts:
        text = join(layer, stored.result.markdown)
        return replace(page, text=text, reason=Reason.OCR_FAILED)
    return page


def join(layer: str, read: str) -> str:
    """Return the text layer of a page followed by what OCR read and the layer lacks.

    The layer's characters are certain, so it wins where both have a line (a typed letter around
    a screenshot, a filing stamp over a scan). Both texts keep their order.
    """
    if not layer.strip():
        return read
    places: dict[str, list[int]] = {}
    for place, gram in enumerate(_grams(_fold(layer))):
        found = places.setdefault(gram, [])
        if len(found) < _MOST_PLACES:
            found.append(place)
    words = set(re.findall(r"\w+", layer.casefold()))
    kept: list[str] = []
    for is_table, group in groupby(read.split("\n"), key=_is_row):
        lines = list(group)
        new = [line for line in lines if not _in_layer(line, places, words)]
        # A table stays whole: some of its rows alone would say something else.
        kept += lines if is_table and any(map(_fold, new)) else [] if is_table else new
    rest = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
    return f"{layer.rstrip()}\n\n{rest}" if rest.strip() else layer


def _is_row(line: str) -> bool:
    return line.startswith("|")


def _in_layer(line: str, places: Mapping[str, Sequence[int]], words: set[str]) -> bool:
    """Whether the layer, whose grams stand at `places`, has the line, all of it in one place.

    Grams strewn over a page prove nothing: any sentence is made of those of other sentences. The
    cells of a row are looked for one by one.
    """
    if _is_row(line):
        cells = [cell for cell in line.strip("| ").split("|") if _fold(cell)]
        return bool(cells) and all(_in_layer(cell, places, words) for cell in cells)
    folded = _fold(line)
    if not folded:
        return False
    if len(folded) < _SHORT:
        return all(word in words for word in re.findall(r"\w+", line.casefold()))
    own = _grams(folded)
    shifts = Counter(place - at for at, gram in enumerate(own) for place in places.get(gram, ()))
    # A letter too many or too few moves what follows by one.
    near = range(-_DRIFT, _DRIFT + 1)
    return any(sum(shifts[at + by] for by in near) >= _SAME * len(own) for at in list(shifts))


def _grams(folded: str) -> list[str]:
    return [folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)]


def _fold(text: str) -> str:
    """Return the letters and digits of `text`, without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in decomposed if char.isalnum())
