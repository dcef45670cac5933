"""Names of the XML of Word, and a parser for it that bounds what a file may cost."""

from __future__ import annotations

import codecs
import html
import re

from lxml import etree

from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

# Bytes of one XML part. The longest letters of real dockets have 5 MB; lxml takes about eight
# times the size, and the worker has 2 GB.
MAX_XML_BYTES = 64_000_000
# Tags of one part: 150 bytes a node in libxml2, whatever the part's size in bytes.
MAX_TAGS = 3_000_000

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
V = "{urn:schemas-microsoft-com:vml}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741 - the prefix that the format uses
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
PKG = "{http://schemas.microsoft.com/office/2006/xmlPackage}"

VAL = W + "val"
RID = R + "id"

# Strict OOXML (ISO/IEC 29500-1) uses other names for the same vocabulary (annex A of part 4).
_STRICT = b"http://purl.oclc.org/ooxml/"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/"
_STRICT_NAMES = (
    (b"wordprocessingml/main", b"wordprocessingml/2006/main"),
    (b"officeDocument/relationships", b"officeDocument/2006/relationships"),
    (b"officeDocument/math", b"officeDocument/2006/math"),
    (b"drawingml/main", b"drawingml/2006/main"),
    (b"drawingml/wordprocessingDrawing", b"drawingml/2006/wordprocessingDrawing"),
    (b"drawingml/chart", b"drawingml/2006/chart"),
    (b"drawingml/diagram", b"drawingml/2006/diagram"),
    (b"drawingml/picture", b"drawingml/2006/picture"),
)
_DECLARATION = re.compile(rb"\s*<\?xml[^>]{0,400}?\?>")
_ENCODING = re.compile(rb"""encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
# OPC allows UTF-8 and UTF-16 (ECMA-376 part 2, 8.1.4); careless writers use these too. Others,
# UTF-7 above all, could hide a DTD.
_SINGLE_BYTE = re.compile(r"(iso-?8859-\d+|latin-?1|windows-125\d|cp125\d|us-ascii|ascii)", re.I)
_BARE_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_REFERENCE = re.compile(r"&#?\w{1,31};")
# Names of HTML; XML itself knows five.
_HTML_NAME = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,31};")
# Characters that XML forbids; a parser that repairs drops every reference after such a one.
_FORBIDDEN = re.compile(
    rb"&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bBcCeEfF]|1[0-9a-fA-F]));"
)
_DTD = re.compile(rb"<!DOCTYPE[^\[<>]*(?:\[.*?\]\s{0,20})?>", re.DOTALL)
_ENTITY = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z_][\w.-]{0,100};")
_TEXT = re.compile(rb"<(?:\w+:)?(?:t|p|tab|br)(?:\s[^<>]*)?(?:/>|>([^<]*))")


def parse_xml(data: bytes) -> tuple[etree._Element, bool]:
    """Parse one part; returns its root and whether it was whole.

    A part that isn't well-formed is read as far as it can be repaired. A DTD, which OPC forbids,
    is cut off with all that it declares, and nothing is fetched. Raises UnreadableError when
    nothing is left (`corrupt`) or when the part is too large.
    """
    data = to_utf8(data)
    if len(data) > MAX_XML_BYTES or data.count(b"<") > MAX_TAGS:
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"XML part of {len(data)} bytes")
    if b"<!DOCTYPE" in data:
        data = _ENTITY.sub(b"", _DTD.sub(b"", data))
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, "an XML part declares a DTD")
    if _STRICT in data:
        for strict, transitional in _STRICT_NAMES:
            data = data.replace(_STRICT + strict, _TRANSITIONAL + transitional)
    try:
        return etree.fromstring(data, _parser(recover=False)), True
    except etree.XMLSyntaxError as error:
        root = _repaired(data)
        if root is None:
            raise UnreadableError(Status.FAILED, Reason.CORRUPT, f"XML: {error}"[:200]) from error
        return root, False


def to_utf8(data: bytes) -> bytes:
    """Return `data` as UTF-8 without byte order mark or XML declaration."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    elif data[:4] in (b"<\x00?\x00", b"\x00<\x00?"):
        wide = "utf-16-le" if data[:1] == b"<" else "utf-16-be"
        data = data.decode(wide, "replace").encode("utf-8", "replace")
    while data.startswith(codecs.BOM_UTF8):
        data = data[3:]
    match = _DECLARATION.match(data)
    if not match:
        return data.lstrip(b" \t\r\n\x00")
    encoding = _ENCODING.search(match.group())
    data = data[match.end() :]
    name = encoding.group(1).decode() if encoding else "utf-8"
    if _SINGLE_BYTE.fullmatch(name):
        data = data.decode(codecs.lookup(name).name, "replace").encode()
    return data


def raw_text(data: bytes) -> str:
    """Return the text of a part's `t` elements without parsing it, a line per paragraph.

    For parts that no parser reads to the end: nested too deep, or broken in the middle.
    """
    pieces: list[str] = []
    for match in _TEXT.finditer(to_utf8(data)):
        if match.group(1):
            pieces.append(match.group(1).decode("utf-8", "replace"))
        elif re.match(rb"<(?:\w+:)?p[\s>/]", match.group()):
            pieces.append("\n")
        else:
            pieces.append(" ")
    return _REFERENCE.sub(lambda match: html.unescape(match[0]), "".join(pieces))


def _parser(*, recover: bool) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,  # nesting down to 2,048 instead of 256; size is bounded above
        recover=recover,
        collect_ids=False,
        encoding="utf-8",
    )


def _named(match: re.Match[bytes]) -> bytes:
    """Return the character that a name of HTML stands for, as XML."""
    return html.escape(html.unescape(match[0].decode()), quote=False).encode()


def _repaired(data: bytes) -> etree._Element | None:
    data = _HTML_NAME.sub(_named, _FORBIDDEN.sub(b" ", data))
    data = _BARE_AMPERSAND.sub(b"&amp;", data)
    try:
        return etree.fromstring(data, _parser(recover=True))
    except etree.XMLSyntaxError:
        return None
