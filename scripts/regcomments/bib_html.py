"""Text of a body from the web form: some are plain text, some HTML, many plain with `<br/>`.

Whoever writes "costs < 5 % & rising" in plain text must get it back to the letter. So only what
is certainly markup is touched: known tags in well-formed brackets, and entities that end in a
semicolon. That also makes it quick: a body without `<` and `&` is only normalised.
"""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5

from regcomments.textnorm import normalise

_BLOCKS = "p div h1 h2 h3 h4 h5 h6 ul ol dl dd dt table thead tbody tfoot blockquote pre hr section"
_INLINE = (
    "a abbr b big body center cite code del em font head html i img ins kbd mark o:p q s small "
    "span strike strong sub sup tt u var wbr"
)
# Attributes must have values: "a <b and c> d" is no tag, `<span class=x>` is one.
_VALUES = r"""(?:\s+[A-Za-z_][\w:.-]*\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>=]+))*"""
_ATTRIBUTES = _VALUES + r"\s*/?"
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<name>br|li|tr|t[dh]|{'|'.join((_BLOCKS + ' ' + _INLINE).split())})"
    rf"(?P<attributes>{_ATTRIBUTES})>",
    re.IGNORECASE,
)
_TABLE_END = re.compile(r"</table\s*>", re.IGNORECASE)
_BREAK = re.compile(rf"(?<![ \t])[ \t]*<br{_ATTRIBUTES}>[ \t]*(?:\r?\n)?", re.IGNORECASE)
_UNSEEN = re.compile(r"<!--|<(script|style)(?=[\s>])", re.IGNORECASE)
_ENDS = {
    "": re.compile("-->"),
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
}
_LINK = re.compile(rf"<a{_VALUES}\s*>(?P<text>[^<>]*)</a\s*>", re.IGNORECASE)
_HREF = re.compile(r"""href\s*=\s*["']?((?:https?://|mailto:)[^\s"'<>]+)""", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_MANY_LINES = re.compile(r"\n[ \t]*\n[ \t\n]*\n")

_BLOCK_NAMES = frozenset(_BLOCKS.split())


def body_text(raw: str) -> str:
    """Return the text of a body, in normal form."""
    if "<" in raw:
        raw = _without_markup(raw)
    if "&" in raw:
        raw = _ENTITY.sub(_character, raw)
    return normalise(raw)


def _without_markup(raw: str) -> str:
    raw = _without_unseen(raw)
    if not _TAG.search(raw):
        return raw
    if _TABLE_END.search(raw):
        from regcomments.read.hypertext import html_to_markdown  # rare, and brings lxml

        return html_to_markdown(raw).replace("&", "&amp;")  # entities are characters by now
    raw = _LINK.sub(_link, raw)
    raw = _BREAK.sub("\n", raw)
    return _MANY_LINES.sub("\n\n", _TAG.sub(_replacement, raw))


def _without_unseen(raw: str) -> str:
    """Cut comments, scripts and styles out; one that does not end is left as it stands."""
    kept: list[str] = []
    at = 0
    while match := _UNSEEN.search(raw, at):
        end = _ENDS[(match[1] or "").lower()].search(raw, match.end())
        if end is None:
            break
        kept.append(raw[at : match.start()])
        at = end.end()
    return "".join(kept) + raw[at:]


def _link(match: re.Match[str]) -> str:
    """Keep the address of a link when its text does not show it."""
    href, text = _HREF.search(match[0]), match["text"]
    if not href or href[1].removeprefix("mailto:") in text:
        return text
    return f"{text} ({href[1]})"


def _replacement(match: re.Match[str]) -> str:
    name = match["name"].lower()
    if name in _BLOCK_NAMES:
        return "\n\n"
    if name == "li":
        return "" if match["end"] else "\n- "
    if name == "tr":
        return "\n"
    if name in ("td", "th"):
        return " | " if match["end"] else ""  # a table that lost its own tag
    return ""


def _character(match: re.Match[str]) -> str:
    entity = match[0]
    if entity == "&nbsp;":
        return " "
    if entity[1] == "#" or entity[1:] in html5:
        return unescape(entity)
    return entity
