"""Workbooks in binary form (xls, xlsb): every sheet as a pipe table."""

from __future__ import annotations

import datetime as dt
import zipfile
from pathlib import Path

from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from regcomments.read.flow import pipe_table
from regcomments.read.number_format import plain_number
from regcomments.read.options import ReadOptions
from regcomments.read.xlsx import is_binary, read_xlsx
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_SHEETS = 200
MAX_CELLS = 500_000  # filled cells in all; beyond it a workbook is data, not a comment
MAX_UNPACKED = 600_000_000  # bytes that the parts of an xlsx may unpack to
MAX_RATIO = 300  # unpacked to packed bytes; worksheets of one repeated row reach 100


def read_sheets(path: Path, options: ReadOptions) -> Document:
    """Return the sheets of the workbook at `path`, each headed by its name.

    Numbers of the binary forms come without their format, dates in ISO form. Hidden sheets are
    read and named as such; xlsx goes to its own reader. Raises UnreadableError: encrypted,
    too_large, corrupt.
    """
    if _is_package(path):
        if not is_binary(path):
            return read_xlsx(path, options)
        _check_package(path)
    try:
        workbook = CalamineWorkbook.from_path(str(path))
    except Exception as error:
        raise _verdict(error) from error
    blocks: list[str] = []
    warnings: list[str] = []
    left = MAX_CELLS
    for meta in workbook.sheets_metadata[:MAX_SHEETS]:
        if meta.typ not in (SheetTypeEnum.WorkSheet, SheetTypeEnum.DialogSheet):
            continue
        try:
            rows = workbook.get_sheet_by_name(meta.name).to_python(skip_empty_area=True)
        except Exception as error:
            warnings.append(f"sheet {meta.name!r} could not be read: {error}")
            continue
        table, left, cut = _table(rows, left)
        if cut:
            warnings.append(f"sheet {meta.name!r} was cut after {MAX_CELLS} cells in all")
        if not table:
            continue
        hidden = "" if meta.visible == SheetVisibleEnum.Visible else " (hidden sheet)"
        blocks.append(f"### {meta.name}{hidden}\n\n{table}")
    if not blocks and warnings:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, warnings[0])
    body = "\n\n".join(blocks)
    return Document("workbook", "calamine", body=body, warnings=tuple(warnings))


def _table(rows: list[list[object]], left: int) -> tuple[str, int, bool]:
    kept: list[list[str]] = []
    for row in rows:
        cells = [show(value) for value in row]
        left -= sum(map(bool, cells))
        if left < 0:
            return pipe_table(kept), 0, True
        kept.append(cells)
    return pipe_table(kept), left, False


def show(value: object) -> str:
    """Return a cell value as text: 45 for 45.0, ISO dates, TRUE and FALSE."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def _is_package(path: Path) -> bool:
    # Not zipfile.is_zipfile: that finds archives embedded at the end of a binary file, too.
    with path.open("rb") as handle:
        return handle.read(2) == b"PK"


def _check_package(path: Path) -> None:
    """Refuse zip bombs before the parser, which has no limits of its own, sees them."""
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    unpacked = sum(info.file_size for info in infos)
    worst = max((info.file_size / (info.compress_size + 1000) for info in infos), default=0)
    if unpacked > MAX_UNPACKED or worst > MAX_RATIO:
        detail = f"unpacks to {unpacked} bytes"
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)


def _verdict(error: Exception) -> UnreadableError:
    detail = f"{type(error).__name__}: {error}"
    locked = "password" in detail.lower() or "encrypt" in detail.lower()
    return UnreadableError(Status.FAILED, Reason.ENCRYPTED if locked else Reason.CORRUPT, detail)
