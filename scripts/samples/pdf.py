"""Sets a letter as a born-digital PDF: letterhead, lists, ruled tables, footnotes, page numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from samples.letter import Bullets, Grid, Heading, Letter, Paragraph, final, notes_of
from samples.pdfwriter import LETTER, Canvas, Lock, PdfWriter, width

MARGIN = 72.0  # points
TOP = 84.0  # first baseline
BOTTOM = LETTER[1] - 72.0  # lowest baseline of the body
SIZE = 11.0
LEADING = 14.0
NOTE_SIZE, NOTE_LEADING = 8.5, 10.5
CELL_PAD = 4.0
BODY_WIDTH = LETTER[0] - 2 * MARGIN


@dataclass(frozen=True)
class Face:
    """A typeface: the names of its regular and bold fonts."""

    regular: str
    bold: str


SANS, SERIF = Face("helv", "hebo"), Face("tiro", "tibo")


@dataclass
class Strip:
    """A piece of the column that is not cut by a page end: height, drawing, footnotes."""

    height: float
    draw: Callable[[Canvas, float], None]
    notes: list[str] = field(default_factory=list)


def letter_pdf(letter: Letter, lock: Lock | None = None) -> bytes:
    """Return the letter as a PDF."""
    writer = PdfWriter(letter.subject)
    add_letter(writer, letter)
    return writer.to_bytes(lock)


def add_letter(writer: PdfWriter, letter: Letter) -> None:
    """Add the pages of the letter to `writer`."""
    pages = letter_pages(letter)
    for content in pages:
        writer.add_page(content)


def letter_pages(letter: Letter) -> list[bytes]:
    """Return the content streams of the letter's pages."""
    face = SERIF if letter.serif else SANS
    filled = _fill(list(_strips(letter, face)))
    contents = []
    for number, (strips, notes) in enumerate(filled, 1):
        canvas = Canvas()
        if number > 1:
            canvas.text(MARGIN, 48, f"{letter.sender[0]} — {letter.date}", face.regular, 9)
        y = TOP
        for strip in strips:
            strip.draw(canvas, y)
            y += strip.height
        _draw_notes(canvas, notes, face)
        foot = f"Page {number} of {len(filled)}"
        canvas.text((LETTER[0] - width(foot, face.regular, 9)) / 2, 764, foot, face.regular, 9)
        if letter.footer:
            canvas.text(MARGIN, 752, letter.footer, face.regular, 8)
        contents.append(canvas.content())
    return contents


def wrap(text: str, font: str, size: float, room: float) -> list[str]:
    """Return `text` cut at spaces into lines no wider than `room` points; long words stay whole."""
    lines, current, used = [], [], 0.0
    space = width(" ", font, size)
    for word in text.split(" "):
        advance = width(word.replace("\0", ""), font, size)
        if current and used + space + advance > room:
            lines.append(" ".join(current))
            current, used = [], 0.0
        used += advance + (space if current else 0.0)
        current.append(word)
    lines.append(" ".join(current))
    return lines


def _fill(strips: list[Strip]) -> list[tuple[list[Strip], list[tuple[int, str]]]]:
    pages: list[tuple[list[Strip], list[tuple[int, str]]]] = [([], [])]
    y, reserved, counter = TOP, 0.0, 0
    for strip in strips:
        need = sum(_note_height(note) for note in strip.notes)
        if y + strip.height + reserved + need > BOTTOM and pages[-1][0]:
            pages.append(([], []))
            y, reserved = TOP, 0.0
        pages[-1][0].append(strip)
        for note in strip.notes:
            counter += 1
            pages[-1][1].append((counter, note))
        y += strip.height
        reserved += need
    return pages


def _note_height(note: str) -> float:
    return NOTE_LEADING * len(wrap(f"00 {note}", "helv", NOTE_SIZE, BODY_WIDTH)) + 3


def _draw_notes(canvas: Canvas, notes: list[tuple[int, str]], face: Face) -> None:
    if not notes:
        return
    y = BOTTOM + 12 - sum(_note_height(note) for _, note in notes)
    canvas.line(MARGIN, y - 9, MARGIN + 144, y - 9)
    for number, note in notes:
        for line in wrap(f"{number} {note}", face.regular, NOTE_SIZE, BODY_WIDTH):
            canvas.text(MARGIN, y, line, face.regular, NOTE_SIZE)
            y += NOTE_LEADING
        y += 3


