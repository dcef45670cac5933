"""Opens the package of a Word document: parts, relationships, and what damage allows."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import olefile
from lxml import etree

from regcomments.read.word_xml import PKG, W, parse_xml
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

# Members of a package: a book with 2,000 pictures has about as many.
MAX_ENTRIES = 20_000
# Bytes unpacked from one package in all: XML parts and pictures that are looked at.
MAX_UNPACKED = 400_000_000
# Word 2003's XML: the same vocabulary for text and tables, in one part.
_WORD_2003 = b"http://schemas.microsoft.com/office/word/2003/wordml"
_LOCAL = b"PK\x03\x04"
# What zipfile and the decompressors raise on damaged members; a compression method that isn't
# known is one damaged byte as a rule.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)
_END = b"PK\x05\x06"


@dataclass(frozen=True)
class Relation:
    """A relationship of a part: the last word of its type, its target, whether it is external.

    An internal target is the name of a part, an external one a URL as it was written.
    """

    kind: str
    target: str
    external: bool


class Package:
    """The parts of one document, by name without leading slash, case-blind.

    Names are keys only; nothing is ever written to a path of the package. `warnings` and
    `damaged` tell what was wrong with it so far.
    """

    def __init__(self, source: zipfile.ZipFile | dict[str, bytes]) -> None:
        self._source = source
        self._left = MAX_UNPACKED
        self._relations: dict[str, dict[str, Relation]] = {}
        self._scanned: dict[str, bytes] | None = None
        self.warnings: list[str] = []
        self.damaged = False  # whether text may be lost: no text then means no verdict
        names = source.namelist() if isinstance(source, zipfile.ZipFile) else list(source)
        if len(names) > MAX_ENTRIES:
            raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"{len(names)} zip members")
        self._names = {_key(name): name for name in names if not name.endswith("/")}

    def names(self) -> list[str]:
        """Return the names of all parts, in lower case, in the order of the package."""
        return list(self._names)

    def has(self, name: str) -> bool:
        """Return whether there is a part called `name`."""
        return _key(name) in self._names

    def size(self, name: str) -> int:
        """Return the unpacked size in bytes that the package declares for `name`; 0 if absent."""
        real = self._names.get(_key(name))
        if real is None:
            return 0
        if isinstance(self._source, zipfile.ZipFile):
            return self._source.getinfo(real).file_size
        return len(self._source[real])

    def read(self, name: str, limit: int | None = None) -> bytes:
        """Return the bytes of part `name`, at most `limit` of them.

        Raises KeyError when it is absent, UnreadableError when it is damaged (`corrupt`),
        locked with a zip password (`encrypted`) or when the package unpacks to too much.
        """
        real = self._names[_key(name)]
        if not isinstance(self._source, zipfile.ZipFile):
            return self._source[real][:limit]
        bound = self._left if limit is None else min(limit, self._left)
        try:
            with self._source.open(real) as stream:
                data = stream.read(bound + 1)
        except _DAMAGE as error:
            data = self._salvage(real, error, bound + 1)
        except RuntimeError as error:  # zipfile's word for a password
            raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, f"{name}: {error}") from error
        if len(data) > bound:
            if limit is not None and bound == limit:
                data = data[:limit]
            else:
                raise UnreadableError(
                    Status.FAILED, Reason.TOO_LARGE, f"unpacks to more than {MAX_UNPACKED} bytes"
                )
        self._left -= len(data)
        return data

    def root(self, name: str) -> etree._Element | None:
        """Return the root element of XML part `name`; None when it is absent or unreadable."""
        if not self.has(name):
            return None
        try:
            root, whole = parse_xml(self.read(name))
        except UnreadableError as error:
            if error.reason == Reason.TOO_LARGE:
                raise
            self.warnings.append(f"{name} could not be read: {error.detail}")
            return None
        if not whole:
            self.warnings.append(f"{name} is damaged")
        return root

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relationships of `part` by id ("" for the package itself)."""
        if part not in self._relations:
            self._relations[part] = self._read_relations(part)
        return self._relations[part]

    def main_part(self) -> str:
        """Return the name of the document part. Raises UnreadableError when there is none."""
        for relation in self.relations("").values():
            if relation.kind == "officedocument" and self.has(relation.target):
                return relation.target
        for name in self._names:
            if name.startswith("word/document") and name.endswith(".xml"):
                return name
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no document part in the package")

    def _read_relations(self, part: str) -> dict[str, Relation]:
        folder, base = posixpath.split(part)
        root = self.root(posixpath.join(folder, "_rels", base + ".rels"))
        found: dict[str, Relation] = {}
        if root is None:
            return found
        for node in root.iter("{*}Relationship"):
            target = (node.get("Target") or "").strip()
            external = (node.get("TargetMode") or "").lower() == "external"
            kind = (node.get("Type") or "").rsplit("/", 1)[-1].lower()
            if not external:
                target = _resolve(folder, target)
            found[node.get("Id") or ""] = Relation(kind, target, external)
        return found

    def _salvage(self, real: str, error: Exception, limit: int) -> bytes:
        """Inflate a member as far as it goes, when its checksum, its end or its place is wrong."""
        assert isinstance(self._source, zipfile.ZipFile)
        handle, info = self._source.fp, self._source.getinfo(real)
        member = b""
        if handle is not None and info.header_offset >= 0:
            handle.seek(info.header_offset)
            length = 30 + 2 * 65_535 + info.compress_size  # header, name and extra field, data
            member = _member_at(handle.read(length), 0, info, limit)
        if handle is not None and not member:
            if self._scanned is None:
                handle.seek(0)
                self._scanned = _scan(handle.read())
            member = self._scanned.get(real, b"")[:limit]
        if not member:
            detail = f"{real}: {error}"[:200]
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, detail) from error
        self.warnings.append(f"{real} is damaged")
        self.damaged = True
        return member


