"""OpenDocument texts, workbooks and presentations."""

from __future__ import annotations

import re

import pytest
from kind_files import opendocument, picture_bytes, zipped
from regcomments.read import ReadOptions, read_attachment
from regcomments.read import opendocument as reader
from regcomments.status import Reason, Status

_FRAME = (
    '<text:p><draw:frame xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'svg:width="17cm" svg:height="5cm"><draw:image xlink:href="Pictures/scan.png"/></draw:frame>'
    "</text:p>"
)


def _rows(*rows):
    """A table of rows such as "A2A": cells with the letter, so many empty ones between."""
    cells = "".join(
        "<table:table-row>"
        + "".join(
            "<table:table-cell><text:p>A</text:p></table:table-cell>"
            if piece == "A"
            else f'<table:table-cell table:number-columns-repeated="{piece}"/>'
            for piece in re.findall("A|[0-9]+", row)
        )
        + "</table:table-row>"
        for row in rows
    )
    return f"<table:table>{cells}</table:table>"


def _read(tmp_path, data):
    path = tmp_path / "attachment_1.odt"
    path.write_bytes(data)
    return read_attachment(path, ReadOptions())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<text:p>one</text:p>\n <text:p>two</text:p>", "one\n\ntwo"),
        ('<text:h text:outline-level="2">T</text:h><text:p>x</text:p>', "#### T\n\nx"),
        ("<text:p>a<text:s/>b<text:tab/>c<text:line-break/>d</text:p>", "a b c\nd"),
        ('<text:p>a<text:s text:c="3"/>b</text:p>', "a   b"),
        ("<text:p>a<text:span> b</text:span> c</text:p>", "a b c"),
        (
            '<text:p>see <text:a xlink:href="http://x.org">it</text:a> now</text:p>',
            "see it now <http://x.org>",
        ),
        (
            (
                "<text:list><text:list-item><text:p>a</text:p><text:list><text:list-item>"
                "<text:p>b</text:p></text:list-item></text:list></text:list-item></text:list>"
            ),
            "- a\n  - b",
        ),
        (
            (
                "<text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion>"
                "</text:tracked-changes><text:p>kept</text:p>"
            ),
            "kept",
        ),
        (
            (
                "<text:p>a<text:note><text:note-citation>1</text:note-citation><text:note-body>"
                "<text:p>below</text:p></text:note-body></text:note> b</text:p>"
            ),
            "a[1] b\n\n[1]: below",
        ),
        (
            "<text:p>a<office:annotation><text:p>remark</text:p></office:annotation>b</text:p>",
            "ab\n\nComment: remark",
        ),
        (
            (
                "<table:table><table:table-row><table:table-cell><text:p>A</text:p>"
                '</table:table-cell><table:table-cell table:number-columns-repeated="2">'
                "<text:p>B</text:p></table:table-cell></table:table-row><table:table-row>"
                "<table:table-cell><text:p>C</text:p></table:table-cell><table:table-cell "
                'table:number-columns-repeated="16000"/></table:table-row></table:table>'
            ),
            "| A | B | B |\n| --- | --- | --- |\n| C |  |  |",
        ),
        (
            _rows("AAAA", "A2A", "A2A", "16384")
            + '<table:table><table:table-row table:number-rows-repeated="3"><table:table-cell>'
            "<text:p>s</text:p></table:table-cell></table:table-row></table:table>",
            (
                "| A | A | A | A |\n| --- | --- | --- | --- |\n| A |  |  | A |\n| A |  |  | A |\n\n"
                "| s |\n| --- |\n| s |\n| s |"
            ),
        ),
    ],
)
def test_text(tmp_path, body, text):
    assert _read(tmp_path, opendocument(body)).text == text


def test_numbered_lists_headers_and_footers(tmp_path):
    styles = (
        '<s xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
        'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"><style:header><text:p>'
        "ACME</text:p></style:header><style:header-left><text:p>ACME</text:p></style:header-left>"
        "<style:footer><text:p>foot <text:page-number>1</text:page-number></text:p>"
        "</style:footer></s>"
    )
    body = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" '
        'style:num-format="a" style:num-suffix=")"/></text:list-style>'
        '<text:list text:style-name="L"><text:list-item><text:p>x</text:p></text:list-item>'
        '<text:list-item text:start-value="5"><text:p>y</text:p></text:list-item></text:list>'
    )
    result = _read(tmp_path, opendocument(body, extra={"styles.xml": styles}))
    assert result.text == "ACME\n\na) x\ne) y\n\nfoot"


def test_workbooks(tmp_path):
    body = (
        '<table:table table:name="Costs"><table:table-row><table:table-cell office:value="5">'
        "<text:p>$5.00</text:p></table:table-cell></table:table-row><table:table-row "
        'table:number-rows-repeated="1048576"><table:table-cell/></table:table-row></table:table>'
    )
    result = _read(tmp_path, opendocument(body, "spreadsheet"))
    assert (result.kind, result.text) == ("ods", "### Costs\n\n| $5.00 |\n| --- |")


