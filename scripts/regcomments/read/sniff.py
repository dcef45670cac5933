"""The kind of a file, told by its content first and by its name only where content is silent."""

from __future__ import annotations

import lzma
import re
import struct
import zipfile
import zlib
from enum import StrEnum
from pathlib import Path

import olefile

from regcomments.read.wordperfect import looks_like_wordperfect4

HEAD = 16_384  # bytes looked at; beyond it only zip and OLE directories are read
PDF_WINDOW = 1024  # bytes before %PDF- that readers tolerate (ISO 32000-1, note in annex H.3)
_CONTENT_TYPES_LIMIT = 2_000_000  # bytes of [Content_Types].xml read at most


class Kind(StrEnum):
    """The kinds of file told apart; the values go into `kind` of an extraction."""

    PDF = "pdf"
    DOCX = "docx"
    XLSX = "xlsx"
    PPTX = "pptx"
    DOC = "doc"
    XLS = "xls"
    PPT = "ppt"
    ODT = "odt"
    ODS = "ods"
    ODP = "odp"
    RTF = "rtf"
    WPD = "wpd"
    WPS = "wps"
    EPUB = "epub"
    XPS = "xps"
    HTML = "html"
    MHTML = "mhtml"
    XML = "xml"
    TEXT = "txt"
    EML = "eml"
    MSG = "msg"
    TNEF = "tnef"
    ZIP = "zip"
    ARCHIVE = "archive"  # rar, 7z, gzip …: packed, but not as zip
    IMAGE = "image"
    POSTSCRIPT = "postscript"
    IWORK = "iwork"
    ONENOTE = "onenote"
    OFFICE_OTHER = "office-other"  # Visio, Publisher, Project …
    ENCRYPTED = "encrypted-office"
    RIGHTS_MANAGED = "rights-managed"
    NOT_A_DOCUMENT = "not-a-document"
    UNKNOWN = "unknown"


