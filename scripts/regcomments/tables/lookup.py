"""From an address to the cell, its table, its file and its picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb
import pymupdf

from regcomments import layout
from regcomments.atomic import write_atomic
from regcomments.index_sql import parquet_source
from regcomments.read.pdf_open import MUPDF_ERRORS, open_pdf
from regcomments.tables import address as addresses
from regcomments.tables.files import file_sha256
from regcomments.tables.items import Box, Cell, Table, hull
from regcomments.tables.numbers import number_of
from regcomments.tables.store import MAX_JSON_BYTES, SUFFIX, read_tables, stored

# Points of the page shown around a cell or table, so that its neighbours can be seen.
CROP_MARGIN = 12.0
CROP_DPI = 150
# A crop above this many pixels is drawn smaller: 40 million are 120 MB of memory.
MAX_PIXELS = 40_000_000


class UnknownAddressError(LookupError):
    """No stored table has this address."""


@dataclass(frozen=True, slots=True)
class Found:
    """Where an address leads.

    `cell` is None for the address of a table or a row; `page` counts from 1 and is None for
    formats without pages; `also` are further files with the same bytes, so the same address.
    """

    address: addresses.Address
    docket_id: str
    comment_id: str
    path: Path
    table: Table
    cell: Cell | None
    page: int | None
    bbox: Box | None
    also: tuple[Path, ...] = ()

    @property
    def text(self) -> str:
        """The text of the cell, "" for a table."""
        return self.cell.text if self.cell else ""

    @property
    def number(self) -> float | None:
        """The value of the cell when it is one number."""
        return number_of(self.text)


def resolve(address: str, state: Path) -> Found:
    """Return what an address names. A merged cell answers for every place it covers.

    Raises ValueError for what is no address or names no table, UnknownAddressError for a table,
    row or cell that is not stored.
    """
    parsed = addresses.parse(address)
    wanted = parsed.table_address
    places = _places(wanted, state)
    for docket, comment, path in places:
        try:
            found = read_tables(path)
        except (OSError, ValueError):
            continue  # another file with the same bytes may tell
        table = next((t for t in found.tables if t.address == wanted), None)
        if table is None:
            continue
        cell, box = None, table.bbox
        if parsed.row is not None:
            if parsed.row >= table.n_rows:
                raise UnknownAddressError(f"{wanted} has {table.n_rows} rows: no {address}")
            row = [c for c in table.cells if c.row == parsed.row]
            boxes = [c.bbox for c in row if c.bbox]
            box = hull(boxes) if boxes else None
            if parsed.col is not None:
                cell = table.cell(parsed.row, parsed.col)
                if cell is None:
                    raise UnknownAddressError(f"{wanted} has {table.n_cols} columns: no {address}")
                box = cell.bbox
        source = path.with_name(path.name.removesuffix(SUFFIX))
        also = tuple(p.with_name(p.name.removesuffix(SUFFIX)) for _, _, p in places if p != path)
        return Found(
            parsed, docket, comment, source, table, cell, table.page or None, box, also
        )  # fmt: skip
    raise UnknownAddressError(
        f"no stored table has the address {wanted}; run `snakemake tables` first?"
    )


def _places(wanted: str, state: Path) -> list[tuple[str, str, Path]]:
    """The tables.json files that hold an address: by _cells.parquet, else by looking at all."""
    index = state / layout.CELLS_PARQUET
    if index.exists():
        try:
            with duckdb.connect() as con:
                rows = con.execute(
                    f"SELECT DISTINCT docket_id, comment_id, file FROM {parquet_source(index)}"
                    " WHERE table_address = ? ORDER BY ALL",
                    [wanted],
                ).fetchall()
        except duckdb.Error:
            rows = []  # damaged: as if there were none
        places = [(d, c, state / d / c / f"{f}{SUFFIX}") for d, c, f in rows]
        places = [p for p in places if p[2].exists()]
        if places:
            return places
    needle = f'"{wanted}"'
    return [
        (docket, comment, path)
        for docket, comment, path in stored(state)
        if path.stat().st_size <= MAX_JSON_BYTES
        and needle in path.read_text(encoding="utf-8", errors="replace")
    ]


def crop(address: str, state: Path, out_png: Path, dpi: int = CROP_DPI) -> Path:
    """Write the picture of a cell, row or table on its page as PNG; return its path.

    Raises as `resolve`; ValueError for formats without pages, for a cell without a box, and for
    a file that has changed since its tables were found; UnreadableError, OSError.
    """
    found = resolve(address, state)
    if found.page is None or found.bbox is None:
        raise ValueError(f"{address} has no place on a page")
    if not file_sha256(found.path).startswith(found.address.digest):
        raise ValueError(f"{found.path.name} has changed since its tables were found")
    with open_pdf(found.path) as doc:
        page = doc.load_page(found.page - 1)
        m = CROP_MARGIN
        box = found.bbox
        clip = pymupdf.Rect(box.x0 - m, box.y0 - m, box.x1 + m, box.y1 + m) & page.rect
        if clip.is_empty:
            raise ValueError(f"{address} is not on its page")
        scale = min(dpi / 72, (MAX_PIXELS / (clip.width * clip.height)) ** 0.5)
        try:
            picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), clip=clip, alpha=False)
        except MUPDF_ERRORS as error:
            raise ValueError(f"{found.path.name} cannot be drawn: {error}") from error
        picture.set_dpi(round(72 * scale), round(72 * scale))
        write_atomic(out_png, picture.tobytes("png"))
    return out_png
