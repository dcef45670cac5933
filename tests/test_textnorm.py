"""The normal form of text."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regcomments.textnorm import normalise

ODD = "ab \t\n\r\x0b\x0c\x1c\x1e\x1f\x00\x7f\x80\x85\x9f\u00a0\u2003\u2028\u2029\ud800é"
texts = st.one_of(st.text(), st.text(alphabet=ODD), st.text(alphabet=ODD[:16]))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", ""),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x0cb", "a\nb"),
        ("é\x0cb\x85c\u2028d", "é\nb\nc\nd"),
        ("a\x00b\x1fc", "abc"),
        ("é\x00b\x9fc", "ébc"),
        ("a \t\u00a0\nb ", "a\nb"),
        ("\n\n  a\n\n", "  a"),
        ("a\n\n\n\n\n\nb", "a\n\n\nb"),
        ("a\n \n \n \n \nb", "a\n\n\nb"),
        ("x\ud800y", "x\ufffdy"),
        ("tab\tstays", "tab\tstays"),
        ("a\r\x00\nb", "a\n\nb"),
    ],
)
def test_values(raw, expected):
    assert normalise(raw) == expected


@given(texts)
@settings(max_examples=500)
def test_idempotent_and_clean(raw):
    once = normalise(raw)
    assert normalise(once) == once
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", once)
    assert not re.search("[ \t\u00a0](\n|$)|\n{4}", once)
    assert once == once.rstrip() and not once.startswith("\n")
    once.encode("utf-8")


@given(texts)
@settings(max_examples=300)
def test_ascii_and_unicode_paths_agree(raw):
    """A word of Unicode at the end sends the text down the other path."""
    assert normalise(raw + "é") == normalise(normalise(raw + "x")[:-1] + "é")


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_what_is_visible_stays(raw):
    assert normalise(raw) == raw


@pytest.mark.parametrize("filler", [" ", "\t", "\n", "\r", " \n", "\x00", "\u00a0"])
def test_linear_time(filler):
    started = time.process_time()
    normalise("a" + filler * 300_000 + "b")
    assert time.process_time() - started < 1.0  # 4 minutes when spaces were tried one by one
