"""Reads files with one tool, in that tool's own environment: run as a script, not imported there.

    PYTHON readers.py TOOL

One path a line, as JSON, comes on standard input; one JSON object a line goes to standard output:
first `{"version"}`, then for each path `{"text", "tables", "cpu"}` or `{"error", "cpu"}`: tables as
lists of rows where the tool hands them out apart from its text, CPU seconds with those of finished
children. Only the standard library and the tool are needed. OCR is off everywhere, since what is
compared is reading; of a tool's formats the one is taken in which it holds most.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from importlib.metadata import version

# A tool that wants more for one attachment has failed on it; none does on an ordinary file.
MEMORY = 8 << 30  # bytes of address space
Table = list[list[str]]
Read = Callable[[str], str | tuple[str, list[Table]]]
_AT_END: list[Callable[[], None]] = []


def kreuzberg() -> Read:
    """Return kreuzberg's reader: plain text and its tables, without its cache.

    Its Markdown escapes what it shouldn't (140 facts of the real files against 147).
    """
    from kreuzberg import ExtractionConfig, extract_file_sync

    config = ExtractionConfig(use_cache=False, disable_ocr=True, output_format="plain")

    def read(path: str) -> tuple[str, list[Table]]:
        result = extract_file_sync(path, config=config)
        return result.content, [table.cells for table in result.tables]

    return read


def markitdown() -> Read:
    """Return markitdown's reader for local files."""
    from markitdown import MarkItDown

    converter = MarkItDown(enable_plugins=False)
    return lambda path: converter.convert_local(path).text_content


def liteparse() -> Read:
    """Return liteparse's reader: text and the tables among its blocks.

    Office files go through LibreOffice where it is. Its Markdown holds fewer facts (86 of the real
    PDFs against 91).
    """
    from liteparse import LiteParse

    parser = LiteParse(ocr_enabled=False, output_format="text", extract_blocks=True, quiet=True)

    def read(path: str) -> tuple[str, list[Table]]:
        result = parser.parse(path)
        tables = [
            [[cell.text for cell in row] for row in (block.header or [], *(block.rows or ()))]
            for page in result.pages
            for block in page.blocks or ()
            if block.kind == "table"
        ]
        return result.text, tables

    return read


def pymupdf4llm() -> Read:
    """Return pymupdf4llm's reader with the layout model that it installs."""
    import pymupdf4llm as tool

    return lambda path: tool.to_markdown(path, use_ocr=False, show_progress=False)


def pdfminer() -> Read:
    """Return the loop that Mirrulations' bulk texts come from: `extract_text` of each PDF."""
    from pdfminer.high_level import extract_text

    def read(path: str) -> str:
        if not path.lower().endswith(".pdf"):
            raise ValueError("not a PDF")
        return extract_text(path)

    return read


def regcomments() -> Read:
    """Return our own reader: the worker process that every shard reads through."""
    from pathlib import Path

    from regcomments.read.worker import Worker

    from tests.quality.gate import whole_text

    worker = Worker(fork=True)
    _AT_END.append(worker.close)

    def read(path: str) -> str:
        result = worker.read(Path(path))
        text = whole_text(result)
        if not text and str(result.status) in ("failed", "unsupported"):
            raise ValueError(f"{result.status}: {result.reason}")
        return text

    return read


READERS: dict[str, tuple[str, Callable[[], Read]]] = {
    "regcomments": ("regcomments", regcomments),
    "kreuzberg": ("kreuzberg", kreuzberg),
    "markitdown": ("markitdown", markitdown),
    "liteparse": ("liteparse", liteparse),
    "pymupdf4llm": ("pymupdf4llm", pymupdf4llm),
    "pdfminer": ("pdfminer.six", pdfminer),
}


def _answer(result: str | tuple[str, list[Table]]) -> dict[str, object]:
    text, tables = result if isinstance(result, tuple) else (result, [])
    return {"text": text or "", "tables": tables}


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> int:
    """Serve the paths on standard input; returns the exit code."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    package, make = READERS[sys.argv[1]]
    read = make()
    print(json.dumps({"version": version(package)}), file=out, flush=True)
    for line in sys.stdin:
        started = _cpu()
        try:
            answer = _answer(read(json.loads(line)))
        except Exception as error:  # any failure of a tool on a file is an answer too
            answer = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps({**answer, "cpu": _cpu() - started}), file=out, flush=True)
    for close in _AT_END:
        close()
    return 0


if __name__ == "__main__":
    # Some tools keep threads that never end; all answers are flushed.
    os._exit(main())
