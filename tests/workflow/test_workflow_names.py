"""Ids as long as a folder's name can be: receipts, logs and Snakemake's own records still fit."""

from random import Random

import pymupdf
import pytest

LONG = "x" * 250
GREEK = "Ω" * 120  # 720 bytes once quoted


@pytest.mark.parametrize("target", ["extract_all", "tables"])
def test_long_names_are_extracted(site, target):
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "Letter of our clinic about the rule.")
        letter = document.tobytes()
    for docket in (f"CMS-{LONG}", f"CMS-{GREEK}", "CMS-{a} b.c"):
        for comment in (f"1{LONG}", f"2{LONG}", f"3{GREEK}"):
            folder = site.state / docket / comment
            folder.mkdir(parents=True)
            (folder / "attachment_1.pdf").write_bytes(letter)
    site.bodies({})
    done = site.run("-j", "1", target)
    assert done.returncode == 0, done.stdout
    if target == "extract_all":
        left = [path for path in site.state.glob("C*/*") if not (path / "combined.md").exists()]
        assert left == []
        again = site.run("-j", "1", target)
        assert "Nothing to be done" in again.stdout


def test_one_comment_of_a_long_name_by_its_path(site):
    name = "".join(Random(1).choices("αβγδεζηθικλμ", k=127))  # Snakemake refuses repetitions
    folder = site.state / "CMS-2031-0001" / name
    folder.mkdir()
    (folder / "attachment_1.txt").write_text("Letter of our clinic about the rule.")
    done = site.run("-j", "1", f"comments/CMS-2031-0001/{name}/combined.md")
    assert done.returncode == 0, done.stdout
    assert "Letter of our clinic" in (folder / "combined.md").read_text()
