"""Figures as tables, the record of the last ones, and docs/performance.md drawn from it.

python -m tests.benchmarks.report       # writes the document anew from what is recorded
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.measuring import ROOT

RECORD = ROOT / "tests" / "benchmarks" / "results.json"
FULL_RUN = ROOT / "tests" / "benchmarks" / "full_run.json"
NOTES = ROOT / "tests" / "benchmarks" / "performance_notes.md"
DOCUMENT = ROOT / "docs" / "performance.md"

_TITLES = {
    "extraction": "Extraction against the bare loop",
    "planning": "Planning",
    "index": "Index and views",
    "ocr": "OCR",
    "pages": "PDF pages",
    "docx": "DOCX files",
}
_ABOUT = {
    "pages": "Beside `page.get_text()` in one process, rounds interleaved, the least of each file.",
    "docx": "Beside python-docx's join of paragraphs, which reads neither tables nor notes.",
    "extraction": (
        "`tests/benchmarks/bare_loop.py`: two processes, `page.get_text()` for PDF, our DOCX "
        "walker, one query for inline bodies, front matter and sections written by hand; no "
        "grading of pages, no tables, no protection from bad files. `snakemake -j 2 extract_all` "
        "over the same files, Snakemake's start included. *As campaigns send them*: three of four "
        "attachments are one of some 350 letters, which a shard reads once. *All distinct*: "
        "each of those letters once."
    ),
    "planning": (
        "The whole command, Snakemake's start and the reading of the Snakefile included. Each "
        "comment is looked at; attachments are counted in full in small dockets only, else in a "
        "sample of the pending folders."
    ),
    "index": "`regcomments index` as a process of its own; queries after `view.register`.",
    "ocr": (
        "One process, tesseract at 200 dpi. `snakemake -j 1 ocr` makes the queue, reads, merges "
        "and rebuilds the index; the bare loop calls the same engine and keeps nothing."
    ),
}


@dataclass(frozen=True)
class Figure:
    """One line of the table: what, how much, and the limit that it must keep.

    The limit is the most, or with `least` the least, that is allowed; None sets none.
    """

    name: str
    value: float
    limit: float | None
    unit: str
    note: str = ""
    least: bool = False

    @property
    def missed(self) -> bool:
        """True when the limit isn't kept."""
        if self.limit is None:
            return False
        return self.value < self.limit if self.least else self.value > self.limit

    @property
    def limit_text(self) -> str:
        """The limit as people read it, empty without one."""
        if self.limit is None:
            return ""
        return f"{'≥' if self.least else '≤'} {self.limit:g} {self.unit}".rstrip()

    @property
    def value_text(self) -> str:
        """The value with its unit."""
        return f"{self.value:,.{0 if self.unit in ('MB', '') else 2}f} {self.unit}".rstrip()


def table(figures: Sequence[Figure], rows: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """Return lines for a terminal: figures with their limits, then peers."""
    lines = []
    for figure in figures:
        mark = "MISSED" if figure.missed else ""
        lines.append(
            f"{figure.name:<66}{figure.value_text:>12}{figure.limit_text:>10}  {mark:<6} "
            f"{figure.note}".rstrip()
        )
    for row in rows:
        lines.append(
            f"{row['name']:<13}{row['version']:<12}{row['cpu']:9.1f} s CPU{row['wall']:9.1f} s "
            f"wall  {row['facts']} of {row['of']} facts, {row['empty']} of {row['files']} empty"
        )
    return lines


def load_record() -> dict[str, Any]:
    """Return what was recorded, by part; nothing when there is no record."""
    return json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}


def save_record(record: Mapping[str, Any]) -> None:
    """Keep the figures of all parts."""
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", "utf-8")


def write_document(record: Mapping[str, Any]) -> None:
    """Write docs/performance.md from the record, the whole run and the notes beside them."""
    lines = [
        "# Performance",
        "",
        (
            "Written by `make bench` from `tests/benchmarks/results.json` and `full_run.json`; the "
            "last part from `performance_notes.md`. Ratios hold better than seconds: CPU seconds "
            "grow when other work shares the cores; the load before each part is given with it."
        ),
    ]
    for name, title in _TITLES.items():
        if name in record:
            figures = [Figure(**row) for row in record[name]["figures"]]
            lines += ["", f"## {title}", "", _ABOUT[name], "", _stand(record[name]["about"]), ""]
            lines += _figure_rows(figures)
    if "peers" in record:
        lines += ["", "## Other tools on the same files", ""]
        lines += [
            (
                "A sample of the corpus, one file at a time, each tool in an environment of its "
                "own. *Facts* are sentences that the generator put into the files."
            ),
            "",
            _stand(record["peers"]["about"]),
            "",
            *_peer_rows(record["peers"]["peers"]),
        ]
    if FULL_RUN.exists():
        lines += ["", *_full_run(json.loads(FULL_RUN.read_text("utf-8")))]
    if NOTES.exists():
        lines += ["", NOTES.read_text("utf-8").strip()]
    DOCUMENT.write_text("\n".join(lines) + "\n", "utf-8")


def _stand(about: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    return (
        f"{about['date']}; {about['machine']}; Python {about['python']}; {versions}; "
        f"load {about['load']} before."
    )


def _figure_rows(figures: Sequence[Figure]) -> list[str]:
    rows = ["| measure | value | limit | | |", "|---|---:|---:|---|---|"]
    for figure in figures:
        verdict = "" if figure.limit is None else "missed" if figure.missed else "met"
        rows.append(
            f"| {figure.name} | {figure.value_text} | {figure.limit_text} | {verdict} "
            f"| {figure.note} |"
        )
    return rows


def _peer_rows(peers: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        "| tool | version | CPU s | times ours | files/s | facts | empty |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for peer in peers:
        rows.append(
            f"| {peer['name']} | {peer['version']} | {peer['cpu']:.1f} "
            f"| {peer['cpu'] / peers[0]['cpu']:.1f} | {peer['files'] / peer['wall']:.1f} "
            f"| {peer['facts']} of {peer['of']} | {peer['empty']} of {peer['files']} |"
        )
    return rows


def _full_run(run: Mapping[str, Any]) -> list[str]:
    lines = [
        f"## One run of {run['comments']:,} comments, from nothing to the index",
        "",
        (
            f"`python -m tests.benchmarks.full_run`, `-j {run['jobs']}`. {_stand(run)} "
            f"Load after: {run['load_after']}."
        ),
        "",
        (
            f"{run['attachments']:,} attachments ({run['distinct_files']:,} distinct files), "
            f"{run['attachment_bytes'] / 1e9:.2f} GB, in {run['shards']} shards; "
            f"{run['combined']:,} combined.md of {run['combined_bytes'] / 1e6:.0f} MB, index files "
            f"of {run['index_bytes'] / 1e6:.0f} MB. {run['files_per_second']} attachments a second."
        ),
        "",
        "| step | CPU s | wall s | largest process, MB |",
        "|---|---:|---:|---:|",
    ]
    for name, cost in run["steps"].items():
        lines.append(f"| {name} | {cost['cpu']} | {cost['wall']} | {cost['memory']:.0f} |")
    return lines


if __name__ == "__main__":
    write_document(load_record())
