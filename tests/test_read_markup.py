"""XML, SGML, electronic books."""

from __future__ import annotations

import pytest
from kind_files import zipped
from regcomments.read import ReadOptions, read_attachment
from regcomments.status import Reason, Status

_XML = "<?xml version='1.0'?>"


def _read(tmp_path, data, name="attachment_1.xml"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_attachment(path, ReadOptions())


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (f"{_XML}<a><p>One <b>bold</b> word.</p>\n  <p>Two</p></a>", "One bold word.\n\nTwo"),
        (
            f"{_XML}<a>Text <ref>with</ref> a reference<note/> inside</a>",
            "Text with a reference inside",
        ),
        (f"{_XML}<a><!-- no --><p>x<?pi no?>y</p><style>no</style></a>", "xy"),
        (
            f"{_XML}<a><table><row><cell>1</cell><cell>2</cell></row></table></a>",
            "| 1 | 2 |\n| --- | --- |",
        ),
        (f"{_XML}<!DOCTYPE a [<!ENTITY x 'boom'>]><a><p>safe &x;</p></a>", "safe &x;"),
        (f"{_XML}<a><p>unclosed <p>tags &amp; more</a>", "unclosed\n\ntags & more"),
        ("<!DOCTYPE rule SYSTEM 'x'><rule><title>T<para>a &lt; b<para>c", "T\n\na < b\n\nc"),
        (f"{_XML}<a><![CDATA[literal <b>]]></a>", "literal <b>"),
        (f"{_XML}<a><lists><item>x</item></lists><fonts>y</fonts></a>", "x\n\ny"),
        (f"{_XML}<x><r><a>Ada</a><e>Lovell</e></r><r><t>Kew</t></r></x>", "Ada\n\nLovell\n\nKew"),
        (f"{_XML}<x><p>So <a>it</a> is</p></x>", "So it is"),
        (
            f"{_XML}<w:x xmlns:w='urn:w'><w:t>hos</w:t><w:t>pital</w:t></w:x>",
            "hospital",
        ),
        (f"{_XML}<w:a xmlns:w='urn:w'><w:lists>no</w:lists><w:p>x</w:p></w:a>", "x"),
    ],
)
def test_text(tmp_path, source, text):
    assert _read(tmp_path, source).text == text


def test_wide_xml_and_declared_charsets(tmp_path):
    wide = "<?xml version='1.0' encoding='utf-16'?><a><p>größer</p></a>".encode("utf-16")
    assert _read(tmp_path, wide).text == "größer"
    latin = "<?xml version='1.0' encoding='iso-8859-1'?><a><p>größer</p></a>".encode("latin-1")
    assert _read(tmp_path, latin).text == "größer"


def test_excels_own_xml(tmp_path):
    source = (
        f"{_XML}<?mso-application progid='Excel.Sheet'?><Workbook xmlns='urn:schemas-microsoft-com:"
        "office:spreadsheet'><Styles><Style/></Styles><Worksheet><Table><Row><Cell><Data>Year"
        "</Data></Cell><Cell><Data>Cost</Data></Cell></Row><Row><Cell><Data>2024</Data></Cell>"
        "<Cell><Data>5</Data></Cell></Row></Table></Worksheet></Workbook>"
    )
    assert _read(tmp_path, source).text == "| Year | Cost |\n| --- | --- |\n| 2024 | 5 |"


def test_deep_xml_ends(tmp_path):
    deep = _XML + "<a>" * 20_000 + "deep words" + "</a>" * 20_000
    assert "deep words" in _read(tmp_path, deep).text


@pytest.mark.parametrize(
    ("extra", "status", "reason"),
    [
        ({"META-INF/rights.xml": "<r/>"}, Status.FAILED, Reason.RIGHTS_MANAGED),
        ({"META-INF/container.xml": "<c/>"}, Status.FAILED, Reason.CORRUPT),
    ],
)
def test_books_that_cannot_be_read(tmp_path, extra, status, reason):
    data = zipped({"mimetype": "application/epub+zip", **extra})
    result = _read(tmp_path, data, "a.epub")
    assert (result.status, result.reason) == (status, reason)
