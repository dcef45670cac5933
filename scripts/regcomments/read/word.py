"""Word documents (DOCX, DOCM, Strict OOXML, Flat OPC) as Markdown, everything in them once.

The package is opened with zipfile and its XML walked with lxml. python-docx opens none of the
Strict and damaged files, unpacks and parses every part of a bomb, and takes as long to open a
package as all that is done here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from regcomments.read.members import Part, read_parts
from regcomments.read.options import ReadOptions
from regcomments.read.word_blocks import Block, StoryReader, to_markdown
from regcomments.read.word_embedded import embedded_parts
from regcomments.read.word_numbering import Numbering
from regcomments.read.word_package import Package, open_package
from regcomments.read.word_pictures import (
    SHORT_TEXT,
    large_drawings,
    picture_pages,
    raster_pictures,
)
from regcomments.read.word_state import WalkState
from regcomments.read.word_styles import Styles
from regcomments.read.word_xml import W, parse_xml, raw_text
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

KIND = "docx"
METHOD = "docx-xml"
# A page number alone, as headers and footers have it: "Page 2 of 7", "- 3 -".
_PAGE_NUMBER = re.compile(r"\W*(?:page|p\.|pg\.?)?\W*\d*\W*(?:(?:of|/)\W*\d*)?\W*", re.IGNORECASE)
_LONGEST_PAGE_NUMBER = 30  # characters; also bounds the time of the expression above
_CONTINUED = re.compile(r"\n(?=[^\n])")
_MAX_COMMENTS = 5_000
_MAX_COMPARED = 1_000_000_000  # characters passed over in search of lost text, about a second


def read_word(path: Path, options: ReadOptions) -> Document:
    """Return the document at `path` as one Markdown body.

    Headers come first, then the body, footers, notes and comments. `pages` holds the pictures
    that may hold text, numbered among all raster pictures from 1. Raises UnreadableError:
    `encrypted`, `rights_managed`, `corrupt`, `too_large`; OSError when the system refuses.
    """
    package = open_package(path)
    state, body = _walk(package)
    if package.damaged and not body:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "; ".join(package.warnings)[:200])
    warnings: list[str] = []
    if state.hidden:
        warnings.append(f"{state.hidden} characters of hidden text left out")
    chars = len("".join(body.split()))
    pictures = raster_pictures(package, state.pictures)
    if options.on_pages is not None and pictures:
        options.on_pages(len(pictures))
    pages = picture_pages(package, pictures, chars)
    if chars < SHORT_TEXT and large_drawings(state.pictures):
        warnings.append("drawings (EMF, WMF) were not searched for text")
    members, more = read_parts(embedded_parts(package, state.objects), options)
    warnings = list(dict.fromkeys([*package.warnings, *warnings, *more]))
    blank = not (body or pages or members)
    return Document(
        kind=KIND,
        method=METHOD,
        body=body,
        pages=pages,
        reason=Reason.BLANK if blank else None,
        warnings=tuple(warnings),
        members=members,
    )


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of raster picture `number` (from 1) of the document at `path`.

    The numbers are those of the pages that `read_word` returns. Raises LookupError when there is
    no such picture, UnreadableError as `read_word` does.
    """
    package = open_package(path)
    state, _ = _walk(package)
    for found in raster_pictures(package, state.pictures):
        if found.number == number:
            return package.read(found.use.part)
    raise LookupError(f"no picture {number} in {path.name}")


def parts(path: Path) -> Iterator[Part]:
    """Yield the documents embedded in the one at `path`, under the names of its members."""
    package = open_package(path)
    state, _ = _walk(package)
    yield from embedded_parts(package, state.objects)


def body_markdown(package: Package, chunks: int) -> tuple[str, int]:
    """Return the whole text of an imported package, and the count of imports after it.

    `chunks` is the count so far; it bounds how deep and how often imports may nest.
    """
    state, body = _walk(package, chunks)
    return body, state.chunks


