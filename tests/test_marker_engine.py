"""The marker engine over fake processes: order, faults of single pages, a server that goes away."""

import errno
import os
import sys
import time
from dataclasses import dataclass, field

import pytest
from regcomments.ocr import marker as marker_module
from regcomments.ocr.engines import EngineUnavailableError, Outcome, PageInk, PageResult
from regcomments.ocr.marker import MarkerEngine
from regcomments.ocr.marker_env import MarkerSettings
from regcomments.ocr.marker_process import MarkerProcess, ProcessPlan
from regcomments.ocr.run import RunSettings, _read_pages
from regcomments.ocr.server import Endpoint, ServerSettings
from regcomments.ocr.source import PageError

from tests.marker_fakes import PROGRAM, TEXT, fake_python, within

WHERE = Endpoint("http://gpu.lan:8000/v1")


@dataclass
class Words:
    """A source whose page `n` is the word for page n; `broken` pages can't be rendered."""

    words: dict[int, str]
    pages: tuple[int, ...]
    file: str = "attachment_1.pdf"
    sha256: str = "0" * 64
    broken: tuple[int, ...] = ()
    blank: tuple[int, ...] = ()

    def pdf(self, number: int) -> bytes:
        if number in self.broken:
            raise PageError("corrupt page")
        return f"{self.words.get(number, 'text')} {number}".encode()

    def ink(self, number: int) -> PageInk:
        if number in self.blank:
            return PageInk()
        return PageInk(share=0.02, lines=2, letters=70, strips=(70, 0, 0, 0))


@dataclass
class Server:
    """What health checks find: `down` faults one after the other, then well again."""

    down: list[str | None] = field(default_factory=list)
    checks: int = 0

    def fault(self, *_) -> str | None:
        self.checks += 1
        return self.down.pop(0) if self.down else None


@pytest.fixture
def server(monkeypatch) -> Server:
    found = Server()
    monkeypatch.setattr(marker_module, "fault", found.fault)
    monkeypatch.setattr(marker_module, "wait_well", lambda *_: found.fault())
    return found


@pytest.fixture
def engine(tmp_path, monkeypatch, server):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    python = fake_python(tmp_path / "python", '["2.0.0", "0.22.1"]')
    monkeypatch.setattr(
        marker_module,
        "ProcessPlan",
        lambda *rest: ProcessPlan(sys.executable, dict(os.environ), {}, program=program),
    )
    settings = MarkerSettings(python=python, workers=2, page_seconds=3)
    engine = MarkerEngine(settings, ServerSettings(WHERE))
    yield engine
    engine.close()


def outcomes(engine: MarkerEngine, words: dict[int, str], count: int, **more) -> dict[int, str]:
    source = Words(words, tuple(range(1, count + 1)), **more)
    results = list(engine.read(source))
    assert [result.number for result in results] == list(source.pages)
    for result in results:
        if result.outcome == Outcome.TEXT:
            assert result.markdown == f"{TEXT} {result.number}"
    return {result.number: str(result.outcome) for result in results}


def test_pages_come_in_order_whichever_is_done_first(engine):
    words = {1: "late", 4: "late"}
    assert outcomes(engine, words, 6) == dict.fromkeys(range(1, 7), "text")


@pytest.mark.parametrize("word", ["exit", "kill", "hang", "failed"])
def test_one_bad_page_costs_no_other(engine, word, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda _: None)
    found = outcomes(engine, {2: word}, 5)
    assert found == {1: "text", 2: "failed", 3: "text", 4: "text", 5: "text"}


def test_page_that_can_t_be_rendered_is_failed(engine):
    assert outcomes(engine, {}, 3, broken=(2,)) == {1: "text", 2: "failed", 3: "text"}


def test_empty_page_leads_to_a_health_check_and_is_left_to_the_judge(engine, server):
    assert outcomes(engine, {1: "empty"}, 2) == {1: "nothing", 2: "text"}
    assert server.checks == 2  # at the start and after the empty page


def test_blank_page_is_no_reason_for_a_health_check(engine, server):
    assert outcomes(engine, {1: "empty"}, 2, blank=(1,)) == {1: "nothing", 2: "text"}
    assert server.checks == 1


def test_server_down_at_the_start_ends_it_before_any_page(engine, server):
    server.down = ["the inference server can't be reached"]
    with pytest.raises(EngineUnavailableError, match=r"No page was read.*ocr\.engine"):
        next(engine.read(Words({}, (1, 2))))
    assert engine._processes == []


def test_page_is_asked_for_again_when_the_server_comes_back(engine, server):
    server.down = [None, "away", None]  # start, after the empty page, while waiting
    source = Words({1: "empty"}, (1,))
    result, asked = None, []
    ask = MarkerProcess.ask

    def count(process, pdf):
        asked.append(pdf)
        ask(process, b"text 1" if len(asked) > 1 else pdf)

    MarkerProcess.ask = count
    try:
        (result,) = engine.read(source)
    finally:
        MarkerProcess.ask = ask
    assert (result.outcome, len(asked)) == (Outcome.TEXT, 2)


