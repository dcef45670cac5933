"""The measures of the goal on the 34 files of ICDAR 2013, where they are at hand."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
from regcomments.tables.pdf import tables_of_pdf

SHARED = Path(__file__).parents[1].parent / "shared"
FILES = SHARED / "tables" / "icdar2013"

pytestmark = pytest.mark.skipif(not FILES.is_dir(), reason="the ICDAR files are not here")


def load(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_measures_of_the_goal(tmp_path, capsys):
    scorer = load(SHARED / "tables" / "score.py")
    out = tmp_path / "out.jsonl"
    with out.open("w", encoding="utf-8") as handle:
        for pdf in sorted(FILES.glob("*.pdf")):
            tables = tables_of_pdf(pdf)
            pages = max([t.page for t in tables], default=0)
            by_page = [[t.grid() for t in tables if t.page == n + 1] for n in range(pages)]
            handle.write(json.dumps({"file": pdf.name, "pages": pages, "tables": by_page}) + "\n")
    scorer.main(str(FILES), str(out))
    line = capsys.readouterr().out
    cell, adjacency = (float(x) for x in re.findall(r"F1 (\d\.\d+)", line))
    found, pages = map(int, re.search(r"found on (\d+)/(\d+)", line).groups())
    false = int(re.search(r"false on (\d+)", line)[1])
    assert cell >= 0.97, line
    assert adjacency >= 0.96, line
    assert found >= 0.97 * pages, line
    assert false <= 2, line


@pytest.mark.slow
def test_rows_of_the_pdf_cases():
    scorer = load(SHARED / "cases" / "score.py")
    folder = SHARED / "cases"
    got = want = 0
    for text in (folder / "cases.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(text)
        if case.get("table") and case["file"].endswith(".pdf"):
            tables = [t.grid() for t in tables_of_pdf(folder / "files" / case["file"])]
            hit, rows = scorer.table_ok(case, {"tables": tables})
            got, want = got + hit, want + rows
    assert want
    assert got >= want - 1
