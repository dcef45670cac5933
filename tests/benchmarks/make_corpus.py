"""Build a corpus of comment folders of any size for the benchmarks.

    python -m tests.benchmarks.make_corpus --out DIR --comments 164000
    python -m tests.benchmarks.make_corpus --out DIR --comments 1000000 --names-only

Writes DIR/comments/<docket>/<comment>/…, DIR/bib.sqlite, and DIR/phrases.jsonl: sentences that the
attachments hold, by the SHA-256 of the file. What is modelled: one docket holds a quarter of the
comments, the others follow a power law; a fifth of the comments have attachments; page counts are
log-normal. Three quarters of the attachments are hard links to a pool of distinct letters, as
campaigns send them, the rest are unique. With --names-only every attachment is the same few bytes
and there is no database: for planning alone. With --done every folder has a small valid combined.md
already: for planning and indexing what is done.
"""

from __future__ import annotations

import argparse
import errno
import hashlib
import json
import os
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random

from samples.pdf import letter_pdf

from tests.benchmarks import prose
from tests.benchmarks.pool import Pool, build_pool

BIG_DOCKET = 0.25  # share of the largest docket
COMMENTS_A_DOCKET = 550  # 164,000 comments lie in about 300 dockets
ATTACHED = 0.20  # share of comments with attachments
UNIQUE = 0.25  # share of attachments that exist once
# Files of a comment that has any: 862 of several thousand had more than one, and 688 of those 862
# were two renditions of one letter.
TWINS, SEVERAL = 0.08, 0.03
_LINKS = 50_000  # to one file; ext4 allows 65,000
_MTIME = 1_700_000_000  # in the past, so that no run waits for the files to settle
_SMALL = b"%PDF-1.4\n% a name and nothing more\n"


@dataclass(frozen=True)
class Sketch:
    """One comment before it is written: `files` are attachment names with a kind."""

    docket: str
    comment: str
    files: tuple[str, ...]


