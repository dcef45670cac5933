"""One comment folder to one combined.md."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from regcomments import __version__, layout
from regcomments.atomic import write_atomic
from regcomments.combined import (
    Combined,
    CombinedError,
    Entry,
    FrontMatter,
    OcrNote,
    one_line,
    read,
    render,
    same_but_time,
)
from regcomments.digest import sha256_of
from regcomments.read.worker import OcrLookup, Worker
from regcomments.records import Extraction, Member, Page
from regcomments.renditions import Pair, find_pairs
from regcomments.status import Reason, Status

TOOL = f"regcomments {__version__}"
# Failures that may be the machine's, not the file's.
_PASSING = frozenset({Reason.TIMEOUT, Reason.MEMORY, Reason.CRASHED, Reason.UNREADABLE})


@dataclass(frozen=True)
class Outcome:
    """What became of one folder: what was written and what is worth keeping beside it.

    `written` is False when the file on disk already said the same. `page_facts` come by SHA-256
    of the file they were measured on.
    """

    combined: Combined
    written: bool
    pairs: tuple[Pair, ...]
    page_facts: Mapping[str, tuple[Page, ...]]


def extract_comment(
    folder: Path,
    *,
    bodies: Mapping[str, str] | None = None,
    now: str | None = None,
    worker: Worker | None = None,
) -> Path:
    """Write `combined.md` in the comment folder `folder` unless it is there; return its path.

    `bodies` maps comment ids to inline bodies; without an entry the comment counts as
    `inline: missing`. `now` is the ISO time to stamp. Trouble with one attachment is a status in
    the file. Raises OSError when the folder can't be read or written.
    """
    target = Path(folder) / layout.COMBINED
    if target.exists():
        return target
    if worker is not None:
        make_combined(Path(folder), bodies or {}, worker, now=now)
    else:
        state = Path(folder).absolute().parent.parent
        with Worker(ocr=OcrLookup(state)) as own:
            make_combined(Path(folder), bodies or {}, own, now=now)
    return target


def extract_attachment(path: Path) -> Extraction:
    """Return the outcome for one file, read in a process of its own, whatever it holds."""
    with Worker() as worker:
        return worker.read(Path(path))


def make_combined(
    folder: Path, bodies: Mapping[str, str] | None, worker: Worker, *, now: str | None = None
) -> Outcome:
    """Read every attachment of `folder` and write its combined.md, new or anew.

    A comment that `bodies` lacks (None: there is no database) keeps the inline body that an old
    combined.md holds. A file that says the same but for its time is left as it is; the old one
    stays until the new one is complete. What it holds of an attachment stays too when that one
    has gone, or is unchanged and can't be read this time for want of time, memory or access.
    Raises OSError; CombinedError when the old file is damaged and `bodies` is None.
    """
    folder = folder.absolute()
    content = layout.scan_folder(folder)
    old = _old_combined(folder, content)
    if bodies is None and old is None and content.combined_mtime_ns is not None:
        raise CombinedError("the old combined.md is damaged; read it again with redo=damaged")
    results = keep_good(_read_all(folder, content, worker), old)
    pairs = find_pairs(results)
    combined = assemble(
        comment_id=folder.name,
        docket_id=folder.parent.name,
        extracted_at=now or utc_now(),
        body=_body(bodies, folder.name, old),
        results=results,
        pairs=pairs,
        others=content.others,
    )
    text = render(combined)
    target = folder / layout.COMBINED
    written = old is None or not same_but_time(render(old), text)
    if written:
        write_atomic(target, text)
    elif any(item.mtime_ns > content.combined_mtime_ns for item in content.attachments):
        os.utime(target)  # read again, nothing new: no longer stale
    for name in content.unfinished:
        (folder / name).unlink(missing_ok=True)
    facts = {}
    for result in results.values():
        facts.update(_facts(result))
    return Outcome(combined, written, tuple(pairs), facts)


def assemble(
    *,
    comment_id: str,
    docket_id: str,
    extracted_at: str,
    body: str | None,
    results: Mapping[str, Extraction],
    pairs: list[Pair],
    others: tuple[str, ...] = (),
) -> Combined:
    """Return the combined.md of these parts. `body` None means that none was found."""
    same_as = {pair.file: pair.other for pair in pairs if pair.same}
    entries: list[Entry] = []
    texts: dict[str, str] = {}
    warnings: list[str] = []
    for name, result in results.items():
        for file, part in _with_members(name, result):
            entries.append(_entry(file, part, same_as.get(name) if file == name else None))
            if not (file == name and name in same_as):
                texts[file] = part.text
            warnings += [f"{file}: {warning}" for warning in part.warnings]
            if file == name and name in same_as:
                break
    if others:
        warnings.append(f"not attachments, not read: {', '.join(others[:20])}")
    inline = body or ""
    head = FrontMatter(
        comment_id=comment_id,
        docket_id=docket_id,
        extracted_at=extracted_at,
        chars=len(inline) + sum(len(text) for text in texts.values()),
        attachments=tuple(entries),
        inline_missing=body is None,
        tool=TOOL,
        warnings=tuple(one_line(warning) for warning in warnings),
    )
    return Combined(head, inline, texts)


def utc_now() -> str:
    """Return the time as it stands in front matter, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def keep_good(results: Mapping[str, Extraction], old: Combined | None) -> dict[str, Extraction]:
    """Return `results`, completed by what `old` holds.

    It stands in for failures that say nothing of the file, and for files that have gone.
    """
    kept = dict(results)
    if old is None:
        return kept
    gone = [
        entry.file
        for entry in old.head.attachments
        if not entry.is_member and entry.file not in results
    ]
    for name in gone:
        kept[name] = _from_old(name, old, "the file has gone, its text is kept", None)
    if gone:
        kept = {name: kept[name] for name in layout.natural_sorted(kept)}
    for name, result in results.items():
        if result.status != Status.FAILED or result.reason not in _PASSING:
            continue
        entries = {entry.file: entry for entry in old.head.attachments}
        entry = entries.get(name)
        if entry is None or entry.status not in (Status.OK, Status.OCR_NEEDED) or entry.same_as:
            continue
        if result.sha256 in (None, entry.sha256):
            why = f"kept from an earlier run; this one: {result.reason}"
            kept[name] = _from_old(name, old, why, result.size)
    return kept


