"""The script of one OCR job: what ends it is one line, and leaves no receipt."""

import errno
import os

import ocr_shard
import pytest
from regcomments.config import Settings
from regcomments.ocr.engines import EngineUnavailableError
from regcomments.ocr.run import ShardReport
from regcomments.ocr.store import StoreError


@pytest.fixture
def job(tmp_path):
    """Return the arguments of a job without rows."""
    settings = tmp_path / "settings.json"
    settings.write_text(Settings(str(tmp_path / "state"), "").to_json())
    rows = tmp_path / "rows.jsonl"
    rows.write_text("")
    named = {"settings": settings, "rows": rows}
    named |= {"receipt": tmp_path / "receipt.json", "log": tmp_path / "log"}
    return [word for name, path in named.items() for word in (f"--{name}", str(path))]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "_ocr/ab/x.json"), "no space left"),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "_ocr/ab/x.json"), "no space left"),
        (OSError(errno.ESTALE, os.strerror(errno.ESTALE), "_ocr/ab/x.json"), "Stale file handle"),
        (StoreError("_ocr/ab: 1000 results named x are there"), "1000 results"),
        (EngineUnavailableError("the server is away"), "the server is away"),
    ],
    ids=["full", "quota", "stale", "store", "server"],
)
def test_crash_of_a_job_whose_store_can_t_be_written(
    job, tmp_path, monkeypatch, capsys, error, told
):
    def fail(*_: object) -> ShardReport:
        raise error

    monkeypatch.setattr(ocr_shard, "read_job", fail)
    assert ocr_shard.main(job) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: ") and told in lines[0]
    assert not (tmp_path / "receipt.json").exists()


def test_crash_of_a_job_whose_rows_are_damaged(job, tmp_path, capsys):
    (tmp_path / "rows.jsonl").write_text('{"docket": "D", "comm')
    assert ocr_shard.main(job) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_job_without_trouble_writes_its_receipt(job, tmp_path):
    assert ocr_shard.main(job) == 0
    assert (tmp_path / "receipt.json").exists()
