"""Outlook messages (msg): head, body, and attachments as members.

Property numbers and stream names are those of [MS-OXMSG] and [MS-OXPROPS].
"""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from email.header import Header
from email.mime.application import MIMEApplication
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path

import olefile

from regcomments.read.charset import charset_of_label, decode
from regcomments.read.mailtext import better_body, head_block
from regcomments.read.members import NameBook, Part, read_parts
from regcomments.read.options import ReadOptions
from regcomments.read.rtf_compressed import decompress
from regcomments.read.rtf_reader import rtf_to_markdown
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_STREAM = 100_000_000  # bytes of one property
MAX_DEPTH = 5  # messages forwarded in messages
MIN_INLINE_PICTURE = 20_000  # bytes; smaller pictures shown in the body are logos (as in mail)
_SUBJECT, _SENDER, _SENDER_ADDRESS, _SENDER_SMTP = 0x0037, 0x0C1A, 0x0C1F, 0x5D01
_TO, _CC, _SENT, _RECEIVED = 0x0E04, 0x0E03, 0x0039, 0x0E06
_BODY, _HTML, _RTF, _CODE_PAGE, _MESSAGE_CODE_PAGE = 0x1000, 0x1013, 0x1009, 0x3FDE, 0x3FFD
_DATA, _LONG_NAME, _SHORT_NAME, _DISPLAY_NAME = 0x3701, 0x3707, 0x3704, 0x3001
_CONTENT_ID = 0x3712
_UNICODE, _STRING8, _BINARY, _OBJECT = "001F", "001E", "0102", "000D"
_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)  # of FILETIME, in units of 100 ns


