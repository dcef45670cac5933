"""What a marker process answers, weighed: faults of the server, losses, refusals."""

import pytest
from regcomments.ocr.engines import Outcome
from regcomments.ocr.marker import agreement
from regcomments.ocr.marker_verdict import cut_off, said_letters, weigh

LETTER = "We ask that the payment floor for rural clinics stay as it is for three more years."
PAGE = f'<div data-bbox="1 2 3 4" data-label="Text"><p>{LETTER}</p></div>'


def said(kind: str = "high_accuracy_bbox", raw: str = PAGE, **more) -> dict:
    base = {"kind": kind, "error": False, "raw": raw, "tokens": 30, "limit": 12288}
    return {**base, "probability": 0.9, **more}


def answer(*answers: dict, markdown: str = LETTER, **more) -> dict:
    return {"markdown": markdown, "answers": list(answers), "warnings": [], **more}


def test_good_page_is_text_with_the_server_s_confidence():
    result = weigh(7, answer(said(), seconds=1.5))
    assert (result.number, result.outcome, result.markdown) == (7, Outcome.TEXT, LETTER)
    assert (result.confidence, result.error, result.flags) == (0.9, None, ())
    assert result.seconds == 1.5


def test_page_without_text_is_left_to_the_judge():
    result = weigh(1, answer(said(raw=""), markdown=""))
    assert (result.outcome, result.error) == (Outcome.NOTHING, None)


BLOCK = f"<p>{LETTER}</p>"
FAULTS = {
    "error of marker": (answer(said(), error="ValueError: no"), "ValueError"),
    "nothing asked": (answer(), "asked the server nothing"),
    "page failed alone": (answer(said(error=True, raw="")), "failed on the page"),
    "layout failed": (
        answer(said(error=True, raw=""), said("layout", "", error=True)),
        "the layout of the page",
    ),
    "empty page, empty layout": (answer(said(raw=""), said("layout", "")), "no layout"),
    "one of two blocks failed": (
        answer(
            said(error=True, raw=""),
            said("layout", "[]"),
            said("block", BLOCK),
            said("block", "", error=True),
        ),
        "blocks of the page",
    ),
    "page cut by the limit": (answer(said(tokens=12288)), "limit of 12288"),
    "page cut in the middle": (answer(said(raw=PAGE[:60])), "in the middle"),
    "block cut in the middle": (
        answer(said(error=True, raw=""), said("layout", "[]"), said("block", "<p>We ask")),
        "in the middle",
    ),
    "no page at all": (answer(said(raw="I see a letter.")), "no block of a page"),
    "block lost": (
        answer(said(), warnings=["OCR failed for a Text block on page 0"]),
        "lost a part",
    ),
    "loop dropped": (
        answer(said(), warnings=["Dropping OCR block output due to repetition loop"]),
        "lost a part",
    ),
    "refusal": (
        answer(said(), markdown="I'm sorry, I can't read this image."),
        "can't read",
    ),
    "refusal in other words": (
        answer(said(), markdown="Unfortunately, I am unable to process the image as given."),
        "can't read",
    ),
    "one of two blocks empty": (
        answer(
            said(error=True, raw=""),
            said("layout", "[]"),
            said("block", BLOCK),
            said("block", " "),
        ),
        "nothing for a block",
    ),
    "refusal of one block": (
        answer(
            said(error=True, raw=""),
            said("layout", "[]"),
            said("block", BLOCK),
            said("block", "<p>Sorry, I cannot read this image.</p>"),
        ),
        "can't read",
    ),
    "text lost on the way": (answer(said(), markdown="We ask"), "5 letters of"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_page_that_is_not_whole_is_failed(name):
    given, message = FAULTS[name]
    result = weigh(1, given)
    assert result.outcome == Outcome.FAILED
    assert message in result.error


GOOD = {
    "tried again with success": answer(said(), warnings=["Inference error: Error code: 500"]),
    "read by blocks after the page failed": answer(
        said(error=True, raw=""), said("layout", "[{}]"), said("block", BLOCK)
    ),
    "sorry at the start of a letter": answer(
        said(), markdown=f"I'm sorry, but I cannot support the rule. {LETTER}" * 8
    ),
    "polite letter": answer(
        said(),
        markdown="Unfortunately, we cannot read the document that you posted.",
    ),
    "fenced answer": answer(said(raw=f"```html\n{PAGE}\n```")),
    "picture with a description": answer(
        said(raw=PAGE + '<div data-bbox="1 2 3 4" data-label="Figure">' + LETTER * 9 + "</div>")
    ),
    "limit unknown": answer(said(limit=None, tokens=99999)),
}


@pytest.mark.parametrize("name", GOOD)
def test_page_that_is_whole_is_text(name):
    result = weigh(1, GOOD[name])
    assert (result.outcome, result.error) == (Outcome.TEXT, None)


def test_way_by_blocks_and_dropped_blocks_are_flagged():
    blocks = weigh(1, GOOD["read by blocks after the page failed"])
    assert blocks.flags == ("by_blocks",)
    dropped = weigh(
        1, answer(said(), warnings=["dropped 1 blank text block(s) from full-page OCR"])
    )
    assert dropped.flags == ("blank_blocks_dropped",)


@pytest.mark.parametrize(
    ("raw", "kind", "cut"),
    [
        ("", "high_accuracy_bbox", False),
        (PAGE, "high_accuracy_bbox", False),
        (PAGE + "\n" + PAGE, "high_accuracy_bbox", False),
        (PAGE + PAGE[:-7], "high_accuracy_bbox", True),
        (PAGE + "<div data-", "high_accuracy_bbox", True),
        ("plain words", "block", False),
        ("<p>one</p><p>two</p>", "block", False),
        ("<p>one</p><p>two", "block", True),
        ("<table><tr><td>1</td>", "block", True),
        ("<p>a</p", "block", True),
        ("less < more", "block", False),
    ],
)
def test_answers_cut_off(raw, kind, cut):
    assert cut_off(raw, kind) is cut


def test_letters_said_leave_out_pictures_and_nested_divs_count_once():
    nested = '<div data-label="Text" data-bbox="0 0 1 1"><div>ab</div><p>cd</p></div>'
    assert said_letters(nested) == 4
    assert said_letters(PAGE) == sum(map(str.isalnum, LETTER))
    assert said_letters('<div data-label="Image" data-bbox="0 0 1 1">logo</div>') == 0


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("The rule is good", "the RULE is good.", 1.0),
        ("", "", 1.0),
        ("", "Yes", 1.0),  # one word on a form says nothing about an engine
        ("", "a letter of more than five words", 0.0),
        ("| a | b |\n| c | d |", "c d a b", 1.0),
        ("one two three four", "one two five six", 0.5),
    ],
)
def test_agreement_counts_shared_words(one, other, share):
    assert agreement(one, other) == pytest.approx(share)
