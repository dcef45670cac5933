"""A letter as data, and the light markup in which the sample letters are written.

Markup: a head of `key: value` lines (`from`, `date`, `re`, `sign`, `footer`, `style`; lines of an
address are parted by ` | `), an empty line, then blocks parted by empty lines:

    # Heading            a heading
    - item / 1. item     a list
    | a | b |            a table; its first row is the header
    Table 1. …           directly above a table: its caption
    ! text               a text box
    text[^note]          a paragraph, with a footnote
    {+new+}{-old-}       a tracked insertion and deletion
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_NOTE = re.compile(r"\[\^(.+?)\]")
_INSERTED = re.compile(r"\{\+(.+?)\+\}")
_DELETED = re.compile(r"\{-(.+?)-\}")
_ITEM = re.compile(r"^(?:- |\d+\. )")


@dataclass(frozen=True)
class Heading:
    """A heading inside the letter."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph in the markup of this module."""

    text: str


@dataclass(frozen=True)
class Box:
    """A text box."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list, numbered from 1 or with bullets."""

    items: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class Grid:
    """A table; `rows[0]` is its header."""

    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


Block = Heading | Paragraph | Box | Bullets | Grid


@dataclass(frozen=True)
class Letter:
    """A whole letter; `serif` chooses the typeface."""

    sender: tuple[str, ...]
    date: str
    subject: str
    signed: tuple[str, ...]
    blocks: tuple[Block, ...]
    footer: str = ""
    serif: bool = False


@cache
def load(name: str) -> Letter:
    """Return the sample letter `name` of the folder `letters`. Raises FileNotFoundError."""
    return parse(files("samples").joinpath("letters", f"{name}.md").read_text("utf-8"))


def parse(text: str) -> Letter:
    """Return the letter that `text`, in the markup above, describes."""
    head, _, body = text.partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Letter(
        sender=tuple(fields["from"].split(" | ")),
        date=fields["date"],
        subject=fields["re"],
        signed=tuple(fields["sign"].split(" | ")),
        blocks=parse_blocks(body),
        footer=fields.get("footer", ""),
        serif=fields.get("style") == "times",
    )


def parse_blocks(body: str) -> tuple[Block, ...]:
    """Return the blocks of `body`."""
    return tuple(_block(chunk.strip("\n")) for chunk in re.split(r"\n{2,}", body) if chunk.strip())


def _block(chunk: str) -> Block:
    lines = chunk.split("\n")
    if chunk.startswith("# "):
        return Heading(chunk[2:])
    if chunk.startswith("! "):
        return Box(chunk[2:])
    if lines[-1].startswith("|"):
        caption = lines.pop(0) if not lines[0].startswith("|") else ""
        cells = (line.strip("|").split("|") for line in lines)
        return Grid(tuple(tuple(cell.strip() for cell in row) for row in cells), caption)
    if all(_ITEM.match(line) for line in lines):
        return Bullets(tuple(_ITEM.sub("", line) for line in lines), lines[0][0] != "-")
    return Paragraph(" ".join(lines))


def notes_of(text: str) -> tuple[str, list[str]]:
    """Return `text` with `\\0` where each footnote mark stands, and the footnotes."""
    return _NOTE.sub("\0", text), _NOTE.findall(text)


def final(text: str) -> str:
    """Return `text` with its tracked changes accepted."""
    return _DELETED.sub("", _INSERTED.sub(r"\1", text))


def revisions(text: str) -> list[tuple[str, str]]:
    """Return the runs of `text` as (kind, text), kind being `plain`, `ins` or `del`."""
    runs = []
    for part in re.split(r"(\{\+.+?\+\}|\{-.+?-\})", text):
        if part:
            kind = {"{+": "ins", "{-": "del"}.get(part[:2], "plain")
            runs.append((kind, part if kind == "plain" else part[2:-2]))
    return runs


def to_text(letter: Letter, newline: str = "\n") -> str:
    """Return the letter as plain text with lines of at most 78 characters."""
    import textwrap

    out = [*letter.sender, "", letter.date, "", f"Re: {letter.subject}", ""]
    for block in letter.blocks:
        match block:
            case Heading(text):
                out += [text.upper(), ""]
            case Paragraph(text) | Box(text):
                body, notes = notes_of(final(text))
                out += [*textwrap.wrap(body.replace("\0", "*"), 78), ""]
                for note in notes:
                    out += [*textwrap.wrap(f"* {note}", 78), ""]
            case Bullets(items, numbered):
                for number, item in enumerate(items, 1):
                    out += textwrap.wrap(f"{number}. {item}" if numbered else f"- {item}", 78)
                out.append("")
            case Grid(rows, caption):
                widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
                out += [caption] if caption else []
                for row in rows:
                    cells = (c.ljust(w) for c, w in zip(row, widths, strict=True))
                    out.append("  ".join(cells).rstrip())
                out.append("")
    out += [*letter.signed, ""]
    return newline.join(out)


def to_html(letter: Letter) -> str:
    """Return the letter as a small HTML page with a style sheet and a script, as mailers add."""
    from html import escape

    parts = [
        "<!DOCTYPE html>\n<html><head><meta charset='utf-8'>",
        f"<title>{escape(letter.subject)}</title>",
        "<style>td { border: 1px solid #999 }</style>",
        "<script>window.dataLayer = ['page view'];</script></head><body>",
        *(f"<div>{escape(line)}</div>" for line in letter.sender),
        f"<p>{escape(letter.date)}</p><p>Re: {escape(letter.subject)}</p>",
    ]
    for block in letter.blocks:
        match block:
            case Heading(text):
                parts.append(f"<h2>{escape(text)}</h2>")
            case Paragraph(text) | Box(text):
                body, notes = notes_of(final(text))
                parts.append(f"<p>{escape(body.replace(chr(0), '*'))}</p>")
                parts += [f"<p><small>* {escape(note)}</small></p>" for note in notes]
            case Bullets(items, numbered):
                tag = "ol" if numbered else "ul"
                inner = "".join(f"<li>{escape(item)}</li>" for item in items)
                parts.append(f"<{tag}>{inner}</{tag}>")
            case Grid(rows, caption):
                parts.append(f"<p>{escape(caption)}</p><table>")
                for index, row in enumerate(rows):
                    tag = "td" if index else "th"
                    cells = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
                    parts.append(f"<tr>{cells}</tr>")
                parts.append("</table>")
    parts += [f"<div>{escape(line)}</div>" for line in letter.signed]
    parts.append("</body></html>\n")
    return "\n".join(parts)
