"""Form fields and annotations of a PDF page: what they say and where it belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import pymupdf

from regcomments.read.pdf_layout import clean
from regcomments.read.pdf_line import Line
from regcomments.read.pdf_lines import TEXT_FLAGS
from regcomments.read.pdf_open import MUPDF_ERRORS

_INVISIBLE = pymupdf.PDF_ANNOT_IS_HIDDEN | pymupdf.PDF_ANNOT_IS_NO_VIEW
# Annotations that lie on the page as text; the contents of all others are remarks about it.
_TYPED = {pymupdf.PDF_ANNOT_FREE_TEXT}
_DRAWN = {pymupdf.PDF_ANNOT_STAMP, pymupdf.PDF_ANNOT_WATERMARK, pymupdf.PDF_ANNOT_REDACT}
_SILENT = {pymupdf.PDF_ANNOT_LINK, pymupdf.PDF_ANNOT_POPUP}
_SHAPES = {pymupdf.PDF_ANNOT_SQUARE, pymupdf.PDF_ANNOT_POLYGON, pymupdf.PDF_ANNOT_CIRCLE}
_TICKED = "[x]"
# How far (em) a label may end left of its field, or its bottom lie above it.
_REACH_LEFT, _REACH_ABOVE = 20.0, 1.6
_ENTRY_SIZE = 12.0  # points; type size of an entry that stands in no row
_ANNOTS_PER_PAGE = 2000  # a page of the largest real form holds some 600 fields


@dataclass(frozen=True)
class Entry:
    """A filled field or typed annotation: its text, its box as shown, whether it is a tick."""

    text: str
    rect: tuple[float, float, float, float]
    tick: bool = False


@dataclass(frozen=True)
class Markup:
    """What the fields and annotations of one page add: entries, remarks, and what they cover.

    `covers` are the boxes of filled shapes, under which text may be hidden (blacked out by hand).
    """

    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    covers: list[tuple[float, float, float, float]] = field(default_factory=list)


def annotation_kinds(page: pymupdf.Page) -> frozenset[int]:
    """Return the kinds (PyMuPDF's PDF_ANNOT_… numbers) of the annotations of `page`, no links."""
    return frozenset(kind for _, kind, _ in page.annot_xrefs()) - _SILENT


def markup_of(page: pymupdf.Page) -> Markup:
    """Return what the fields and annotations of `page` say, hidden ones left out."""
    found = Markup()
    matrix = page.rotation_matrix
    for xref, kind, _ in page.annot_xrefs()[:_ANNOTS_PER_PAGE]:
        if kind in _SILENT:
            continue
        try:
            annot = page.load_widget(xref) if kind == pymupdf.PDF_ANNOT_WIDGET else None
            if annot is not None:
                entry = _field(page, annot, xref, matrix)
            else:
                note = page.load_annot(xref)
                if note.flags & _INVISIBLE:
                    continue
                entry = _typed(note, matrix) if kind in _TYPED | _DRAWN else None
                _remark(note, kind, entry, found.notes)
                if kind in _SHAPES and (note.colors or {}).get("fill"):
                    found.covers.append(_shown_rect(note.rect, matrix))
        except MemoryError:
            raise
        except MUPDF_ERRORS:
            continue  # one broken annotation costs itself only
        if entry is not None and entry.text:
            found.entries.append(entry)
    return found


def place(lines: Sequence[Line], entries: Iterable[Entry]) -> list[Line]:
    """Return `lines` with each entry put after the label it answers.

    The label is the nearest text on the left in the same row, for a tick also that on its right
    (then the tick goes before it), else the nearest text above; an entry without a label goes
    where its height puts it.
    """
    placed = list(lines)
    for entry in sorted(entries, key=lambda e: (round(e.rect[1] / 6), e.rect[0])):
        at, row = _anchor(placed, entry)
        placed[at:at] = _as_lines(entry, row)
    return placed


def _anchor(lines: list[Line], entry: Entry) -> tuple[int, Line | None]:
    x0, y0, x1, y1 = entry.rect
    middle = (y0 + y1) / 2
    best: tuple[float, int, Line] | None = None
    for i, line in enumerate(lines):
        slack = 0.3 * line.size
        level = line.y0 - slack <= middle <= line.y1 + slack
        # Beside a tall field the label stands at any height.
        if line.dx < 0.9 or not (level or y0 - 1 <= (line.y0 + line.y1) / 2 <= y1 + 1):
            continue
        if entry.tick and x1 - 0.5 * line.size <= line.x0 <= x1 + 3 * line.size:
            distance = line.x0 - x1
            if best is None or distance < best[0]:
                best = (distance, i, line)
        gap = x0 - line.x1
        if -0.5 * (line.x1 - line.x0) <= gap <= _REACH_LEFT * line.size:
            distance = abs(gap) + (4 * line.size if entry.tick else 0)
            if best is None or distance < best[0]:
                best = (distance, i + 1, line)
    if best is not None:
        return best[1], best[2]
    above: tuple[float, int] | None = None
    for i, line in enumerate(lines):
        gap = y0 - line.y1
        overlap = min(x1, line.x1) - max(x0, line.x0)
        if overlap > 0 and -0.5 * line.size <= gap <= _REACH_ABOVE * line.size:
            distance = gap + 0.01 * abs(line.x0 - x0)
            if above is None or distance < above[0]:
                above = (distance, i + 1)
    if above is not None:
        return above[1], None
    for i, line in enumerate(lines):
        if line.y0 >= y1:
            return i, None
    return len(lines), None


def _as_lines(entry: Entry, row: Line | None) -> list[Line]:
    x0, y0, x1, y1 = entry.rect
    texts = [text.strip() for text in entry.text.split("\n") if text.strip()]
    if row is not None and len(texts) == 1:
        return [Line(texts[0], x0, row.y0, x1, row.y1, row.size, x0, row.oy, block=row.block)]
    height = (y1 - y0) / max(len(texts), 1)
    size = min(height, _ENTRY_SIZE)
    return [
        Line(text, x0, y0 + k * height, x1, y0 + (k + 1) * height, size, x0, y0 + (k + 1) * height)
        for k, text in enumerate(texts)
    ]


def _field(
    page: pymupdf.Page, widget: pymupdf.Widget, xref: int, matrix: pymupdf.Matrix
) -> Entry | None:
    annot = widget._annot
    if annot is not None and annot.flags & _INVISIBLE:
        return None
    rect = _shown_rect(widget.rect, matrix)
    kind = widget.field_type
    if kind in (pymupdf.PDF_WIDGET_TYPE_CHECKBOX, pymupdf.PDF_WIDGET_TYPE_RADIOBUTTON):
        state = page.parent.xref_get_key(xref, "AS")[1]
        if state == "null":  # then the value of the field says which state it is in
            state = page.parent.xref_get_key(xref, "V")[1]
        return Entry(_TICKED, rect, tick=True) if state not in ("null", "/Off", "") else None
    shown = _appearance(annot)
    if kind in (pymupdf.PDF_WIDGET_TYPE_BUTTON, pymupdf.PDF_WIDGET_TYPE_SIGNATURE):
        return Entry(shown, rect)
    if widget.field_flags & pymupdf.PDF_TX_FIELD_IS_PASSWORD:
        return None
    value = widget.field_value
    values = value if isinstance(value, (list, tuple)) else [value]
    text = "\n".join(str(v) for v in values if v not in (None, ""))
    text = clean(text.replace("\r\n", "\n").replace("\r", "\n"))
    if kind == pymupdf.PDF_WIDGET_TYPE_TEXT:
        return Entry(_fuller(shown, text), rect)
    # A list shows what may be chosen, a stored value may be a code for what is shown.
    chosen = kind == pymupdf.PDF_WIDGET_TYPE_LISTBOX and _letters(text) in _letters(shown)
    return Entry(text if text and (chosen or not shown) else shown, rect)


def _typed(annot: pymupdf.Annot, matrix: pymupdf.Matrix) -> Entry:
    shown = _appearance(annot)
    text = shown
    if annot.type[0] in _TYPED:
        text = _fuller(shown, _contents(annot), prefer_value=True)
    return Entry(text, _shown_rect(annot.rect, matrix))


def _remark(annot: pymupdf.Annot, kind: int, entry: Entry | None, notes: list[str]) -> None:
    text = _contents(annot)
    if not text or kind in _TYPED or (entry and _letters(text) in _letters(entry.text)):
        return
    author = " ".join((annot.info.get("title") or "").split())
    label = f"Note by {author}" if author else "Note"
    notes.append(f"[{label}: {text}]")


def _contents(annot: pymupdf.Annot) -> str:
    text = annot.info.get("content") or ""
    return clean(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _appearance(annot: pymupdf.Annot | None) -> str:
    if annot is None:
        return ""
    try:
        return clean(annot.get_textpage(flags=TEXT_FLAGS).extractText()).strip()
    except MemoryError:
        raise
    except MUPDF_ERRORS:
        return ""  # no appearance to read: the value speaks for itself


def _fuller(shown: str, value: str, *, prefer_value: bool = False) -> str:
    """Return the drawn text or the stored one: the drawn one unless it lacks or cuts the other.

    Both say the same in most fields; then the stored one has the truer line ends. A drawn text
    of other content is a format ("01-Jul-25" for 2025-07-01) and stays.
    """
    a, b = _letters(shown), _letters(value)
    if not b:
        return shown
    if prefer_value or not a or a == b or a in b:
        return value
    return shown


def _letters(text: str) -> str:
    return re.sub(r"[\s\ufffd]+", "", text)


def _shown_rect(rect: pymupdf.Rect, matrix: pymupdf.Matrix) -> tuple[float, float, float, float]:
    box = pymupdf.Rect(rect) * matrix
    box.normalize()
    return (box.x0, box.y0, box.x1, box.y1)