def test_server_that_stays_away_ends_the_run_without_a_word_on_the_page(engine, server):
    server.down = [None, "away", "still away"]
    read = engine.read(Words({2: "empty"}, (1, 2, 3)))
    seen = []
    with pytest.raises(EngineUnavailableError, match=r"still away.*page 2.*stay queued"):
        for result in read:
            seen.append(result.number)
    assert 2 not in seen


def test_leaving_early_kills_what_nobody_waits_for(engine):
    read = engine.read(Words({2: "hang"}, (1, 2)))
    assert next(read).number == 1
    read.close()
    assert all(not process.busy for process in engine._processes)
    assert outcomes(engine, {}, 2) == {1: "text", 2: "text"}


def test_pause_before_a_page_after_failures_grows(engine, monkeypatch):
    pauses = []
    monkeypatch.setattr(marker_module.time, "sleep", pauses.append)
    for _ in range(3):
        outcomes(engine, {1: "failed"}, 1)
    outcomes(engine, {}, 1)
    outcomes(engine, {}, 1)
    assert pauses == [1.0, 3.0, 7.0]


@dataclass
class Second:
    """A second engine that says one thing of every page."""

    outcome: Outcome
    text: str
    name: str = "tesseract"
    digest: str = "0123456789ab"

    def read(self, source):
        (number,) = source.pages
        yield PageResult(number, self.outcome, self.text)


@pytest.mark.parametrize(
    ("word", "second", "outcome", "flags"),
    [
        ("text", Second(Outcome.TEXT, f"{TEXT} 1"), "text", ()),
        ("text", Second(Outcome.TEXT, "An altogether different letter."), "text", ("doubtful",)),
        ("text", Second(Outcome.NOTHING, ""), "text", ("doubtful",)),
        ("text", Second(Outcome.UNREADABLE, "An altogether different"), "text", None),
        ("empty", Second(Outcome.TEXT, f"{TEXT} 1"), "failed", ()),
        ("empty", Second(Outcome.NOTHING, ""), "nothing", ()),
        ("failed", Second(Outcome.TEXT, TEXT), "failed", None),
    ],
)
def test_second_opinion_is_kept_and_disagreement_flagged(engine, word, second, outcome, flags):
    engine._second = second
    (result,) = engine.read(Words({1: word}, (1,), blank=(1,)))
    assert result.outcome == outcome
    if flags is None:  # the second engine had nothing to say, or was not asked
        assert (result.second, result.flags) == (None, ())
        return
    assert result.flags == flags
    assert result.second.engine == "tesseract-0123456789ab"
    assert result.second.markdown == second.text
    assert 0 <= result.second.agreement <= 1


@pytest.mark.parametrize("bad", [1, 2, 3])
def test_result_under_the_wrong_page_when_a_page_is_tried_again_while_others_are_read(
    engine, bad, monkeypatch
):
    """The second try must not take the answers to pages that are still in hand."""
    pause = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: pause(min(seconds, 0.01)))
    assert outcomes(engine, {1: "late", 2: "late"}, 4)  # both processes are up
    words = dict.fromkeys(range(1, 9), "late") | {bad: "lame"}
    source = Words(words, tuple(range(1, 9)))
    with within(30):
        results = list(_read_pages(engine, source, RunSettings(progress=lambda _: None)))
    assert sorted(result.number for result in results) == list(source.pages)
    read = {r.number: r.markdown for r in results if r.outcome == Outcome.TEXT}
    assert read == {n: f"{TEXT} {n}" for n in source.pages if n != bad}


def test_result_under_the_wrong_page_is_refused_when_two_reads_overlap(engine):
    first = engine.read(Words({}, (1, 2, 3)))
    assert next(first).number == 1
    with pytest.raises(RuntimeError, match="others are being read"):
        next(engine.read(Words({}, (4,))))
    assert [result.number for result in first] == [2, 3]
    assert [result.number for result in engine.read(Words({}, (4,)))] == [4]


def test_attempt_counted_against_pages_when_no_process_can_be_started(engine, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(MarkerProcess, "start", full)
    with pytest.raises(EngineUnavailableError, match="No space left"):
        list(engine.read(Words({}, (1, 2))))


def test_lost_work_when_the_server_goes_away_while_a_page_before_is_slow(engine, server):
    """Pages behind the slow one were read: the store is to have them."""
    assert outcomes(engine, {1: "late", 2: "late"}, 4)  # both processes are up
    source = Words({1: "lame"}, (1, 2, 3, 4))
    server.down = ["down", "down still"]
    numbers = []
    with pytest.raises(EngineUnavailableError, match="down still"):
        for result in engine.read(source):
            numbers.append(result.number)
    assert numbers[:2] == [2, 3] and set(numbers) <= {2, 3, 4}
