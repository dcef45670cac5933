"""A table as pipe table, CSV, HTML or aligned text."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Sequence
from typing import Literal

from regcomments.tables.items import Table

Format = Literal["text", "csv", "html", "pipe"]
_SPACE = re.compile(r"\s+")


def pipe_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of texts as a GitHub pipe table; the first row is the heading.

    Bars and backslashes in a text are escaped, its line ends become spaces, so that every row is
    one line and parses back.
    """
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = []
    for k, row in enumerate(rows):
        cells = [_pipe_cell(text) for text in row] + [""] * (width - len(row))
        lines.append("| " + " | ".join(cells) + " |")
        if k == 0:
            lines.append("|" + " --- |" * width)
    return "\n".join(lines)


def _pipe_cell(text: str) -> str:
    return _SPACE.sub(" ", text).strip().replace("\\", "\\\\").replace("|", "\\|")


def render_table(table: Table, form: Format = "text") -> str:
    """Return a table as aligned text, CSV (RFC 4180), an HTML table or a pipe table."""
    if form == "pipe":
        return pipe_table(table.grid())
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerows(table.grid())
        return out.getvalue()
    if form == "html":
        return _html(table)
    if form == "text":
        return _aligned(table.grid())
    raise ValueError(f"unknown form {form!r}; known are text, csv, html, pipe")


def _html(table: Table) -> str:
    rows: list[list[str]] = [[] for _ in range(table.n_rows)]
    for cell in table.cells:
        span = f' rowspan="{cell.row_span}"' if cell.row_span > 1 else ""
        span += f' colspan="{cell.col_span}"' if cell.col_span > 1 else ""
        rows[cell.row].append(f"<td{span}>{html.escape(cell.text)}</td>")
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table>\n{body}\n</table>\n"


def _aligned(grid: Sequence[Sequence[str]]) -> str:
    grid = [[_SPACE.sub(" ", text) for text in row] for row in grid]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)] if grid else []
    return "".join(
        "  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in grid
    )
