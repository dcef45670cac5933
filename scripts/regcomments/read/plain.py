"""Plain text in any encoding."""

from __future__ import annotations

from pathlib import Path

from regcomments.read.charset import decode
from regcomments.read.options import ReadOptions
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

MAX_BYTES = 64_000_000  # a longer "text" is data; 10,000 pages of prose have 30 million characters
_GUARD = 8192  # characters looked at to tell text from binary data


def read_text(path: Path, options: ReadOptions) -> Document:
    """Return the text of `path` as it stands: line ends and mojibake are not mended.

    Raises UnreadableError for binary data; only the first `MAX_BYTES` are read.
    """
    with path.open("rb") as handle:
        data = handle.read(MAX_BYTES + 1)
    warnings = ()
    if len(data) > MAX_BYTES:
        data, warnings = data[:MAX_BYTES], (f"cut after {MAX_BYTES} bytes",)
    text, charset = decode(data)
    if is_binary(text):
        raise UnreadableError(Status.UNSUPPORTED, Reason.NOT_A_DOCUMENT, "binary data")
    return Document(kind="txt", method=f"text/{charset}", body=text, warnings=warnings)


def is_binary(text: str) -> bool:
    """Whether the first characters hold NUL, or more than a tenth of them are controls."""
    sample = text[:_GUARD]
    if sample.count("\0") > 0.001 * len(sample) + 1:
        return True
    controls = sum(
        1
        for char in sample
        if (char < " " and char not in "\t\n\r\f\b\x1a\x1b") or char == "\ufffd"
    )
    return controls > 0.1 * len(sample)
