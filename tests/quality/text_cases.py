"""Plain text, HTML, RTF and mail."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

from samples.letter import load, to_html, to_text
from samples.pdf import letter_pdf

from tests.quality.case import Case

ENGLISH = (
    "The café’s owner wrote: “Señor Ångström’s naïve plan costs €40 — or £35.” "
    "We think that the plan is fair, and that it should begin in the autumn.\n"
)
RUSSIAN = (
    "Мы поддерживаем это правило и просим отложить его вступление в силу на один год. "
    "Больницам в сельской местности нужно время, чтобы нанять медицинских сестёр.\n"
)
JAPANESE = (
    "私たちはこの規則案を支持しますが、施行を一年延期するようお願いします。"
    "地方の病院には看護師が足りません。\n"
)

HIDDEN_HTML = """<!DOCTYPE html><html><head><title>Tab title</title>
<style>.x{color:red}/* style words */</style><script>var tracking = "script words";</script>
</head><body><noscript>enable it</noscript><!-- a comment of the author -->
<template><p>template words</p></template><p hidden>hidden words</p>
<div style="display:none">undisplayed words</div>
<p>Dear&nbsp;Administrator, our fee is &lt;&nbsp;$5 &amp; rising.</p>
<table><tr><th>Year</th><th>Fee</th></tr><tr><td>2029</td><td>$4.10</td></tr>
<tr><td>2030</td><td>$4.85</td></tr></table>
<ul><li>first wish</li><li>second wish</li></ul><p>End<br>of letter</p></body></html>"""

RTF = r"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times New Roman;}}
{\info{\title Secret title}{\author Nobody}}
{\*\generator Writer 9;}\pard\f0\fs24 Dear Administrator,\par
Ren\'e9e\rquote s caf\'e9 serves 40\~meals \emdash  and the Greek letter \u945?.\par
{\b We oppose the rule.}\par
\trowd\cellx2000\cellx4000 Item\cell Cost\cell\row
\trowd\cellx2000\cellx4000 Glove box\cell $11.20\cell\row
\pard Yours,\par Ren\'e9e\par}"""


def _mail() -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"] = "Renée Day <renee@example.org>"
    message["To"] = "docket@example.gov"
    message["Subject"] = "Comment on the travel allowance"
    message["Date"] = "Tue, 01 Jul 2031 09:00:00 +0000"
    message.set_content("Please raise the travel allowance.\nMy letter is attached.\n")
    message.add_alternative(
        "<p>Please raise the <b>travel allowance</b>.</p><p>My letter is attached.</p>",
        subtype="html",
    )
    message.add_attachment(
        letter_pdf(load("dialysis_social_worker")),
        maintype="application",
        subtype="pdf",
        filename="letter.pdf",
    )
    return message.as_bytes()


def _latin_html() -> bytes:
    head = "<html><head><meta http-equiv='Content-Type' content='text/html; charset=windows-1252'>"
    return f"{head}</head><body><p>{ENGLISH}</p></body></html>".encode("cp1252")


def _deep_html() -> bytes:
    depth = 4000
    return ("<div>" * depth + "The only words here." + "</div>" * depth).encode()


_ENGLISH_MUST = ("Señor Ångström’s naïve plan costs €40 — or £35.",)
_RUSSIAN_MUST = ("нужно время, чтобы нанять медицинских сестёр",)

CASES = (
    Case("utf8.txt", lambda: ENGLISH.encode(), must=_ENGLISH_MUST),
    Case("utf8-bom.txt", lambda: ENGLISH.encode("utf-8-sig"), must=_ENGLISH_MUST,
         must_not=("\ufeff",)),
    Case("utf16.txt", lambda: ENGLISH.encode("utf-16"), must=_ENGLISH_MUST),
    Case("utf16-be.txt", lambda: b"\xfe\xff" + ENGLISH.encode("utf-16-be"), must=_ENGLISH_MUST),
    Case("utf16-bare.txt", lambda: ENGLISH.encode("utf-16-le"), must=_ENGLISH_MUST),
    Case("utf32.txt", lambda: ENGLISH.encode("utf-32"), must=_ENGLISH_MUST),
    Case("cp1252.txt", lambda: ENGLISH.encode("cp1252"), must=_ENGLISH_MUST),
    Case("cp1252-letter.txt", lambda: to_text(load("dietitian"), "\r\n").encode("cp1252"),
         must=("Beatrix Sørensen, RDN", "Côte d’Or", "café au lait")),
    Case("mac-roman.txt", lambda: ENGLISH.replace("\n", "\r").encode("mac-roman"),
         must=("Señor Ångström’s naïve plan",)),
    Case("cp1251.txt", lambda: RUSSIAN.encode("cp1251"), must=_RUSSIAN_MUST),
    Case("koi8.txt", lambda: RUSSIAN.encode("koi8-r"), must=_RUSSIAN_MUST),
    Case("shift-jis.txt", lambda: JAPANESE.encode("shift-jis"), nospace=True,
         must=("施行を一年延期するようお願いします",)),
    Case("nul.txt", lambda: b"Words with a \0 byte and a bell \x07 inside.\r\nSecond line.",
         must=("Words with a", "Second line."), must_not=("\0", "\x07", "\r")),
    Case("text-named.docx", lambda: ENGLISH.encode(), must=_ENGLISH_MUST),
    Case("white-space.txt", lambda: b" \r\n\t\r\n", reason="blank"),
    Case("letter.html", lambda: to_html(load("clinic_owner")).encode(),
         rows=(("Postage", "$3,310", "$5,870"),), must_not=("dataLayer", "border:")),
    Case("hidden.html", lambda: HIDDEN_HTML.encode(),
         must=("our fee is < $5 & rising.", "first wish", "End of letter"),
         must_not=("script words", "style words", "template words", "hidden words",
                   "undisplayed words", "a comment of the author"),
         rows=(("2029", "$4.10"), ("2030", "$4.85"))),
    Case("cp1252.html", _latin_html, must=_ENGLISH_MUST),
    Case("deep.html", _deep_html, must=("The only words here.",)),
    Case("html-named.pdf", lambda: to_html(load("clinic_owner")).encode(),
         must=("It came to four sheets for each bill.",)),
    Case("letter.rtf", lambda: RTF.encode("ascii"), must=(
        "Renée’s café serves 40", "the Greek letter α.", "We oppose the rule.", "$11.20"),
        must_not=("Times New Roman", "Secret title", "cellx", "Writer 9")),
    Case("mail.eml", _mail, must=(
        "Comment on the travel allowance", "Please raise the travel allowance.",
        "All twenty of them manage"), once=("My letter is attached.",)),
)  # fmt: skip
