"""Random tables rendered to PDF by reportlab, with what they hold: for tests and benchmarks."""

from __future__ import annotations

import io
import random
from dataclasses import dataclass

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape, letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

WORDS = (
    *("rate", "payment", "claim", "hospital", "notice", "quarter", "total", "adjusted", "region"),
    *("outpatient", "service", "provider", "median", "clinic", "benefit", "rural", "index"),
    *("measure", "weight", "share", "review", "final", "proposed", "average", "member"),
)
FONTS = ("Helvetica", "Times-Roman", "Courier", "Helvetica-Bold", "Times-Italic")
STYLES = ("grid", "rows", "header", "booktabs", "shaded", "none")


@dataclass(frozen=True)
class Draw:
    """A drawn table: its PDF, its cells, how it was ruled, the page's rotation."""

    pdf: bytes
    cells: list[list[str]]
    style: str
    rotation: int


def _figure(rng: random.Random) -> str:
    kind = rng.randrange(5)
    if kind == 0:
        return str(rng.randint(0, 9999))
    if kind == 1:
        return f"{rng.uniform(0, 5000):,.2f}"
    if kind == 2:
        return f"{rng.uniform(0, 100):.1f}%"
    if kind == 3:
        return f"${rng.uniform(1, 900):.2f}"
    return f"-{rng.uniform(0, 9):.3f}"


def _label(rng: random.Random, words: int) -> str:
    text = " ".join(rng.choice(WORDS) for _ in range(words))
    return text[0].upper() + text[1:]


def draw(seed: int, style: str | None = None) -> Draw:
    """Return the table of a seed: the same bytes of content for the same seed.

    2 to 14 rows (3 and more where nothing is ruled), 2 to 8 columns, up to a quarter of the body
    empty (never a whole row or column), labels that wrap, five fonts of 7 to 12 points, pages
    turned by quarters.
    """
    rng = random.Random(seed)
    style = style or rng.choice(STYLES)
    # Nothing tells two unruled rows from two lines of text.
    n_rows, n_cols = rng.randint(3 if style == "none" else 2, 14), rng.randint(2, 8)
    font, size = rng.choice(FONTS), rng.choice((7, 8, 9, 10, 11, 12))
    ruled = style in ("grid", "shaded")
    wrap = rng.random() < (0.5 if ruled else 0.3)
    kinds = ["label"] + [rng.choice(("figure", "figure", "label")) for _ in range(n_cols - 1)]
    if "figure" not in kinds:
        kinds[-1] = "figure"
    cells = [[_label(rng, rng.randint(1, 2)) for _ in range(n_cols)]]
    for r in range(1, n_rows):
        row = [
            _figure(rng) if kind == "figure" else _label(rng, rng.randint(1, 4 if wrap else 2))
            for kind in kinds
        ]
        cells.append([f"{row[0]} {r}", *row[1:]])
    for _ in range(int(rng.random() * 0.25 * (n_rows - 1) * (n_cols - 1))):
        r, c = rng.randint(1, n_rows - 1), rng.randint(1, n_cols - 1)
        if sum(bool(x) for x in cells[r]) > 2 and sum(bool(row[c]) for row in cells) > 2:
            cells[r][c] = ""
    page = letter if rng.random() < 0.5 else A4
    page = landscape(page)
    room = page[0] - 100
    natural = [
        max(stringWidth(row[c], font, size) for row in cells) + 14 + rng.randint(0, 20)
        for c in range(n_cols)
    ]
    if wrap:
        natural = [
            max(stringWidth(w, font, size) for row in cells for w in row[c].split() or [""])
            + 16
            + rng.randint(0, 25)
            for c in range(n_cols)
        ]
    if sum(natural) > room:
        return draw(seed + 1_000_003, style)
    align = {
        c: "RIGHT" if kinds[c] == "figure" and rng.random() < 0.6 else "LEFT" for c in range(n_cols)
    }
    para = {
        a: ParagraphStyle(a, fontName=font, fontSize=size, leading=size * 1.2, alignment=k)
        for a, k in (("LEFT", 0), ("RIGHT", 2))
    }
    data = cells
    if wrap:
        data = [
            [Paragraph(x, para[align[c]]) if x else "" for c, x in enumerate(row)] for row in cells
        ]
    commands: list[tuple] = [
        ("FONT", (0, 0), (-1, -1), font, size),
        ("LEADING", (0, 0), (-1, -1), size * 1.2),
        ("VALIGN", (0, 0), (-1, -1), rng.choice(("TOP", "MIDDLE"))),
        *(("ALIGN", (c, 0), (c, -1), a) for c, a in align.items()),
    ]
    if style == "grid":
        commands.append(("GRID", (0, 0), (-1, -1), rng.choice((0.25, 0.5, 1, 2)), colors.black))
    elif style == "shaded":
        commands += [
            ("BACKGROUND", (0, 0), (-1, 0), colors.lightsteelblue),
            ("BOX", (0, 0), (-1, -1), 1, colors.black),
            ("INNERGRID", (0, 0), (-1, -1), 0.25, colors.grey),
        ]
    elif style == "rows":
        commands.append(("LINEBELOW", (0, 0), (-1, -1), 0.5, colors.black))
    elif style == "header":
        commands.append(("LINEBELOW", (0, 0), (-1, 0), 1, colors.black))
    elif style == "booktabs":
        commands += [
            ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black),
            ("LINEBELOW", (0, 0), (-1, 0), 0.5, colors.black),
            ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black),
        ]
    out = io.BytesIO()
    doc = SimpleDocTemplate(
        out, pagesize=page, leftMargin=50, rightMargin=50, topMargin=40, invariant=1
    )
    body = ParagraphStyle("body", fontName="Times-Roman", fontSize=11, leading=14)
    story = [
        Paragraph("We write about the figures that the proposed rule rests upon. " * 3, body),
        Spacer(1, 16),
        Table(data, colWidths=natural, style=TableStyle(commands), hAlign="LEFT"),
        Spacer(1, 16),
        Paragraph("These numbers come from our own records and may be checked there. " * 2, body),
    ]
    rotation = rng.choice((0, 0, 0, 90, 180, 270))

    def turn(canvas, _doc) -> None:
        canvas.setPageRotation(rotation)

    doc.build(story, onFirstPage=turn)
    if doc.page > 1:  # a page break would make two tables of it
        return draw(seed + 1_000_003, style)
    return Draw(out.getvalue(), cells, style, rotation)
