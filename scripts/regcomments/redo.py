"""Which finished comments to read again: the config key `redo`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from regcomments import layout
from regcomments.combined import CombinedError, FrontMatter, read_head
from regcomments.errors import UserError
from regcomments.status import Reason, Status

_HELP = (
    "redo takes all, stale, inline, damaged, a status (ok, ocr_needed, failed, unsupported) or "
    "status=S, reason=R, ext=E, older_than=VERSION; several are joined by commas"
)


@dataclass(frozen=True)
class Redo:
    """Parsed criteria; a comment is picked when any of them holds."""

    criteria: tuple[tuple[str, str], ...]

    def picks(self, folder: Path) -> bool:
        """True when the combined.md in `folder` meets a criterion (or can't be read)."""
        kinds = {key for key, _ in self.criteria}
        if "all" in kinds:
            return True
        if "stale" in kinds and is_stale(folder):
            return True
        try:
            head = read_head(folder / layout.COMBINED)
        except (CombinedError, OSError):
            return True  # damaged: any redo mends it
        return any(_holds(key, value, head) for key, value in self.criteria)


def parse_redo(text: str | None) -> Redo | None:
    """Return the criteria in `text`, None when it is empty. Raises UserError."""
    if not text:
        return None
    criteria = []
    for part in str(text).split(","):
        key, sign, value = part.strip().partition("=")
        if not sign:
            key, value = ("status", key) if key in set(Status) else (key, "")
        valid = {
            "status": value in set(Status),
            "reason": value in set(Reason),
            "ext": bool(value),
            "older_than": bool(re.fullmatch(r"\d+(\.\d+)*", value)),
            "all": not value,
            "stale": not value,
            "inline": not value,
            "damaged": not value,
        }
        if not valid.get(key, False):
            raise UserError(f"redo: {part.strip()!r} is not understood; {_HELP}")
        criteria.append((key, value))
    return Redo(tuple(criteria))


def is_stale(folder: Path) -> bool:
    """True when attachments are newer than combined.md, or missing from its list.

    A listed file that has gone is no reason: reading again would lose its text.
    """
    try:
        content = layout.scan_folder(folder)
        if content.combined_mtime_ns is None:
            return False
        if any(item.mtime_ns > content.combined_mtime_ns for item in content.attachments):
            return True
        head = read_head(os.path.join(folder, layout.COMBINED))
    except (CombinedError, OSError):
        return True
    listed = {entry.file for entry in head.attachments if not entry.is_member}
    return not {item.name for item in content.attachments} <= listed


def _holds(key: str, value: str, head: FrontMatter) -> bool:
    entries = head.attachments
    if key == "status":
        return any(entry.status == value for entry in entries)
    if key == "reason":
        return any(entry.reason == value for entry in entries)
    if key == "ext":
        suffix = "." + value.lower().lstrip(".")
        return any(entry.file.lower().endswith(suffix) for entry in entries)
    if key == "older_than":
        return _version(head.tool or "") < _version(value)
    return key == "inline" and head.inline_missing


def _version(text: str) -> tuple[int, ...]:
    match = re.search(r"\d+(?:\.\d+)*", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
