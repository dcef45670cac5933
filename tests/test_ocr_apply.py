"""OCR results in a document, and the status that follows."""

import pytest
from regcomments.ocr import store
from regcomments.ocr.apply import apply_ocr, join
from regcomments.ocr.engines import Outcome, PageResult
from regcomments.read import summarise
from regcomments.records import Document, Page
from regcomments.status import Reason, Status

from tests.ocr_fakes import FaultyEngine

SHA = "ab" * 32
SCAN = Page(1, "", needs_ocr=True, reason=Reason.SCANNED)
GARBLED = Page(1, "\ue001\ue002", needs_ocr=True, reason=Reason.GARBLED)
STAMPED = Page(1, "Filed: 10/31/2017 Pg: 1 of 1", needs_ocr=True, reason=Reason.SCANNED)
TYPED = Page(2, "Typed page two.")
_LETTER = (
    "We support the goals of the agency. Our members have reviewed it.\n"
    "We have serious concerns about the proposal; no data was published with it."
)


def outcome_of(tmp_path, pages, results, attempts=None, max_attempts=3):
    store.write(tmp_path, SHA, FaultyEngine(), results, attempts or {}, part=False)
    document = Document("pdf", "pymupdf", pages=pages, paged=True)
    return summarise(apply_ocr(document, store.lookup(tmp_path, SHA), max_attempts))


def test_a_page_read_becomes_text(tmp_path):
    result = outcome_of(tmp_path, (SCAN, TYPED), [PageResult(1, Outcome.TEXT, "Read.")])
    assert (result.status, result.reason, result.ocr_pages) == (Status.OK, None, ())
    assert result.text == "Read.\n\nTyped page two."
    assert (result.ocr_read, result.ocr_engine) == ((1,), "faulty 1")


def test_a_page_without_text_is_recorded_as_looked_at(tmp_path):
    result = outcome_of(tmp_path, (SCAN,), [PageResult(1, Outcome.NOTHING)])
    assert (result.status, result.reason, result.ocr_pages) == (Status.OK, Reason.BLANK, ())
    assert result.ocr_read == (1,)


@pytest.mark.parametrize(
    ("outcome", "attempt", "reason"),
    [
        (Outcome.FAILED, 1, Reason.SCANNED),
        (Outcome.FAILED, 3, Reason.OCR_FAILED),
        (Outcome.UNREADABLE, 1, Reason.OCR_FAILED),
    ],
)
def test_a_page_not_read_stays_wanted(tmp_path, outcome, attempt, reason):
    page = PageResult(1, outcome, error="HTTP 500")
    result = outcome_of(tmp_path, (SCAN,), [page], {1: attempt})
    assert (result.status, result.reason) == (Status.OCR_NEEDED, reason)
    assert (result.ocr_pages, result.ocr_read) == ((1,), ())


@pytest.mark.parametrize(
    ("page", "result", "text"),
    [
        (GARBLED, PageResult(1, Outcome.TEXT, "Read."), "Read."),
        (GARBLED, PageResult(1, Outcome.NOTHING), ""),
        (GARBLED, PageResult(1, Outcome.UNREADABLE, "17"), "17"),
        (GARBLED, PageResult(1, Outcome.FAILED), ""),
        (STAMPED, PageResult(1, Outcome.NOTHING), STAMPED.text),
        (
            STAMPED,
            PageResult(1, Outcome.TEXT, "Filed: 10/31/2017 Pg: 1 of 1\n\nWe object."),
            STAMPED.text + "\n\nWe object.",
        ),
    ],
)
def test_what_becomes_of_the_text_layer(tmp_path, page, result, text):
    assert outcome_of(tmp_path, (page,), [result], {1: 3}).text == text


def test_pages_that_never_wanted_ocr_are_left_alone(tmp_path):
    results = [PageResult(1, Outcome.TEXT, "Read."), PageResult(2, Outcome.TEXT, "Worse.")]
    assert "Worse" not in outcome_of(tmp_path, (SCAN, TYPED), results).text


def test_doubt_is_told(tmp_path):
    page = PageResult(1, Outcome.TEXT, "Read.", flags=("doubtful",))
    result = outcome_of(tmp_path, (SCAN,), [page])
    assert (result.status, result.reason) == (Status.OK, Reason.OCR_DOUBTFUL)
    assert result.text == "Read." and "page 1" in result.warnings[0]


@pytest.mark.parametrize(
    ("layer", "read", "joined"),
    [
        ("", "Read.", "Read."),
        (" \n", "Read.", "Read."),
        ("The clinic treats 1,846 patients.", "The clinic treats 1,846 patlents.", None),
        ("Dear Sir", "Dear Sir\nScreenshot of a table", "Dear Sir\n\nScreenshot of a table"),
        ("Page 3", "Page 3\n\n3 nurses", "Page 3\n\n3 nurses"),
        ("Yes we can", "Yes\nNo", "Yes we can\n\nNo"),
        (_LETTER, "We support the proposal.", f"{_LETTER}\n\nWe support the proposal."),
        (_LETTER, "Our members have no concerns", f"{_LETTER}\n\nOur members have no concerns"),
        (_LETTER, "We have serious concerrns\nabout the proposal", None),
        ("Fee 1,000 Total 2,000", "| Total | 2,000 |\n| --- | --- |\n| Fee | 1,000 |", None),
        (
            "Fee 1,000 Total 2,000",
            "| Fee | 1,000 |\n| --- | --- |\n| Refund | 3,500 |",
            "Fee 1,000 Total 2,000\n\n| Fee | 1,000 |\n| --- | --- |\n| Refund | 3,500 |",
        ),
    ],
)
def test_the_layer_wins_where_both_have_a_line(layer, read, joined):
    assert join(layer, read) == (layer if joined is None else joined)
