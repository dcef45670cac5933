"""Text, HTML, RTF, mail, archives and pictures: what programs in the wild do to them."""

from __future__ import annotations

import io
import zipfile
from email.message import EmailMessage
from email.policy import SMTP

from PIL import Image
from samples.letter import load
from samples.oddities import line_pdf
from samples.pdf import letter_pdf
from samples.scan import Scanner, jpeg
from samples.word import letter_docx, zip_bytes

from tests.quality.case import Case
from tests.quality.text_cases import ENGLISH

_POLISH = (
    "Popieramy tę ustawę, lecz prosimy o odłożenie jej wejścia w życie. Szpitale wiejskie "
    "potrzebują więcej czasu, żeby znaleźć pielęgniarki i lekarzy. W naszym powiecie najbliższy "
    "oddział jest o sześćdziesiąt kilometrów dalej, a zimą drogi bywają zamknięte. Dziękujemy za "
    "możliwość wyrażenia opinii; chętnie odpowiemy na pytania.\n"
)
_CHINESE = "我们支持这项规则，但请推迟一年实施。农村医院需要时间来招聘护士。谢谢您的考虑。\n"
_KOREAN = (
    "우리는 이 규칙을 지지하지만 시행을 일 년 연기해 주시기 바랍니다. "
    "시골 병원에는 간호사가 부족합니다.\n"
)
_HEBREW = "אנו תומכים בכלל המוצע אך מבקשים לדחות את תחילתו בשנה אחת. בתי החולים זקוקים לאחיות.\n"

_OFFICE_HTML = """<html xmlns:o="urn:schemas-microsoft-com:office:office"><head>
<meta charset=utf-8><!--[if gte mso 9]><xml><o:Author>Template Author</o:Author></xml><![endif]-->
<style><!-- p.MsoNormal {margin:0in} --></style></head><body>
<p class=MsoNormal>We run a clinic in Tyrone<o:p>&nbsp;</o:p></p>
<![if !supportLists]><span>1.</span><![endif]><p>Delay the rule.</p>
<table><tr><td colspan=2>Both columns</td></tr><tr><td>Rent<br>and heat</td><td>$1,200</td></tr>
<tr><td>Wages</td><td>$8,450</td></tr></table><p style="visibility:hidden">not to be seen</p>
<form><label>Name <input type=text value="Opal Reinholt"></label>
<input type=hidden value="token-998"><textarea>My answer in the box</textarea>
<select><option>Support<option selected>Oppose</select></form></body></html>"""

_RTF_CYRILLIC = (
    r"{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset204 Arial;}}\f0 "
    + "".join(f"\\'{byte:02x}" for byte in "Мы просим отложить правило.".encode("cp1251"))
    + r"\par {\v hidden by the writer}{\field{\*\fldinst{HYPERLINK "
    r'"https://example.org/rtf"}}{\fldrslt our study}}\par '
    r"{\pict\pngblip 89504e470d0a1a0a0000000d49484452}"
    r"Text with a note{\footnote The note of the RTF.}.\par \uc2 Ca\u322??ka\par}"
)


def _html_mail() -> bytes:
    message = EmailMessage(policy=SMTP)
    message["Subject"] = "=?utf-8?q?Komentarz_o_pielęgniarkach?="
    message["From"] = "a@example.org"
    message.set_content(f"<html><body><p>{_POLISH}</p></body></html>", subtype="html",
                        charset="iso-8859-2", cte="quoted-printable")  # fmt: skip
    inner = EmailMessage(policy=SMTP)
    inner["Subject"] = "The message inside"
    inner["From"] = "b@example.org"
    inner.set_content("Words of the forwarded message.")
    message.add_attachment(inner)
    return message.as_bytes()


def _saved_page() -> bytes:
    """A page saved by a browser with its pictures (MHTML)."""
    message = EmailMessage(policy=SMTP)
    message["Subject"] = "Saved page"
    message.set_content("<html><body><p>Text of the saved page.</p></body></html>", subtype="html")
    message.make_related()
    message.add_related(b"body{}", maintype="text", subtype="css")
    return message.as_bytes()


def _mac_archive() -> bytes:
    return zip_bytes({"letter.pdf": line_pdf("The only real file."),
                      "__MACOSX/._letter.pdf": b"\0\5\x16\7 resource words",
                      ".DS_Store": b"Bud1 store words"})  # fmt: skip


def _half_secret_archive() -> bytes:
    """One readable member, and one whose header says that it is encrypted."""
    data = bytearray(zip_bytes({"open.txt": b"Readable member.", "shut.txt": b"Secret member."}))
    local = data.index(b"PK\3\4", 4)
    central = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    data[local + 6] |= 1
    data[central + 8] |= 1
    return bytes(data)