def _from_old(name: str, old: Combined, why: str, size: int | None) -> Extraction:
    entries = {entry.file: entry for entry in old.head.attachments}
    entry = entries[name]
    members = tuple(
        Member(file.removeprefix(f"{name}/"), _from_old(file, old, why, size))
        for file in entries
        if file.startswith(f"{name}/") and name == entry.file and not _deeper(file, name, entries)
    )
    return Extraction(
        status=entry.status,
        text=old.texts[entry.same_as or name],
        reason=entry.reason,
        pages=entry.pages,
        ocr_pages=entry.ocr_pages,
        ocr_read=entry.ocr.pages if entry.ocr else (),
        ocr_engine=f"{entry.ocr.engine} {entry.ocr.version}" if entry.ocr else None,
        method=entry.method,
        sha256=entry.sha256,
        size=size,
        error=entry.error,
        warnings=(why,),
        members=members,
    )


def _deeper(file: str, name: str, entries: Mapping[str, Entry]) -> bool:
    """True when another member of `name` lies between `name` and `file`."""
    return any(
        other != file and other.startswith(f"{name}/") and file.startswith(f"{other}/")
        for other in entries
    )


def _body(bodies: Mapping[str, str] | None, comment: str, old: Combined | None) -> str | None:
    if bodies is not None and comment in bodies:
        return bodies[comment]
    # A host without the database, or a row that has gone, must not cost the text read before.
    return None if old is None or old.head.inline_missing else old.inline


def _old_combined(folder: Path, content: layout.Folder) -> Combined | None:
    if content.combined_mtime_ns is None:
        return None
    try:
        return read(folder / layout.COMBINED)
    except (OSError, ValueError):
        return None


def _read_all(folder: Path, content: layout.Folder, worker: Worker) -> dict[str, Extraction]:
    results: dict[str, Extraction] = {}
    sizes = [attachment.size for attachment in content.attachments]
    by_sha: dict[str, Extraction] = {}
    for attachment in content.attachments:
        path = folder / attachment.name
        if attachment.size and sizes.count(attachment.size) > 1:
            known = by_sha.get(sha256_of(path))
            if known is not None:
                results[attachment.name] = known
                continue
        result = worker.read(path)
        if result.sha256 is None and result.reason != Reason.UNREADABLE:
            result = replace(result, sha256=sha256_of(path), size=attachment.size)
        results[attachment.name] = result
        by_sha[result.sha256] = result
    return results


def _with_members(name: str, result: Extraction) -> Iterator[tuple[str, Extraction]]:
    yield name, result
    for member in result.members:
        yield from _with_members(f"{name}/{one_line(member.name)}", member.result)


def _entry(file: str, result: Extraction, same_as: str | None) -> Entry:
    note = None
    if result.ocr_engine is not None and result.ocr_read:
        engine, _, version = result.ocr_engine.partition(" ")
        note = OcrNote(engine, version, result.ocr_read)
    return Entry(
        file=file,
        status=Status(result.status),
        chars=len(result.text),
        reason=result.reason,
        pages=result.pages,
        ocr_pages=result.ocr_pages,
        ocr=note,
        method=result.method,
        sha256=result.sha256,
        same_as=same_as,
        error=result.error,
    )


def _facts(result: Extraction) -> dict[str, tuple[Page, ...]]:
    out: dict[str, tuple[Page, ...]] = {}
    if result.sha256 and any(page.facts for page in result.page_facts):
        out[result.sha256] = result.page_facts
    for member in result.members:
        out.update(_facts(member.result))
    return out