def _strips(letter: Letter, face: Face) -> Iterator[Strip]:
    for index, line in enumerate(letter.sender):
        yield _line(line, face.bold if index == 0 else face.regular, 13 if index == 0 else 9.5)
    yield Strip(8, _rule)
    yield Strip(10, _nothing)
    yield _line(letter.date, face.regular)
    yield Strip(8, _nothing)
    yield from _paragraph(f"Re: {letter.subject}", face.bold)
    counter = 0
    for block in letter.blocks:
        match block:
            case Heading(text):
                yield Strip(4, _nothing)
                yield from _paragraph(text, face.bold, size=12)
            case Bullets(items, numbered):
                for number, item in enumerate(items, 1):
                    mark = f"{number}." if numbered else "•"
                    yield from _paragraph(final(item), face.regular, indent=20, mark=mark)
            case Grid(rows, caption):
                if caption:
                    yield from _paragraph(caption, face.bold, size=10)
                yield from _table(rows, face)
            case Paragraph(text):
                for strip in _paragraph(final(text), face.regular, first_note=counter):
                    counter += len(strip.notes)
                    yield strip
            case _:
                yield from _paragraph(final(block.text), face.regular, indent=28)
    yield Strip(10, _nothing)
    yield _line("Sincerely,", face.regular)
    yield Strip(22, _nothing)
    for line in letter.signed:
        yield _line(line, face.regular)


def _nothing(canvas: Canvas, y: float) -> None:
    """Draw nothing: a strip that only takes room."""


def _rule(canvas: Canvas, y: float) -> None:
    canvas.line(MARGIN, y - 6, LETTER[0] - MARGIN, y - 6, 1)


def _line(text: str, font: str, size: float = SIZE) -> Strip:
    return Strip(size * 1.27, lambda canvas, y: canvas.text(MARGIN, y, text, font, size))


def _paragraph(
    text: str,
    font: str,
    *,
    size: float = SIZE,
    indent: float = 0,
    mark: str = "",
    first_note: int = 0,
) -> Iterator[Strip]:
    body, notes = notes_of(text)
    for index, line in enumerate(wrap(body, font, size, BODY_WIDTH - indent)):
        taken = [notes.pop(0) for _ in range(line.count("\0"))]
        yield Strip(
            LEADING, _line_drawer(line, font, size, indent, mark * (index == 0), first_note), taken
        )
        first_note += len(taken)
    yield Strip(6, _nothing)


def _line_drawer(
    line: str, font: str, size: float, indent: float, mark: str, first_note: int
) -> Callable[[Canvas, float], None]:
    def draw(canvas: Canvas, y: float) -> None:
        if mark:
            canvas.text(MARGIN + 4, y, mark, font, size)
        x, number = MARGIN + indent, first_note
        for index, piece in enumerate(line.split("\0")):
            if index:
                number += 1
                canvas.text(x, y - 4, str(number), font, 7)
                x += width(str(number), font, 7)
            if piece:
                canvas.text(x, y, piece, font, size)
            x += width(piece, font, size)

    return draw


def _table(rows: tuple[tuple[str, ...], ...], face: Face) -> Iterator[Strip]:
    size = 9.5
    natural = [
        max(width(cell, face.bold, size) for cell in column) + 2 * CELL_PAD
        for column in zip(*rows, strict=True)
    ]
    # A column is never wider than a half of the page; the rest shrinks in proportion.
    natural = [min(w, BODY_WIDTH / 2) for w in natural]
    scale = min(1.0, BODY_WIDTH / sum(natural))
    widths = [w * scale for w in natural]
    for index, row in enumerate(rows):
        font = face.regular if index else face.bold
        cells = [
            wrap(cell, font, size, w - 2 * CELL_PAD) for cell, w in zip(row, widths, strict=True)
        ]
        height = max(map(len, cells)) * 12 + 5
        yield Strip(height, _row_drawer(cells, widths, font, size, height, index == 0))
    yield Strip(14, _nothing)


def _row_drawer(
    cells: list[list[str]],
    widths: list[float],
    font: str,
    size: float,
    height: float,
    first: bool,
) -> Callable[[Canvas, float], None]:
    def draw(canvas: Canvas, y: float) -> None:
        top, x, right = y - 11, MARGIN, MARGIN + sum(widths)
        if first:
            canvas.line(x, top, right, top)
        canvas.line(x, top + height, right, top + height)
        canvas.line(x, top, x, top + height)
        for column, (lines, w) in enumerate(zip(cells, widths, strict=True)):
            for index, line in enumerate(lines):
                # Numbers stand at the right, as in print.
                number = column > 0 and line[:1] in "$0123456789–-"
                shift = w - CELL_PAD - width(line, font, size) if number else CELL_PAD
                canvas.text(x + shift, y + index * 12, line, font, size)
            x += w
            canvas.line(x, top, x, top + height)

    return draw
