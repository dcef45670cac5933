"""The least that extraction can cost: two processes that read every file and write its text.

    python -m tests.benchmarks.bare_loop CORPUS

PDF by `page.get_text()`, DOCX by our walker, the rest as it is; no grading, no tables, no limits,
no database, no index. Writes below CORPUS/bare.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pymupdf
from regcomments.read import ReadOptions
from regcomments.read.word import read_word


def one(job: tuple[Path, Path]) -> int:
    """Read the comment folder and write its text; returns the characters."""
    folder, target = job
    parts = []
    for path in sorted(folder.glob("attachment_*")):
        try:
            if path.suffix == ".pdf":
                with pymupdf.open(path) as document:
                    parts.append("\n\n".join(page.get_text() for page in document))
            elif path.suffix == ".docx":
                parts.append(read_word(path, ReadOptions()).body)
            else:
                parts.append(path.read_text("utf-8", "replace"))
        except Exception as error:  # a damaged file costs the loop nothing more either
            parts.append(str(error))
    text = "\n\n".join(parts)
    target.write_text(text, "utf-8", "replace")
    return len(text)


def main() -> int:
    """Run the loop; returns the exit code."""
    corpus = Path(sys.argv[1])
    out = corpus / "bare"
    out.mkdir()
    folders = sorted(path for path in (corpus / "comments").glob("*/*") if path.is_dir())
    jobs = [(folder, out / f"{folder.name}.md") for folder in folders]
    pymupdf.TOOLS.mupdf_display_errors(False)
    with ProcessPoolExecutor(2) as pool:
        total = sum(pool.map(one, jobs, chunksize=50))
    print(f"{len(jobs)} comments, {total} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
