"""Presentations of PowerPoint 2007 and later."""

from __future__ import annotations

import pytest
from kind_files import picture_bytes, presentation, shape, zipped
from regcomments.read import ReadOptions, read_attachment, slides
from regcomments.status import Reason, Status

_PICTURE = (
    '<p:pic><p:nvPicPr><p:cNvPr id="2" name="p"/></p:nvPicPr><p:blipFill><a:blip r:embed="{}"/>'
    '</p:blipFill><p:spPr><a:xfrm><a:ext cx="{}" cy="6000000"/></a:xfrm></p:spPr></p:pic>'
)


def _read(tmp_path, data, options=None):
    path = tmp_path / "attachment_1.pptx"
    path.write_bytes(data)
    return read_attachment(path, options or ReadOptions())


def test_slides_are_pages(tmp_path):
    data = presentation(
        [
            shape("The rule", "title") + shape("one\ntwo", "body") + shape("3", "sldNum"),
            "",
            shape("end"),
        ],
        notes={0: "say this"},
    )
    counted = []
    result = _read(tmp_path, data, ReadOptions(on_pages=counted.append))
    assert (result.status, result.pages, counted) == (Status.OK, 3, [3])
    assert result.text == "### The rule\n\none\n\ntwo\n\nNotes: say this\n\nend"


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (
            (
                "<a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>a</a:t></a:r></a:p>"
                "<a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>b</a:t></a:r></a:p>"
                '<a:p><a:pPr lvl="1"><a:buChar char="x"/></a:pPr><a:r><a:t>c</a:t></a:r></a:p>'
            ),
            "1. a\n2. b\n  - c",
        ),
        ("<a:p><a:r><a:t>a</a:t></a:r><a:br/><a:fld><a:t>b</a:t></a:fld></a:p>", "a\nb"),
    ],
)
def test_paragraphs(tmp_path, inner, text):
    body = f"<p:sp><p:nvSpPr/><p:txBody>{inner}</p:txBody></p:sp>"
    assert _read(tmp_path, presentation([body])).text == text


def test_lines_of_a_title_are_parted(tmp_path):
    title = shape("\0", "title").replace("\0", "The rule</a:t></a:r><a:br/><a:r><a:t>Comments")
    assert _read(tmp_path, presentation([title])).text == "### The rule Comments"


@pytest.mark.parametrize("flag", ["1", "true", "0"])
def test_only_covered_cells_are_left_empty(tmp_path, flag):
    cells = f'<a:tc hMerge="{flag}" vMerge="0"><a:txBody><a:p><a:r><a:t>words</a:t></a:r></a:p>'
    cells += (
        "</a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></a:txBody></a:tc>"
    )
    frame = f"<p:graphicFrame><a:graphic><a:tbl><a:tr>{cells}</a:tr></a:tbl></a:graphic>"
    read = _read(tmp_path, presentation([frame + "</p:graphicFrame>"])).text
    assert read.startswith("| words | x |" if flag == "0" else "| x |")


def test_tables_groups_and_hidden_shapes(tmp_path):
    cells = "".join(
        f"<a:tc{span}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"
        for span, text in ((' gridSpan="2"', "A|B"), (' hMerge="1"', "covered"), ("", "C"))
    )
    plain = cells.replace("A|B", "1").replace(' hMerge="1"', "").replace("covered", "2")
    table = (
        f"<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>{cells}</a:tr>"
        f"<a:tr>{plain}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
    )
    hidden = shape("secret").replace('name="x"', 'name="x" hidden="1"')
    result = _read(tmp_path, presentation([f"<p:grpSp>{shape('in')}{hidden}</p:grpSp>{table}"]))
    assert result.text == "in\n\n| A\\|B |  | C |\n| --- | --- | --- |\n| 1 | 2 | C |"


def test_two_ways_to_draw_one_thing(tmp_path):
    both = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/'
        f'2006"><mc:Choice Requires="p14">{shape("once")}</mc:Choice>'
        f"<mc:Fallback>{shape('once')}</mc:Fallback></mc:AlternateContent>"
    )
    assert _read(tmp_path, presentation([both])).text == "once"


def test_a_slide_that_is_a_picture(tmp_path):
    media = {"scan.png": picture_bytes("PNG"), "logo.png": picture_bytes("PNG", "x")}
    pages = [
        _PICTURE.format("logo.png", 100_000) + _PICTURE.format("scan.png", 9_000_000),
        shape("words " * 60) + _PICTURE.format("scan.png", 9_000_000),
        shape("few") + _PICTURE.format("logo.png", 100_000),
    ]
    result = _read(tmp_path, presentation(pages, media=media))
    assert (result.status, result.reason) == (Status.OCR_NEEDED, Reason.MIXED)
    assert (result.pages, result.ocr_pages) == (3, (1,))
    path = tmp_path / "attachment_1.pptx"
    assert slides.picture(path, 1) == media["scan.png"]
    with pytest.raises(LookupError):
        slides.picture(path, 4)


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (presentation([]), Status.FAILED, Reason.NO_PAGES),
        (presentation([shape("a")])[:-60], Status.FAILED, Reason.CORRUPT),
        (zipped({"ppt/presentation.xml": "<broken"}), Status.FAILED, Reason.CORRUPT),
        (presentation([shape("a")] * 3), Status.FAILED, Reason.TOO_LARGE),
    ],
)
def test_outcomes(tmp_path, data, status, reason):
    result = _read(tmp_path, data, ReadOptions(max_pages=2))
    assert (result.status, result.reason) == (status, reason)


def test_deep_groups_end(tmp_path):
    deep = "<p:grpSp>" * 500 + shape("deep words") + "</p:grpSp>" * 500
    assert _read(tmp_path, presentation([deep])).text == "deep words"
