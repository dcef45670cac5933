"""`snakemake ocr` by the real Snakefile, with real Tesseract."""

import json
import subprocess
import sys

import pymupdf
import pytest
from regcomments.combined import read

from tests.workflow.conftest import ROOT, scan_pdf

pytestmark = pytest.mark.slow

FIRST = "The rural health clinic of Harlan County supports the proposed payment floor."
SECOND = "We ask that the comment period be extended by thirty days for small practices."


def blank_scan() -> bytes:
    """A page whose picture shows only specks of dust."""
    out = pymupdf.open()
    page = out.new_page()
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 850, 1100))
    picture.clear_with(250)
    for position in range(40):
        picture.set_pixel(20 + position * 20, 30 + position * 25, (0,))
    page.insert_image(page.rect, pixmap=picture)
    return out.tobytes()


def test_scan_is_read_merged_and_never_queued_again(site):
    site.comment("CMS-2031-0001-0004", a1_pdf=scan_pdf(FIRST))
    assert site.run("-j", "2", "extract_all").returncode == 0
    entry = read(site.combined("CMS-2031-0001-0004")).head.attachments[0]
    assert (entry.status, entry.reason, entry.ocr_pages) == ("ocr_needed", "scanned", (1,))

    preview = site.run("-n", "ocr")
    assert "queued for OCR: 1 files, 1 pages" in preview.stdout
    run = site.run("-j", "2", "ocr")
    assert run.returncode == 0, run.stdout
    combined = read(site.combined("CMS-2031-0001-0004"))
    entry = combined.head.attachments[0]
    assert (entry.status, entry.ocr_pages, entry.ocr.pages) == ("ok", (), (1,))
    assert entry.ocr.engine == "tesseract"
    assert FIRST in " ".join(combined.texts["attachment_1.pdf"].split())

    before = site.hashes()
    again = site.run("-j", "2", "ocr")
    assert again.returncode == 0, again.stdout
    assert "queued for OCR: 0 files, 0 pages" in again.stdout
    assert site.hashes() == before


def test_new_scans_after_a_finished_ocr_run_are_queued(site):
    site.comment("CMS-2031-0001-0004", a1_pdf=scan_pdf(FIRST))
    site.run("-j", "2", "extract_all")
    assert site.run("-j", "2", "ocr").returncode == 0
    site.comment("CMS-2031-0001-0005", a1_pdf=scan_pdf(SECOND))
    site.run("-j", "2", "extract_all")
    run = site.run("-j", "2", "ocr")
    assert run.returncode == 0, run.stdout
    assert "queued for OCR: 1 files, 1 pages" in run.stdout
    text = read(site.combined("CMS-2031-0001-0005")).texts["attachment_1.pdf"]
    assert SECOND in " ".join(text.split())


def test_one_letter_sent_twice_is_read_once(site):
    scan = scan_pdf(FIRST)
    site.comment("CMS-2031-0001-0004", a1_pdf=scan)
    site.comment("CMS-2031-0002-0004", a1_pdf=scan)
    site.run("-j", "2", "extract_all")
    run = site.run("-j", "2", "ocr")
    assert "queued for OCR: 1 files, 1 pages" in run.stdout
    for name in ("CMS-2031-0001-0004", "CMS-2031-0002-0004"):
        assert "rural health clinic" in site.combined(name).read_text()
    assert len(list((site.state / "_ocr").rglob("*.json"))) == 1


def test_extraction_after_ocr_keeps_what_ocr_read(site):
    site.comment("CMS-2031-0001-0004", a1_pdf=scan_pdf(FIRST))
    site.run("-j", "2", "extract_all")
    site.run("-j", "2", "ocr")
    before = site.hashes()
    assert site.run("-j", "2", "extract_all", config=("redo=all",)).returncode == 0
    after = site.hashes()
    assert {
        name for name in before if name.endswith(".md") and after[name] != before[name]
    } == set()
    site.combined("CMS-2031-0001-0004").unlink()
    site.run("-j", "2", "extract_all")
    assert "rural health clinic" in site.combined("CMS-2031-0001-0004").read_text()


def test_merge_keeps_the_inline_body_on_a_host_without_the_database(site):
    site.comment("CMS-2031-0001-0001", a2_pdf=scan_pdf(FIRST))
    site.run("-j", "2", "extract_all")
    (site.root / "bib.sqlite").unlink()
    run = site.run("-j", "2", "ocr")
    assert run.returncode == 0, run.stdout
    combined = read(site.combined("CMS-2031-0001-0001"))
    assert combined.inline == "See attached.\nThank you & regards"
    assert combined.head.attachments[1].status == "ok"


def test_page_with_nothing_on_it_is_recorded_and_not_queued_again(site):
    site.comment("CMS-2031-0001-0004", a1_pdf=blank_scan())
    site.run("-j", "2", "extract_all")
    run = site.run("-j", "2", "ocr")
    assert run.returncode == 0, run.stdout
    again = site.run("-n", "ocr")
    assert "queued for OCR: 0 files, 0 pages" in again.stdout
    entry = read(site.combined("CMS-2031-0001-0004")).head.attachments[0]
    assert (entry.status, entry.chars) == ("ok", 0)


def test_profile_of_a_host_as_typed(site, tmp_path_factory):
    """`snakemake --profile rig ocr` reads rig's share; the others are left for them."""
    home = tmp_path_factory.mktemp("config")
    environment = {"XDG_CONFIG_HOME": str(home)}
    link = [sys.executable, str(ROOT / "scripts" / "link_profiles.py")]
    subprocess.run(link, env=site.env(**environment), check=True)
    for number in range(4, 12):
        site.comment(f"CMS-2031-0001-{number:04d}", a1_pdf=scan_pdf(f"{FIRST} Letter {number}."))
    assert site.run("-j", "2", "extract_all", **environment).returncode == 0
    preview = site.run("--profile", "rig", "-n", "ocr", **environment)
    assert "queued for OCR: 8 files, 8 pages" in preview.stdout
    assert "rig takes 4 files, 4 pages" in preview.stdout
    run = site.run("--profile", "rig", "ocr", **environment)
    assert run.returncode == 0, run.stdout
    assert len(list((site.state / "_ocr").rglob("*.json"))) == 4
    rest = site.run("--profile", "rig", "ocr", config=("partition=all",), **environment)
    assert rest.returncode == 0, rest.stdout
    assert len(list((site.state / "_ocr").rglob("*.json"))) == 8


def test_marker_engine_without_marker_says_what_it_lacks(site):
    # This Python has no marker, whatever environment lies beside the clone.
    python = json.dumps(sys.executable)
    (site.root / "marker.yaml").write_text(
        f"ocr: {{engine: marker, marker: {{python: {python}}}}}\n"
    )
    run = site.run("-j", "1", "ocr", "--configfile", "marker.yaml")
    assert run.returncode != 0
    assert "has no marker-pdf" in run.stdout
    assert "Traceback" not in run.stdout
