"""PDF files for the tests of the PDF reader, made by PyMuPDF."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf

LETTER = (
    "Rural Hospital Association\n"
    "To the Administrator:\n"
    "We write on behalf of forty hospitals in three states.\n"
    "The proposed payment rate would close two maternity wards."
)


def save(path: Path, *draw: Callable[[pymupdf.Page], object], **options: object) -> Path:
    """Write a PDF with one page per function, each drawing its page; returns `path`."""
    with pymupdf.open() as document:
        for function in draw:
            function(document.new_page())
        document.save(path, **options)
    return path


def write(text: str = LETTER, x: float = 72, y: float = 90, **options: object) -> Callable:
    """Return a function that writes `text` on a page at (x, y) points."""
    return lambda page: page.insert_text((x, y), text, fontsize=11, **options)


def field(
    page: pymupdf.Page,
    kind: int,
    name: str,
    rect: tuple[float, float, float, float],
    value: object,
    choices: list[str] | None = None,
) -> None:
    """Put a form field on `page`."""
    widget = pymupdf.Widget()
    widget.field_type = kind
    widget.field_name = name
    widget.rect = pymupdf.Rect(rect)
    if choices:
        widget.choice_values = choices
    widget.field_value = value
    page.add_widget(widget)


def picture(page: pymupdf.Page, rect: tuple[float, float, float, float]) -> None:
    """Put a grey picture on `page`."""
    pixmap = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 60, 60))
    pixmap.clear_with(200)
    page.insert_image(pymupdf.Rect(rect), pixmap=pixmap)


def plain(result_text: str) -> str:
    """Return a text with every run of white space as one space."""
    return " ".join(result_text.split())
