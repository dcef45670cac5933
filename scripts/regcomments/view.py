"""DuckDB views over the state folder, from any working directory.

    import duckdb
    from regcomments import view

    con = duckdb.connect()
    view.register(con)
    con.sql("SELECT docket_id, count(*) FROM comments WHERE n_ocr_needed > 0 GROUP BY ALL")

Bodies stay on disk: `body_path` says where. The views show the index as it was last built; call
`rebuild_index` (or run `snakemake stats`) after an extraction, then `register` again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import duckdb

from regcomments import layout
from regcomments.errors import UserError
from regcomments.index import ATTACHMENTS_PARQUET, INDEX_PARQUET, IndexReport, rebuild
from regcomments.index_pages import PAGE_COLUMNS, PAIR_COLUMNS, RENDITIONS_CSV
from regcomments.index_rows import ATTACHMENT_COLUMNS, COMMENT_COLUMNS
from regcomments.index_sql import (
    csv_source,
    empty_source,
    identifier,
    parquet_source,
)
from regcomments.index_tables import FAILURE_COLUMNS, FAILURES_CSV

DEFAULT_STATE = ".state/comments"
STATE_VARIABLE = "REGCOMMENTS_STATE"

# Name, CSV file below the state folder, its Parquet twin if it has one, columns with their types.
_TABLES = (
    ("comments", layout.INDEX_CSV, INDEX_PARQUET, COMMENT_COLUMNS),
    ("attachments", layout.ATTACHMENTS_CSV, ATTACHMENTS_PARQUET, ATTACHMENT_COLUMNS),
    ("failures", f"{layout.RUNS_FOLDER}/{FAILURES_CSV}", None, FAILURE_COLUMNS),
    ("renditions", f"{layout.RUNS_FOLDER}/{RENDITIONS_CSV}", None, PAIR_COLUMNS),
)


def register(con: duckdb.DuckDBPyConnection, state: str | Path | None = None) -> None:
    """Create or replace the views in `con`.

    `comments`, `attachments`, `pages`, `failures` and `renditions` always (without rows as long
    as there is no index), `cells` and `tables` once `snakemake tables` has run. Raises UserError
    when there is no state folder.
    """
    folder = find_state(state)
    for name, file, twin, columns in _TABLES:
        _create(con, name, _source(con, folder, file, twin, columns))
    pages = folder / layout.PAGES_PARQUET
    if pages.exists():
        _create(con, "pages", f"SELECT * FROM {parquet_source(pages)}")
    else:
        _create(con, "pages", f"SELECT * FROM {empty_source(PAGE_COLUMNS)}")
    if (folder / layout.CELLS_PARQUET).exists():
        from regcomments.tables.store import register_views  # brings pandas: half a second

        register_views(con, folder)


def body_path(comment_id: str, docket_id: str, state: str | Path | None = None) -> Path:
    """Return the absolute path of a comment's combined.md, whether it is there or not.

    Raises ValueError for ids that are no names of folders (`..`, a slash), UserError when there
    is no state folder.
    """
    for name in (docket_id, comment_id):
        if not layout.is_item_name(name):
            raise ValueError(f"not the name of a docket or comment: {name!r}")
    return find_state(state) / docket_id / comment_id / layout.COMBINED


def rebuild_index(state: str | Path | None = None) -> IndexReport:
    """Bring the index up to date and return what was found. Raises UserError."""
    return rebuild(find_state(state))


def find_state(state: str | Path | None = None) -> Path:
    """Return the absolute state folder.

    It is `state`; else $REGCOMMENTS_STATE; else what config/config.yaml says, of the working
    directory or of the clone that this package lies in; else .state/comments. Raises UserError
    when it does not exist.
    """
    chosen = state or os.environ.get(STATE_VARIABLE)
    folder = Path(chosen) if chosen else _configured()
    if not folder.is_dir():
        raise UserError(
            f"there is no state folder {folder}: give its path as `state`, or in the environment "
            f"variable {STATE_VARIABLE}"
        )
    return folder.absolute()


def _configured() -> Path:
    for root in (Path.cwd(), Path(__file__).resolve().parents[2]):
        config = root / "config" / "config.yaml"
        if config.is_file():
            import yaml

            try:
                content = yaml.safe_load(config.read_text("utf-8"))
            except (yaml.YAMLError, UnicodeDecodeError) as error:
                raise UserError(f"{config} can't be read as YAML: {error}") from error
            value = content.get("state") if isinstance(content, dict) else None
            return root / str(value or DEFAULT_STATE)
    return Path.cwd() / DEFAULT_STATE


def _source(
    con: duckdb.DuckDBPyConnection, folder: Path, file: str, twin: str | None, columns: dict
) -> str:
    """Return the query over the CSV file, or over its Parquet twin, which holds the same.

    At 164,000 comments a query over the twin takes a tenth of the time.
    """
    if not (folder / file).exists():
        return f"SELECT * FROM {empty_source(columns)}"
    if twin is not None:
        typed = ", ".join(
            f"{identifier(name)}::{kind} AS {identifier(name)}" for name, kind in columns.items()
        )
        query = f"SELECT {typed} FROM {parquet_source(folder / twin)}"
        with suppress(duckdb.Error):  # missing, damaged, or of another version
            con.execute(f"DESCRIBE {query}")
            return query
    return f"SELECT * FROM {csv_source(folder / file, columns)}"


def _create(con: duckdb.DuckDBPyConnection, name: str, query: str) -> None:
    con.execute(f"CREATE OR REPLACE VIEW {identifier(name)} AS {query}")
