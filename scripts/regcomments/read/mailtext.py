"""What mail readers share: the head of a message as text, and which body to take."""

from __future__ import annotations

from collections.abc import Iterable

from regcomments.read.hypertext import html_to_markdown

# A plain body with less than this share of the words of its HTML twin only says "get a better
# mail program".
_POOR = 0.2


def head_block(fields: Iterable[tuple[str, str | None]]) -> str:
    """Return `Name: value` lines for the fields that have a value."""
    lines = (f"{name}: {' '.join(value.split())}" for name, value in fields if value)
    return "\n".join(lines)


def better_body(plain: str, html: bytes | str | None, charset: str | None = None) -> str:
    """Return the plain body, or the HTML one as Markdown where the plain one lacks its text."""
    if not html:
        return plain
    if not plain.strip():
        return html_to_markdown(html, charset)
    rich = html_to_markdown(html, charset)
    return rich if len(plain.split()) < _POOR * len(rich.split()) else plain
