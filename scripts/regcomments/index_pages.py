"""Gather what shards left in `_pages`: facts into `_pages.parquet`, pairs into renditions.csv."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from regcomments import layout, pagestore
from regcomments.index_sql import (
    csv_source,
    empty_source,
    file_literal,
    identifier,
    literal,
    parquet_source,
)
from regcomments.index_write import export_csv, replace_changed, temporary

RENDITIONS_CSV = "renditions.csv"
PAIR_COLUMNS = {
    "docket_id": "VARCHAR",
    "comment_id": "VARCHAR",
    "file": "VARCHAR",
    "same_as": "VARCHAR",
    "agreement": "DOUBLE",
    "same": "BOOLEAN",
}
# First columns of _pages.parquet; facts follow in alphabetical order.
PAGE_COLUMNS = {
    "sha256": "VARCHAR",
    "page": "INTEGER",
    "needs_ocr": "BOOLEAN",
    "reason": "VARCHAR",
    "ocr_engine": "VARCHAR",
}
_NUMBERS = ("BIGINT", "DOUBLE")
_LINE = "_line"  # beside the facts of a page: where it came from, the last line wins


@dataclass(frozen=True)
class Gathered:
    """What gathering did: parts taken, and the paths of those set aside as damaged.

    `busy` is True when another program was gathering, so that the parts were left to it.
    """

    parts: int = 0
    damaged: tuple[str, ...] = ()
    busy: bool = False


def gather(con: duckdb.DuckDBPyConnection, state: Path, attachments: Path) -> Gathered:
    """Take all parts into their tables, then remove them.

    Pairs of files that `attachments` (the Parquet twin) lacks are dropped. Parts go only after
    the new table is in place; a damaged one is set aside. Raises OSError.
    """
    folder = state / layout.PAGES_FOLDER
    renditions = state / layout.RUNS_FOLDER / RENDITIONS_CSV
    if not folder.is_dir() and not renditions.exists():
        return Gathered()
    folder.mkdir(exist_ok=True)
    with pagestore.lock(folder) as held:
        if not held:
            return Gathered(busy=True)
        facts = pagestore.parts(folder, pagestore.FACTS_SUFFIX)
        pairs = pagestore.parts(folder, pagestore.PAIRS_SUFFIX)
        damaged = _merge_facts(con, state / layout.PAGES_PARQUET, facts) if facts else []
        damaged += _merge_pairs(con, renditions, pairs, attachments)
    return Gathered(len(facts) + len(pairs) - len(damaged), tuple(sorted(damaged)))


def _merge_facts(con: duckdb.DuckDBPyConnection, target: Path, parts: Sequence[Path]) -> list[str]:
    damaged: list[str] = []
    good: list[Path] = []
    shapes: set[tuple] = set()  # names and types of values: many pages, few kinds of rows
    line = 0
    with tempfile.TemporaryDirectory(prefix="regcomments-") as scratch:
        lines = Path(scratch, "facts.jsonl")
        with open(lines, "w", encoding="ascii") as handle:
            for part in parts:
                try:
                    rows = pagestore.read_part(part)
                    if not all(_is_key(row.get("sha256"), row.get("page")) for row in rows):
                        raise ValueError(f"{part.name}: a row without sha256 and page")
                except ValueError:
                    damaged.append(pagestore.set_aside(part))
                    continue
                good.append(part)
                for row in rows:
                    shapes.add(tuple(zip(row, map(type, row.values()), strict=True)))
                    row[_LINE] = line
                    handle.write(json.dumps(row) + "\n")
                    line += 1
        if good:
            _write_pages(con, target, lines, _types(shapes), _old_pages(con, target, damaged))
    for part in good:
        part.unlink(missing_ok=True)
    return damaged


def _is_key(sha256: object, page: object) -> bool:
    return isinstance(sha256, str) and type(page) is int and 0 < page < 2**31


def _old_pages(
    con: duckdb.DuckDBPyConnection, target: Path, damaged: list[str]
) -> dict[str, str] | None:
    """Return the columns of the table so far, None without one; set a damaged one aside."""
    if not target.exists():
        return None
    try:
        described = con.execute(f"DESCRIBE SELECT * FROM {parquet_source(target)}").fetchall()
    except duckdb.Error:
        folder = target.parent / layout.PAGES_FOLDER / pagestore.DAMAGED_FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        os.replace(target, folder / target.name)
        damaged.append(str((folder / target.name).relative_to(target.parent)))
        return None
    return {row[0]: row[1] for row in described}


def _write_pages(
    con: duckdb.DuckDBPyConnection,
    target: Path,
    lines: Path,
    new: dict[str, str | None],
    old: dict[str, str] | None,
) -> None:
    """Put the facts in `lines` over those of `target`.

    In two passes, the first for the keys alone, so that no more than the rows in their new order
    is ever held: 80,000 pages take 0.1 GB.
    """
    types = dict(PAGE_COLUMNS)
    for name in sorted({*new, *(old or {})} - set(PAGE_COLUMNS)):
        types[name] = _wider((old or {}).get(name), new.get(name)) or "VARCHAR"
    con.execute(
        "CREATE OR REPLACE TEMP TABLE fresh AS SELECT sha256, page::INTEGER AS page, "
        f"max({_LINE}::BIGINT) AS line FROM {_json_source(lines, ('sha256', 'page', _LINE))} "
        "GROUP BY ALL"
    )
    picked = ", ".join(
        f"TRY_CAST({identifier(name)} AS {kind}) AS {identifier(name)}"
        for name, kind in types.items()
    )
    query = (
        f"SELECT {picked} FROM {_json_source(lines, (*types, _LINE))} "
        f"SEMI JOIN fresh ON fresh.line = {_LINE}::BIGINT"
    )
    if old is not None:
        kept = ", ".join(
            f"CAST({identifier(name) if name in old else 'NULL'} AS {kind}) AS {identifier(name)}"
            for name, kind in types.items()
        )
        query += (
            f" UNION ALL SELECT {kept} FROM {parquet_source(target)} AS old "
            "ANTI JOIN fresh ON fresh.sha256 = old.sha256 AND fresh.page = old.page"
        )
    with temporary(target) as made:
        con.execute(
            f"COPY (SELECT * FROM ({query}) ORDER BY sha256, page) "
            f"TO {literal(made)} (FORMAT parquet, COMPRESSION zstd)"
        )
        replace_changed(made, target)


def _json_source(lines: Path, names: Sequence[str]) -> str:
    """Return the `read_json` call that gives these values of each line as text."""
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in names)
    return (
        f"read_json({file_literal(lines)}, format = 'newline_delimited', "
        f"maximum_object_size = 16777216, columns = {{{columns}}})"
    )


def _types(shapes: Iterable[tuple]) -> dict[str, str | None]:
    """Return the column types for values from JSON of these Python types; None for nulls only."""
    kinds = {type(None): None, bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    types: dict[str, str | None] = {}
    for shape in shapes:
        for name, kind in shape:
            types[name] = _wider(types.get(name), kinds.get(kind, "VARCHAR"))
    types.pop(_LINE, None)
    return types


def _wider(one: str | None, other: str | None) -> str | None:
    if one is None or other is None or one == other:
        return one or other
    return "DOUBLE" if one in _NUMBERS and other in _NUMBERS else "VARCHAR"


def _merge_pairs(
    con: duckdb.DuckDBPyConnection, target: Path, parts: Sequence[Path], attachments: Path
) -> list[str]:
    damaged: list[str] = []
    good: list[Path] = []
    rows: dict[tuple, tuple] = {}
    for part in parts:
        try:
            for row in pagestore.read_part(part):
                values = tuple(row.get(name) for name in PAIR_COLUMNS)
                if not all(isinstance(value, str) for value in values[:4]):
                    raise ValueError(f"{part.name}: a row without names")
                rows[values[:3]] = (*values[:4], float(values[4]), bool(values[5]))
        except (ValueError, TypeError):
            damaged.append(pagestore.set_aside(part))
            continue
        good.append(part)
    if not good and not target.exists():
        return damaged
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="regcomments-") as scratch:
        fresh = Path(scratch, "pairs.csv")
        with open(fresh, "w", newline="", encoding="utf-8", errors="backslashreplace") as handle:
            csv.writer(handle, lineterminator="\n").writerows([PAIR_COLUMNS, *rows.values()])
        old = csv_source(target, PAIR_COLUMNS) if target.exists() else empty_source(PAIR_COLUMNS)
        names = ", ".join(PAIR_COLUMNS)
        columns = ", ".join(f"pair.{name}" for name in PAIR_COLUMNS)
        query = (
            f"WITH fresh AS (SELECT {names} FROM {csv_source(fresh, PAIR_COLUMNS)}), "
            f"pair AS (SELECT * FROM fresh UNION ALL SELECT {names} FROM {old} AS old "
            "ANTI JOIN fresh USING (docket_id, comment_id, file)) "
            f"SELECT {columns} FROM pair JOIN {parquet_source(attachments, file_row_number='true')}"
            " AS a USING (docket_id, comment_id, file) ORDER BY a.file_row_number"
        )
        try:
            export_csv(con, query, target)
        except duckdb.Error:  # somebody edited the old file; it holds nothing that runs need
            os.replace(target, target.with_suffix(".damaged.csv"))
            damaged.append(f"{layout.RUNS_FOLDER}/{target.stem}.damaged.csv")
            export_csv(con, query.replace(old, empty_source(PAIR_COLUMNS)), target)
    for part in good:
        part.unlink(missing_ok=True)
    return damaged