_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"{\\rtf", Kind.RTF),
    (b"\x89PNG\r\n\x1a\n", Kind.IMAGE),
    (b"\xff\xd8\xff", Kind.IMAGE),
    (b"GIF87a", Kind.IMAGE),
    (b"GIF89a", Kind.IMAGE),
    (b"II*\x00", Kind.IMAGE),
    (b"MM\x00*", Kind.IMAGE),
    (b"II+\x00", Kind.IMAGE),
    (b"MM\x00+", Kind.IMAGE),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", Kind.IMAGE),
    (b"\xff\x4f\xff\x51", Kind.IMAGE),
    (b"8BPS", Kind.IMAGE),
    (b"\xffWPC", Kind.WPD),
    (b"\xe4R\\{\x8c\xd8\xa7M\xae\xb1Sx\xd0)\x96\xd3", Kind.ONENOTE),
    (b"x\x9f>\x22", Kind.TNEF),
    (b"%!PS", Kind.POSTSCRIPT),
    (b"\xc5\xd0\xd3\xc6", Kind.POSTSCRIPT),
    (b"Rar!\x1a\x07", Kind.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", Kind.ARCHIVE),
    (b"\x1f\x8b\x08", Kind.ARCHIVE),
    (b"BZh", Kind.ARCHIVE),
    (b"\xfd7zXZ\x00", Kind.ARCHIVE),
    (b"MSCF", Kind.ARCHIVE),
    (b"AT&TFORM", Kind.OFFICE_OTHER),  # DjVu
    (b"\x09\x08\x10\x00\x00\x06", Kind.XLS),  # BIFF 8 and 5 without an OLE shell, BIFF 2 to 4
    (b"\x09\x08\x08\x00\x00\x05", Kind.XLS),
    (b"\x09\x00\x04\x00", Kind.XLS),
    (b"\x09\x02\x06\x00", Kind.XLS),
    (b"\x09\x04\x06\x00", Kind.XLS),
    (b"\x31\xbe\x00\x00", Kind.OFFICE_OTHER),  # Word for DOS, Windows Write
    (b"\xdb\xa5", Kind.OFFICE_OTHER),  # Word 2
    (b"MZ", Kind.NOT_A_DOCUMENT),
    (b"\x7fELF", Kind.NOT_A_DOCUMENT),
    (b"\xca\xfe\xba\xbe", Kind.NOT_A_DOCUMENT),
    (b"\xcf\xfa\xed\xfe", Kind.NOT_A_DOCUMENT),
    (b"\xce\xfa\xed\xfe", Kind.NOT_A_DOCUMENT),
    (b"\x00asm", Kind.NOT_A_DOCUMENT),
    (b"ID3", Kind.NOT_A_DOCUMENT),
    (b"OggS", Kind.NOT_A_DOCUMENT),
    (b"fLaC", Kind.NOT_A_DOCUMENT),
    (b"\x1aE\xdf\xa3", Kind.NOT_A_DOCUMENT),
    (b"FLV\x01", Kind.NOT_A_DOCUMENT),
    (b"#!AMR", Kind.NOT_A_DOCUMENT),
    (b"MThd", Kind.NOT_A_DOCUMENT),
    (b"\x00\x00\x01\xba", Kind.NOT_A_DOCUMENT),
    (b"\x00\x00\x01\xb3", Kind.NOT_A_DOCUMENT),
    (b"0&\xb2u\x8ef\xcf\x11", Kind.NOT_A_DOCUMENT),
    (b"SQLite format 3\x00", Kind.NOT_A_DOCUMENT),
    (b"\x00\x01\x00\x00Standard ", Kind.NOT_A_DOCUMENT),  # Access
    (b"L\x00\x00\x00\x01\x14\x02\x00", Kind.NOT_A_DOCUMENT),  # Windows shortcut
    (b"\x00\x05\x16\x07", Kind.NOT_A_DOCUMENT),  # AppleDouble, "._name" files
    (b"\x00\x05\x16\x00", Kind.NOT_A_DOCUMENT),
    (b"!BDN", Kind.NOT_A_DOCUMENT),  # Outlook mailbox
    (b"OTTO", Kind.NOT_A_DOCUMENT),
    (b"wOFF", Kind.NOT_A_DOCUMENT),
    (b"wOF2", Kind.NOT_A_DOCUMENT),
    (b"\x00\x01\x00\x00\x00", Kind.NOT_A_DOCUMENT),  # TrueType font
    (b"PAR1", Kind.NOT_A_DOCUMENT),
    (b"\x89HDF", Kind.NOT_A_DOCUMENT),
)
_IMAGE_BRANDS = {b"heic", b"heix", b"heif", b"mif1", b"msf1", b"hevc", b"avif", b"avis"}
_ODF = {
    "application/vnd.oasis.opendocument.text": Kind.ODT,
    "application/vnd.oasis.opendocument.spreadsheet": Kind.ODS,
    "application/vnd.oasis.opendocument.presentation": Kind.ODP,
    "application/vnd.oasis.opendocument.graphics": Kind.ODP,
    "application/vnd.sun.xml.writer": Kind.ODT,
    "application/epub+zip": Kind.EPUB,
}
# By name, for files whose content says nothing: only kinds whose reader may still cope with, or
# has to name, the damage.
_BY_SUFFIX = {
    **{suffix: Kind(suffix) for suffix in ("pdf", "docx", "xlsx", "pptx", "doc", "xls", "ppt")},
    **{suffix: Kind(suffix) for suffix in ("odt", "ods", "odp", "msg", "zip", "epub", "wpd")},
    **dict.fromkeys(("docm", "dotx", "dotm"), Kind.DOCX),
    **dict.fromkeys(("xlsm", "xlsb", "xltx"), Kind.XLSX),
    **dict.fromkeys(("pptm", "ppsx", "potx"), Kind.PPTX),
    **dict.fromkeys(("wp", "wp4", "wp5", "wp6"), Kind.WPD),
    **dict.fromkeys(("jpg", "jpeg", "png", "gif", "bmp", "tif", "tiff", "webp"), Kind.IMAGE),
    **dict.fromkeys(("heic", "jp2", "jfif"), Kind.IMAGE),
    **dict.fromkeys(("txt", "text", "csv", "md", "asc"), Kind.TEXT),
    **dict.fromkeys(("mp3", "mp4", "m4a", "wav", "avi", "mov", "wmv", "wma"), Kind.NOT_A_DOCUMENT),
    **dict.fromkeys(("exe", "dll", "bin", "dat", "iso", "db"), Kind.NOT_A_DOCUMENT),
}
# What no text holds, and formats of these kinds whose signature is letters alone have in their
# header: looked for in the first bytes.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_LEAD = 256
_BINARY = frozenset({Kind.NOT_A_DOCUMENT, Kind.ARCHIVE})
# What zipfile and the decompressors raise on a damaged member.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, KeyError),
    *(RuntimeError, NotImplementedError, struct.error),
)
# Version 4 has no signature; binary files under these names are tried.
_MAYBE_WORDPERFECT = frozenset({"", "doc", "wpd", "wp", "wp4", "txt", "let", "ltr"})
_HTML_TAG = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|table|div|p|br|h[1-6]|span|font|script|style)"
    rb"[\s/>]",
    re.IGNORECASE,
)
_XML_START = re.compile(
    rb"\s*<(?:\?xml\s|!DOCTYPE\s|!SGML|!--|[A-Za-z_][\w.:-]*[\s/>])", re.IGNORECASE
)
# Word documents saved as one XML file, which the DOCX reader opens too.
_WORD_XML = re.compile(
    rb"progid=[\"']Word\.Document|wordprocessingml\.document\.main|office/word/2003/wordml"
)
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,40}:[ \t]?")
# Header fields that only mail programs write, and those that people write at the head of a letter.
_MAIL_SURE = re.compile(
    rb"^(?:received|return-path|message-id|mime-version|delivered-to|x-mailer|dkim-signature"
    rb"|content-type:[ \t]*multipart/[a-z]+\s*;)",
    re.IGNORECASE | re.MULTILINE,
)
_MAIL_MAYBE = re.compile(rb"^(?:from|to|subject|date|cc|reply-to):", re.IGNORECASE | re.MULTILINE)


