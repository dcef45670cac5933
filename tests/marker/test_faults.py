"""The fault matrix: whatever the server does, no page counts as read unless it was read."""

import time

import pytest
from regcomments.ocr.engines import EngineUnavailableError, Outcome
from regcomments.ocr.engines import make as make_engine

from tests.marker.conftest import Standin, config, free_port
from tests.marker.pages import LETTER, error_rate, letter_scan

MOST_ERRORS = 0.02
DONE = ("text", "nothing")


def assert_only_read_pages_are_done(case, engine) -> None:
    """Every page of the letter has writing: done means its text, whole."""
    for number, page in case.stored(engine).pages.items():
        if page.result.outcome in DONE:
            truth = "\n".join(LETTER[number - 1])
            assert error_rate(page.result.markdown, truth) <= MOST_ERRORS, page.result


ALWAYS = ["http500", "http429", "garbage", "empty", "truncate", "loop", "slow", "hang", "close"]
ALWAYS += ["badjson"]


@pytest.mark.parametrize("mode", ALWAYS)
def test_server_that_always_fails_reads_no_page(case, standin, impatient, mode):
    standin.fault(mode, "vlm", seconds=12)
    letter = case(letter_scan(1), 1)
    report = letter.read(impatient)
    assert letter.outcomes(impatient) == {1: "failed"}
    assert report.failed == 1
    ((_, page, reason),) = report.failures
    assert (page, bool(reason)) == (1, True)
    assert letter.stored(impatient).pages[1].attempt == 1

    standin.post("/_reset")
    letter.read(impatient)  # the next run: the page was still queued
    assert letter.outcomes(impatient) == {1: "text"}
    assert letter.stored(impatient).pages[1].attempt == 2
    assert_only_read_pages_are_done(letter, impatient)


@pytest.mark.parametrize("mode", ["http500", "http429", "close", "badjson", "garbage", "empty"])
def test_one_bad_answer_is_made_good_within_the_run(case, standin, engine, mode):
    standin.fault(mode, "full_page", times=1)
    letter = case(letter_scan(2), 2)
    report = letter.read(engine, retries=1)
    assert report.failures == []
    assert letter.outcomes(engine) == {1: "text", 2: "text"}
    assert_only_read_pages_are_done(letter, engine)


@pytest.mark.parametrize("mode", ["truncate", "loop"])
def test_one_answer_cut_or_gone_in_circles_is_never_taken(case, standin, engine, mode):
    standin.fault(mode, "full_page", times=1)
    letter = case(letter_scan(2), 2)
    letter.read(engine, retries=1)
    assert letter.outcomes(engine) == {1: "text", 2: "text"}
    assert_only_read_pages_are_done(letter, engine)


@pytest.mark.parametrize("mode", ["http500", "garbage", "truncate", "empty", "loop"])
def test_page_read_by_blocks_is_whole_or_not_done(case, standin, impatient, mode):
    """The request for the whole page fails for good; marker goes on block by block."""
    standin.fault(mode, "full_page")
    letter = case(letter_scan(1), 1)
    letter.read(impatient)
    assert_only_read_pages_are_done(letter, impatient)
    page = letter.stored(impatient).pages[1].result
    assert page.outcome == Outcome.FAILED or "by_blocks" in page.flags


@pytest.mark.parametrize(("mode", "times"), [("garbage", 1), ("empty", 1), ("truncate", 1)])
def test_one_bad_block_of_many_fails_the_page(case, standin, impatient, mode, times):
    """Half a page must not pass for a page: the whole page fails, then one block of it."""
    standin.fault("badjson", "full_page")
    standin.fault(mode, "block", times=times)
    letter = case(letter_scan(1), 1)
    letter.read(impatient)
    assert letter.outcomes(impatient) == {1: "failed"}


@pytest.mark.parametrize("mode", ["http500", "garbage", "close"])
def test_ocr_error_service_that_fails_fails_the_page(case, standin, engine, mode):
    standin.fault(mode, "ocr_error")
    letter = case(letter_scan(1), 1)
    letter.read(engine)
    assert letter.outcomes(engine) == {1: "failed"}
    standin.post("/_reset")
    letter.read(engine)
    assert letter.outcomes(engine) == {1: "text"}


def test_hang_ends_at_the_page_s_deadline_and_the_next_page_is_read(case, standin, impatient):
    standin.fault("hang", "vlm", times=1)
    letter = case(letter_scan(2), 2)
    started = time.monotonic()
    letter.read(impatient)
    assert time.monotonic() - started < 120
    assert letter.outcomes(impatient)[2] == "text"
    assert_only_read_pages_are_done(letter, impatient)


@pytest.fixture
def no_wait_engine(own_standin):
    """An engine with a stand-in of its own, that waits two seconds for it when it is away."""
    made = make_engine(config(own_standin.url, server_wait_seconds=2))
    yield made
    made.close()


def test_server_killed_between_pages_leaves_the_rest_queued(case, own_standin, no_wait_engine):
    letter = case(letter_scan(3), 3)
    engine = no_wait_engine
    read = engine.read

    def kill_after_the_first(source):
        for result in read(source):
            yield result
            own_standin.stop()

    engine.read = kill_after_the_first
    with pytest.raises(EngineUnavailableError, match="stay queued"):
        letter.read(engine)
    assert letter.outcomes(engine) == {1: "text"}
    assert_only_read_pages_are_done(letter, engine)

    engine.read = read
    own_standin.start()
    report = letter.read(engine)
    assert (report.already, report.read) == (1, 2)
    stored = letter.stored(engine)
    assert [stored.pages[number].attempt for number in (1, 2, 3)] == [1, 1, 1]
    assert_only_read_pages_are_done(letter, engine)


def no_result(case) -> bool:
    return not (case.state / "_ocr").exists()


def test_server_down_at_the_start_reads_nothing_and_says_so(case):
    engine = make_engine(config(f"http://127.0.0.1:{free_port()}", server_wait_seconds=0))
    letter = case(letter_scan(1), 1)
    with pytest.raises(EngineUnavailableError, match=r"can't be reached.*No page was read"):
        letter.read(engine)
    engine.close()
    assert no_result(letter)


def test_server_with_another_model_reads_nothing_and_says_so(case):
    strange = Standin(free_port(), model="somebody/other-model")
    strange.start()
    try:
        engine = make_engine(config(strange.url))
        letter = case(letter_scan(1), 1)
        with pytest.raises(EngineUnavailableError, match="serves somebody/other-model"):
            letter.read(engine)
        engine.close()
    finally:
        strange.stop()
    assert no_result(letter)
