"""`snakemake ocr` with the engine marker, by the real Snakefile."""

import json
import shutil

import pytest
from regcomments.combined import read

from tests.marker.conftest import PYTHON, free_port
from tests.marker.pages import LETTER, blank_page, error_rate, lines_at, photograph, scan
from tests.marker.pages import draw as draw_page
from tests.workflow.conftest import Site

COMMENT = "CMS-2031-0001-0001"


def settings(site: Site, url: str, **more: object) -> tuple[str, ...]:
    """Return the arguments of a run that reads with marker at `url`."""
    marker = {"python": str(PYTHON), "workers": 1, "page_seconds": 60, "request_seconds": 30}
    ocr = {"engine": "marker", "server": url, "server_wait_seconds": 1, "marker": marker, **more}
    path = site.root / "marker.json"
    path.write_text(json.dumps({"ocr": ocr}))
    return ("-j", "1", "ocr", "--configfile", str(path))


@pytest.fixture(scope="session")
def extracted(tmp_path_factory) -> Site:
    """One comment whose attachment is a scan of two letter pages and an empty back."""
    site = Site(tmp_path_factory.mktemp("extracted"))
    pictures = [photograph(draw_page(lines_at(72, lines))) for lines in LETTER[:2]]
    site.comment(COMMENT, a1_pdf=scan(pictures[0], blank_page(), pictures[1]))
    site.bodies({COMMENT: "See attached."})
    run = site.run("-j", "1", "extract_all")
    assert run.returncode == 0, run.stdout
    return site


@pytest.fixture
def site(extracted, tmp_path) -> Site:
    """A copy of the extracted site."""
    shutil.copytree(extracted.root, tmp_path, dirs_exist_ok=True)
    return Site(tmp_path)


def test_scan_is_read_by_marker_and_merged(site, standin):
    arguments = settings(site, f"{standin.url}/v1/")
    run = site.run(*arguments)
    assert run.returncode == 0, run.stdout
    combined = read(site.combined(COMMENT))
    (entry,) = combined.head.attachments
    assert (entry.status, entry.ocr_pages) == ("ok", ())
    assert entry.ocr.engine == "marker"
    assert entry.ocr.version.startswith("2.")
    truth = "\n".join([*LETTER[0], *LETTER[1]])
    assert error_rate(combined.texts["attachment_1.pdf"], truth) <= 0.02

    before = site.hashes()
    standin.post("/_reset")
    again = site.run(*arguments)
    assert again.returncode == 0, again.stdout
    assert "queued for OCR: 0 files, 0 pages" in again.stdout
    assert standin.requests() == []
    assert site.hashes() == before


def test_server_that_is_down_ends_the_run_with_one_clear_line(site):
    before = site.hashes()
    run = site.run(*settings(site, f"127.0.0.1:{free_port()}"))
    assert run.returncode != 0
    assert "the inference server at http://127.0.0.1:" in run.stdout
    assert "No page was read" in run.stdout
    assert not (site.state / "_ocr").exists()
    assert read(site.combined(COMMENT)).head.attachments[0].status == "ocr_needed"
    changed = {name for name in set(site.hashes()) ^ set(before) if "_index" not in name}
    assert not any(name.startswith("CMS") for name in changed)


def test_page_that_the_server_fails_stays_queued_with_its_reason(site, standin):
    standin.fault("empty", "vlm")
    arguments = settings(site, standin.url)
    run = site.run(*arguments)
    assert run.returncode != 0
    assert "pages that were asked for are not done" in run.stdout
    (entry,) = read(site.combined(COMMENT)).head.attachments
    assert entry.status == "ocr_needed"
    assert set(entry.ocr_pages) >= {1, 3}
    standin.post("/_reset")
    assert site.run(*arguments).returncode == 0
    (entry,) = read(site.combined(COMMENT)).head.attachments
    assert (entry.status, entry.ocr_pages) == ("ok", ())


def test_second_opinion_is_kept_and_disagreement_told(site, standin):
    from regcomments.ocr.store import lookup

    arguments = settings(site, standin.url, second_opinion=True)
    assert site.run(*arguments).returncode == 0
    (entry,) = read(site.combined(COMMENT)).head.attachments
    pages = lookup(site.state, entry.sha256).pages
    for number in (1, 3):
        second = pages[number].result.second
        assert second.engine.startswith("tesseract-")
        assert second.agreement > 0.95
        assert second.markdown
        assert pages[number].result.flags == ()
