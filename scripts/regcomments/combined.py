"""combined.md: the one module that writes the file and reads it back.

The shape is fixed, since downstream programs read it: YAML front matter with known keys in a
known order, `## Inline comment`, then one `## attachment_N.ext` section per file. Documents found
inside an attachment follow within its section as `### attachment_N.ext/name`. So that sections
parse back whatever a text holds, a body line that would read as one of those headings gets one
backslash in front (`\\## …`), which Markdown shows as the plain text and `parse` takes off again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from regcomments.frontmatter import dump_front_matter, load_front_matter
from regcomments.status import Reason, Status
from regcomments.textnorm import normalise

INLINE_HEADING = "Inline comment"
FILE_NAME = "combined.md"

# Characters of front matter; a mail archive with 250 documents inside has about 50,000.
_MAX_HEAD = 16 << 20
_LINE_BREAK = re.compile("[\n\r]")

_HEADING = re.compile(r"^(\\*)(## |### attachment_\d)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"^(\\*)(_\((?:ok|ocr_needed|failed|unsupported) — [^\n]*\)_)$")


class CombinedError(ValueError):
    """A combined.md that does not have the shape described above."""


@dataclass(frozen=True)
class OcrNote:
    """Which engine read which pages (from 1) of an attachment."""

    engine: str
    version: str
    pages: tuple[int, ...]


@dataclass(frozen=True)
class Entry:
    """One attachment, or one document inside an attachment, in the front matter."""

    file: str
    status: Status
    chars: int
    reason: Reason | None = None
    pages: int | None = None
    ocr_pages: tuple[int, ...] = ()
    ocr: OcrNote | None = None
    method: str | None = None
    sha256: str | None = None
    same_as: str | None = None
    error: str | None = None

    @property
    def is_member(self) -> bool:
        """True for a document inside an attachment (its name holds a slash)."""
        return "/" in self.file


@dataclass(frozen=True)
class FrontMatter:
    """The head of a combined.md. `chars` counts characters of text in the body."""

    comment_id: str
    docket_id: str
    extracted_at: str
    chars: int
    attachments: tuple[Entry, ...] = ()
    inline_missing: bool = False
    tool: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Combined:
    """A whole combined.md: its head, the inline body, and the text of each file by name."""

    head: FrontMatter
    inline: str = ""
    texts: dict[str, str] = field(default_factory=dict)


def one_line(text: str, limit: int = 300) -> str:
    """Return `text` normalised, on one line, of at most `limit` characters."""
    flat = " ".join(normalise(text).split())
    flat = re.sub("[\ufffe\uffff]", "\ufffd", flat)
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def render(combined: Combined) -> str:
    """Return the text of combined.md. `head.chars` is taken as it is.

    Texts must be in normal form (textnorm.normalise), else they come back normalised. Raises
    CombinedError for a file name that is no heading.
    """
    head = combined.head
    parts = [dump_front_matter(_head_to_dict(head)), f"## {INLINE_HEADING}"]
    inline = normalise(combined.inline)
    if inline:
        parts.append(_escape(inline))
    for entry in head.attachments:
        if _LINE_BREAK.search(entry.file):
            raise CombinedError(f"a file name with a line end: {entry.file!r}")
        parts.append(f"{'###' if entry.is_member else '##'} {entry.file}")
        text = normalise(combined.texts.get(entry.file, ""))
        if entry.same_as is not None:
            parts.append(f"_({entry.status} — same as {entry.same_as})_")
        elif text:
            parts.append(_escape(text))
        else:
            parts.append(f"_({entry.status} — 0 chars extracted)_")
    return "\n\n".join(parts) + "\n"


def parse(text: str) -> Combined:
    """Return the parts of a combined.md. Raises CombinedError when it is not one."""
    front, _, body = _split_front(text)
    head = _head_from_text(front)
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in body.split("\n"):
        match = _HEADING.match(line)
        if match and not match[1]:
            current = sections.setdefault(line.split(" ", 1)[1], [])
            continue
        current.append(line[1:] if match else line)
    texts = {name: _unplaceholder("\n".join(lines).strip("\n")) for name, lines in sections.items()}
    missing = [entry.file for entry in head.attachments if entry.file not in texts]
    if INLINE_HEADING not in texts or missing:
        raise CombinedError(f"sections missing: {missing or [INLINE_HEADING]}")
    inline = texts.pop(INLINE_HEADING)
    return Combined(head, inline, texts)


def read(path: Path) -> Combined:
    """Parse the file at `path`. Raises OSError, CombinedError."""
    return parse(path.read_bytes().decode("utf-8", "strict"))


def read_head(path: str | Path, dir_fd: int | None = None) -> FrontMatter:
    """Read only the front matter of `path` (relative to `dir_fd`, if one is given).

    Raises OSError, CombinedError.
    """
    # Plain system calls: at 164,000 files `open()` costs as much as the reading.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=dir_fd)
    try:
        raw = os.read(handle, 4096)  # holds the head of 99 % of comments
        if not raw.startswith(b"---\n"):
            raise CombinedError(f"{path}: no front matter")
        while (end := raw.find(b"\n---\n", 3)) < 0:
            more = os.read(handle, len(raw))
            if not more or len(raw) > _MAX_HEAD:
                raise CombinedError(f"{path}: front matter does not end")
            raw += more
    finally:
        os.close(handle)
    try:
        return _head_from_text(raw[4 : end + 1].decode("utf-8"))
    except UnicodeDecodeError as error:
        raise CombinedError(f"{path}: {error}") from error


def same_but_time(old: str, new: str) -> bool:
    """True when two combined.md differ at most in their `extracted_at`."""
    pattern = re.compile(r"^extracted_at: .*$", re.MULTILINE)
    return pattern.sub("", old, count=1) == pattern.sub("", new, count=1)


def _escape(text: str) -> str:
    if _PLACEHOLDER.match(text):
        return "\\" + text
    if "##" not in text:
        return text
    return "\n".join("\\" + line if _HEADING.match(line) else line for line in text.split("\n"))


def _unplaceholder(text: str) -> str:
    match = _PLACEHOLDER.match(text)
    if not match:
        return text
    return text[1:] if match[1] else ""


def _split_front(text: str) -> tuple[str, str, str]:
    if not text.startswith("---\n"):
        raise CombinedError("no front matter")
    front, fence, body = text[4:].partition("\n---\n")
    if not fence:
        raise CombinedError("front matter does not end")
    return front + "\n", fence, body


def _head_to_dict(head: FrontMatter) -> dict[str, object]:
    out: dict[str, object] = {
        "comment_id": head.comment_id,
        "docket_id": head.docket_id,
        "extracted_at": head.extracted_at,
        "chars": head.chars,
        "attachments": [_entry_to_dict(entry) for entry in head.attachments],
    }
    if head.inline_missing:
        out["inline"] = "missing"
    if head.tool:
        out["tool"] = head.tool
    if head.warnings:
        out["warnings"] = [one_line(warning) for warning in head.warnings]
    return out


def _entry_to_dict(entry: Entry) -> dict[str, object]:
    out: dict[str, object] = {
        "file": entry.file,
        "status": str(entry.status),
        "chars": entry.chars,
    }
    if entry.reason is not None:
        out["reason"] = str(entry.reason)
    if entry.pages is not None:
        out["pages"] = entry.pages
    if entry.ocr_pages:
        out["ocr_pages"] = list(entry.ocr_pages)
    if entry.ocr is not None:
        out["ocr"] = {
            "engine": entry.ocr.engine,
            "version": entry.ocr.version,
            "pages": list(entry.ocr.pages),
        }
    for key in ("method", "sha256", "same_as"):
        if getattr(entry, key):
            out[key] = getattr(entry, key)
    if entry.error:
        out["error"] = one_line(entry.error)
    return out


def _head_from_text(front: str) -> FrontMatter:
    try:
        raw = load_front_matter(front)
        return FrontMatter(
            comment_id=str(raw["comment_id"]),
            docket_id=str(raw["docket_id"]),
            extracted_at=str(raw["extracted_at"]),
            chars=int(raw["chars"]),
            attachments=tuple(_entry_from_dict(item) for item in raw["attachments"] or ()),
            inline_missing=raw.get("inline") == "missing",
            tool=_string(raw.get("tool")),
            warnings=tuple(str(item) for item in raw.get("warnings") or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise CombinedError(f"front matter: {type(error).__name__}: {error}") from error


def _entry_from_dict(raw: dict) -> Entry:
    note = raw.get("ocr")
    return Entry(
        file=str(raw["file"]),
        status=Status(raw["status"]),
        chars=int(raw["chars"]),
        reason=Reason(raw["reason"]) if raw.get("reason") else None,
        pages=None if raw.get("pages") is None else int(raw["pages"]),
        ocr_pages=_numbers(raw.get("ocr_pages")),
        ocr=OcrNote(str(note["engine"]), str(note["version"]), _numbers(note["pages"]))
        if note
        else None,
        method=_string(raw.get("method")),
        sha256=_string(raw.get("sha256")),
        same_as=_string(raw.get("same_as")),
        error=_string(raw.get("error")),
    )


def _numbers(value: Iterable[object] | None) -> tuple[int, ...]:
    return tuple(int(item) for item in value or ())


def _string(value: object) -> str | None:
    return None if value is None else str(value)


def with_time(combined: Combined, extracted_at: str) -> Combined:
    """Return `combined` stamped with another `extracted_at`."""
    return replace(combined, head=replace(combined.head, extracted_at=extracted_at))