def docket_sizes(comments: int) -> list[int]:
    """Return how many comments each docket holds, the largest first, in all `comments`."""
    dockets = max(1, comments // COMMENTS_A_DOCKET)
    big = comments if dockets == 1 else round(comments * BIG_DOCKET)
    weights = list(accumulate(1 / rank**1.1 for rank in range(1, dockets)))
    rest = comments - big
    edges = [0, *(round(rest * weight / weights[-1]) for weight in weights)]
    return [big, *(after - before for before, after in pairwise(edges))]


def sketches(comments: int, seed: int = 0) -> Iterator[Sketch]:
    """Yield the names of all comments and their attachments, docket by docket."""
    random = Random(seed)
    for index, size in enumerate(docket_sizes(comments)):
        docket = f"CMS-{2015 + index % 17}-{index + 1:04d}"
        for number in range(1, size + 1):
            files = _files(random) if random.random() < ATTACHED else ()
            yield Sketch(docket, f"{docket}-{number:04d}", files)


def _files(random: Random) -> tuple[str, ...]:
    draw = random.random()
    if draw < TWINS:
        return ("attachment_1.docx", "attachment_1.pdf")
    count = random.randint(2, 8) if draw < TWINS + SEVERAL else 1
    return tuple(f"attachment_{n}.{_extension(random)}" for n in range(1, count + 1))


def _extension(random: Random) -> str:
    """Draw a kind in the proportions of 207,900 attachments of all agencies."""
    draw = random.random()
    for share, ext in ((0.855, "pdf"), (0.945, "docx"), (0.98, "jpg"), (0.989, "tif")):
        if draw < share:
            return ext
    return "txt" if draw < 0.996 else "rtf"


class Writer:
    """Puts attachments in place: links where the file system allows it, else copies."""

    def __init__(self, state: Path, pool: Pool | None, seed: int) -> None:
        self._state = state
        self._pool = pool
        self._random = Random(seed + 1)
        self._small = 0
        self.files = self.bytes = self.unique = 0
        self.phrases = dict(pool.phrases) if pool else {}

    def write(self, sketch: Sketch) -> None:
        """Make the folder of one comment."""
        folder = f"{self._state}/{sketch.docket}/{sketch.comment}"
        os.mkdir(folder)
        if not sketch.files:
            return
        if self._pool is None:
            for file in sketch.files:
                self._link(self._small_file(), f"{folder}/{file}")
            return
        if sketch.files == ("attachment_1.docx", "attachment_1.pdf"):
            pair = self._random.choice(self._pool.twins)
            for source, file in zip(pair, sketch.files, strict=True):
                self._link(source, f"{folder}/{file}")
            return
        for file in sketch.files:
            ext = file.rpartition(".")[2]
            if ext == "pdf" and self._random.random() < UNIQUE:
                self._unique(f"{folder}/{file}")
            else:
                self._link(self._pool.draw(ext, self._random), f"{folder}/{file}")

    def _unique(self, target: str) -> None:
        pages = 1 if self._random.random() < 0.8 else 2
        letter = prose.letter(self._random, pages)
        data = letter_pdf(letter)
        self.phrases[hashlib.sha256(data).hexdigest()] = prose.phrases(letter)
        with open(target, "wb") as handle:
            handle.write(data)
        os.utime(target, (_MTIME, _MTIME))
        self.unique += 1
        self._count(len(data))

    def _link(self, source: str, target: str) -> None:
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in (errno.EMLINK, errno.EXDEV, errno.EPERM, errno.ENOTSUP):
                raise
            shutil.copy2(source, target)
        self._count(os.stat(target).st_size)

    def _small_file(self) -> str:
        path = f"{self._state.parent}/pool/small-{self._small // _LINKS}"
        if self._small % _LINKS == 0:
            Path(path).write_bytes(_SMALL)
            os.utime(path, (_MTIME, _MTIME))
        self._small += 1
        return path

    def _count(self, size: int) -> None:
        self.files += 1
        self.bytes += size


def build(
    out: Path, comments: int, *, seed: int = 0, names_only: bool = False, done: bool = False
) -> Writer:
    """Build the corpus below `out`, which must not hold one yet; return what was written.

    Raises FileExistsError when `out`/comments is there.
    """
    state = out / "comments"
    state.mkdir(parents=True)
    (out / "pool").mkdir(exist_ok=True)
    pool = None if names_only else build_pool(out / "pool", seed)
    writer = Writer(state, pool, seed)
    docket = None
    for sketch in sketches(comments, seed):
        if sketch.docket != docket:
            docket = sketch.docket
            os.mkdir(f"{state}/{docket}")
        writer.write(sketch)
        if done:
            _write_combined(state, sketch)
    if not names_only:
        write_bib(out / "bib.sqlite", comments, seed)
        with (out / "phrases.jsonl").open("w", encoding="utf-8") as handle:
            for digest, phrases in writer.phrases.items():
                handle.write(json.dumps({"sha256": digest, "phrases": phrases}) + "\n")
    return writer


def _write_combined(state: Path, sketch: Sketch) -> None:
    """Write a combined.md of the usual shape, without reading anything."""
    entries = "".join(
        f"  - file: {file}\n    status: ok\n    chars: 21\n    pages: 1\n    method: pymupdf\n"
        for file in sketch.files
    )
    sections = "".join(f"\n## {file}\n\nText of an attachment\n" for file in sketch.files)
    listed = f"attachments:\n{entries}" if entries else "attachments: []\n"
    text = (
        f"---\ncomment_id: {sketch.comment}\ndocket_id: {sketch.docket}\n"
        f"extracted_at: 2031-04-01T00:00:00Z\nchars: {22 + 21 * len(sketch.files)}\n{listed}"
        f"---\n\n## Inline comment\n\nThe body of a comment.\n{sections}"
    )
    with open(f"{state}/{sketch.docket}/{sketch.comment}/combined.md", "w", encoding="utf-8") as f:
        f.write(text)


def write_bib(path: Path, comments: int, seed: int) -> None:
    """Write the database of inline bodies: one in fifty comments has no row."""
    random = Random(seed + 2)
    bodies = [prose.body(random) for _ in range(min(comments, 5000))]
    connection = sqlite3.connect(path)
    connection.executescript(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
        "CREATE TABLE items (id TEXT PRIMARY KEY, docket_id TEXT NOT NULL, title TEXT, "
        "submitter TEXT, posted_date TEXT, abstract TEXT)"
    )
    rows = (
        (
            sketch.comment,
            sketch.docket,
            f"Comment {sketch.comment[-4:]}",
            prose.name(random),
            "2031-04-01",
            random.choice(bodies),
        )
        for sketch in sketches(comments, seed)
        if random.random() > 0.02
    )
    connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)", rows)
    connection.commit()
    connection.close()


def main(argv: Sequence[str] | None = None) -> int:
    """Build a corpus and print its figures. Returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="new folder")
    parser.add_argument("--comments", type=int, default=1000, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--names-only", action="store_true", help="no contents, no database")
    parser.add_argument("--done", action="store_true", help="with a combined.md in every folder")
    args = parser.parse_args(argv)
    start = time.perf_counter()
    made = build(
        args.out, args.comments, seed=args.seed, names_only=args.names_only, done=args.done
    )
    print(
        f"{args.comments} comments, {made.files} attachments ({made.unique} of them unique PDFs), "
        f"{made.bytes / 1e6:.0f} MB read through links, {time.perf_counter() - start:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
