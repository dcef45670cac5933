"""Mail messages as text files (eml), and web pages saved as one file (mhtml)."""

from __future__ import annotations

import email
import email.header
import email.policy
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path

from regcomments.read.charset import decode
from regcomments.read.hypertext import html_to_markdown
from regcomments.read.mailtext import better_body, head_block
from regcomments.read.members import NameBook, Part, read_parts
from regcomments.read.options import ReadOptions
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_PARTS = 2000  # MIME parts looked at in one message
# Bytes below which a picture that the HTML body shows is taken for a logo or a tracking pixel.
MIN_INLINE_PICTURE = 20_000
_HEAD = ("From", "To", "Cc", "Date", "Subject")
_SIGNATURES = frozenset(
    {
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "application/pgp-signature",
        "application/pgp-keys",
    }
)
_SUFFIXES = {
    "application/pdf": ".pdf",
    "message/rfc822": ".eml",
    "text/html": ".html",
    "text/plain": ".txt",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/tiff": ".tif",
}


@dataclass
class _Content:
    """A message taken apart: bodies in order, attachments, and whether anything is locked."""

    bodies: list[str] = field(default_factory=list)
    attachments: list[tuple[Message, bool]] = field(default_factory=list)  # part, shown inline
    locked: bool = False


def read_eml(path: Path, options: ReadOptions) -> Document:
    """Read the message at `path`: its head and body; attachments are the members.

    Raises UnreadableError (`encrypted`) when all of it is locked.
    """
    message = _message(path)
    content = _take_apart(message)
    members, warnings = read_parts(_parts(content), options)
    if content.locked and not content.bodies and not members:
        raise UnreadableError(Status.FAILED, Reason.ENCRYPTED, "the message is encrypted")
    head = head_block((name, _header(message, name)) for name in _HEAD)
    body = "\n\n".join([head, *content.bodies])
    return Document("eml", "email", body=body, members=members, warnings=tuple(warnings))


def read_mhtml(path: Path, options: ReadOptions) -> Document:
    """Return the text of the web page saved at `path`; its pictures are left out."""
    message = _message(path)
    pages = [
        html_to_markdown(_payload(part), part.get_content_charset())
        for part in _walk(message)
        if part.get_content_type() in ("text/html", "application/xhtml+xml")
    ]
    if not any(pages):
        return read_eml(path, options)
    return Document("mhtml", "email+html", body="\n\n".join(page for page in pages if page))


def parts(path: Path) -> Iterator[Part]:
    """Yield the attachments of the message at `path` under their names."""
    return _parts(_take_apart(_message(path)))


def _message(path: Path) -> Message:
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        data = decode(data)[0].encode("utf-8", "replace")
    # compat32 takes any header; the modern policy raises on damaged ones.
    return email.message_from_bytes(data.lstrip(b"\r\n"), policy=email.policy.compat32)


def _walk(message: Message) -> Iterator[Message]:
    """The leaves and attached messages in order, without recursion."""
    stack, seen = [message], 0
    while stack and seen < MAX_PARTS:
        part = stack.pop()
        seen += 1
        inner = part.get_payload() if part.is_multipart() else None
        if isinstance(inner, list) and part.get_content_type() != "message/rfc822":
            stack.extend(reversed(inner))
        else:
            yield part


def _take_apart(message: Message) -> _Content:
    content = _Content()
    stack = [message]
    seen = 0
    while stack and seen < MAX_PARTS:
        part = stack.pop()
        seen += 1
        kind = part.get_content_type()
        inner = part.get_payload() if part.is_multipart() else None
        if kind in ("multipart/alternative",) and isinstance(inner, list):
            _alternative(part, content)
        elif isinstance(inner, list) and kind != "message/rfc822":
            content.locked |= kind == "multipart/encrypted"
            stack.extend(reversed(inner))
        elif kind in _SIGNATURES:
            continue
        elif kind in ("application/pkcs7-mime", "application/x-pkcs7-mime"):
            content.locked = True
        elif kind.startswith(("text/", "multipart/")) and not _is_attachment(part):
            _add_body(part, content)
        else:
            content.attachments.append((part, _is_inline_picture(part)))
    return content


def _alternative(part: Message, content: _Content) -> None:
    """One body out of several; what comes with the HTML one counts as attached to it."""
    plain = html = None
    for leaf in _walk(part):
        kind = leaf.get_content_type()
        if kind in ("text/calendar", "text/x-amp-html"):
            continue
        # Apple's program puts attachments into the HTML side, text files among them.
        if kind not in ("text/plain", "text/html") or _is_attachment(leaf):
            content.attachments.append((leaf, _is_inline_picture(leaf)))
        elif kind == "text/plain":
            plain = leaf if plain is None else plain
        else:
            html = leaf if html is None else html
    text = better_body(
        _text(plain) if plain is not None else "",
        _payload(html) if html is not None else None,
        html.get_content_charset() if html is not None else None,
    )
    if text.strip():
        content.bodies.append(text)


def _add_body(part: Message, content: _Content) -> None:
    kind = part.get_content_type()
    if kind == "text/html":
        text = html_to_markdown(_payload(part), part.get_content_charset())
    elif kind == "text/calendar":
        return
    else:
        text = _text(part)
    if text.strip():
        content.bodies.append(text)


def _text(part: Message) -> str:
    return decode(_payload(part), part.get_content_charset())[0]


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    if isinstance(payload, bytes):
        return payload
    inner = part.get_payload()
    if isinstance(inner, list) and inner:  # an attached message
        return inner[0].as_bytes()
    return str(inner or "").encode("utf-8", "replace")


def _is_attachment(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(_filename(part))


def _is_inline_picture(part: Message) -> bool:
    shown = part.get("Content-ID") and part.get_content_disposition() != "attachment"
    return bool(shown) and part.get_content_maintype() == "image"


def _parts(content: _Content) -> Iterator[Part]:
    book = NameBook()
    for at, (part, inline) in enumerate(content.attachments, 1):
        kind = part.get_content_type()
        if inline and len(_payload(part)) < MIN_INLINE_PICTURE:
            continue
        name = _filename(part)
        if not name and kind == "message/rfc822":
            inner = part.get_payload()
            subject = _header(inner[0], "Subject") if isinstance(inner, list) and inner else ""
            name = (subject or "message") + ".eml"
        fallback = f"part {at}{_SUFFIXES.get(kind, '')}"
        yield Part(book.name(name, fallback), lambda part=part: _payload(part))


def _filename(part: Message) -> str:
    try:
        name = part.get_filename()
    except (ValueError, TypeError, LookupError, AttributeError):
        return ""
    return _decoded(name) if name else ""


def _header(message: Message, name: str) -> str:
    # Not `get`, which replaces raw bytes by U+FFFD.
    for known, value in message.raw_items():
        if known.lower() == name.lower():
            return _decoded(value)
    return ""


def _decoded(value: object) -> str:
    """A header with its encoded words decoded, raw bytes in it read as text."""
    raw = str(value)
    if any("\udc80" <= char <= "\udcff" for char in raw):
        raw = decode(raw.encode("ascii", "surrogateescape"))[0]
    try:
        pieces = email.header.decode_header(raw)
    except (ValueError, email.errors.HeaderParseError):
        return raw
    return "".join(
        piece if isinstance(piece, str) else decode(piece, charset)[0] for piece, charset in pieces
    )
