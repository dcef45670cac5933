"""What can be measured on one PDF page, as plain numbers: the ground of grade.judge.

Measuring goes by stages, so that an ordinary page costs a fraction of the time its text took:
counts over the text always; the boxes of pictures where there are pictures; a render, searched
for writing that the text layer does not cover, only where pictures or drawings could hold some.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, fields, replace
from itertools import islice

import numpy as np
import pymupdf

from regcomments.read import ink
from regcomments.read.pageview import ALL, view_of
from regcomments.read.pdf_parts import PageParts
from regcomments.read.sanity import bad_characters, text_sanity

Scalar = float | int | str | bool

# A page with fewer characters than this (three lines) is short: its drawings are looked at too.
SHORT_TEXT = 200
# Share of the page from which pictures are looked at. 250 letters of 10-point type take about
# 3 % of a letter page, of 14-point type 6 %; smaller pictures beside a full text are logos. On a
# short page a single line counts.
_PICTURE_BESIDE_TEXT = 0.06
_PICTURE_ON_SHORT_PAGE = 0.005
# Compressed bytes of drawing instructions per character, and in all, from which a page draws much
# besides its text. Typed pages have 5 to 20 a character (of 190), letters in outlines 25 to 50.
_BYTES_A_CHARACTER, _MANY_BYTES = 30, 10_000
# Drawing steps from which a short page is looked at: outlined letters and pen strokes are many.
_MANY_PATHS = 4
# Pixels that 250 letters need at the least (6 by 10 each); smaller pictures are not measured.
_PIXELS_FOR_TEXT = 15_000
# A picture with fewer letters is not looked at again on the document's other pages.
_FEW_LETTERS = 50
# Of a page of more lines than the first number, so many at either end are marked (grade.stamps).
_FEW_LINES, _END_LINES = 12, 3
# Bad characters from which the unmapped glyphs are counted exactly, by a second extraction.
_SUSPECT_BAD = 0.02


@dataclass(frozen=True)
class PageFacts:
    """Measurements of one page, plain scalars all; -1 means not measured.

    Sizes are points, `..._share` parts of the page's area. Counts of the text: see
    sanity.TextSanity; `unmapped_chars` are glyphs of fonts that give no Unicode value.
    `content_bytes` is the compressed size of the page's drawing instructions, `image_share` the
    area under pictures, `paths` the drawing steps. `looked` tells that the page was rendered and
    searched: `ink_share` is the part that is not paper, `lines`, `letters`, `longest`,
    `letter_height` (pixels), `vertical` and `lone` describe the writing outside the boxes of the
    text layer (ink.TextLook), of a sample of the page where that settles it (ink.SAMPLE).
    `render_failed`: it should have been, in vain.
    `marks` holds hash and length of the first and last lines, digits masked (grade.stamps).
    """

    width: float = 0.0
    height: float = 0.0
    rotation: int = 0
    chars: int = 0
    bad_chars: int = 0
    unmapped_chars: int = -1
    tokens: int = 0
    single_tokens: int = 0
    words: int = 0
    odd_words: int = 0
    small_letters: int = 0
    small_vowels: int = 0
    accented: int = 0
    symbols: int = 0
    symbol_kinds: int = 0
    stamp_chars: int = 0
    content_bytes: int = -1
    images: int = 0
    image_share: float = -1.0
    visible_text_share: float = -1.0
    hidden_text_share: float = -1.0
    paths: int = -1
    looked: bool = False
    render_failed: bool = False
    ink_share: float = -1.0
    lines: int = -1
    letters: int = -1
    longest: int = -1
    letter_height: float = -1.0
    vertical: bool = False
    lone: int = -1
    marks: str = ""

    def to_dict(self) -> dict[str, Scalar]:
        """Return the facts as a flat dict, ready for a table row or JSON."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, row: Mapping[str, Scalar | None]) -> PageFacts:
        """Return the facts of a stored row; unknown keys are ignored, missing ones unmeasured."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in row.items() if k in known and v is not None})  # type: ignore[arg-type]


def measure(
    page: pymupdf.Page,
    text: str,
    textpage: pymupdf.TextPage | None = None,
    seen: MutableMapping[int, float] | None = None,
    parts: PageParts | None = None,
) -> PageFacts:
    """Return the facts of `page`, whose text is `text`, control characters still in it.

    `textpage` is a text page made without pictures, if there is one at hand; it saves making
    another where boxes are needed. `seen` is a dict that the caller keeps for one document: it
    remembers the pictures that hold no writing and the share of a page that they took, so that
    the letterhead of a long document is looked at once. `parts` are those of `page`, if at hand.
    Damaged pages give what could be measured; nothing is raised for them.
    """
    sanity = text_sanity(text)
    parts = parts or PageParts(page)
    paper = page.rect
    facts = PageFacts(
        width=round(paper.width, 2),
        height=round(paper.height, 2),
        rotation=parts.rotation,
        **vars(sanity),
        marks=_marks(text),
    )
    seen = {} if seen is None else seen
    try:
        if sanity.bad_chars > max(4, _SUSPECT_BAD * sanity.chars):
            facts = replace(facts, unmapped_chars=_unmapped(page))
        if facts.chars < SHORT_TEXT:
            facts = _with_log(page, facts)
            shown = facts.image_share >= _PICTURE_ON_SHORT_PAGE or facts.paths >= _MANY_PATHS
            # A page that says nothing of its own holds something else, however small.
            if shown or (facts.images and facts.stamp_chars == facts.chars):
                facts = _with_look(page, facts, textpage, parts)
        else:
            size = parts.code_bytes
            if size > max(_MANY_BYTES, _BYTES_A_CHARACTER * facts.chars):
                facts = _with_look(page, replace(facts, content_bytes=size), textpage, parts)
            else:
                facts = replace(facts, content_bytes=size, images=len(parts.pictures))
                if parts.pictures:
                    facts = _with_pictures(page, facts, textpage, seen, parts)
    except _MUPDF_ERRORS:
        facts = replace(facts, render_failed=True)
    return facts


# What PyMuPDF raises on damaged pages, oversized renders and broken pictures.
_MUPDF_ERRORS = (RuntimeError, ValueError, OverflowError, pymupdf.mupdf.FzErrorBase)


def _marks(text: str) -> str:
    lines = text.split("\n")
    first = list(islice(filter(None, map(str.strip, lines)), _FEW_LINES + 1))
    if len(first) > _FEW_LINES:
        last = islice(filter(None, map(str.strip, reversed(lines))), _END_LINES)
        first = [*first[:_END_LINES], *reversed(list(last))]
    masked = (line.translate(_DIGITS) for line in first)
    return " ".join(
        f"{zlib.crc32(line.encode('utf-8', 'replace')):08x}:{len(line.replace(' ', ''))}"
        for line in masked
    )


_DIGITS = str.maketrans("123456789", "000000000")


def _unmapped(page: pymupdf.Page) -> int:
    """Return how many glyphs of the page have no Unicode value, MuPDF's guesses switched off."""
    flags = pymupdf.TEXTFLAGS_TEXT & ~pymupdf.TEXT_CID_FOR_UNKNOWN_UNICODE
    return bad_characters(page.get_text(flags=flags))


