"""Documents inside documents: how they are named, read within bounds, and fetched again."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from regcomments.read.options import ReadOptions
from regcomments.records import Extraction, Member
from regcomments.status import Reason, Status

MAX_NAME = 200  # characters of a member's name; longer ones are cut in the middle
# Members read in all below one attachment, as a multiple of `max_members` (which bounds one level).
TREE_FACTOR = 2
# Bytes of members unpacked in all below one attachment, as a multiple of `max_member_bytes`.
BUDGET_FACTOR = 3
MEMBER_PAGES = 2  # for which a document inside counts beside its own, since it may have none
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


@dataclass(frozen=True)
class Part:
    """A document inside a file: its unique name there, its size in bytes if known, its bytes.

    `load` raises UnreadableError or any other error when the bytes can't be had.
    """

    name: str
    load: Callable[[], bytes]
    size: int | None = None


class NameBook:
    """Hands out member names that are printable, bounded and unique within one file."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def name(self, raw: str | None, fallback: str = "unnamed") -> str:
        """Return `raw` cleaned, with ` (2)` before its suffix when it is the second."""
        clean = _UNSAFE.sub(" ", raw or "").replace("\\", "/").strip().strip("/") or fallback
        if len(clean) > MAX_NAME:
            clean = clean[: MAX_NAME // 2] + "…" + clean[-(MAX_NAME // 2 - 1) :]
        stem, dot, suffix = clean.rpartition(".")
        if not dot or "/" in suffix or not stem:
            stem, dot, suffix = clean, "", ""
        candidate, count = clean, 1
        while candidate in self._taken:
            count += 1
            candidate = f"{stem} ({count}){dot}{suffix}"
        self._taken.add(candidate)
        return candidate


class MemberReader:
    """Reads embedded documents for all readers below one attachment, within common bounds.

    An instance is what `ReadOptions.read_member` holds. It counts members and bytes over the
    whole tree, so that a small file that unfolds into many ends soon, recognises a file that
    contains itself, and reports the pages of all documents together.
    """

    def __init__(self, read: Callable[[Path, ReadOptions], Extraction], options: ReadOptions):
        self._read = read
        self._left = TREE_FACTOR * options.max_members
        self._bytes_left = BUDGET_FACTOR * options.max_member_bytes
        self._chain: list[bytes] = []
        self._pages = 0
        self._report = options.on_pages

    def count_pages(self, pages: int) -> None:
        """Add `pages` to those reported so far: the deadline has to do for all documents."""
        self._pages += pages
        if self._report is not None:
            self._report(self._pages)

    def __call__(self, name: str, data: bytes, options: ReadOptions) -> Extraction:
        """Return what reading `data`, found under `name`, gives; `options` are the member's own."""
        refused = self._refusal(data, options)
        if refused:
            return Extraction(Status.FAILED, reason=Reason.TOO_LARGE, error=refused, size=len(data))
        digest = hashlib.sha256(data).digest()
        if digest in self._chain:
            error = "the file contains itself"
            return Extraction(Status.FAILED, reason=Reason.TOO_LARGE, error=error, size=len(data))
        self.count_pages(MEMBER_PAGES)
        self._left -= 1
        self._bytes_left -= len(data)
        self._chain.append(digest)
        try:
            with tempfile.TemporaryDirectory(prefix="member-", dir=options.scratch) as folder:
                path = Path(folder, "member" + _safe_suffix(name))
                path.write_bytes(data)
                return self._read(path, options)
        finally:
            self._chain.pop()

    def _refusal(self, data: bytes, options: ReadOptions) -> str | None:
        if options.depth > options.max_member_depth:
            return f"nested more than {options.max_member_depth} deep"
        if len(data) > options.max_member_bytes:
            return f"{len(data)} bytes, more than {options.max_member_bytes}"
        if self._left <= 0 or len(data) > self._bytes_left:
            return "too many documents inside one attachment"
        return None


def read_parts(parts: Iterable[Part], options: ReadOptions) -> tuple[tuple[Member, ...], list[str]]:
    """Read `parts` in order with `options.read_member`; returns the members and warnings.

    At most `options.max_members` are read, the others are counted in a warning.
    """
    from regcomments.read import failure_of  # not above: that module imports this one

    members: list[Member] = []
    skipped = 0
    for part in parts:
        if len(members) >= options.max_members or options.read_member is None:
            skipped += 1
            continue
        if part.size is not None and part.size > options.max_member_bytes:
            error = f"{part.size} bytes, more than {options.max_member_bytes}"
            result = Extraction(Status.FAILED, reason=Reason.TOO_LARGE, error=error, size=part.size)
        else:
            try:
                data = part.load()
            except Exception as error:
                result = failure_of(error)
            else:
                result = options.read_member(part.name, data, options.deeper())
        members.append(Member(part.name, result))
    warnings = [f"{skipped} more documents inside were not read"] if skipped else []
    return tuple(members), warnings


def find_inside(
    path: Path, inside: str, parts_of: Callable[[Path], Iterator[Part]]
) -> Iterator[bytes]:
    """Yield the bytes of each document in `path` that `inside` may mean.

    `inside` is a name in a name in a name, parted by slashes, which names may hold themselves.
    `parts_of` lists the parts of a file, and raises LookupError for what is no container.
    """
    try:
        for part in parts_of(path):
            if part.name == inside:
                yield part.load()
            elif inside.startswith(part.name + "/"):
                with tempfile.TemporaryDirectory(prefix="member-") as folder:
                    inner = Path(folder, "member" + _safe_suffix(part.name))
                    inner.write_bytes(part.load())
                    yield from find_inside(inner, inside[len(part.name) + 1 :], parts_of)
    except LookupError:
        return


def _safe_suffix(name: str) -> str:
    suffix = name.rpartition(".")[2].lower()
    return f".{suffix}" if re.fullmatch("[a-z0-9]{1,8}", suffix) else ""
