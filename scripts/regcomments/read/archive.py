"""Zip archives: each document in one is read as a member."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from regcomments.read.members import NameBook, Part, read_parts
from regcomments.read.options import ReadOptions
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_ENTRIES = 20_000  # names looked at; an archive of a docket has some hundreds
MAX_UNPACKED = 100_000_000  # bytes of one member, as ReadOptions.max_member_bytes
_CLUTTER = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


def read_zip(path: Path, options: ReadOptions) -> Document:
    """Read the documents in the archive at `path`; they are the members, there is no body.

    Raises UnreadableError (`no_pages`) for an archive without files, BadZipFile for damage.
    """
    members, warnings = read_parts(parts(path), options)
    if not members and not warnings:
        raise UnreadableError(Status.FAILED, Reason.NO_PAGES, "an archive without files")
    return Document(kind="zip", method="zipfile", members=members, warnings=tuple(warnings))


def parts(path: Path) -> Iterator[Part]:
    """Yield the files in the archive under their names there; load each before the next.

    Folders, resource forks and thumbnails of the system that packed it are left out.
    """
    book = NameBook()
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist()[:MAX_ENTRIES]:
            name = PurePosixPath(info.filename.replace("\\", "/"))
            if info.is_dir() or "__MACOSX" in name.parts or name.name.startswith("._"):
                continue
            if name.name.lower() in _CLUTTER:
                continue
            yield Part(
                book.name(info.filename), lambda info=info: _unpack(archive, info), info.file_size
            )


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.flag_bits & 1:
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    try:
        with archive.open(info) as stream:
            data = stream.read(MAX_UNPACKED + 1)
    except NotImplementedError as error:
        raise UnreadableError(Status.UNSUPPORTED, Reason.NO_READER, str(error)) from error
    if len(data) > MAX_UNPACKED:
        detail = f"unpacks to more than {MAX_UNPACKED} bytes"
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, detail)
    return data
