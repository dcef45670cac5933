"""The least that extraction can cost: two processes that read every file and write combined.md.

    python -m tests.benchmarks.bare_loop CORPUS

PDF by `page.get_text()`, DOCX by our walker, other files as bytes taken for text; inline bodies by
one query; the same front matter keys and sections, put together by hand. No grading, no tables, no
limits, no processes that may die, no index. Writes below CORPUS/bare.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pymupdf
from regcomments.bib_html import body_text
from regcomments.read import ReadOptions
from regcomments.read.word import read_word


def one(job: tuple[Path, Path, str]) -> int:
    """Read the comment folder and write its text; returns the characters."""
    folder, target, inline = job
    entries, sections = [], [f"## Inline comment\n\n{body_text(inline)}"]
    total = len(inline)
    for path in sorted(folder.glob("attachment_*")):
        raw = path.read_bytes()
        pages = None
        try:
            if path.suffix == ".pdf":
                with pymupdf.open(stream=raw, filetype="pdf") as document:
                    pages = len(document)
                    text = "\n\n".join(page.get_text() for page in document)
            elif path.suffix == ".docx":
                text = read_word(path, ReadOptions()).body
            else:
                text = raw.decode("utf-8", "replace")
        except Exception as error:  # a damaged file costs the loop nothing more either
            text = str(error)
        total += len(text)
        entries.append(
            f"  - file: {path.name}\n    status: ok\n    chars: {len(text)}\n    pages: {pages}\n"
            f"    sha256: {hashlib.sha256(raw).hexdigest()}\n"
        )
        sections.append(f"## {path.name}\n\n{text}")
    head = (
        f"---\ncomment_id: {folder.name}\ndocket_id: {folder.parent.name}\n"
        f"extracted_at: {time.strftime('%Y-%m-%dT%H:%M:%SZ')}\nchars: {total}\n"
        f"attachments:\n{''.join(entries)}---\n\n"
    )
    target.write_text(head + "\n\n".join(sections) + "\n", "utf-8", "replace")
    return total


def main() -> int:
    """Run the loop; returns the exit code."""
    corpus = Path(sys.argv[1])
    out = corpus / "bare"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    inline: dict[str, str] = {}
    if (corpus / "bib.sqlite").exists():
        with sqlite3.connect(corpus / "bib.sqlite") as bib:
            inline = dict(bib.execute("SELECT id, abstract FROM items"))
    folders = sorted(path for path in (corpus / "comments").glob("*/*") if path.is_dir())
    jobs = [
        (folder, out / f"{folder.name}.md", inline.get(folder.name) or "") for folder in folders
    ]
    pymupdf.TOOLS.mupdf_display_errors(False)
    with ProcessPoolExecutor(2) as pool:
        total = sum(pool.map(one, jobs, chunksize=25))
    print(f"{len(jobs)} comments, {total} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
