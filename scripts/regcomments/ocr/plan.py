"""From the state folder to OCR jobs and back: what the OCR rules do, without Snakemake.

<work>/ocr/<gen>/queue.jsonl          the queue: rows to read, comments to merge
<work>/ocr/<gen>/rows/0001.jsonl      rows of one job
<work>/ocr/<gen>/read/0001.json       receipt of one job
<work>/ocr/<gen>/merged.json          receipt of the merge
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from regcomments.atomic import write_atomic
from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.ocr.engines import MAX_ATTEMPTS, make
from regcomments.ocr.partition import Share, host_of, plan_text, remaining, shares
from regcomments.ocr.queue import (
    PAGES_PER_SHARD,
    Queue,
    Row,
    build_queue,
    read_queue,
    read_rows,
    shards,
    write_queue,
    write_rows,
)

if TYPE_CHECKING:
    from regcomments.ocr.run import ShardReport

MIN_JOB_PAGES = 4  # three seconds of one core; starting a job costs half a second
MOST_SLOTS = 8  # twice as many jobs at most are made of a small queue
SLOTS_VARIABLE = "REGCOMMENTS_RUN_SLOTS"  # set by the run; see workflow.py
MOST_NAMED = 20  # failures named at the end; all are in the receipts and in failures.csv


@dataclass(frozen=True)
class OcrPlan:
    """The whole queue, what of it this host takes, and the shares of all hosts (if any)."""

    queue: Queue
    mine: tuple[Row, ...]
    jobs: tuple[tuple[Row, ...], ...]
    parts: tuple[Share, ...] = ()
    host: str | None = None

    def lines(self) -> list[str]:
        """Return the plan for people."""
        queue = self.queue
        lines = [f"queued for OCR: {len(queue.rows)} files, {queue.pages} pages"]
        for count, what in (
            (queue.stored, "read already, to be merged"),
            (queue.unreadable, f"that {queue.engine} can't read"),
            (queue.exhausted, "tried as often as ocr.max_attempts allows"),
        ):
            if count:
                lines.append(f"not queued: {count} pages {what}")
        lines += [f"left out: {problem}" for problem in queue.problems]
        if self.parts:
            lines += plan_text(self.parts).split("\n")
        if self.host:
            pages = sum(len(row.pages) for row in self.mine)
            lines.append(f"{self.host} takes {len(self.mine)} files, {pages} pages")
        lines.append(f"{len(self.jobs)} OCR jobs, {len(queue.comments)} comments to merge")
        return lines


def plan_ocr(settings: Settings) -> OcrPlan:
    """Return what is to be read, from what is on disk. Raises UserError.

    Brings the index up to date first: only comments that name pages for OCR are opened.
    """
    # Imported here, and below: each of the three rules needs another part of the package.
    from regcomments.index import waiting_heads

    state = Path(settings.state)
    engine = make({"ocr": settings.ocr})
    attempts = settings.ocr.get("max_attempts", MAX_ATTEMPTS)
    heads = waiting_heads(state, settings.docket)
    queue = build_queue(heads, state, engine, attempts)
    mine, parts, name = queue.rows, (), None
    if settings.host and settings.partition == "share":
        name = settings.host["name"]
        hosts = [host_of(facts) for facts in settings.hosts]
        parts = tuple(
            replace(part, rows=remaining(part.rows, queue.rows))
            for part in shares(queue.wanted, hosts)
        )
        own = [part for part in parts if part.host.name == name]
        if not own:
            raise UserError(
                f"host {name} is not active: set `active: true` in config/hosts/{name}.yaml, "
                "or give --config partition=all to read everything here"
            )
        mine = own[0].rows
    most = settings.ocr.get("shard_pages", PAGES_PER_SHARD)
    if engine.name == "tesseract":
        slots = int(os.environ.get(SLOTS_VARIABLE, MOST_SLOTS))
        most = pages_a_job(sum(len(row.pages) for row in mine), most, slots)
    jobs = shards(mine, most)
    return OcrPlan(queue, tuple(mine), tuple(map(tuple, jobs)), parts, name)


def pages_a_job(pages: int, most: int, slots: int) -> int:
    """Return the pages of a job, `most` at most, of a queue of `pages` read on the CPU.

    One page a core is read: a small queue must still make work for all of `slots`, two jobs each
    so that they end at about the same time. One slot takes all in one job: starting another
    costs as much as two pages.
    """
    slots = min(MOST_SLOTS, slots)
    return most if slots < 2 else min(most, max(MIN_JOB_PAGES, pages // (2 * slots)))


def write_plan(queue_path: Path, plan: OcrPlan) -> None:
    """Write the rows of every job, and last the queue."""
    rows = queue_path.parent / "rows"
    rows.mkdir(parents=True, exist_ok=True)
    for number, job in enumerate(plan.jobs, start=1):
        write_rows(rows / f"{number:04d}.jsonl", job)
    write_queue(queue_path, replace(plan.queue, rows=plan.mine))


def job_names(queue_path: Path) -> list[str]:
    """Return the names of the jobs written beside the queue."""
    return sorted(path.stem for path in (queue_path.parent / "rows").glob("*.jsonl"))


def read_job(settings: Settings, rows: Path, say: Callable[[str], None]) -> ShardReport:
    """Read the pages of one job. Raises UserError, OSError."""
    from regcomments.ocr.run import RunSettings, read_shard
    from regcomments.ocr.source import PageLimits

    engine = make({"ocr": settings.ocr, "host": settings.host_here()})
    limits = (
        PageLimits(seconds=settings.ocr["page_seconds"])
        if "page_seconds" in settings.ocr
        else PageLimits()
    )
    run = RunSettings(
        limits=limits,
        max_attempts=settings.ocr.get("max_attempts", MAX_ATTEMPTS),
        progress=say,
    )
    try:
        return read_shard(read_rows(rows), Path(settings.state), engine, run)
    finally:
        engine.close()


def write_ocr_receipt(path: Path, report: ShardReport) -> None:
    """Write what became of a job's pages."""
    failures = [
        [row.docket, row.comment, row.file, page, reason] for row, page, reason in report.failures
    ]
    content = {"pages": dict(report.pages), "already": report.already, "failed": report.failed}
    content |= {"failures": failures, "seconds": round(report.seconds, 3)}
    write_atomic(path, json.dumps(content, sort_keys=True) + "\n")


