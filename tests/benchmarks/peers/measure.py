"""Measures every tool on attachments of a benchmark corpus, ours in the same run.

make bench          # holds the table; alone: python -m tests.benchmarks.peers.measure CORPUS
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.benchmarks.peers.environments import ENVIRONMENTS, set_up
from tests.benchmarks.peers.run import Reading, Run, empty_files, read_files
from tests.quality.score import flat

TOOLS = ("regcomments", *ENVIRONMENTS)
# The slowest tool needs 2 s a file, so that 2,000 files would take it an hour.
AT_MOST = 150
# One of the tools writes straight quotes for curly ones.
_QUOTES = str.maketrans("‘’“”", "''\"\"")


@dataclass(frozen=True)
class Peer:
    """What one tool made of the files.

    `cpu` is the CPU seconds of all its processes with imports and children, `wall` the seconds of
    the clock with one file at a time; `facts` how many of `of` sentences that the generator put
    into the files came out; `empty` how many files failed or gave nothing, scans among them.
    """

    name: str
    version: str
    files: int
    cpu: float
    wall: float
    facts: int
    of: int
    empty: int

    @property
    def files_per_second(self) -> float:
        """Files per second of the clock."""
        return self.files / self.wall

    @property
    def cpu_per_file(self) -> float:
        """CPU seconds of one file."""
        return self.cpu / self.files


def measure_peers(
    files: Sequence[Path],
    work: Path,
    *,
    at_most: int = AT_MOST,
    tools: Sequence[str] = TOOLS,
) -> list[Peer]:
    """Read the same sample of at most `at_most` of `files` with every tool; ours comes first.

    `files` are attachments of one corpus of make_corpus. Logs are left in `work`. Sets the tools'
    environments up when they don't stand yet, which needs a network and some minutes. Raises
    subprocess.CalledProcessError when that fails, FileNotFoundError when the corpus keeps no
    phrases, ValueError without files.
    """
    if not files:
        raise ValueError("no files to read")
    set_up()
    sample = pick(files, at_most)
    phrases = load_phrases(corpus_of(sample[0]) / "phrases.jsonl")
    wanted = [phrases.get(hashlib.sha256(path.read_bytes()).hexdigest(), ()) for path in sample]
    return [_peer(tool, read_files(tool, sample, work), wanted) for tool in tools]


def pick(files: Sequence[Path], at_most: int) -> list[Path]:
    """Return a sample of `files` in a fixed random order: the same for the same files."""
    ordered = sorted(files)
    return Random(0).sample(ordered, min(at_most, len(ordered)))


def corpus_of(attachment: Path) -> Path:
    """Return the folder of the corpus that holds comments/<docket>/<comment>/`attachment`."""
    return attachment.parents[3]


def load_phrases(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the sentences of each file by the SHA-256 of its content."""
    with path.open(encoding="utf-8") as handle:
        rows = map(json.loads, handle)
        return {row["sha256"]: tuple(row["phrases"]) for row in rows}


def held(readings: Sequence[Reading], wanted: Sequence[Sequence[str]]) -> int:
    """Return how many of the sentences `wanted` of each file its text holds.

    White space, Markdown and the form of quotes don't count.
    """
    count = 0
    for reading, phrases in zip(readings, wanted, strict=True):
        text = _plain(reading.text)
        count += sum(_plain(phrase) in text for phrase in phrases)
    return count


def _plain(text: str) -> str:
    return flat(text).translate(_QUOTES)


def _peer(tool: str, run: Run, wanted: Sequence[Sequence[str]]) -> Peer:
    return Peer(
        name=tool,
        version=run.version,
        files=len(run.readings),
        cpu=run.cpu,
        wall=run.wall,
        facts=held(run.readings, wanted),
        of=sum(map(len, wanted)),
        empty=empty_files(run.readings),
    )


def main() -> int:
    """Print the tools' figures on the corpus named on the command line; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="made by make_corpus")
    parser.add_argument("--at-most", type=int, default=AT_MOST, help="files")
    parser.add_argument("--only", choices=TOOLS, action="append")
    args = parser.parse_args()
    files = list((args.corpus.absolute() / "comments").glob("*/*/attachment_*"))
    with tempfile.TemporaryDirectory() as work:
        tools = args.only or TOOLS
        for peer in measure_peers(files, Path(work), at_most=args.at_most, tools=tools):
            print(
                f"{peer.name:<12} {peer.version:<12} {peer.cpu:8.1f} s CPU {peer.wall:8.1f} s wall "
                f"{peer.files_per_second:7.1f} files/s {peer.facts:>5} of {peer.of} facts "
                f"{peer.empty:>4} empty",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