def sniff(path: Path) -> Kind:
    """Return the kind of the file at `path`, which isn't empty. Raises OSError."""
    with path.open("rb") as handle:
        head = handle.read(HEAD)
    if head.startswith(b"%PDF-"):
        return Kind.PDF  # five of six files, and nothing else begins so
    suffix = path.suffix.lower().lstrip(".")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK00PK\x03\x04")):
        return _zip_kind(path)
    if head.startswith(olefile.MAGIC):
        return _ole_kind(path, suffix)
    kind = _magic_kind(head)
    if kind is not None:
        return kind
    if re.search(rb"%PDF-\d", head[: PDF_WINDOW + 8]):
        return Kind.PDF
    found = _text_kind(head, suffix)
    if found is None and suffix in _MAYBE_WORDPERFECT and looks_like_wordperfect4(head):
        return Kind.WPD
    return found or _BY_SUFFIX.get(suffix, Kind.UNKNOWN)


def _magic_kind(head: bytes) -> Kind | None:
    lead = head.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n\x00")
    if lead.startswith(b"{\\rtf"):
        return Kind.RTF
    # Letters that begin a text: "MZ Clinic", "OTTO", "Citywide" with its "wide" at 4.
    plain = _CONTROL.search(head, 0, _LEAD) is None
    for magic, kind in _MAGIC:
        if head.startswith(magic) and not (plain and kind in _BINARY and magic.isalnum()):
            return kind
    if head[4:8] == b"ftyp":
        return Kind.IMAGE if head[8:12] in _IMAGE_BRANDS else Kind.NOT_A_DOCUMENT
    if head[4:8] in (b"moov", b"mdat", b"wide") and not plain:
        return Kind.NOT_A_DOCUMENT
    if head.startswith(b"RIFF") and not plain:
        return Kind.IMAGE if head[8:12] == b"WEBP" else Kind.NOT_A_DOCUMENT
    # BMP: a small info header size at 14; the two letters alone could begin a text.
    if head.startswith(b"BM") and head[14:15] in (b"\x0c", b"(", b"@", b"l", b"|", b"8", b"4"):
        return Kind.IMAGE if head[15:18] == b"\x00\x00\x00" else None
    if head[257:262] == b"ustar":
        return Kind.ARCHIVE
    # MPEG audio frame without ID3: sync bits, layer III, a valid bit rate.
    if head[:1] == b"\xff" and head[1:2] in (b"\xfb", b"\xf3", b"\xf2") and len(head) > 4:
        return Kind.NOT_A_DOCUMENT
    return None


