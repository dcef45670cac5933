"""Names in the paths of receipts and logs: they come back, and they fit."""

from argparse import Namespace
from pathlib import Path

import pytest
from regcomments.config import Settings
from regcomments.errors import UserError
from regcomments.job import stretch_of
from regcomments.names import MOST_BYTES, find_name, is_cut, quote_name, stretch_name

LONG = "CMS-2031-0001-" + "x" * 241  # 255 bytes, the most that a folder's name can have
GREEK = "Ω" * 127  # 254 bytes, 762 once quoted
NEAR = "Ω" * 126 + "Ψ"  # the same but for its end


@pytest.mark.parametrize(
    "name", ["A-1", "A 1.2", "B..3", "Ä", "Ö{x}", "a=b", "%41", "~", "1" * 115]
)
def test_a_name_comes_back_without_a_look(name):
    assert find_name(quote_name(name), ()) == name
    assert not set(quote_name(name)) & set("./ {}=")


@pytest.mark.parametrize("name", [LONG, GREEK, NEAR, "." * 255, "1" * 116])
def test_a_long_name_is_found_among_those_that_there_are(name):
    quoted = quote_name(name)
    assert is_cut(quoted)
    assert len(quoted.encode()) == MOST_BYTES
    assert find_name(quoted, ["A-1", GREEK, NEAR, LONG, "." * 255, "1" * 116]) == name
    with pytest.raises(UserError, match="there is nothing of the name"):
        find_name(quoted, ["A-1"])


def test_two_long_names_fit_into_a_file_name_and_stay_apart():
    name = f"{quote_name(GREEK)}..{quote_name(LONG)}.0001.failed.json"
    assert len(name.encode()) <= 255
    assert len({quote_name(text) for text in (GREEK, NEAR, LONG)}) == 3


@pytest.mark.parametrize(
    ("docket", "through"),
    [("A-1", "A-1"), ("A-1", "B-2"), ("A 1.2", "B..3"), ("Ä", "Ö{x}"), (LONG, GREEK)],
)
def test_a_stretch_survives_the_path_of_its_receipt(tmp_path: Path, docket, through):
    for name in (docket, through):
        (tmp_path / name / NEAR).mkdir(parents=True, exist_ok=True)
    named = stretch_name(docket, through)
    assert "/" not in named
    assert len(named.encode()) <= 255
    job = Namespace(
        settings=Settings(state=str(tmp_path), bib="none"),
        docket=named,
        first=quote_name(NEAR),
        last=quote_name("A-1-1"),
    )
    assert stretch_of(job) == (docket, NEAR, through, "A-1-1")
