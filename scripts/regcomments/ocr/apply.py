"""Put OCR results into a document that was just read."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from regcomments.ocr.engines import Outcome
from regcomments.ocr.store import FileResult, StoredPage
from regcomments.records import Document, Page
from regcomments.status import Reason

MAX_ATTEMPTS = 3
DOUBTFUL = "doubtful"  # flag of a page on which two engines disagree
_GRAM = 4  # characters; long enough that another text rarely shares them by chance
_SAME = 0.8  # of a line's grams in the text layer: the line is in it, one error in 20 allowed
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
    folded = _fold(layer)
    grams = {folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)}
    words = set(re.findall(r"\w+", layer.casefold()))
    kept = [line for line in read.split("\n") if not _in_layer(line, grams, words)]
    rest = re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")
    return f"{layer.rstrip()}\n\n{rest}" if rest.strip() else layer


def _in_layer(line: str, grams: set[str], words: set[str]) -> bool:
    folded = _fold(line)
    if not folded:
        return False
    if len(folded) < _SHORT:
        return all(word in words for word in re.findall(r"\w+", line.casefold()))
    own = [folded[i : i + _GRAM] for i in range(len(folded) - _GRAM + 1)]
    return sum(gram in grams for gram in own) >= _SAME * len(own)


def _fold(text: str) -> str:
    """Return the letters and digits of `text`, without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in decomposed if char.isalnum())
