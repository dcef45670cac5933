"""Counts over a state folder, for people: what is done, what is not, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from regcomments import layout
from regcomments.index import (
    ATTACHMENTS_PARQUET,
    INDEX_PARQUET,
    IndexReport,
    rebuild,
)
from regcomments.index_pages import PAIR_COLUMNS, RENDITIONS_CSV
from regcomments.index_sql import connect, csv_source, parquet_source
from regcomments.index_survey import EXAMPLES, Survey, Tally
from regcomments.names import work_of_state
from regcomments.progress import jobs_at_work
from regcomments.renditions import AGREEMENT

DOCKETS_SHOWN = 15


@dataclass(frozen=True)
class StatusCount:
    """Attachments of one status and reason: files, characters, pages, pages waiting for OCR.

    Characters are those in the bodies: a file whose text is given once, under another, has none.
    """

    status: str
    reason: str
    files: int
    chars: int
    pages: int
    ocr_pages: int


@dataclass(frozen=True)
class DocketCount:
    """One docket: comments done, attachments, characters, pages waiting for OCR, files failed."""

    docket: str
    comments: int
    attachments: int
    chars: int
    ocr_pages: int
    failed: int


@dataclass(frozen=True)
class PairCount:
    """Renditions compared: pairs, those whose text is given once, and their agreement (0 to 1)."""

    pairs: int
    same: int
    below: int
    median: float | None
    worst: tuple[str, ...]


@dataclass(frozen=True)
class Stats:
    """What `stats` counted; `report` is that of the index rebuilt for it.

    `chars` are characters of all texts, `bytes` of the attachments, `members` documents inside
    attachments, `waiting_files` attachments with pages that wait for OCR, `at_work` a line for each
    job that extracts at this moment for a run in this folder.
    """

    state: Path
    report: IndexReport
    survey: Survey
    attachments: int
    members: int
    chars: int
    bytes: int
    pages: int
    ocr_pages: int
    ocr_read: int
    waiting_files: int
    inline_missing: int
    warnings: int
    statuses: tuple[StatusCount, ...]
    dockets: tuple[DocketCount, ...]
    n_dockets: int
    pairs: PairCount
    at_work: tuple[str, ...] = ()


def stats(state: Path) -> Stats:
    """Rebuild the index of `state`, look into every folder, and return the counts.

    Comments done and pending are counted on one walk, so that they add up while a run goes on.
    Raises UserError as index.rebuild does.
    """
    at_work = tuple(job.text() for job in jobs_at_work(Path(work_of_state(state))))
    survey = Survey()
    report = rebuild(state, observer=survey.see)
    state = state.absolute()
    survey.finish(state, state / ATTACHMENTS_PARQUET)
    files = parquet_source(state / ATTACHMENTS_PARQUET)
    comments = parquet_source(state / INDEX_PARQUET)
    with connect() as con:
        sums = con.execute(
            f"""SELECT count(*) FILTER (NOT contains(file, '/')),
                count(*) FILTER (contains(file, '/')), coalesce(sum(bytes), 0),
                coalesce(sum(pages), 0), coalesce(sum(n_ocr_pages), 0),
                coalesce(sum(n_ocr_read), 0), count(*) FILTER (n_ocr_pages > 0) FROM {files}"""
        ).fetchone()
        chars, missing, warnings, n_dockets = con.execute(
            f"""SELECT coalesce(sum(chars), 0), count(*) FILTER (inline_missing),
                count(*) FILTER (n_warnings > 0), count(DISTINCT docket_id) FROM {comments}"""
        ).fetchone()
        statuses = con.execute(
            f"""SELECT status, coalesce(reason, ''), count(*),
                coalesce(sum(chars) FILTER (same_as IS NULL), 0),
                coalesce(sum(pages), 0), sum(n_ocr_pages) FROM {files}
                GROUP BY status, reason ORDER BY
                list_position(['ok', 'ocr_needed', 'failed', 'unsupported'], status), 3 DESC, 2"""
        ).fetchall()
        dockets = con.execute(
            f"""SELECT docket_id, count(*), sum(n_attachments), sum(chars), sum(n_ocr_pages),
                sum(n_failed) FROM {comments} GROUP BY 1 ORDER BY 2 DESC, 1
                LIMIT {DOCKETS_SHOWN}"""
        ).fetchall()
        pairs = _pairs(con, state)
    return Stats(
        state,
        report,
        survey,
        attachments=sums[0],
        members=sums[1],
        chars=int(chars),
        bytes=int(sums[2]),
        pages=int(sums[3]),
        ocr_pages=int(sums[4]),
        ocr_read=int(sums[5]),
        waiting_files=sums[6],
        inline_missing=missing,
        warnings=warnings,
        statuses=tuple(StatusCount(*row) for row in statuses),
        dockets=tuple(DocketCount(*row) for row in dockets),
        n_dockets=n_dockets,
        pairs=pairs,
        at_work=at_work,
    )


def _pairs(con: duckdb.DuckDBPyConnection, state: Path) -> PairCount:
    path = state / layout.RUNS_FOLDER / RENDITIONS_CSV
    if not path.exists():
        return PairCount(0, 0, 0, None, ())
    source = csv_source(path, PAIR_COLUMNS)
    count, same, below, median = con.execute(
        f"""SELECT count(*), count(*) FILTER (same), count(*) FILTER (agreement < {AGREEMENT}),
            median(agreement) FROM {source}"""
    ).fetchone()
    worst = con.execute(
        f"""SELECT docket_id || '/' || comment_id || '/' || file, same_as, agreement FROM {source}
            WHERE agreement < {AGREEMENT} ORDER BY agreement, 1 LIMIT {EXAMPLES}"""
    ).fetchall()
    return PairCount(
        count, same, below, median, tuple(f"{a} and {b}: {share:.2f}" for a, b, share in worst)
    )


def render(stats: Stats) -> str:
    """Return the counts as text for a terminal, tables aligned."""
    report, survey = stats.report, stats.survey
    members = f"; {stats.members:,} documents inside them" if stats.members else ""
    facts = {
        "State": str(stats.state),
        "Comments": f"{report.comments:,} done, {report.pending:,} pending, "
        f"{len(report.problems):,} damaged, in {stats.n_dockets:,} dockets",
        "Attachments": f"{stats.attachments:,} in done comments, {stats.bytes:,} bytes{members}",
        "Text": f"{stats.chars:,} characters; {stats.pages:,} pages, {stats.ocr_read:,} by OCR",
        "OCR": f"{stats.ocr_pages:,} pages of {stats.waiting_files:,} attachments wait",
        "Inline": f"{stats.inline_missing:,} comments without a row in the database",
    }
    lines = [f"{title:<12} {_printable(text)}" for title, text in facts.items()]
    if stats.at_work:
        lines.append(f"{'At work':<12} {len(stats.at_work)} jobs, as they last told")
        lines += [f"  {_printable(job)}" for job in stats.at_work]
    if stats.statuses:
        lines += ["", *_status_table(stats)]
    if stats.dockets:
        lines += ["", *_docket_table(stats)]
    if stats.pairs.pairs:
        lines += ["", *_pair_lines(stats.pairs)]
    lines += _findings(
        ("Pending", "no combined.md yet: snakemake extract_all", survey.pending),
        ("Stale", "attachments newer than combined.md: --config redo=stale", survey.stale),
        ("Orphaned", "listed, but the file has gone", survey.orphaned),
        ("Unexpected", "neither docket, comment nor attachment, never read", survey.unexpected),
        ("Unused OCR", "results of files that no comment has", survey.orphaned_ocr),
        ("Damaged", "--config redo=damaged writes them anew", _problems(report)),
        ("Set aside", "page facts that could not be read", _tally(report.damaged_parts)),
    )
    return "\n".join(lines) + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[object]], text_columns: int) -> list[str]:
    """Return `rows` under `header`, aligned: the first `text_columns` left, numbers right."""
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in [list(header), *cells]) for at in range(len(header))]
    return [
        "  ".join(
            cell.ljust(width) if at < text_columns else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [list(header), *cells]
    ]


def _status_table(stats: Stats) -> list[str]:
    rows = [
        (item.status, item.reason or "-", item.files, item.chars, item.pages, item.ocr_pages)
        for item in stats.statuses
    ]
    total = tuple(sum(row[at] for row in rows) for at in range(2, 6))
    header = ("status", "reason", "files", "characters", "pages", "pages for OCR")
    return table(header, [*rows, ("all", "", *total)], 2)


def _docket_table(stats: Stats) -> list[str]:
    rows = [
        (item.docket, item.comments, item.attachments, item.chars, item.ocr_pages, item.failed)
        for item in stats.dockets
    ]
    header = ("docket", "comments", "files", "characters", "pages for OCR", "failed")
    lines = table(header, rows, 1)
    if stats.n_dockets > len(rows):
        lines.append(f"… and {stats.n_dockets - len(rows):,} dockets more")
    return lines


def _pair_lines(pairs: PairCount) -> list[str]:
    summary = (
        f"{pairs.pairs:,} pairs, text given once for {pairs.same:,}; words agree "
        f"{pairs.median:.2f} (median), {pairs.below:,} pairs below {AGREEMENT}"
    )
    return [f"{'Renditions':<12} {summary}", *(f"  {_printable(item)}" for item in pairs.worst)]


def _findings(*findings: tuple[str, str, Tally]) -> list[str]:
    lines: list[str] = []
    for title, what, tally in findings:
        if not tally.count:
            continue
        lines += ["", f"{title:<12} {tally.count:,} ({what})"]
        lines += [f"  {_printable(item)}" for item in tally.examples]
        if tally.count > len(tally.examples):
            lines.append(f"  … and {tally.count - len(tally.examples):,} more")
    return lines


def _problems(report: IndexReport) -> Tally:
    return _tally([f"{problem.path}: {problem.detail}" for problem in report.problems])


def _tally(items: Sequence[str]) -> Tally:
    return Tally(len(items), list(items[:EXAMPLES]))


def _printable(text: str) -> str:
    """Return `text` without what could steer a terminal or fail to be encoded."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