def open_package(path: Path) -> Package:
    """Open the document at `path`.

    Raises UnreadableError: `encrypted` and `rights_managed` for the OLE shells that Office puts
    round protected documents, `corrupt` for what is no package or lost its end, OSError as is.
    """
    with path.open("rb") as handle:
        head = handle.read(4096)
    if head.startswith(olefile.MAGIC):
        raise ole_verdict(path)
    return package_from(path, head)


def package_from(source: Path | bytes, head: bytes) -> Package:
    """Open the package in a file or in memory; `head` are its first bytes. See open_package."""
    if b"<pkg:package" in head:
        return _flat_package(source if isinstance(source, bytes) else source.read_bytes())
    if _WORD_2003 in head:
        data = source if isinstance(source, bytes) else source.read_bytes()
        return Package({"word/document.xml": data.replace(_WORD_2003, W[1:-1].encode())})
    try:
        return Package(zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        data = source if isinstance(source, bytes) else source.read_bytes()
        members = _scan(data)
        if not members:
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, f"zip: {error}"[:200]) from error
        package = Package(members)
        package.warnings.append("the directory of the package is damaged")
        package.damaged = True
        return package


def ole_verdict(path: Path) -> UnreadableError:
    """Return why an OLE file isn't a readable DOCX: protected, or something else altogether."""
    try:
        with olefile.OleFileIO(path) as ole:
            streams = {
                "/".join(entry).lower() for entry in ole.listdir(streams=True, storages=True)
            }
    except (OSError, ValueError, IndexError, TypeError, AttributeError, RecursionError) as error:
        return UnreadableError(Status.FAILED, Reason.CORRUPT, f"OLE: {error}"[:200])
    # [MS-OFFCRYPTO] 2.2: the data space of information rights management has these names.
    if any("drmencrypted" in name or "drmcontent" in name for name in streams):
        return UnreadableError(Status.FAILED, Reason.RIGHTS_MANAGED, "asks for a licence server")
    if "encryptedpackage" in streams or "encryptioninfo" in streams:
        return UnreadableError(Status.FAILED, Reason.ENCRYPTED, "asks for a password")
    return UnreadableError(Status.FAILED, Reason.CORRUPT, "an OLE file, not a DOCX package")


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _resolve(folder: str, target: str) -> str:
    target = unquote(target.partition("#")[0]).replace("\\", "/")
    joined = target if target.startswith("/") else posixpath.join("/", folder, target)
    return posixpath.normpath(joined).lstrip("/")


def _scan(data: bytes) -> dict[str, bytes]:
    """Return the members found by their local headers when the central directory is unusable.

    Nothing for a file that was cut off: without an end record nobody knows what followed (notes,
    comments, pictures of the letter), and a part shouldn't pass for the document.
    """
    if _END not in data:
        return {}
    members: dict[str, bytes] = {}
    left = MAX_UNPACKED
    position = data.find(_LOCAL)
    while position >= 0 and left > 0 and len(members) < MAX_ENTRIES:
        name_size = int.from_bytes(data[position + 26 : position + 28], "little")
        name = data[position + 30 : position + 30 + name_size].decode("utf-8", "replace")
        body = _member_at(data, position, None, left)
        if name and body and name not in members:
            members[name] = body
            left -= len(body)
        position = data.find(_LOCAL, position + 4)
    return members


def _member_at(
    data: bytes, position: int, info: zipfile.ZipInfo | None, limit: int = MAX_UNPACKED
) -> bytes:
    """Return the unpacked member whose local header is at `position`; b"" when there is none."""
    header = data[position : position + 30]
    if len(header) < 30 or not header.startswith(_LOCAL):
        return b""
    fields = struct.unpack("<IHHHHHIIIHH", header)
    flags, method, packed = fields[2], fields[3], fields[7]
    if info is not None:
        method, packed = info.compress_type, info.compress_size
    start = position + 30 + fields[9] + fields[10]
    if flags & 1:
        return b""
    if method == zipfile.ZIP_STORED:
        end = start + packed if packed else data.find(b"PK", start)
        return data[start:end][:limit]
    if method != zipfile.ZIP_DEFLATED:
        return b""
    return _inflate(data, start, limit)


def _inflate(data: bytes, start: int, limit: int) -> bytes:
    """Inflate a raw stream in steps, so that what precedes a fault is kept."""
    engine = zlib.decompressobj(-15)
    out = bytearray()
    for offset in range(start, len(data), 4096):
        try:
            out += engine.decompress(data[offset : offset + 4096], limit + 1 - len(out))
        except zlib.error:
            break
        if engine.eof or len(out) > limit:
            break
    return bytes(out[:limit])


def _flat_package(data: bytes) -> Package:
    """Open Word's one-file XML form (Flat OPC): each part is an element of one document."""
    root, _ = parse_xml(data)
    parts: dict[str, bytes] = {}
    for part in root.iter(PKG + "part"):
        name = part.get(PKG + "name") or ""
        for body in part.iterchildren(PKG + "xmlData"):
            if len(body):
                parts[name] = etree.tostring(body[0])
    return Package(parts)
