"""One normal form for all extracted text, so that combined.md parses back to what was written."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and newline; lone surrogates, which UTF-8 cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Unicode line ends that str.splitlines() would cut at, and the form feed between pages.
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TRAILING_SPACE = re.compile("[ \t\u00a0]+(?=\n|$)")
_BLANK_LINES = re.compile("\n{4,}")


def normalise(text: str) -> str:
    """Return `text` with LF line ends, no control characters, and no blank margin.

    Lone surrogates become U+FFFD, runs of more than two empty lines are cut to two, trailing
    spaces go. Idempotent.
    """
    text = _LINE_END.sub("\n", text)
    text = _CONTROL.sub("", text)
    text = _SURROGATE.sub("\ufffd", text)
    text = _TRAILING_SPACE.sub("", text)
    text = _BLANK_LINES.sub("\n\n\n", text)
    return text.strip("\n").rstrip()
