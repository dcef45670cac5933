"""One normal form for all extracted text, so that combined.md parses back to what was written."""

from __future__ import annotations

import re

# C0 and C1 controls but tab and newline; lone surrogates, which UTF-8 cannot hold.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Unicode line ends that str.splitlines() would cut at, and the form feed between pages.
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
# Anything that the three above would touch: one search tells that a text is clean.
_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_BLANK_LINES = re.compile("\n{4,}")
_SPACES = " \t\u00a0"

# ASCII is most of the corpus, and bytes.translate takes a tenth of the time of the expressions.
_ASCII_LINE_ENDS = b"\r\x0b\x0c\x1c\x1d\x1e"
_ASCII_TABLE = bytes.maketrans(_ASCII_LINE_ENDS, b"\n" * len(_ASCII_LINE_ENDS))
_ASCII_CONTROLS = bytes(
    code for code in (*range(32), 127) if code not in (*_ASCII_LINE_ENDS, *b"\t\n")
)


def normalise(text: str) -> str:
    """Return `text` with LF line ends, no control characters, and no blank margin.

    Lone surrogates become U+FFFD, runs of more than two empty lines are cut to two, trailing
    spaces go. Idempotent.
    """
    if text.isascii():
        raw = text.encode("ascii").replace(b"\r\n", b"\n")
        text = raw.translate(_ASCII_TABLE, _ASCII_CONTROLS).decode("ascii")
    elif _ODD.search(text):
        text = _LINE_END.sub("\n", text)
        text = _CONTROL.sub("", text)
        text = _SURROGATE.sub("\ufffd", text)
    text = "\n".join([line.rstrip(_SPACES) for line in text.split("\n")])
    if "\n\n\n\n" in text:
        text = _BLANK_LINES.sub("\n\n\n", text)
    return text.strip("\n").rstrip()
