"""Markdown from a stream of text, breaks, list items and tables, for all flowing formats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MAX_SPAN = 100  # columns or rows that one cell may span; pages in the wild say 65535
MAX_TABLE_CELLS = 200_000  # cells laid out in one table; larger grids are bombs
_BLANK = re.compile(r"[ \t\r\n\f]+")
_SOFT = dict.fromkeys(map(ord, "\u00ad\u200b\ufeff"))
_MAX_INDENT = 6  # list levels that are still indented further


def pipe_table(rows: Iterable[Sequence[str]]) -> str:
    """Return `rows` as a pipe table whose first row is the head; empty rows and columns go.

    Cells are put on one line and `|` in them is escaped. Returns "" when nothing is left.
    """
    grid = [[cell_text(cell) for cell in row] for row in rows]
    grid = [row for row in grid if any(row)]
    width = max(map(len, grid), default=0)
    used = [at for at in range(width) if any(at < len(row) and row[at] for row in grid)]
    lines = [
        "| " + " | ".join(row[at] if at < len(row) else "" for at in used) + " |" for row in grid
    ]
    if lines:
        lines.insert(1, "|" + " --- |" * len(used))
    return "\n".join(lines)


def pipe_grid(rows: Sequence[Mapping[int, str]]) -> str:
    """Return rows of cells, each a text fit for a cell by its column, as a pipe table.

    Columns that no row uses are left out, however far apart the others lie.
    """
    used = sorted({column for cells in rows for column in cells})
    lines = ["| " + " | ".join(cells.get(at, "") for at in used) + " |" for cells in rows]
    if lines:
        lines.insert(1, "|" + " --- |" * len(used))
    return "\n".join(lines)


def cell_text(text: str) -> str:
    """Return `text` on one line, fit for a cell of a pipe table."""
    return " ".join(text.split()).replace("\\|", "|").replace("|", "\\|")


def list_number(number: int, style: str) -> str:
    """Return the label of the list item `number` in the HTML list style 1, a, A, i or I."""
    if style in ("a", "A") and number > 0:
        label = ""
        while number:
            number, letter = divmod(number - 1, 26)
            label = chr(ord("a") + letter) + label
        return label if style == "a" else label.upper()
    if style in ("i", "I") and 0 < number < 4000:
        label = ""
        for value, sign in _ROMAN:
            label += sign * (number // value)
            number %= value
        return label if style == "i" else label.upper()
    return str(number)


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


@dataclass
class _Frame:
    """Blocks under construction: the document itself or one table cell."""

    blocks: list[tuple[str, bool]] = field(default_factory=list)
    buffer: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    prefix: str = ""
    indent: str = ""
    in_cell: bool = False

    def joined(self) -> str:
        pieces: list[str] = []
        for at, (text, tight) in enumerate(self.blocks):
            if at:
                pieces.append("\n" if tight and self.blocks[at - 1][1] else "\n\n")
            pieces.append(text)
        return "".join(pieces)


@dataclass
class _Table:
    rows: list[list[str]] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    spans: dict[int, int] = field(default_factory=dict)  # column: rows still covered from above
    cells: int = 0


class Flow:
    """Collects text and structure in document order; `markdown()` returns the result.

    Words of one paragraph stay contiguous: addresses of links are put at its end.
    """

    def __init__(self) -> None:
        self._frames = [_Frame()]
        self._tables: list[_Table] = []

    def text(self, text: str) -> None:
        """Add running text; white space is collapsed across calls."""
        text = _BLANK.sub(" ", text)
        buffer = self._frames[-1].buffer
        if text.startswith(" ") and (not buffer or buffer[-1].endswith((" ", "\n"))):
            text = text[1:]
        if text:
            buffer.append(text)

    def raw(self, text: str) -> None:
        """Add text whose spaces and line ends count."""
        if text:
            self._frames[-1].buffer.append(text.replace("\r\n", "\n").replace("\r", "\n"))

    def line_break(self) -> None:
        """Begin a new line in the same paragraph."""
        buffer = self._frames[-1].buffer
        if buffer:
            buffer[-1] = buffer[-1].rstrip(" ")
            buffer.append("\n")

    def link(self, address: str) -> None:
        """Note the address of a link of the current paragraph."""
        links = self._frames[-1].links
        if address not in links:
            links.append(address)

    def end_block(self) -> None:
        """End the current paragraph, if there is one."""
        frame = self._frames[-1]
        text = "".join(frame.buffer).translate(_SOFT).strip(" \n")
        frame.buffer.clear()
        links, frame.links = frame.links, []
        if frame.in_cell and links:
            self._tables[-1].links += links
            links = []
        text = " ".join([text, *(f"<{link}>" for link in links)]).strip(" ")
        if not text:
            return
        tight = bool(frame.indent or frame.prefix) and not frame.prefix.startswith("#")
        lead = frame.prefix or frame.indent
        rest = " " * len(frame.prefix) if tight and frame.prefix else frame.indent
        frame.blocks.append((lead + text.replace("\n", "\n" + rest), tight))
        if tight and frame.prefix:
            frame.indent = rest
        frame.prefix = ""

    def heading(self, level: int) -> None:
        """Make the next paragraph a heading of `level` (from 1); two levels are left above it."""
        self.end_block()
        self._frames[-1].prefix = "#" * min(level + 2, 6) + " "

    def item(self, marker: str, depth: int) -> None:
        """Begin a list item at `depth` (from 1) with `marker`, such as "-" or "3."."""
        self.end_block()
        frame = self._frames[-1]
        frame.prefix = "  " * (min(depth, _MAX_INDENT) - 1) + marker + " "
        frame.indent = ""

    def end_item(self) -> None:
        """End a list item: what follows isn't indented."""
        self.end_block()
        self._frames[-1].prefix = self._frames[-1].indent = ""

    def block(self, text: str) -> None:
        """Add `text` as a block of its own, as it stands."""
        self.end_block()
        if text.strip():
            self._frames[-1].blocks.append((text.strip("\n"), False))

    def begin_table(self) -> None:
        """Begin a table; rows and cells follow."""
        self.end_block()
        self._tables.append(_Table())

    def begin_row(self) -> None:
        """Begin a row of the current table, filling columns that cells above still cover."""
        table = self._tables[-1]
        done = len(table.rows[-1]) if table.rows else 0
        for column, left in table.spans.items():
            if left and column >= done and table.rows:  # covered, but the row ended before it
                table.spans[column] = left - 1
        table.rows.append([])

    def begin_cell(self) -> None:
        """Begin a cell; text and blocks go into it until `end_cell`."""
        self._frames.append(_Frame(in_cell=True))

    def end_cell(self, columns: int = 1, rows: int = 1) -> None:
        """End the cell, which spans `columns` and `rows`."""
        self.end_block()
        table = self._tables[-1]
        text = " ".join(block for block, _ in self._frames.pop().blocks)
        if not table.rows:
            table.rows.append([])
        row = table.rows[-1]
        columns = min(max(columns, 1), MAX_SPAN)
        table.cells += columns
        if table.cells > MAX_TABLE_CELLS:
            columns = 1
        while table.spans.get(len(row), 0) > 0:
            table.spans[len(row)] -= 1
            row.append("")
        if rows > 1:
            for at in range(len(row), len(row) + columns):
                table.spans[at] = min(rows, MAX_SPAN) - 1
        row.extend([text, *[""] * (columns - 1)])

    def repeat_row(self, times: int) -> None:
        """Add the current row `times` more, as far as the table may still grow."""
        table = self._tables[-1]
        row = table.rows[-1]
        for _ in range(times):
            table.cells += len(row)
            if table.cells > MAX_TABLE_CELLS:
                return
            table.rows.append(list(row))

    def end_table(self) -> None:
        """End the current table and add it as a pipe table, addresses of its links below."""
        table = self._tables.pop()
        self.block(pipe_table(table.rows))
        self.block(" ".join(f"<{link}>" for link in dict.fromkeys(table.links)))

    def markdown(self) -> str:
        """Return what was collected; open tables and cells are ended first."""
        while len(self._frames) > 1:
            self.end_cell()
        while self._tables:
            self.end_table()
        self.end_block()
        return self._frames[0].joined()
