"""The check of a host before an evening's work: what it is asked for and what it prints."""

import pytest
from regcomments.ocr import marker_check
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.ocr.source import PageError


@pytest.mark.parametrize("pages", ["0", "-3", "many"])
def test_crash_or_useless_line_for_no_pages(pages, capsys):
    with pytest.raises(SystemExit) as stop:
        marker_check.main(["--pages", pages])
    assert stop.value.code == 2
    assert "--pages" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("speed", "line"), [(0.0042, "0.0042"), (0.617, "0.62"), (12.3456, "12.35")]
)
def test_line_for_the_host_file_that_the_host_file_would_refuse(monkeypatch, capsys, speed, line):
    monkeypatch.setattr(marker_check, "configuration", lambda *_: {})
    monkeypatch.setattr(marker_check, "check", lambda *_: (speed, 0))
    assert marker_check.main(["--host", "rig"]) == 0
    assert capsys.readouterr().out.endswith(f"\npages_per_second: {line}\n")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PageError("no page")])
def test_crash_of_the_check_is_one_line(monkeypatch, capsys, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(marker_check, "configuration", lambda *_: {})
    monkeypatch.setattr(marker_check, "check", fail)
    assert marker_check.main([]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_page_without_a_result_counts_as_read_wrongly(monkeypatch, tmp_path):
    class Silent:
        version = model = "1"

        def read(self, source):
            for number in source.pages[:1]:
                yield PageResult(number, Outcome.TEXT, "\n".join(marker_check.sample_lines(number)))

        def close(self):
            pass

    monkeypatch.setattr(marker_check, "make", lambda _: Silent())
    assert marker_check.check({}, 3, tmp_path)[1] == 2
