"""Results of the OCR store go into every comment that waits for them; equal files are read once."""

from pathlib import Path

import pytest
from regcomments.combined import read
from regcomments.comment import make_combined
from regcomments.config import Settings
from regcomments.merge import merge_comments
from regcomments.ocr import store
from regcomments.ocr.engines import Outcome, PageResult, engine_key
from regcomments.read.worker import Worker

from tests.ocr_fakes import LETTER, FaultyEngine, picture, put, scan_pdf, text_pdf

DOCKET = "T-2024-0001"


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the comments whose file the worker was given."""
    names: list[str] = []
    real = Worker.read

    def spy(self: Worker, path: Path) -> object:
        names.append(path.parent.name)
        return real(self, path)

    monkeypatch.setattr(Worker, "read", spy)
    return names


def test_equal_scans_are_read_once_and_merged_into_every_comment(
    tmp_path: Path, reads: list[str]
) -> None:
    settings, engine = Settings(state=str(tmp_path), bib="none"), FaultyEngine()
    scan = scan_pdf([picture(text_pdf([LETTER * 2]), 0, 100)], 100)
    other = scan_pdf([picture(text_pdf([LETTER]), 0, 100)], 100)
    digest = ""
    for comment, data in (("C-1", scan), ("C-2", other), ("C-3", scan)):
        digest = put(tmp_path, comment, "attachment_1.pdf", data)
        with Worker(settings.limits(), settings.options()) as worker:
            make_combined(tmp_path / DOCKET / comment, None, worker)
    result = PageResult(1, Outcome.TEXT, "The text of the scan.", 0.9)
    store.write(tmp_path, digest, engine, [result], {1: 1}, part=False)
    reads.clear()

    wanted = [(DOCKET, comment) for comment in ("C-1", "C-2", "C-3")]
    report = merge_comments(settings, wanted, engine_key(engine), lambda _: None)

    assert (report.changed, report.waiting, report.failed) == (2, 1, ())
    assert reads == ["C-1", "C-2"]
    for comment, text in (("C-1", True), ("C-2", False), ("C-3", True)):
        content = read(tmp_path / DOCKET / comment / "combined.md")
        assert ("The text of the scan." in content.texts["attachment_1.pdf"]) == text