def _walk(package: Package, chunks: int = 0) -> tuple[WalkState, str]:
    main = package.main_part()
    data = package.read(main)
    root, whole = parse_xml(data)
    base = main.rpartition("/")[0]
    styles = Styles(_related_root(package, main, "styles", f"{base}/styles.xml"))
    numbering_root = _related_root(package, main, "numbering", f"{base}/numbering.xml")
    state = WalkState(
        package, styles, Numbering(numbering_root, styles), styles.placeholders(), chunks=chunks
    )
    bodies = list(root.iterchildren(W + "body")) or _foreign(root)
    reader = StoryReader(state, main, root)
    blocks = [block for body in bodies for block in reader.read(body)]
    if b"<!DOCTYPE" in data:
        package.warnings.append("what the DTD of the document part declares was left out")
    if not whole:
        blocks = _complete(package, data, blocks)
    pieces = [
        *_margin(state, "header"),
        to_markdown(blocks),
        *_margin(state, "footer"),
        *_notes(state, main),
        *_comments(state, main),
    ]
    text = "\n\n".join(piece for piece in pieces if piece)
    # A no-break space keeps words on a line; in running text it only hides them from a search.
    return state, text.replace("\xa0", " ")


def _foreign(root: etree._Element) -> list[etree._Element]:
    """Return what can be read of a main part without a body; raises when it isn't Word's."""
    if next(root.iter(W + "p", W + "altChunk"), None) is not None:
        return [root]
    name = root.tag.rpartition("}")[2][:100]
    raise UnreadableError(Status.FAILED, Reason.CORRUPT, f"no body in the main part <{name}>")


def _complete(package: Package, data: bytes, blocks: list[Block]) -> list[Block]:
    """Return `blocks` and the bare text of what the parser lost in a broken part."""
    package.warnings.append("the document part is damaged")
    package.damaged = True
    known = {_letters(line) for block in blocks for line in block.text.split("\n")}
    lines = [" ".join(line.split()) for line in raw_text(data).split("\n")]
    lines = [line for line in lines if line and _letters(line) not in known]
    # Pieces of a paragraph too, unless that would take long.
    seen = "\n".join(known) if len(lines) * sum(map(len, known)) < _MAX_COMPARED else ""
    return blocks + [Block("text", line) for line in lines if _letters(line) not in seen]


def _letters(text: str) -> str:
    return re.sub(r"\W", "", text)


def _related_root(package: Package, part: str, kind: str, usual: str) -> etree._Element | None:
    """Return the root of the part that `part` names for `kind`, or of the one usually so called."""
    return package.root(_related(package, part, kind, usual))


def _related(package: Package, part: str, kind: str, usual: str) -> str:
    for relation in package.relations(part).values():
        if relation.kind == kind and not relation.external and package.has(relation.target):
            return relation.target
    return usual


def _margin(state: WalkState, kind: str) -> list[str]:
    """Return the headers or footers, each text once, page numbers left out."""
    seen: set[str] = set()
    kept: list[Block] = []
    for part in state.margins[kind]:
        root = state.package.root(part)
        if root is None:
            continue
        for block in StoryReader(state, part, root).read(root):
            if block.text not in seen and not _is_page_number(block.text):
                seen.add(block.text)
                kept.append(block)
    return [to_markdown(kept)]


def _is_page_number(text: str) -> bool:
    return len(text) <= _LONGEST_PAGE_NUMBER and bool(_PAGE_NUMBER.fullmatch(text))


def _notes(state: WalkState, main: str) -> list[str]:
    """Return the footnotes and endnotes that were met, in the order of their numbers."""
    texts: list[str] = []
    for kind, prefix in (("footnote", ""), ("endnote", "e")):
        wanted = state.notes[kind]
        if not wanted:
            continue
        part = _related(state.package, main, f"{kind}s", f"{main.rpartition('/')[0]}/{kind}s.xml")
        root = state.package.root(part)
        if root is None:
            continue
        nodes = {node.get(W + "id") or "": node for node in root.iterchildren(W + kind)}
        reader = StoryReader(state, part, root)
        for note_id in list(wanted):
            if note_id in nodes:
                text = _CONTINUED.sub("\n    ", to_markdown(reader.read(nodes[note_id])))
                texts.append(f"[^{prefix}{state.note_number(kind, note_id)}]: {text}")
    return texts


def _comments(state: WalkState, main: str) -> list[str]:
    """Return the comments of reviewers, with their authors."""
    part = _related(state.package, main, "comments", f"{main.rpartition('/')[0]}/comments.xml")
    root = state.package.root(part)
    if root is None:
        return []
    reader = StoryReader(state, part, root)
    texts: list[str] = []
    for node in list(root.iterchildren(W + "comment"))[:_MAX_COMMENTS]:
        text = to_markdown(reader.read(node))
        if text:
            author = (node.get(W + "author") or "").strip()
            label = f"Comment by {author}" if author else "Comment"
            texts.append(f"> {label}: " + text.replace("\n", "\n> "))
    return texts
