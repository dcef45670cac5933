"""What an engine says about a page, checked against itself and against the ink."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from regcomments.ocr.engines import Outcome, PageInk, PageResult
from regcomments.ocr.judge import _repeated_end, garbled, judge, looped, plain_text

from tests.ocr_fakes import GARBAGE, LETTER, LOOP

PROSE = "\n".join(LETTER) * 3
FULL = PageInk(0.07, 40, len(PROSE), (400, 400, 400, 300))
NONE = PageInk()
STAMP = PageInk(0.002, 1, 30, (30, 0, 0, 0))
PHOTO = PageInk(0.3, 2, 22, (10, 12, 0, 0))
SPECK = PageInk(0.00001)
TABLE = "\n".join(f"| {n} | Clinic {n * 7 % 93} | {n * 1311 % 9973}.00 |" for n in range(60))
TOC = "\n".join(f"{n}. Section on topic {n * 37 % 91} {'.' * 24} {n}" for n in range(40))
FORM = "Name: ______________________\nAddress: ______________________\n" * 6 + "Signed: ____"
ROLL = "I support this rule.\n" + "\n".join(f"Signer number {n}, Ohio" for n in range(40))


@pytest.mark.parametrize(
    ("text", "ink", "outcome"),
    [
        (PROSE, FULL, Outcome.TEXT),
        (PROSE, None, Outcome.TEXT),
        ("Phone", STAMP, Outcome.TEXT),
        (TABLE, FULL, Outcome.TEXT),
        (TOC, FULL, Outcome.TEXT),
        (FORM, PageInk(0.02, 13, 200, (100, 100, 0, 0)), Outcome.TEXT),
        (ROLL, PageInk(0.05, 42, 900, (250, 250, 250, 150)), Outcome.TEXT),
        ("", NONE, Outcome.NOTHING),
        ("", PHOTO, Outcome.NOTHING),
        ("", STAMP, Outcome.NOTHING),
        ("", None, Outcome.NOTHING),
        ("![](page_1.png)\n\n---", PHOTO, Outcome.NOTHING),
        ("", FULL, Outcome.FAILED),
        ("![](page_1.png)", FULL, Outcome.FAILED),
        (PROSE[: len(PROSE) // 4], FULL, Outcome.FAILED),
        (PROSE, NONE, Outcome.NOTHING),
        (PROSE, SPECK, Outcome.FAILED),
        (LOOP, FULL, Outcome.FAILED),
        (LETTER[1] + "\n" + "wound care clinic\n" * 40, FULL, Outcome.FAILED),
        (PROSE + " and the and the and the" * 30, FULL, Outcome.FAILED),
        (GARBAGE * 6, FULL, Outcome.FAILED),
        ("\ufffd" * 900 + "abcdefgh " * 90, FULL, Outcome.FAILED),
        ("a b c d e f g h " * 60, FULL, Outcome.FAILED),
    ],
)
def test_outcome(text, ink, outcome):
    judged = judge(PageResult(1, Outcome.TEXT, text), ink)
    assert judged.outcome == outcome
    assert bool(judged.error) == (outcome == Outcome.FAILED)
    if outcome == Outcome.TEXT:
        assert judged.markdown


@pytest.mark.parametrize(("lines", "outcome"), [(16, Outcome.TEXT), (60, Outcome.FAILED)])
def test_a_page_that_repeats_itself_line_for_line_is_no_loop(lines, outcome):
    text = "\n".join(["This is a sample page for the scanner in room four."] * lines)
    ink = PageInk(0.05, 16, 700, (200, 200, 200, 100))
    assert judge(PageResult(1, Outcome.TEXT, text), ink).outcome == outcome


def test_only_half_a_page_keeps_its_text():
    half = judge(PageResult(1, Outcome.TEXT, PROSE[: len(PROSE) // 4]), FULL)
    loop = judge(PageResult(1, Outcome.TEXT, LOOP), FULL)
    assert half.markdown and not loop.markdown


def test_text_invented_for_a_blank_page_is_flagged():
    judged = judge(PageResult(1, Outcome.TEXT, PROSE), NONE)
    assert judged.markdown == "" and judged.flags == ("invented",)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.UNREADABLE])
def test_an_engines_own_verdict_stands(outcome):
    judged = judge(PageResult(1, outcome, "x", error="HTTP 500"), FULL)
    assert (judged.outcome, judged.error) == (outcome, "HTTP 500")


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        TABLE,
        TOC,
        FORM,
        ROLL,
        "ha ha ha ha ha ha ha ha",
        "0 0.00 1 " * 70,
        "Yes\nYes\nYes\nNo\nYes\nYes",
        "我们支持这项规则，因为它保护病人。" * 2,
    ],
)
def test_real_text_is_no_loop_and_no_garbage(text):
    assert not looped(text)
    assert not garbled(plain_text(text))


@given(
    st.text("ab c", max_size=40),
    st.text("ab c.", min_size=1, max_size=30),
    st.integers(1, 14),
    st.integers(0, 3),
)
@example("", "the dog ", 9, 3)
@example("x" * 30, "aaa", 12, 1)
def test_a_phrase_repeated_at_the_end_is_found(before, phrase, times, rest):
    text = (before + phrase * times + phrase[:rest]).strip()
    found = re.search(r"(.{3,200}?)\1{7,}\Z", text, re.DOTALL)
    assert _repeated_end(text) == ((found[0], found[1]) if found else ("", ""))


def test_text_comes_in_normal_form():
    judged = judge(PageResult(1, Outcome.TEXT, "a\r\nb\x00 \ud800c  "), None)
    assert judged.markdown == "a\nb \ufffdc"
