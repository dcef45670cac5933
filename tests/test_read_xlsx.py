"""Workbooks of Excel 2007 and later, and how numbers are shown."""

from __future__ import annotations

import io
import zipfile

import pytest
from kind_files import workbook, zipped
from regcomments.read import ReadOptions, read_attachment, xlsx
from regcomments.read.number_format import show
from regcomments.status import Reason, Status


def _read(tmp_path, data):
    path = tmp_path / "attachment_1.xlsx"
    path.write_bytes(data)
    return read_attachment(path, ReadOptions())


def _with(data: bytes, **changed: str) -> bytes:
    """The workbook with parts added or replaced; `/` and `.` in names are written `__` and `_`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for name, text in changed.items():
        parts[name.replace("__", "/").replace("_xml", ".xml")] = text
    return zipped(parts)


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (12, "", "12"),
        (0.1, "General", "0.1"),
        (1e300, "", "1e+300"),
        (1234.5, '"$"#,##0.00', "$1,234.50"),
        (-5, "#,##0;(#,##0)", "(5)"),
        (-5, "0", "-5"),
        (0.256, "0.0%", "25.6%"),
        (7, "_($* #,##0.00_);_($* (#,##0.00)", "$7.00"),
        (12.5, "[$€-407]#,##0.00", "€12.50"),
        (3, '0" units"', "3 units"),
        (5, "[Red]0", "5"),
        (1e6, '0.0,,"M"', "1000000"),
        (0.25, "# ?/?", "0.25"),
        (12345, "0.00E+00", "12345"),
        (45000, "m/d/yyyy", "2023-03-15"),
        (45000.75, "yyyy-mm-dd hh:mm", "2023-03-15 18:00:00"),
        (0.5, "h:mm AM/PM", "12:00"),
        (-1, "m/d/yyyy", "-1"),
        (1e12, "m/d/yyyy", "1000000000000"),
        (5, "[h]:mm", "1900-01-04"),
        (5, '"days" 0', "days 5"),
        (float("nan"), "0", "nan"),
        (1, ";;;", "1"),
        (2134, "00000", "02134"),
        (-7, "000", "-007"),
        (0.5, ".00", "0.50"),
        (2, "0.0#", "2.0"),
        (1.5, "#.##", "1.5"),
        (123456789, "00000-0000", "12345-6789"),
        (12345678, "000-00-0000", "012-34-5678"),
        (5551234, r"[<=9999999]###-####;\(###\) ###-####", "555-1234"),
        (5551234567, r"[<=9999999]###-####;\(###\) ###-####", "(555) 123-4567"),
        (-1234567.891, "# ##0.00", "-1234 567.89"),
        (-3, '[>=100]0.0;[<0]"below "0;"small "0', "-below 3"),
        (5, '[>=100]0.0;[<0]"below "0;"small "0', "small 5"),
        (float("inf"), "000-00", "inf"),
    ],
)
def test_numbers_as_shown(value, code, shown):
    assert show(value, code) == shown


def test_sheets(tmp_path):
    result = _read(tmp_path, workbook([["Year", "Note"], [2024, "a|b"], [2025.5, "c\nd"]]))
    assert (result.status, result.kind) == (Status.OK, "xlsx")
    assert result.text == (
        "### Costs\n\n| Year | Note |\n| --- | --- |\n| 2024 | a\\|b |\n| 2025.5 | c d |"
    )
    hidden = _read(tmp_path, workbook([["x"]], hidden=True))
    assert hidden.text.startswith("### Costs (hidden sheet)")
    assert _read(tmp_path, workbook([])).reason == Reason.BLANK


def test_styles_and_shared_strings(tmp_path):
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    cells = (
        '<c r="A1" t="s"><v>1</v></c><c r="B1" s="1"><v>0.25</v></c>'
        '<c r="C1" s="2"><v>45000</v></c>'
        '<c r="D1" t="b"><v>1</v></c><c r="E1" t="e"><v>#N/A</v></c><c t="str"><v>sum</v></c>'
        '<c r="G1" t="s"><v>99</v></c><c r="H1" s="99"><v>7</v></c>'
    )
    data = _with(
        workbook([["x"]]),
        xl__worksheets__sheet1_xml=f'<worksheet {main}><sheetData><row r="1">{cells}</row>'
        "</sheetData></worksheet>",
        xl__sharedStrings_xml=f"<sst {main}><si><t>zero</t></si><si><r><t>o</t></r><r><t>ne</t></r>"
        "<rPh><t>aid</t></rPh></si></sst>",
        xl__styles_xml=f'<styleSheet {main}><numFmts><numFmt numFmtId="170" '
        'formatCode="d.m.yy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="9"/>'
        '<xf numFmtId="170"/></cellXfs></styleSheet>',
        **{
            "xl___rels__workbook_xml.rels": "<Relationships xmlns='http://schemas.openxmlformats."
            "org/package/2006/relationships'>"
            + "".join(
                f'<Relationship Id="{i}" Type="{kinds}/{kind}" Target="{target}"/>'
                for i, kind, target in (
                    ("s1", "worksheet", "worksheets/sheet1.xml"),
                    ("s2", "sharedStrings", "sharedStrings.xml"),
                    ("s3", "styles", "styles.xml"),
                )
            )
            + "</Relationships>"
        },
    )
    assert _read(tmp_path, data).text.splitlines()[2] == (
        "| one | 25% | 2023-03-15 | TRUE | #N/A | sum | 7 |"
    )


def test_a_stray_cell_far_away_costs_nothing(tmp_path):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = (
        f'<worksheet xmlns="{main}"><sheetData><row r="1"><c r="A1"><v>1</v></c></row>'
        '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData></worksheet>'
    )
    data = _with(workbook([["x"]]), xl__worksheets__sheet1_xml=sheet)
    assert _read(tmp_path, data).text == "### Costs\n\n| 1 |  |\n| --- | --- |\n|  | 2 |"


def test_cells_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(xlsx, "MAX_CELLS", 10)
    monkeypatch.setattr(xlsx._Budget.__init__, "__defaults__", (10,))
    result = _read(tmp_path, workbook([[1, 2, 3]] * 50))
    assert result.text.count("| 1 |") == 4
    assert result.warnings == ("cut after 10 cells",)


@pytest.mark.parametrize(
    ("data", "status", "reason"),
    [
        (workbook([["x"]])[:-80], Status.FAILED, Reason.CORRUPT),
        (
            _with(
                workbook([["x"]]), xl__worksheets__sheet1_xml="<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"
            ),
            Status.FAILED,
            Reason.CORRUPT,
        ),
        (_with(workbook([["x"]]), xl__workbook_xml="no xml"), Status.FAILED, Reason.CORRUPT),
        (zipped({"xl/workbook.bin": b"x"}), Status.UNSUPPORTED, Reason.NO_READER),
    ],
)
def test_outcomes(tmp_path, data, status, reason):
    result = _read(tmp_path, data)
    assert (result.status, result.reason) == (status, reason)


def _drawn(drawing: str) -> bytes:
    """A workbook with this drawing on its sheet; a chart with a title lies at `c`."""
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = (
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>"
    )
    return _with(
        workbook([["x"]]),
        xl__drawings__drawing1_xml=f'<d xmlns:a="urn:a" xmlns:mc="urn:mc" xmlns:r="{kinds}">'
        f"{drawing}</d>",
        xl__charts__chart1_xml='<c xmlns:a="urn:a"><title><a:p><a:r><a:t>Cost by year</a:t></a:r>'
        "</a:p></title><v>9</v></c>",
        **{
            "xl__worksheets___rels__sheet1_xml.rels": f"{relations}"
            f'<Relationship Id="b" Type="{kinds}/drawing" Target="../drawings/drawing1.xml"/>'
            "</Relationships>",
            "xl__drawings___rels__drawing1_xml.rels": f"{relations}"
            f'<Relationship Id="c" Type="{kinds}/chart" Target="../charts/chart1.xml"/>'
            "</Relationships>",
        },
    )


_BOX = "<a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody>"


@pytest.mark.parametrize(
    ("drawing", "text"),
    [
        (_BOX.format("one</a:t></a:r><a:br/><a:r><a:t>two"), "one\ntwo"),
        (
            (
                f"<mc:AlternateContent><mc:Choice>{_BOX.format('once')}</mc:Choice>"
                f"<mc:Fallback>{_BOX.format('once')}</mc:Fallback></mc:AlternateContent>"
            ),
            "once",
        ),
        (
            (
                f"<mc:AlternateContent><mc:Choice>{_BOX.format('')}</mc:Choice>"
                f"<mc:Fallback>{_BOX.format('old')}</mc:Fallback></mc:AlternateContent>"
            ),
            "old",
        ),
        ('<a:chart r:id="c"/>', "Cost by year"),
        ('<a:chart r:id="lost"/>', ""),
    ],
)
def test_what_is_drawn_on_a_sheet(tmp_path, drawing, text):
    read = _read(tmp_path, _drawn(drawing)).text
    assert read.partition("| --- |")[2].strip() == text


def test_comments_and_text_boxes(tmp_path):
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    data = _with(
        workbook([["x"]]),
        xl__comments1_xml='<comments><commentList><comment ref="B2"><text><t>why?</t></text>'
        "</comment></commentList></comments>",
        xl__drawings__drawing1_xml='<d xmlns:a="urn:a"><a:txBody><a:p><a:r><a:t>box</a:t></a:r>'
        "</a:p></a:txBody></d>",
        **{
            "xl__worksheets___rels__sheet1_xml.rels": "<Relationships xmlns='http://schemas."
            "openxmlformats.org/package/2006/relationships'>"
            f'<Relationship Id="a" Type="{kinds}/comments" Target="../comments1.xml"/>'
            f'<Relationship Id="b" Type="{kinds}/drawing" Target="../drawings/drawing1.xml"/>'
            "</Relationships>"
        },
    )
    assert _read(tmp_path, data).text.endswith("Comment (B2): why?\n\nbox")


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("<oddHeader>&amp;CComments of the Guild</oddHeader>", "Comments of the Guild\n\n|"),
        (
            '<oddHeader>&amp;L&amp;"A,B"&amp;12Left part&amp;RRight &amp;K00F0F0part</oddHeader>',
            "Left part\n\nRight part\n\n|",
        ),
        (
            "<oddFooter>Fish &amp;&amp; Chips of Kew, page &amp;P</oddFooter>",
            "Fish & Chips of Kew, page",
        ),
        ("<oddFooter>&amp;CPage &amp;P of &amp;N</oddFooter>", "| --- |"),
        ("<oddFooter>&amp;R&amp;P/&amp;N &amp;D</oddFooter>", "| --- |"),
        ("<oddHeader>Same</oddHeader><evenHeader>Same</evenHeader>", "### Costs\n\nSame\n\n| x"),
    ],
)
def test_headers_and_footers_of_a_sheet_are_text(tmp_path, printed, text):
    data = workbook([["x"]])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        name = next(n for n in archive.namelist() if n.startswith("xl/worksheets/sheet"))
        sheet = archive.read(name).decode()
    end = f"<headerFooter>{printed}</headerFooter></worksheet>"
    changed = _with(data, **{name: sheet.replace("</worksheet>", end)})
    read = _read(tmp_path, changed).text
    assert text in read
    if text == "| --- |":
        assert read.endswith(text)