def _with_pictures(
    page: pymupdf.Page,
    facts: PageFacts,
    textpage: pymupdf.TextPage | None,
    seen: MutableMapping[int, float],
    parts: PageParts,
) -> PageFacts:
    """Return the facts of a page full of text, its pictures looked at where large and new."""
    large = [picture.xref for picture in parts.pictures if picture.pixels >= _PIXELS_FOR_TEXT]
    new = [xref for xref in large if xref not in seen]
    if not new:
        return replace(facts, image_share=sum(seen[xref] for xref in large)) if large else facts
    boxes = parts.picture_boxes
    if boxes is None:
        boxes = [info["bbox"] for info in page.get_image_info()]
    if not boxes:
        # Stencil masks (bilevel scans) are no pictures to MuPDF's text device.
        logged = page.get_bboxlog()
        boxes = [box for kind, box in logged if "image" in kind or "imgmask" in kind]
    share = _union_share(boxes, _unrotated(page))
    facts = replace(facts, image_share=share)
    if share >= _PICTURE_BESIDE_TEXT:
        around = pymupdf.Rect()
        for box in boxes:
            around |= pymupdf.Rect(box)
        clip = around * page.rotation_matrix & page.rect
        facts = _with_look(page, facts, textpage, parts, clip)
    if facts.letters < _FEW_LETTERS:
        seen.update((xref, share / len(large)) for xref in large)
    return facts


def _unrotated(page: pymupdf.Page) -> tuple[float, float]:
    """Return width and height of the page as boxes count them: before its rotation."""
    rect = page.rect
    return (rect.height, rect.width) if page.rotation % 180 else (rect.width, rect.height)


def _with_log(page: pymupdf.Page, facts: PageFacts) -> PageFacts:
    size = _unrotated(page)
    shown, hidden, paths = 0.0, 0.0, 0
    pictures = []
    for kind, box in page.get_bboxlog():
        if "image" in kind or "imgmask" in kind or kind == "fill-shade":
            pictures.append(box)
        elif "path" in kind:
            paths += 1
        elif "text" in kind:
            part = max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])
            if kind == "ignore-text":
                hidden += part
            else:
                shown += part
    area = max(size[0] * size[1], 1.0)
    return replace(
        facts,
        images=len(pictures),
        image_share=_union_share(pictures, size),
        visible_text_share=round(shown / area, 4),
        hidden_text_share=round(hidden / area, 4),
        paths=paths,
    )


def _union_share(boxes: list[tuple[float, ...]], size: tuple[float, float]) -> float:
    """Return the part of a page that `boxes` cover, on a grid of 64 by 64."""
    grid = np.zeros((64, 64), bool)
    scale = np.array([64 / max(size[0], 1.0), 64 / max(size[1], 1.0)] * 2)
    for box in boxes:
        x0, y0, x1, y1 = np.clip(np.array(box[:4]) * scale, 0, 64)
        grid[int(y0 + 0.5) : int(y1 + 0.5), int(x0 + 0.5) : int(x1 + 0.5)] = True
    return round(float(grid.mean()), 4)


def _with_look(
    page: pymupdf.Page,
    facts: PageFacts,
    textpage: pymupdf.TextPage | None,
    parts: PageParts,
    clip: pymupdf.Rect | None = None,
) -> PageFacts:
    """Return the facts with what the page, or `clip` on it, shows outside its text.

    A sample is searched first: that is all where it settles the question.
    """
    view = view_of(
        page,
        parts,
        textpage,
        has_text=facts.chars > 0,
        # Letters may be drawn over a picture, as outlines or in a font without characters.
        picture_only=facts.image_share >= ALL
        and facts.paths == 0
        and facts.visible_text_share == 0,
        clip=clip,
    )
    seen = ink.look_first(view, facts.chars, faint=facts.chars < SHORT_TEXT)
    return replace(
        facts,
        looked=True,
        ink_share=round(seen.ink, 5),
        lines=seen.lines,
        letters=seen.letters,
        longest=seen.longest,
        letter_height=round(seen.height, 1),
        vertical=seen.vertical,
        lone=seen.lone,
    )
