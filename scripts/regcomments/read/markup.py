"""XML and SGML of unknown vocabulary: its text, with paragraphs where elements end."""

from __future__ import annotations

import html
import re
from pathlib import Path

from lxml import etree

from regcomments.read.charset import decode
from regcomments.read.flow import Flow
from regcomments.read.options import ReadOptions
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_BYTES = 64_000_000
# Comments, marked sections' ends, declarations and instructions, tags; or text.
_TOKEN = re.compile(
    r"(<!--.*?-->|<!\[CDATA\[|\]\]>|<[!?][^<>]*(?:\[[^\]]*\]\s*)?>|</?[A-Za-z][^<>]*>)|([^<\]]+|.)",
    re.S,
)
_NAME = re.compile(r"</?([A-Za-z][\w.-]*)")
# Vocabularies whose rows and cells make tables: SpreadsheetML 2003, HTML and the like.
_ROWS = frozenset({"row", "tr"})
_CELLS = frozenset({"cell", "td", "th", "entry"})
_TABLES = frozenset({"table", "tgroup"})
# Not shown by the programs these files belong to: settings, styles, pictures in base 64. Their
# vocabularies have namespaces; a plain `<lists>` or `<fonts>` may hold anything.
_SKIPPED = frozenset(
    {
        *("documentproperties", "officedocumentsettings", "excelworkbook", "styles", "fonts"),
        *("lists", "docpr", "bindata", "binarydata", "sectpr", "instrtext", "deltext", "style"),
        *("script", "worksheetoptions", "shapedefaults", "customdocumentproperties"),
    }
)
_SKIPPED_ANYWHERE = frozenset({"script", "style", "bindata", "binarydata"})
# Parts of words: their ends break nothing. The second kind are Word's own; without a namespace
# they are records of data (`<r><a>1</a><e>2</e></r>`), unless they stand amid running text.
_INLINE = frozenset({"b", "i", "u", "em", "strong", "sup", "sub", "font"})
_INLINE_OF_WORD = frozenset({"r", "t", "rpr", "a", "e"})


def read_markup(path: Path, options: ReadOptions) -> Document:
    """Return the text of the XML or SGML file at `path`; tags and attributes are left out.

    Entities aren't expanded and nothing is fetched. Raises UnreadableError (`too_large`).
    """
    with path.open("rb") as handle:
        data = handle.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableError(Status.FAILED, Reason.TOO_LARGE, f"more than {MAX_BYTES} bytes")
    root = _tree(data)
    if root is not None:
        return Document("xml", "xml", body=_text(root))
    return Document("xml", "sgml", body=_without_tags(decode(data)[0]))


def _without_tags(source: str) -> str:
    """SGML and broken XML: tags may lack their ends, so that there is no tree to walk."""
    flow = Flow()
    for tag, text in _TOKEN.findall(source):
        if tag:
            name = _NAME.match(tag)
            if name and name[1].lower() not in _INLINE | {"a"}:
                flow.end_block()
        else:
            flow.text(html.unescape(text))
    return flow.markdown()


def _tree(data: bytes) -> etree._Element | None:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, collect_ids=False
    )
    for source in (data, decode(data)[0].encode("utf-8", "replace")):
        try:
            root = etree.fromstring(source, parser)
        except (etree.XMLSyntaxError, ValueError):
            continue
        if not any(isinstance(node, etree._Entity) for node in root.iter(etree.Entity)):
            return root
    return None


def _text(root: etree._Element) -> str:
    flow = Flow()
    tables = rows = cells = 0
    walker = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    skipped: etree._Element | None = None
    for event, node in walker:
        if event in ("comment", "pi"):
            flow.text(node.tail or "")
            continue
        name = etree.QName(node).localname.lower()
        if event == "start":
            if name in (_SKIPPED if node.tag.startswith("{") else _SKIPPED_ANYWHERE):
                skipped = node
                walker.skip_subtree()
                continue
            if name in _TABLES and not tables:
                flow.begin_table()
                tables = 1
            elif name in _ROWS and tables and not cells:
                flow.begin_row()
                rows = 1
            elif name in _CELLS and rows and not cells:
                flow.begin_cell()
                cells = 1
            elif not _is_inline(node, name):
                flow.end_block()
            if node.text:
                flow.text(node.text)
            continue
        if node is skipped:
            skipped = None
        elif name in _CELLS and cells:
            flow.end_cell()
            cells = 0
        elif name in _ROWS and rows and not cells:
            rows = 0
        elif name in _TABLES and tables and not cells:
            flow.end_table()
            tables = rows = 0
        elif not _is_inline(node, name):
            flow.end_block()
        if node is not root and node.tail:
            flow.text(node.tail)
    return flow.markdown()


def _is_inline(node: etree._Element, name: str) -> bool:
    """Tell whether the ends of an element called `name` break no line."""
    if name in _INLINE or (name in _INLINE_OF_WORD and node.tag.startswith("{")):
        return True
    return _mixed(node)


def _mixed(node: etree._Element) -> bool:
    """Whether an element stands amid running text, as emphasis and references do."""
    before = node.getprevious()
    around = [node.tail, before.tail if before is not None else None]
    parent = node.getparent()
    if before is None and parent is not None:
        around.append(parent.text)
    return any(text and text.strip() for text in around)
