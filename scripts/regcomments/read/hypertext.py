"""HTML: the visible text in order, as Markdown."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from regcomments.read.charset import decode
from regcomments.read.flow import Flow, list_number
from regcomments.read.options import ReadOptions
from regcomments.records import Document

MAX_BYTES = 64_000_000  # of HTML source; the largest export of a docket seen had 9 million
# libxml2 drops what lies deeper than 2048 (htmlParser, since 2.14). Deeper trees are flattened.
_DEPTH = 1000
_CELL_LIMIT = 1500  # characters in one cell above which a table is taken for page layout


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_SKIPPED = _names(
    "script style template noscript head title meta link object applet iframe frameset "
    "noframes noembed canvas audio video datalist xml annotation annotation-xml param"
)
_BLOCKS = _names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form header hr html legend main menu nav ol optgroup p pre section "
    "summary table tbody td tfoot th thead tr ul option"
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all", re.I)
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f]")
# "<" that begins no tag: "a < b", "<jane@example.org>", "<https://…>".
_LOOSE = re.compile(r"<(?!/?[A-Za-z][A-Za-z0-9:_-]*(?:[\s/>]|$)|[!?])|<(?=(?:https?|mailto|ftp):)")
_TAG = re.compile(
    r"<(/?)(?:div|table|tbody|thead|tr|td|th|span|font|b|i|u|em|strong|ul|ol|dl|blockquote|center"
    r"|section|article|a|small|big|form|fieldset)\b[^>]*>",
    re.I,
)
_META = re.compile(
    rb"<meta[^>]{0,300}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})|<\?xml[^>]{0,200}?encoding\s*=\s*"
    rb"[\"']([\w.:-]{2,40})",
    re.I,
)
_WEB = re.compile(r"(?:https?|ftp)://\S{3,2000}$|mailto:\S{3,300}$", re.I)


def read_html(path: Path, options: ReadOptions) -> Document:
    """Return the visible text of the page at `path`, headed by its title if that says more."""
    with path.open("rb") as handle:
        data = handle.read(MAX_BYTES + 1)
    warnings = (f"cut after {MAX_BYTES} bytes",) if len(data) > MAX_BYTES else ()
    root, charset = _parse(data[:MAX_BYTES], None)
    body = _markdown(root) or _unframed(root)
    title = " ".join("".join(root.xpath("string(//title[1])")).split()) if root is not None else ""
    if title and body and title.casefold() not in " ".join(body.split()).casefold():
        body = f"### {title}\n\n{body}"
    return Document(kind="html", method=f"html/{charset}", body=body or title, warnings=warnings)


def _unframed(root: etree._Element | None) -> str:
    """What a page of frames says to browsers without them: its frames are other files."""
    found = root.iter("noframes") if root is not None else ()
    texts = ("".join(node.itertext()) for node in found)
    return "\n\n".join(filter(None, map(html_to_markdown, texts)))


def html_to_markdown(data: bytes | str, charset: str | None = None) -> str:
    """Return the visible text of an HTML page or fragment as Markdown.

    `charset` is what the transport says of bytes; a byte order mark goes before it, what the
    page says of itself comes after it. Never raises for damaged HTML.
    """
    return _markdown(_parse(data, charset)[0])


def _parse(data: bytes | str, charset: str | None) -> tuple[etree._Element | None, str]:
    if isinstance(data, bytes):
        text, used = decode(data, charset or _label(data))
    else:
        text, used = data, "str"
    text = _LOOSE.sub("&lt;", _CONTROL.sub("", text))
    root, too_deep = _tree(text)
    if too_deep:
        root, _ = _tree(_flatten(text))
    return root, used


def _label(data: bytes) -> str | None:
    found = _META.search(data, 0, 4096)
    return (found[1] or found[2]).decode("ascii") if found else None


def _tree(text: str) -> tuple[etree._Element | None, bool]:
    parser = etree.HTMLParser(
        encoding="utf-8",
        recover=True,
        huge_tree=True,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
    )
    raw = text.encode("utf-8", "replace")
    try:
        root = etree.fromstring(raw, parser)
    except etree.XMLSyntaxError:  # nothing that could be an element
        return None, False
    too_deep = any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log)
    return root, too_deep


def _flatten(text: str) -> str:
    """Drop the tags of containers that lie too deep; their text stays."""
    depth = 0

    def shallow(match: re.Match[str]) -> str:
        nonlocal depth
        if match[1]:
            keep = depth <= _DEPTH
            depth = max(depth - 1, 0)
        else:
            depth += 1
            keep = depth <= _DEPTH
        return match[0] if keep else " "

    return _TAG.sub(shallow, text)


def _data_tables(root: etree._Element) -> set[etree._Element]:
    """The tables that hold data rather than lay out the page.

    Data: two rows and two columns at least, no table of several cells inside, no long cells.
    """
    data: set[etree._Element] = set()
    open_tables: list[list] = []  # [element, is layout, cells]
    walker = etree.iterwalk(root, events=("start", "end"), tag=("table", "td", "th"))
    for event, element in walker:
        if element.tag != "table":
            if event == "start" and open_tables:
                open_tables[-1][2] += 1
        elif event == "start":
            open_tables.append([element, element.get("role") == "presentation", 0])
        else:
            table, layout, cells = open_tables.pop()
            if open_tables and cells > 1:
                open_tables[-1][1] = True
            if not layout and cells > 3 and _looks_like_data(table):
                data.add(table)
    return data


def _looks_like_data(table: etree._Element) -> bool:
    rows = 0
    for row in table.iter("tr"):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        texts = ["".join(cell.itertext()) for cell in cells]
        if any(len(text) > _CELL_LIMIT for text in texts):
            return False
        rows += sum(bool(text.strip()) for text in texts) > 1
    return rows > 1


def _markdown(root: etree._Element | None) -> str:
    if root is None:
        return ""
    return _Walker(root).run()


class _Walker:
    """Turns one tree into Markdown; iterative, so that depth doesn't matter."""

    def __init__(self, root: etree._Element) -> None:
        self._root = root
        self._flow = Flow()
        self._data = _data_tables(root)
        self._tables: list[bool] = []  # whether the open tables hold data
        self._lists: list[tuple[bool, int, str]] = []  # ordered, next number, type
        self._pre = 0
        self._chosen = False  # whether the current <select> has a chosen option

    def run(self) -> str:
        """Return the Markdown of the tree."""
        walker = etree.iterwalk(self._root, events=("start", "end"))
        hidden: etree._Element | None = None
        for event, element in walker:
            if event == "start":
                if _is_hidden(element) or self._not_chosen(element):
                    hidden = element
                    walker.skip_subtree()
                else:
                    self._start(element)
                    self._text(element.text)
                continue
            if element is hidden:
                hidden = None
            else:
                self._end(element)
            if element is not self._root:
                self._text(element.tail)
        return self._flow.markdown()

    def _not_chosen(self, element: etree._Element) -> bool:
        """Whether this is an option of a list in which another one is chosen."""
        if element.tag == "select":
            self._chosen = any(o.get("selected") is not None for o in element.iter("option"))
        return element.tag == "option" and self._chosen and element.get("selected") is None

    def _text(self, text: str | None) -> None:
        if text:
            (self._flow.raw if self._pre else self._flow.text)(text)

    def _start(self, element: etree._Element) -> None:
        tag, flow = element.tag, self._flow
        if tag in _HEADINGS:
            flow.heading(_HEADINGS[tag])
        elif tag == "br":
            flow.line_break()
        elif tag == "li":
            flow.item(*self._marker(element))
        elif tag == "table":
            self._start_table(element)
        elif tag == "tr" and self._in_data():
            flow.begin_row()
        elif tag in ("td", "th") and self._in_data():
            flow.begin_cell()
        elif tag in _BLOCKS:
            flow.end_block()
            if tag in ("ol", "ul", "menu", "dir"):
                start = _number(element.get("start"), 1)
                self._lists.append((tag == "ol", start, element.get("type") or "1"))
            self._pre += tag == "pre"
        else:
            self._inline(element)

    def _inline(self, element: etree._Element) -> None:
        tag, flow = element.tag, self._flow
        if tag == "img" and (element.get("alt") or "").strip():
            flow.text(f" [Image: {element.get('alt')}] ")
        elif tag == "input":
            kind = (element.get("type") or "text").lower()
            if kind in ("checkbox", "radio"):
                flow.text("[x] " if element.get("checked") is not None else "[ ] ")
            elif kind not in ("hidden", "image", "file", "password"):
                flow.text(f" {element.get('value') or ''} ")
        elif tag in ("del", "s", "strike"):
            flow.text("~~")
        elif tag == "q":
            flow.text("“")
        elif tag == "wbr":
            flow.text("\u200b")

    def _end(self, element: etree._Element) -> None:
        tag, flow = element.tag, self._flow
        if tag == "li":
            flow.end_item()
        elif tag == "table" and self._tables:
            if self._tables.pop():
                flow.end_table()
            flow.end_block()
        elif tag in ("td", "th") and self._in_data():
            flow.end_cell(_number(element.get("colspan"), 1), _number(element.get("rowspan"), 1))
        elif tag == "tr" and self._in_data():
            return
        elif tag in _BLOCKS or tag in _HEADINGS:
            flow.end_block()
            if tag in ("ol", "ul", "menu", "dir") and self._lists:
                self._lists.pop()
            self._pre -= tag == "pre"
        elif tag == "a":
            self._link(element)
        elif tag in ("del", "s", "strike"):
            flow.text("~~")
        elif tag == "q":
            flow.text("”")

    def _start_table(self, table: etree._Element) -> None:
        is_data = table in self._data
        self._tables.append(is_data)
        self._flow.end_block()
        if is_data:
            self._flow.begin_table()

    def _in_data(self) -> bool:
        return bool(self._tables) and self._tables[-1]

    def _marker(self, item: etree._Element) -> tuple[str, int]:
        depth = max(len(self._lists), 1)
        if not self._lists or not self._lists[-1][0]:
            return "-", depth
        _, number, style = self._lists[-1]
        number = _number(item.get("value"), number)
        self._lists[-1] = (True, number + 1, style)
        return list_number(number, style) + ".", depth

    def _link(self, anchor: etree._Element) -> None:
        address = (anchor.get("href") or "").strip()
        words = "".join(anchor.itertext()).strip()
        shown = re.sub(r"^(?:\w+://|mailto:)|/$", "", address, flags=re.I)
        if _WEB.match(address) and shown.casefold() not in words.casefold():
            self._flow.link(address)


def _is_hidden(element: etree._Element) -> bool:
    tag = element.tag
    if not isinstance(tag, str) or tag in _SKIPPED:
        return True
    if element.get("hidden") is not None or element.get("type") == "hidden":
        return True
    style = element.get("style")
    return bool(style and _HIDDEN_STYLE.search(style))


def _number(text: str | None, default: int) -> int:
    try:
        return int((text or "").strip()[:9])
    except ValueError:
        return default