def _bomb(size: int = 300_000_000) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("zeros.txt", "w", force_zip64=True) as member:
            for _ in range(size // 10_000_000):
                member.write(b"0" * 10_000_000)
        archive.writestr("letter.txt", "A letter beside the bomb.")
    return buffer.getvalue()


def _open_revisions() -> bytes:
    """An OpenDocument text with a tracked deletion, a note and a list."""
    ns = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{ns}:office:1.0" xmlns:text="{ns}:text:1.0">'
        "<office:body><office:text><text:tracked-changes><text:changed-region text:id='c1'>"
        "<text:deletion><text:p>struck sentence</text:p></text:deletion></text:changed-region>"
        "</text:tracked-changes><text:p>We ask<text:change text:change-id='c1'/> for time."
        "<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>A note below.</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>first point</text:p></text:list-item></text:list>"
        "</office:text></office:body></office:document-content>"
    )
    return zip_bytes(
        {"mimetype": b"application/vnd.oasis.opendocument.text", "content.xml": content.encode()}
    )


def _sideways_photo() -> bytes:
    """A picture whose camera noted that it was held sideways."""
    (image,) = Scanner(dpi=100, quarter_turns=1, noise=2.0).scan(letter_pdf(load("daughter")))
    exif = Image.Exif()
    exif[0x0112] = 6  # Orientation: turn right to see it upright
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=50, exif=exif)
    return buffer.getvalue()


def _huge_picture() -> bytes:
    buffer = io.BytesIO()
    Image.new("1", (40_000, 40_000), 1).save(buffer, "PNG")
    return buffer.getvalue()


def _scan_png() -> bytes:
    (image,) = Scanner(dpi=100, noise=2.0).scan(letter_pdf(load("daughter")))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


_MUST = ("Señor Ångström’s naïve plan costs €40 — or £35.",)

CASES = (
    Case("latin2.txt", lambda: _POLISH.encode("iso-8859-2"), must=("żeby znaleźć pielęgniarki",)),
    Case("gb18030.txt", lambda: _CHINESE.encode("gb18030"), nospace=True,
         must=("农村医院需要时间来招聘护士",)),
    Case("euc-kr.txt", lambda: _KOREAN.encode("euc-kr"), must=("시골 병원에는 간호사가",)),
    Case("cp1255.txt", lambda: _HEBREW.encode("cp1255"), must=("מבקשים לדחות את תחילתו",)),
    Case("utf8-bad-byte.txt", lambda: (ENGLISH * 20).encode() + b"\xff" + ENGLISH.encode(),
         must=_MUST),
    Case("long-line.txt", lambda: b"word " * 400_000 + b"the very last word", must=(
        "the very last word",)),
    Case("utf16.html", lambda: f"<html><body><p>{ENGLISH}</p></body></html>".encode("utf-16"),
         must=_MUST),
    Case("wrong-label.html", lambda: (
        "<html><head><meta charset='iso-8859-1'></head><body><p>" + ENGLISH).encode(), must=_MUST),
    Case("office.html", lambda: _OFFICE_HTML.encode(),
         must=("We run a clinic in Tyrone", "Delay the rule.", "Opal Reinholt",
               "My answer in the box"),
         must_not=("Template Author", "MsoNormal", "token-998", "not to be seen"),
         rows=(("Rent and heat", "$1,200"),)),
    Case("html-named.doc", lambda: _OFFICE_HTML.encode(), must=("We run a clinic in Tyrone",)),
    Case("rtf-named.doc", lambda: _RTF_CYRILLIC.encode("ascii"), must=(
        "Мы просим отложить правило.",)),
    Case("cyrillic.rtf", lambda: _RTF_CYRILLIC.encode("ascii"),
         must=("Мы просим отложить правило.", "our study", "The note of the RTF.", "Całka"),
         must_not=("hidden by the writer", "89504e47", "fldinst")),
    Case("html-mail.eml", _html_mail, must=(
        "potrzebują więcej czasu, żeby znaleźć", "Words of the forwarded message.")),
    Case("mail-named.txt", _html_mail, must=("potrzebują więcej czasu",)),
    Case("saved-page.mht", _saved_page, must=("Text of the saved page.",),
         also=("unsupported",)),
    Case("revisions.odt", _open_revisions, must=("We ask for time.", "A note below.",
         "first point"), must_not=("struck sentence",)),
    Case("mac.zip", _mac_archive, must=("The only real file.",),
         must_not=("resource words", "store words")),
    Case("half-secret.zip", _half_secret_archive, must=("Readable member.",),
         must_not=("Secret member.",)),
    Case("bomb.zip", _bomb, must=("A letter beside the bomb.",), also=("failed", "unsupported")),
    Case("docx-named.txt", lambda: letter_docx(load("deaf_advocates")),
         must=("In 88 of them the picture froze",)),
    Case("png-named.pdf", _scan_png, "ocr_needed", "image", ocr_pages=(1,)),
    Case("sideways.jpg", _sideways_photo, "ocr_needed", "image", ocr_pages=(1,)),
    Case("huge.png", _huge_picture, also=("failed", "ocr_needed")),
    Case("table.csv", lambda: b"Site,Visits\r\nElm Street,1204\r\n", must=("Elm Street",)),
    Case("notice.xml", lambda: b"<?xml version='1.0'?><note><to>CMS</to><text>Please delay it."
         b"</text></note>", must=("Please delay it.",)),
    Case("cut.jpg", lambda: jpeg(Image.open(io.BytesIO(_scan_png())), 50)[:30_000],
         "ocr_needed", ocr_pages=(1,), also=("failed",)),
)  # fmt: skip
