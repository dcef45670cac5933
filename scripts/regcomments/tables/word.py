"""Tables of DOCX files with addresses: docpipe://docx/<sha256[:16]>/doc/table[0]/tr[1]/td[2]."""

from __future__ import annotations

from bisect import bisect_left
from itertools import product
from pathlib import Path

from lxml import etree

from regcomments.read.word_controls import alternative
from regcomments.read.word_inline import flat_text
from regcomments.read.word_package import open_package
from regcomments.read.word_styles import is_hidden
from regcomments.read.word_tables import MAX_CELLS, CellPlace, one_line, table_rows
from regcomments.read.word_xml import MC, W, parse_xml
from regcomments.tables import address
from regcomments.tables.files import file_sha256
from regcomments.tables.items import Cell, Table
from regcomments.tables.lines import spelled
from regcomments.tables.reconstruct import addressed

MAX_TABLES = 2000  # of one document; the longest real ones hold some hundreds


def tables_of_docx(path: Path) -> list[Table]:
    """Return the tables of a DOCX body in document order; they have no page and no boxes.

    A table inside a cell comes after the one around it. Raises UnreadableError and OSError.
    """
    base = address.base_of("docx", file_sha256(path))
    package = open_package(path)
    root, _ = parse_xml(package.read(package.main_part()))
    _leave_out_hidden(root)
    out: list[Table] = []
    for element in root.iter(W + "tbl"):
        rows, _hidden = table_rows(element)
        table = _table(rows, len(out))
        if table is not None:
            out.append(addressed(table, base))
        if len(out) >= MAX_TABLES:
            break
    return out


def _leave_out_hidden(root: etree._Element) -> None:
    """Take out of a document what its reader does not show: of two copies of a text box the one,
    text that was moved or deleted, runs marked as hidden.
    """
    gone = []
    for node in root.iter(MC + "AlternateContent", W + "del", W + "moveFrom", W + "r"):
        if node.tag == MC + "AlternateContent":
            shown = alternative(node)
            gone += [child for child in node if child is not shown]
        elif node.tag == W + "r":
            properties = node.find(W + "rPr")
            if properties is not None and is_hidden(properties):
                gone.append(node)
        elif len(node):  # without content it marks a row or the end of a paragraph
            gone.append(node)
    for node in gone:
        node.getparent().remove(node)


def _table(rows: list[list[CellPlace]], index: int) -> Table | None:
    starts = sorted({place.column for row in rows for place in row})
    if len(starts) < 2 or len(rows) < 2 or len(starts) * len(rows) > MAX_CELLS:
        return None
    column = {start: k for k, start in enumerate(starts)}
    cells: dict[tuple[int, int], Cell] = {}
    owner: dict[int, tuple[int, int]] = {}  # grid column: the cell that vertical merging goes on
    for r, row in enumerate(rows):
        for n, place in enumerate(row):
            c = column[place.column]
            end = row[n + 1].column if n + 1 < len(row) else place.column + place.span
            after = bisect_left(starts, end)
            if place.covered and c in owner:
                top, left = owner[c]
                if left == c:
                    old = cells[top, left]
                    cells[top, left] = Cell(
                        top, left, old.text, None, r - top + 1, old.col_span
                    )  # fmt: skip
                continue
            text = spelled(one_line(flat_text(place.element).split("\n")))
            cells[r, c] = Cell(r, c, text, None, 1, max(1, after - c))
            owner[c] = (r, c)
    if not any(cell.text for cell in cells.values()):
        return None
    taken = {
        (row, col)
        for cell in cells.values()
        for row in range(cell.row, cell.row + cell.row_span)
        for col in range(cell.col, cell.col + cell.col_span)
    }
    # Rows may be shorter than others, or begin further right.
    for key in product(range(len(rows)), range(len(starts))):
        if key not in taken:
            cells[key] = Cell(*key, "")
    ordered = tuple(cells[key] for key in sorted(cells))
    return Table(0, index, len(rows), len(starts), ordered, ruled=True)
