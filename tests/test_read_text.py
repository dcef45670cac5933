"""Plain text in any encoding."""

from __future__ import annotations

import pytest
from regcomments.read import ReadOptions, plain, read_attachment
from regcomments.read.charset import charset_of_label, decode
from regcomments.status import Reason, Status

_RUSSIAN = "Мы поддерживаем предлагаемое правило, потому что оно поможет пациентам. Спасибо."
_SPANISH = "Apoyamos la regla porque ayudará a los niños; gracias por la atención. “Señor”"


@pytest.mark.parametrize(
    ("text", "charsets"),
    [
        ("We support CMS’s rule — it’s “good”.", "cp1252 mac_roman utf-8 utf-8-sig"),
        ("We support CMS’s rule — it’s “good”.", "utf-16 utf-16-le utf-16-be utf-32 utf-32-le"),
        (_SPANISH, "cp1252 mac_roman utf-8"),
        ("Apoyamos la regla propuesta porque ayudará a los niños", "cp850 latin-1"),
        ("Popieramy zasadę, ponieważ pomoże pacjentom. Dziękujemy.", "cp1250 iso8859_2"),
        ("Größe der Fläche: 12 m³, 5 µg/m², Nº 7 — naïve façade", "cp1252"),
        ("We support the proposed rule of the agency.", "cp500 cp037"),
        ("L’été où ça allait déjà", "cp1252 mac_roman"),
        (_RUSSIAN, "cp1251 koi8-r cp866 mac_cyrillic iso8859_5 utf-8 utf-16"),
        ("私たちはこの規則案を支持します。患者にとって重要です。", "shift_jis euc_jp iso2022_jp"),
        ("我们支持这项规则，因为它对患者很重要。谢谢您的考虑。", "gb18030"),
        ("我們支持這項規則，因為它對患者很重要。謝謝您的考慮。", "big5"),
        ("우리는 이 규칙을 지지합니다. 환자에게 중요합니다.", "euc_kr"),
        ("نحن ندعم القاعدة المقترحة لأنها مهمة للمرضى", "cp1256"),
        ("אנו תומכים בכלל המוצע כי הוא חשוב לחולים", "cp1255"),
        (
            "Однажды, в студеную пору, я из лесу вышел; Гляжу, поднимается моя лошадка.",
            "cp1251 mac_cyrillic",
        ),
        ("Bu kuralı destekliyorum çünkü sağlık için önemlidir; yaşıyoruz.", "cp1254 iso8859_9"),
        ("Við styðjum þessa reglu því að hún bætir lýðheilsu á Íslandi.", "cp1252"),
        ("Υποστηρίζουμε τον προτεινόμενο κανόνα για τους ασθενείς", "cp1253"),
    ],
)
def test_charsets_are_found(text, charsets):
    for charset in charsets.split():
        assert decode(text.encode(charset))[0] == text, charset


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (
            b"caf\xc3\xa9 and caf\xe9, na\xc3\xafve, \xc3\xa0 la carte",
            "café and café, naïve, à la carte",
        ),
        ("CafÃ© â€™".encode(), "CafÃ© â€™"),  # mojibake stays: nobody knows what else is meant
        (b"\xef\xbb\xbf\xef\xbb\xbftwice marked", "twice marked"),
    ],
)
def test_odd_bytes(data, text):
    assert decode(data)[0] == text


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("ISO-8859-1", "cp1252"),
        ("'GB2312'", "gb18030"),
        ("x-sjis", "cp932"),
        ("unknown-8bit", None),
        ("", None),
        ("hex", None),
        ("rot13", None),
        ("zlib", None),
    ],
)
def test_labels(label, codec):
    assert charset_of_label(label) == codec


def test_a_label_is_believed_when_it_decodes():
    raw = "Zażółć gęślą jaźń".encode("cp1250")
    assert decode(raw, "windows-1250")[0] == "Zażółć gęślą jaźń"
    assert decode("naïve".encode(), "iso-8859-1")[0] == "naïve"


@pytest.mark.parametrize("charset", ["utf-7", "iso-2022-kr", "hz", "iso-2022-jp"])
def test_charsets_of_seven_bits_are_told_by_their_label(charset):
    text = {"utf-7": "José, $5", "iso-2022-kr": "반대합니다"}.get(charset, "中文")
    assert decode(text.encode(charset), charset)[0] == text
    assert decode(text.encode(charset), "us-ascii")[0].isascii() or charset == "iso-2022-jp"


@pytest.mark.parametrize(
    ("data", "status", "reason", "text"),
    [
        (b"I support this rule.", Status.OK, None, "I support this rule."),
        (b"one\r\ntwo\rthree", Status.OK, None, "one\ntwo\nthree"),
        (b"  \r\n\t ", Status.OK, Reason.BLANK, ""),
        (b"", Status.FAILED, Reason.EMPTY_FILE, ""),
        (bytes(range(256)) * 20, Status.UNSUPPORTED, Reason.NOT_A_DOCUMENT, ""),
    ],
)
def test_outcomes(tmp_path, data, status, reason, text):
    path = tmp_path / "attachment_1.txt"
    path.write_bytes(data)
    result = read_attachment(path, ReadOptions())
    assert (result.status, result.reason, result.text) == (status, reason, text)
    assert result.size == len(data)


def test_long_text_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "MAX_BYTES", 1000)
    path = tmp_path / "a.txt"
    path.write_text("word " * 500)
    result = read_attachment(path, ReadOptions())
    assert len(result.text) <= 1000
    assert result.warnings == ("cut after 1000 bytes",)