@pytest.mark.parametrize("name", ["tracked-changes", "content-validations"])
def test_what_no_cell_of_a_workbook_shows(tmp_path, name):
    body = f"<table:{name}><table:x><text:p>gone</text:p></table:x></table:{name}>" + _rows("A")
    assert _read(tmp_path, opendocument(body, "spreadsheet")).text.endswith("| A |\n| --- |")
    assert "gone" not in _read(tmp_path, opendocument(body, "spreadsheet")).text


def test_far_apart_and_repeated_cells_are_bounded(tmp_path):
    far = "A16000A" * 2
    repeated = (
        '<table:table><table:table-row table:number-rows-repeated="1000000"><table:table-cell>'
        "<text:p>same</text:p></table:table-cell></table:table-row></table:table>"
    )
    text = _read(tmp_path, opendocument(_rows(*[far] * 200) + repeated, "spreadsheet")).text
    assert 100 <= text.count("same") < 1000
    assert len(text) < 5_000_000


def test_presentations(tmp_path):
    body = (
        "<draw:page><draw:frame><draw:text-box><text:p>first</text:p></draw:text-box></draw:frame>"
        "<presentation:notes><text:p>say this</text:p></presentation:notes></draw:page>"
        "<draw:page><presentation:notes><text:p/></presentation:notes></draw:page>"
    )
    result = _read(tmp_path, opendocument(body, "presentation"))
    assert (result.pages, result.text) == (2, "first\n\nNotes: say this")


def test_a_scanned_letter_pasted_in(tmp_path):
    words = "Dear Administrator, we support the rule in full and thank you"
    scan = picture_bytes("PNG", words)
    result = _read(tmp_path, opendocument(_FRAME, extra={"Pictures/scan.png": scan}))
    assert (result.status, result.reason) == (Status.OCR_NEEDED, Reason.IMAGE)
    assert reader.picture(tmp_path / "attachment_1.odt", result.ocr_pages[0]) == scan
    with pytest.raises(LookupError):
        reader.picture(tmp_path / "attachment_1.odt", 9)


def test_a_slide_that_is_a_picture(tmp_path):
    scan = picture_bytes("PNG")
    frame = _FRAME.replace('svg:height="5cm"', 'svg:height="15cm"')
    body = f"<draw:page><text:p>words</text:p></draw:page><draw:page>{frame}</draw:page>"
    data = opendocument(body, "presentation", extra={"Pictures/scan.png": scan})
    result = _read(tmp_path, data)
    assert (result.status, result.reason, result.ocr_pages) == (
        Status.OCR_NEEDED,
        Reason.MIXED,
        (2,),
    )
    assert reader.picture(tmp_path / "attachment_1.odt", 2) == scan
    with pytest.raises(LookupError):
        reader.picture(tmp_path / "attachment_1.odt", 1)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (
            opendocument(
                "<text:p>x</text:p>",
                extra={"META-INF/manifest.xml": "<m:encryption-data xmlns:m='x'/>"},
            ),
            Reason.ENCRYPTED,
        ),
        (zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), Reason.CORRUPT),
        (opendocument("<text:p>x</text:p>")[:200], Reason.CORRUPT),
    ],
)
def test_failures(tmp_path, data, reason):
    result = _read(tmp_path, data)
    assert (result.status, result.reason) == (Status.FAILED, reason)


def test_entities_are_not_expanded(tmp_path):
    bomb = "<!DOCTYPE x [<!ENTITY a 'boom'>]><x xmlns='y'>&a;</x>"
    data = zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": bomb})
    assert "boom" not in _read(tmp_path, data).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            '<text:p>Seen<text:span text:style-name="Off"> gone</text:span> kept</text:p>',
            "Seen kept",
        ),
        ('<text:p text:style-name="Off">gone</text:p><text:p>Seen</text:p>', "Seen"),
        (
            (
                '<text:section text:display="none"><text:p>gone</text:p></text:section>'
                "<text:section><text:p>Seen</text:p></text:section>"
            ),
            "Seen",
        ),
        (
            '<text:p>Seen<text:hidden-text text:is-hidden="true">gone</text:hidden-text></text:p>',
            "Seen",
        ),
        ("<text:p>a<text:hidden-text>b</text:hidden-text></text:p>", "ab"),
    ],
)
def test_what_the_writer_hides_is_no_text(tmp_path, body, text):
    spaces = "urn:oasis:names:tc:opendocument:xmlns:"
    styles = (
        f'<office:document-styles xmlns:office="{spaces}office:1.0" '
        f'xmlns:style="{spaces}style:1.0" xmlns:text="{spaces}text:1.0">'
        '<style:style style:name="Off"><style:text-properties text:display="none"/>'
        "</style:style></office:document-styles>"
    )
    assert _read(tmp_path, opendocument(body, extra={"styles.xml": styles})).text == text