def closing_lines(folder: Path) -> tuple[list[str], int]:
    """Return lines that sum up the receipts in `folder`, and the pages asked for and not done."""
    pages: Counter[str] = Counter()
    failures: list[Sequence] = []
    undone = already = 0
    for path in sorted((folder / "read").glob("*.json")):
        receipt = json.loads(path.read_text("utf-8"))
        pages.update(receipt["pages"])
        failures += receipt["failures"]
        undone += receipt["failed"]
        already += receipt["already"]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(pages.items()) if count)
    lines = [f"OCR: {sum(pages.values())} pages tried ({counts or 'none'})"]
    if already:
        lines[0] += f", {already} read by another run"
    for docket, comment, file, page, reason in failures[:MOST_NAMED]:
        lines.append(f"  {docket}/{comment}/{file} page {page}: {reason}")
    if len(failures) > MOST_NAMED:
        lines.append(f"  and {len(failures) - MOST_NAMED} more pages")
    try:
        queue = read_queue(folder / "queue.jsonl")
    except (OSError, ValueError, TypeError, KeyError):
        queue = Queue("")
    if queue.exhausted:
        lines.append(f"{queue.exhausted} pages were tried as often as ocr.max_attempts allows")
    lines += [f"left out: {problem}" for problem in queue.problems[:MOST_NAMED]]
    if undone:
        lines.append(f"{undone} pages that were asked for are not done; the next run tries again")
    return lines, undone
