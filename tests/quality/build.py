"""All cases of the gate."""

from __future__ import annotations

from pathlib import Path

from tests.quality import (
    container_cases,
    hard_pdf_cases,
    hard_text_cases,
    hard_word_cases,
    pdf_cases,
    scan_cases,
    text_cases,
    word_cases,
)
from tests.quality.case import Case

MODULES = (
    pdf_cases,
    hard_pdf_cases,
    scan_cases,
    word_cases,
    hard_word_cases,
    text_cases,
    hard_text_cases,
    container_cases,
)


def all_cases() -> list[Case]:
    """Return every case."""
    return [case for module in MODULES for case in module.CASES]


def write(folder: Path, cases: list[Case]) -> list[Path]:
    """Write the files of `cases` below `folder` and return their paths, in the same order.

    Each lies in a folder of its own as attachment_1, with the extension that its case's name has.
    """
    paths = []
    for number, case in enumerate(cases, 1):
        path = folder / f"{number:03d}" / f"attachment_1.{case.name.rpartition('.')[2]}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.make())
        paths.append(path)
    return paths