class _Storage:
    """One message or attachment: a folder of properties in the file."""

    def __init__(self, ole: olefile.OleFileIO, path: tuple[str, ...], header: int) -> None:
        self.ole, self.path = ole, path
        names = ole.listdir(streams=True, storages=True)
        depth = len(path)
        self.names = {
            entry[depth].upper(): entry[depth]
            for entry in names
            if tuple(entry[:depth]) == path and len(entry) > depth
        }
        self.fixed = self._fixed(header)

    def raw(self, tag: int, kind: str) -> bytes | None:
        """The bytes of a property of this type, None when there is none."""
        name = self.names.get(f"__SUBSTG1.0_{tag:04X}{kind}")
        if name is None:
            return None
        return self.ole.openstream([*self.path, name]).read(MAX_STREAM)

    def text(self, tag: int) -> str:
        """A text property, "" when there is none."""
        wide = self.raw(tag, _UNICODE)
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self.raw(tag, _STRING8)
        return decode(narrow.rstrip(b"\0"), self.code_page())[0] if narrow else ""

    def code_page(self) -> str | None:
        """The charset of texts that aren't Unicode."""
        for tag in (_MESSAGE_CODE_PAGE, _CODE_PAGE):
            number = self.fixed.get(tag, 0) & 0xFFFFFFFF
            if number == 65001:
                return "utf-8"
            if number and charset_of_label(f"cp{number}"):
                return f"cp{number}"
        return None

    def time(self, tag: int) -> str:
        """A time property in ISO form, UTC, to the minute; "" when there is none."""
        ticks = self.fixed.get(tag, 0)
        if not 0 < ticks < 3 * 10**18:
            return ""
        moment = _EPOCH + dt.timedelta(microseconds=ticks // 10)
        return moment.strftime("%Y-%m-%d %H:%M UTC")

    def below(self, prefix: str) -> list[str]:
        """The names of the storages here that begin with `prefix`, in order."""
        return sorted(name for upper, name in self.names.items() if upper.startswith(prefix))

    def _fixed(self, header: int) -> dict[int, int]:
        """Properties of fixed size, from the stream that lists them after `header` bytes."""
        name = self.names.get("__PROPERTIES_VERSION1.0")
        if name is None:
            return {}
        data = self.ole.openstream([*self.path, name]).read(1_000_000)
        count = max(len(data) - header, 0) // 16
        entries = (struct.unpack_from("<HHIQ", data, header + 16 * at) for at in range(count))
        return {tag: value for _, tag, _, value in entries}


def read_msg(path: Path, options: ReadOptions) -> Document:
    """Return the message at `path`: head and body; attachments are the members.

    Raises UnreadableError (`corrupt`) when it has none of them.
    """
    with olefile.OleFileIO(path) as ole:
        message = _Storage(ole, (), 32)
        members, warnings = read_parts(_parts(message), options)
        body = "\n\n".join(block for block in (_head(message), _body(message)) if block)
    if not body and not members:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no readable part of a message")
    return Document("msg", "olefile", body=body, members=members, warnings=tuple(warnings))


def parts(path: Path) -> Iterator[Part]:
    """Yield the attachments of the message at `path` under their names."""
    with olefile.OleFileIO(path) as ole:
        yield from _parts(_Storage(ole, (), 32))


def _head(message: _Storage) -> str:
    address = message.text(_SENDER_SMTP) or message.text(_SENDER_ADDRESS)
    sender = message.text(_SENDER)
    if "@" in address and address not in sender:
        sender = f"{sender} <{address}>".strip()
    return head_block(
        (
            ("From", sender),
            ("To", message.text(_TO)),
            ("Cc", message.text(_CC)),
            ("Date", message.time(_SENT) or message.time(_RECEIVED)),
            ("Subject", message.text(_SUBJECT)),
        )
    )


def _body(message: _Storage) -> str:
    plain = message.text(_BODY)
    html: bytes | str | None = message.raw(_HTML, _BINARY) or message.text(_HTML) or None
    if not html and not plain.strip():
        packed = message.raw(_RTF, _BINARY)
        if packed:
            try:
                return rtf_to_markdown(decompress(packed))
            except (UnreadableError, ValueError, IndexError):
                return ""
    return better_body(plain, html, None)


def _parts(message: _Storage) -> Iterator[Part]:
    book = NameBook()
    for at, name in enumerate(message.below("__ATTACH_VERSION1.0_"), 1):
        attachment = _Storage(message.ole, (*message.path, name), 8)
        label = (
            attachment.text(_LONG_NAME)
            or attachment.text(_SHORT_NAME)
            or attachment.text(_DISPLAY_NAME)
        )
        inner = attachment.names.get(f"__SUBSTG1.0_{_DATA:04X}{_OBJECT}")
        if inner is not None:
            label = label if label.lower().endswith(".eml") else (label or f"message {at}") + ".eml"
            where = (*attachment.path, inner)
            yield Part(book.name(label), lambda where=where: _as_mail(message.ole, where, 1))
            continue
        data = attachment.raw(_DATA, _BINARY)
        if data is None:
            continue
        shown = attachment.text(_CONTENT_ID) and label.lower().endswith((".png", ".jpg", ".gif"))
        if shown and len(data) < MIN_INLINE_PICTURE:
            continue
        yield Part(book.name(label, f"attachment {at}"), lambda data=data: data, len(data))


def _as_mail(ole: olefile.OleFileIO, where: tuple[str, ...], depth: int) -> bytes:
    """A message inside the message, written as a mail file so that the mail reader takes it."""
    return _mail(_Storage(ole, where, 24), depth).as_bytes()


def _mail(message: _Storage, depth: int) -> MIMEMultipart:
    # A fixed boundary gives the same bytes each time: OCR results are kept by their hash.
    mail = MIMEMultipart(boundary=f"=_inner_{depth}")
    for line in _head(message).splitlines():
        name, _, value = line.partition(": ")
        mail[name] = Header(value, "utf-8" if not value.isascii() else "us-ascii")
    mail.attach(MIMEText(_body(message), "plain", "utf-8"))
    for name in message.below("__ATTACH_VERSION1.0_"):
        attachment = _Storage(message.ole, (*message.path, name), 8)
        label = attachment.text(_LONG_NAME) or attachment.text(_SHORT_NAME) or "attachment"
        inner = attachment.names.get(f"__SUBSTG1.0_{_DATA:04X}{_OBJECT}")
        data = attachment.raw(_DATA, _BINARY)
        if inner is not None and depth < MAX_DEPTH:
            where = (*attachment.path, inner)
            mail.attach(MIMEMessage(_mail(_Storage(message.ole, where, 24), depth + 1)))
        elif data is not None:
            part = MIMEApplication(data)
            label = " ".join(label.encode("utf-8", "replace").decode().split())
            part.add_header("Content-Disposition", "attachment", filename=("utf-8", "", label))
            mail.attach(part)
    return mail