def _zip_kind(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            return _package_kind(archive, names)
    except _DAMAGE:
        return _broken_zip_kind(path)


def _package_kind(archive: zipfile.ZipFile, names: list[str]) -> Kind:
    if names and "mimetype" in names[:3]:
        with archive.open("mimetype") as stream:
            mimetype = stream.read(200).decode("ascii", "replace").strip()
        for known, kind in _ODF.items():
            if mimetype.startswith(known):
                return kind
    lower = {name.lower().replace("\\", "/").lstrip("/") for name in names}
    if "[content_types].xml" in lower:
        return _opc_kind(archive, names, lower)
    if any(name.endswith(("index/document.iwa", "index.apxl", "index.xml.gz")) for name in lower):
        return Kind.IWORK
    if "meta-inf/manifest.mf" in lower or "androidmanifest.xml" in lower:
        return Kind.NOT_A_DOCUMENT
    if "content.xml" in lower and "meta-inf/manifest.xml" in lower:
        return Kind.ODT
    # A package that lost its [Content_Types].xml still has its main part.
    return _main_part_kind(lower) or Kind.ZIP


def _opc_kind(archive: zipfile.ZipFile, names: list[str], lower: set[str]) -> Kind:
    name = next(name for name in names if name.lower().lstrip("/") == "[content_types].xml")
    with archive.open(name) as stream:
        types = stream.read(_CONTENT_TYPES_LIMIT)
    for pattern, kind in (
        (rb"wordprocessingml\.(?:document|template)\.main|ms-word\.[\w.]*main\+xml", Kind.DOCX),
        (rb"presentationml\.\w+\.main|ms-powerpoint\.\w+\.[\w.]*main\+xml", Kind.PPTX),
        (rb"spreadsheetml\.(?:sheet|template)\.main|ms-excel\.[\w.]*main", Kind.XLSX),
        (rb"xps-fixeddocumentsequence|openxps|fixeddocseq", Kind.XPS),
        (rb"ms-visio", Kind.OFFICE_OTHER),
    ):
        if re.search(pattern, types, re.IGNORECASE):
            return kind
    return _main_part_kind(lower) or Kind.ZIP


def _main_part_kind(lower: set[str]) -> Kind | None:
    if any(re.fullmatch(r"word/document\d*\.xml", name) for name in lower):
        return Kind.DOCX
    if "xl/workbook.xml" in lower or "xl/workbook.bin" in lower:
        return Kind.XLSX
    return Kind.PPTX if "ppt/presentation.xml" in lower else None


def _broken_zip_kind(path: Path) -> Kind:
    """Without a readable directory, names still stand in the local headers of the members."""
    with path.open("rb") as handle:
        data = handle.read(1_000_000)
    for name, kind in (
        (b"word/", Kind.DOCX),
        (b"xl/", Kind.XLSX),
        (b"ppt/", Kind.PPTX),
        (b"mimetypeapplication/vnd.oasis.opendocument.text", Kind.ODT),
    ):
        if name in data:
            return kind
    return _BY_SUFFIX.get(path.suffix.lower().lstrip("."), Kind.ZIP)


def _ole_kind(path: Path, suffix: str) -> Kind:
    try:
        with olefile.OleFileIO(path) as ole:
            streams = {"/".join(entry).lower() for entry in ole.listdir()}
    except (OSError, ValueError, IndexError, TypeError, AttributeError, RecursionError):
        return _BY_SUFFIX.get(suffix, Kind.DOC)
    roots = {name.partition("/")[0] for name in streams}
    if any("drmencrypted" in name or "drmcontent" in name for name in streams):
        return Kind.RIGHTS_MANAGED
    for names, kind in (
        ({"encryptedpackage"}, Kind.ENCRYPTED),
        ({"__properties_version1.0"}, Kind.MSG),
        ({"worddocument"}, Kind.DOC),
        ({"workbook", "book"}, Kind.XLS),
        ({"powerpoint document", "pp40", "pp97_dualstorage"}, Kind.PPT),
        ({"perfectoffice_main", "nativecontent_main"}, Kind.WPD),
        ({"matost", "mm", "spellingstream"}, Kind.WPS),
        ({"visiodocument", "quill", "bodytext", "hwpsummaryinformation"}, Kind.OFFICE_OTHER),
    ):
        if roots & names:
            return kind
    if "contents" in roots:
        return Kind.WPS
    if any("thumbs" in name or "catalog" in name for name in roots):
        return Kind.NOT_A_DOCUMENT
    return _BY_SUFFIX.get(suffix, Kind.OFFICE_OTHER)


def _text_kind(head: bytes, suffix: str) -> Kind | None:
    text = as_ascii(head)
    if text is None:
        return None
    lead = text.lstrip(b" \t\r\n")
    if lead.startswith(b"<") and _XML_START.match(lead):
        if _WORD_XML.search(lead[:4096]):
            return Kind.DOCX
        if re.match(rb"<!doctype\s+html|<html", lead, re.I) or (
            re.search(rb"<html[\s>]|//DTD HTML|//DTD XHTML", lead[:4096], re.I)
            and not re.search(rb"mso-application|<pkg:package", lead[:1024])
        ):
            return Kind.HTML
        if lead.startswith((b"<?xml", b"<!SGML", b"<!DOCTYPE", b"<!doctype")):
            return Kind.XML
        return Kind.HTML if _HTML_TAG.search(lead[:4096]) else Kind.XML
    mail = _mail_kind(text, suffix)
    if mail:
        return mail
    if suffix in ("html", "htm", "xhtml", "mht"):
        return Kind.HTML
    # A page whose first words come before its first tag, as content systems export them.
    if re.search(rb"<html[\s>]", text[:4096], re.I) and re.search(
        rb"<(?:body|head)[\s>]", text, re.I
    ):
        return Kind.HTML
    return Kind.PDF if suffix == "pdf" else Kind.TEXT


def _mail_kind(text: bytes, suffix: str) -> Kind | None:
    block = re.split(rb"\r?\n\r?\n", text.lstrip(b"\r\n"), maxsplit=1)[0]
    if block.startswith(b"From "):  # the envelope line of a mailbox file
        block = block.partition(b"\n")[2]
    if not _HEADER.match(block):
        return None
    sure, maybe = len(_MAIL_SURE.findall(block)), len(_MAIL_MAYBE.findall(block))
    # Outlook keeps a signed message as an attachment that begins so.
    sure += bool(re.match(rb"content-type:[ \t]*multipart/[^\0]*?\bboundary=", block, re.I))
    if sure + maybe < (1 if suffix in ("eml", "mht", "mhtml") else 2) or (
        not sure and suffix not in ("eml", "mht", "mhtml")
    ):
        return None
    if re.search(rb"multipart/related", block, re.I) and (
        suffix in ("mht", "mhtml") or not re.search(rb"^(?:received|to):", block, re.I | re.M)
    ):
        return Kind.MHTML
    return Kind.EML


def as_ascii(head: bytes) -> bytes | None:
    """Return `head` with wide encodings folded to one byte a character; None for binary data.

    Binary is what holds NUL bytes outside UTF-16 and UTF-32, or more than one control byte in
    ten: WordPerfect 4 and raw BIFF lie above, any text in a one-byte or multi-byte charset below.
    """
    for mark, step, offset in (
        (b"\xff\xfe\x00\x00", 4, 4),
        (b"\x00\x00\xfe\xff", 4, 7),
        (b"\xff\xfe", 2, 2),
        (b"\xfe\xff", 2, 3),
    ):
        if head.startswith(mark):
            return head[offset::step]
    head = head.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in head[:4096]:
        sample = head[:4096]
        # UTF-16 without a mark: Latin text has a NUL in nearly every other place.
        for offset in (0, 1):
            wide = sample[1 - offset :: 2]
            if wide and wide.count(0) > 0.7 * len(wide) and sample[offset::2].count(0) == 0:
                return head[offset::2]
        if sample.count(0) > 0.001 * len(sample) + 1:
            return None
    controls = sum(1 for byte in head[:4096] if byte < 32 and byte not in b"\t\n\r\x0c\x1b\x1a\x08")
    return None if controls > 0.1 * min(len(head), 4096) else head
