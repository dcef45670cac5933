"""What can be measured on one PDF page, as plain numbers: the ground of grade.judge.

Cheap facts are taken of every page, dear ones (a render) of suspects only, so that an ordinary
born-digital page costs a fraction of the time its text took.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache

import pymupdf

Scalar = float | int | str | bool


@dataclass(frozen=True)
class PageFacts:
    """Measurements of one page; shares are of the page's area, -1 means not measured.

    Every field is a plain scalar, so that a row of a table holds it (see to_dict).
    """

    width: float = 0.0
    height: float = 0.0
    rotation: int = 0
    chars: int = 0
    bad_chars: int = 0
    tokens: int = 0
    single_tokens: int = 0
    images: int = 0
    image_share: float = -1.0
    visible_text_share: float = -1.0
    hidden_text_share: float = -1.0
    paths: int = -1
    line_marks: str = ""
    looked: bool = False

    def to_dict(self) -> dict[str, Scalar]:
        """Return the facts as a flat dict, ready for a table row or JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, row: Mapping[str, Scalar]) -> PageFacts:
        """Return the facts of a stored row; unknown keys are ignored, missing ones unmeasured."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in row.items() if k in known and v is not None})


@lru_cache(maxsize=4096)
def _is_bad(char: str) -> bool:
    return char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cn", "Co")


def _line_marks(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 12:
        lines = lines[:3] + lines[-3:]
    marks = []
    for line in lines:
        masked = "".join("0" if c.isdigit() else c for c in line)
        marks.append(f"{zlib.crc32(masked.encode('utf-8', 'replace')):08x}:{len(line)}")
    return " ".join(marks)


def measure(page: pymupdf.Page, text: str, textpage: pymupdf.TextPage | None = None) -> PageFacts:
    """Return the facts of `page`, whose extracted text is `text`.

    `textpage` is the text page that `text` came from, if there is one at hand; it saves making
    another when the words' boxes are needed. Raises what MuPDF raises on damaged pages.
    """
    counts = Counter("".join(text.split()))
    tokens = text.split()
    rect = page.rect
    image_share, shown, hidden, paths = -1.0, -1.0, -1.0, -1
    chars = sum(counts.values())
    images = len(page.get_images())
    if images or chars < 200:
        image_share = shown = hidden = 0.0
        paths = 0
        area = max(rect.width * rect.height, 1.0)
        for kind, box in page.get_bboxlog():
            part = max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1]) / area
            if kind == "ignore-text":
                hidden += part
            elif "text" in kind:
                shown += part
            elif "image" in kind:
                image_share = min(1.0, max(image_share, part))
            elif "path" in kind:
                paths += 1
    return PageFacts(
        width=rect.width,
        height=rect.height,
        rotation=page.rotation,
        chars=chars,
        bad_chars=sum(n for c, n in counts.items() if _is_bad(c)),
        tokens=len(tokens),
        single_tokens=sum(1 for t in tokens if len(t) == 1),
        images=images,
        image_share=image_share,
        visible_text_share=shown,
        hidden_text_share=hidden,
        paths=paths,
        line_marks=_line_marks(text),
    )
