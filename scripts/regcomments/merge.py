"""Fold OCR results of the store into combined.md."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from regcomments.comment import make_combined
from regcomments.config import Settings
from regcomments.errors import UserError, disk_is_full, full_disk
from regcomments.pagestore import append_facts
from regcomments.progress import BEAT_SECONDS
from regcomments.read.remember import Remembering
from regcomments.read.worker import OcrLookup, Worker
from regcomments.records import Page


@dataclass(frozen=True)
class MergeReport:
    """Comments looked at and changed, pages that wait for OCR still, folders that failed."""

    comments: int
    changed: int
    waiting: int
    failed: tuple[str, ...]


def merge_comments(
    settings: Settings,
    comments: Sequence[tuple[str, str]],
    engine_key: str,
    say: Callable[[str], None] = print,
) -> MergeReport:
    """Write combined.md anew for `comments` (docket, comment) with what the store holds by now.

    The inline body is taken from the old file, so a host without the database merges as well.
    Raises UserError on a full disk.
    """
    state = Path(settings.state)
    changed = waiting = 0
    failed: list[str] = []
    facts: dict[str, Sequence[Page]] = {}
    beat = time.monotonic()
    ocr = OcrLookup(state, engine_key, settings.ocr.get("max_attempts", 3))
    with Worker(settings.limits(), settings.options(), ocr, fork=True) as worker:
        reader = Remembering(worker, ocr=ocr)  # a campaign's scan is merged into many comments
        for number, (docket, comment) in enumerate(comments, start=1):
            folder = state / docket / comment
            try:
                outcome = make_combined(folder, None, reader)
            except OSError as error:
                if disk_is_full(error):
                    raise UserError(full_disk(folder)) from error
                say(f"{docket}/{comment}: {error.strerror or error}")
                failed.append(f"{docket}/{comment}")
                continue
            except UserError:
                raise
            except Exception as error:  # one comment's trouble must not end the merge of all
                say(f"{docket}/{comment}: {type(error).__name__}: {error}")
                failed.append(f"{docket}/{comment}")
                continue
            changed += outcome.written
            facts.update(outcome.page_facts)
            waiting += sum(len(entry.ocr_pages) for entry in outcome.combined.head.attachments)
            if time.monotonic() - beat >= BEAT_SECONDS:
                beat = time.monotonic()
                say(f"merge: {number}/{len(comments)} comments, at {docket}/{comment}")
    # What was judged now is what the next `regrade` compares with.
    append_facts(state, "merge", facts)
    return MergeReport(len(comments), changed, waiting, tuple(failed))
