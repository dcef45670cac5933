"""Write the sample dockets: about 60 invented comments with attachments of every kind.

    python scripts/make_sample_dockets.py [--out DIR]

Writes DIR/comments/<docket>/<comment>/attachment_N.<ext> and DIR/bib.sqlite. The same bytes come
each time; files that already hold them are left alone, so that a second run changes nothing.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from samples.dockets import DOCKETS, Comment, comments

# 2031-04-01 lies ahead of most clocks; the files get a time in the past, so that no run takes
# them for uploads that are still being written.
_MTIME = 1_700_000_000
_SCHEMA = """
CREATE TABLE items (
    id TEXT PRIMARY KEY,
    docket_id TEXT NOT NULL,
    title TEXT,
    submitter TEXT,
    posted_date TEXT,
    url TEXT,
    n_attachments INTEGER NOT NULL,
    abstract TEXT
);
CREATE INDEX items_docket ON items (docket_id);
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Write the dockets below `--out` and print what was made. Returns 0. Raises OSError."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder (%(default)s)")
    out = parser.parse_args(argv).out
    everything = comments()
    counts, size = write_comments(out / "comments", everything)
    write_bib(out / "bib.sqlite", everything)
    kinds = ", ".join(f"{number} {ext}" for ext, number in counts.most_common())
    print(f"{len(everything)} comments in {len(DOCKETS)} dockets below {out / 'comments'}")
    print(f"{sum(counts.values())} attachments, {size / 1e6:.1f} MB: {kinds}")
    print(f"{sum(c.body is not None for c in everything)} inline bodies in {out / 'bib.sqlite'}")
    return 0


def write_comments(state: Path, everything: Iterable[Comment]) -> tuple[Counter[str], int]:
    """Write all attachments below `state`; returns how many of each extension, and their bytes."""
    counts: Counter[str] = Counter()
    size = 0
    for comment in everything:
        folder = state / comment.docket / comment.comment_id
        folder.mkdir(parents=True, exist_ok=True)
        for name, make in comment.attachments():
            data = make()
            _write(folder / name, data)
            counts[name.rpartition(".")[2]] += 1
            size += len(data)
    return counts, size


def write_bib(path: Path, everything: Iterable[Comment]) -> None:
    """Write the database of inline bodies; comments whose body is None have no row."""
    rows = [
        (
            comment.comment_id,
            comment.docket,
            f"Comment from {comment.submitter}",
            comment.submitter,
            DOCKETS[comment.docket][1],
            f"https://www.regulations.gov/comment/{comment.comment_id}",
            sum(1 for _ in comment.attachments()),
            comment.body,
        )
        for comment in everything
        if comment.body is not None
    ]
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder, "bib.sqlite")
        connection = sqlite3.connect(made)
        try:
            connection.executescript(_SCHEMA)
            connection.executemany(f"INSERT INTO items VALUES ({','.join('?' * 8)})", rows)
            connection.commit()
        finally:
            connection.close()
        _write(path, made.read_bytes())


def _write(path: Path, data: bytes) -> None:
    if path.exists() and path.read_bytes() == data:
        return
    path.write_bytes(data)
    os.utime(path, (_MTIME, _MTIME))


if __name__ == "__main__":
    sys.exit(main())
