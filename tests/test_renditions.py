"""Renditions of one letter and copies of one file go into combined.md once."""

import pytest
from regcomments.records import Extraction
from regcomments.renditions import compare, find_pairs, words
from regcomments.status import Reason, Status

LETTER = (
    "The county hospital association supports the rural floor. Our forty members treat patients "
    "who live two hours from the next emergency room, and the wage index decides whether they "
    "can keep a surgeon on call. We ask the agency to publish the occupational mix survey early."
)
OTHER = "Please withdraw the quality reporting measure because it double counts readmissions."


def result(text, kind="pdf", sha="0", status=Status.OK, size=10):
    return Extraction(status, text=text, kind=kind, sha256=sha, size=size)


@pytest.mark.parametrize(
    ("poorer", "richer", "agreement"),
    [
        ("a b c d", "a b c d", 1.0),
        ("a b c d", "A, B. c d e f", 1.0),
        ("a b c d", "a b x y", 0.5),
        ("hos-\npital", "hospital", 1.0),
        ("", "a b", 0.0),
    ],
)
def test_compare_counts_words_found(poorer, richer, agreement):
    assert compare(words(poorer), words(richer))[0] == agreement


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        pytest.param(
            {
                "attachment_1.docx": result(LETTER, "docx", "a"),
                "attachment_1.pdf": result(LETTER + "\n1", "pdf", "b"),
            },
            [("attachment_1.docx", "attachment_1.pdf", True)],
            id="the page number makes the PDF the richer one",
        ),
        pytest.param(
            {
                "attachment_1.docx": result(LETTER, "docx", "a"),
                "attachment_1.pdf": result(LETTER, "pdf", "b"),
            },
            [("attachment_1.pdf", "attachment_1.docx", True)],
            id="equal texts, DOCX is kept",
        ),
        pytest.param(
            {
                "attachment_1.docx": result(LETTER, "docx", "a"),
                "attachment_1.pdf": result(OTHER, "pdf", "b"),
            },
            [("attachment_1.pdf", "attachment_1.docx", False)],
            id="other texts, both kept",
        ),
        pytest.param(
            {
                "attachment_1.pdf": result(LETTER, sha="a"),
                "attachment_2.pdf": result(LETTER, sha="a"),
            },
            [("attachment_2.pdf", "attachment_1.pdf", True)],
            id="byte-identical files of other numbers",
        ),
        pytest.param(
            {
                "attachment_1.docx": result(LETTER, "docx", "a"),
                "attachment_2.pdf": result(LETTER, "pdf", "b"),
            },
            [],
            id="other numbers, other bytes: not compared",
        ),
        pytest.param(
            {
                "attachment_1.pdf": result("", sha="a", size=0),
                "attachment_2.pdf": result("", sha="a", size=0),
            },
            [],
            id="empty files are no pair",
        ),
        pytest.param(
            {
                "attachment_1.docx": result(LETTER, "docx", "a"),
                "attachment_1.pdf": Extraction(
                    Status.OCR_NEEDED, reason=Reason.SCANNED, sha256="b", size=3
                ),
            },
            [],
            id="a scan without text is no pair yet",
        ),
    ],
)
def test_find_pairs(results, expected):
    found = [(pair.file, pair.other, pair.same) for pair in find_pairs(results)]
    assert found == expected


def test_lost_paragraph_keeps_both_files():
    """Nine tenths of the words agree, yet one sentence stands in the poorer file only."""
    extra = "Our trustees voted on nineteen amendments that nobody else has proposed before today"
    long = " ".join(f"{LETTER} section {number}." for number in range(12))
    short_extra = result(f"{long} {extra}", "pdf", "b")
    fuller = result(long + " " + " ".join(f"w{n}" for n in range(40)), "docx", "a")
    (pair,) = find_pairs({"attachment_1.docx": fuller, "attachment_1.pdf": short_extra})
    assert pair.agreement > 0.9
    assert not pair.same
