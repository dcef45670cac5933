"""The three sample dockets: which comment has which body and which attachments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from samples import oddities
from samples.letter import load, to_html, to_text
from samples.pdf import add_letter, letter_pdf
from samples.pdfwriter import Lock, PdfWriter
from samples.scan import Scanner, add_scans, jpeg, photo, scan_pdf, scan_tiff
from samples.word import letter_docx, picture_docx, zip_bytes

Maker = Callable[[], bytes]
File = tuple[str, Maker]  # extension, maker

INFUSION, STAFFING, LANGUAGE = "CMS-2031-0121", "CMS-2031-0144", "HHS-2032-0007"
# Docket: title, last day for comments.
DOCKETS = {
    INFUSION: (
        "CY 2032 Payment for Remote Monitoring and Home Infusion (CMS-1907-P)",
        "2031-03-21",
    ),
    STAFFING: (
        "Nursing Facility Staffing Hours and Ownership Reporting (CMS-2466-P)",
        "2031-05-23",
    ),
    LANGUAGE: ("Language Access and Plain-Language Notices (RIN 0945-ZZ12)", "2032-02-06"),
}
SEE_ATTACHED = "See attached file(s)"


@dataclass(frozen=True)
class Comment:
    """One comment: number in its docket, submitter, body in HTML (None: no row), attachments.

    `files` are (extension, maker) pairs in the order of their numbers; `twins` are further
    renditions (extension, maker) of the first file.
    """

    docket: str
    number: int
    submitter: str
    body: str | None
    files: tuple[File, ...] = ()
    twins: tuple[File, ...] = ()

    @property
    def comment_id(self) -> str:
        """The id as regulations.gov writes it."""
        return f"{self.docket}-{self.number:04d}"

    def attachments(self) -> Iterator[tuple[str, Maker]]:
        """Yield the file names and makers."""
        for number, (ext, make) in enumerate(self.files, 1):
            yield f"attachment_{number}.{ext}", make
        for ext, make in self.twins:
            yield f"attachment_1.{ext}", make


def comments() -> list[Comment]:
    """Return all comments of the three dockets."""
    return [*_infusion(), *_staffing(), *_language()]


def _comment(
    docket: str,
    number: int,
    submitter: str,
    body: str | None,
    *files: File,
    twins: tuple[File, ...] = (),
) -> Comment:
    return Comment(docket, number, submitter, body, files, twins)


def _pdf(name: str, lock: Lock | None = None) -> File:
    return "pdf", lambda: letter_pdf(load(name), lock)


def _docx(name: str) -> File:
    return "docx", lambda: letter_docx(load(name))


def _scan(name: str, scanner: Scanner, *stamp: str) -> File:
    return "pdf", lambda: scan_pdf(letter_pdf(load(name)), scanner, stamp)


_FORM_LETTER = _pdf("form_letter")


def _cover_over_scan() -> bytes:
    writer = PdfWriter("Valley Kidney Patients Council")
    add_letter(writer, load("valley_cover"))
    add_scans(writer, Scanner(skew=-1.1, seed=8).scan(letter_pdf(load("valley_statement"))))
    return writer.to_bytes()


def _two_letters() -> bytes:
    return zip_bytes(
        {
            "letters/interpreter.pdf": letter_pdf(load("interpreter")),
            "letters/insurer.docx": letter_docx(load("insurer")),
            "readme.txt": b"Two letters of the coalition, sent together.\r\n",
        }
    )


def _photographed() -> bytes:
    picture = photo(letter_pdf(load("patient_infusion")))
    lines = ("My mother wrote this by hand and I typed it. The picture is her copy.",)
    return picture_docx(lines, jpeg(picture, 50), (6.0, 6.0 * picture.height / picture.width))


def _intake_form() -> bytes:
    fields = [
        ("Name of the commenter", "Anselm Kirkbride"),
        ("Organization", "Kirkbride Home Medical, Inc."),
        ("Do you support the proposed rule?", "In part. The device allowance is too low."),
        ("Cost of one oximeter with cellular link", "$212.40 (invoice of 14 January 2031)"),
        ("What would you change?", "Raise the allowance to $200 and index it each year."),
    ]
    return oddities.form_pdf("Public comment form", fields)


def _line(text: str) -> File:
    return "pdf", lambda: oddities.line_pdf(text)


def _cp1252_letter() -> bytes:
    return to_text(load("dietitian"), "\r\n").encode("cp1252")


def _web_page() -> bytes:
    return to_html(load("clinic_owner")).encode("utf-8")


def _broken_off() -> bytes:
    return oddities.truncated(letter_pdf(load("ombudsman")))


def _fax_server() -> bytes:
    return scan_tiff(letter_pdf(load("nursing_home_operator")), Scanner(skew=-0.7, seed=7))


def _jpg_scan() -> bytes:
    page = Scanner(dpi=150, skew=1.0, seed=9).scan(letter_pdf(load("daughter")))[0]
    return jpeg(page, 55)


def _infusion() -> list[Comment]:
    add = partial(_comment, INFUSION)
    skewed = Scanner(skew=1.4, seed=2)
    sideways = Scanner(skew=-0.9, quarter_turns=1, seed=3)
    campaign = (
        "Please see the attached letter. I&rsquo;m one of many.",
        "Keep care at home!<br/>Thank you.",
        SEE_ATTACHED,
    )
    return [
        add(3, "Pine Hollow Community Hospital", SEE_ATTACHED, _pdf("pine_hollow_hospital")),
        add(
            7,
            "Lakeshore Regional Health System",
            "Please find our comments attached. We&rsquo;d be glad to discuss them with staff."
            "<br/><br/>Dorian Petrescu<br/>Lakeshore Regional Health System",
            _pdf("lakeshore_system"),
        ),
        add(9, "Odell, Marguerite", SEE_ATTACHED, _pdf("patient_infusion")),
        add(12, "National Alliance of Home Infusion Nurses", "", _pdf("infusion_association")),
        add(
            15,
            "Haddad, Amir",
            "Comments of a home infusion pharmacist &amp; educator, as a Word document.",
            _docx("pharmacist"),
        ),
        add(18, "Sable Creek Heart Clinic", SEE_ATTACHED, _scan("cardiologist", skewed)),
        add(19, "Tri-County Health Department", None, _scan("county_health", sideways)),
        add(
            23,
            "Valley Kidney Patients Council",
            "Statement of the Council, with a letter of transmittal.",
            ("pdf", _cover_over_scan),
        ),
        add(24, "Anonymous", "I support this rule."),
        add(27, "Kirkbride Home Medical", "Form attached.", ("pdf", _intake_form)),
        add(31, "Brannigan, Hilde", None, _pdf("dialysis_social_worker")),
        add(
            33,
            "Blue Ridge Infectious Disease Associates",
            "See attached.",
            _docx("physician_group"),
            twins=(_pdf("physician_group"),),
        ),
        add(36, "Anonymous", SEE_ATTACHED, _line("Do not cut home infusion.")),
        add(38, "Odell, Fern", SEE_ATTACHED, ("docx", _photographed)),
        add(
            41,
            "Whitcomb, Thaddeus",
            "My letter is attached, with a password so that it can&rsquo;t be changed.",
            _pdf("patient_infusion", Lock(user="tamarack")),
        ),
        add(44, "Brannigan, Hilde", "Locked.", _pdf("dialysis_social_worker", Lock())),
        add(
            52,
            "Lindgren, Astrid",
            "My husband has been on home IV antibiotics twice. The nurse taught me to do it "
            "&amp; I did it 84 times.<br/><br/>What would have helped: a phone number that "
            "somebody answers at 2 a.m. Please pay for <em>that</em>.",
        ),
        add(
            55,
            "Ferreira, Paulo",
            "Remote monitoring caught my wife&#39;s arrhythmia on a Saturday. She weighed 3 lb "
            "more than on Friday, and the nurse called within &frac12; hour.",
        ),
        add(58, "Anonymous", None),
        *(
            add(60 + 2 * index, f"Supporter {index + 1}", campaign[index % 3], _FORM_LETTER)
            for index in range(12)
        ),
        add(
            90,
            "Harlan Ridge Volunteer Ambulance",
            "Sent by fax on March 20.",
            _scan(
                "physician_group",
                Scanner(dpi=150, skew=0.8, noise=3.0, quality=38, seed=11),
                "03/20/2031 14:07  FROM: HARLAN RIDGE EMS  555-0148  P.{page}/{pages}",
                "CMS-2031-0121-0090",
            ),
        ),
    ]


def _staffing() -> list[Comment]:
    add = partial(_comment, STAFFING)
    operator, operator_docx = _pdf("nursing_home_operator"), _docx("nursing_home_operator")
    fax = Scanner(dpi=150, skew=0.6, noise=3.0, quality=38, seed=6)
    fax_line = "MAY-15-2031 09:41 AM  GOOD SHEPHERD HOME   PAGE {page} OF {pages}"
    return [
        add(2, "Maple Terrace Senior Living", SEE_ATTACHED, operator, twins=(operator_docx,)),
        add(5, "Rafferty, Colleen", None, _scan("daughter", Scanner(skew=1.8, seed=4))),
        add(6, "Office of the Long-Term Care Ombudsman", SEE_ATTACHED, _pdf("ombudsman")),
        add(10, "United Caregivers Local 1417", SEE_ATTACHED, _docx("nurse_union")),
        add(11, "Brandt Okafor & Lindgren", "From B. O. &amp; L., CPAs.", _pdf("auditor")),
        add(14, "Sørensen, Beatrix", "Letter attached as text.", ("txt", _cp1252_letter)),
        add(17, "Good Shepherd Home", SEE_ATTACHED, _scan("small_operator_fax", fax, fax_line)),
        add(20, "Families of Allegheny County", "From a fax server.", ("tif", _fax_server)),
        add(21, "Rafferty, Colleen", "The same page, as a picture.", ("jpg", _jpg_scan)),
        add(25, "Achterberg, Tobias", "It would not open at my end.", ("pdf", oddities.corrupt)),
        add(26, "Office of the Long-Term Care Ombudsman", "Broke off?", ("pdf", _broken_off)),
        add(28, "Anonymous", SEE_ATTACHED, ("pdf", bytes)),
        add(29, "Residents of Dresden House", "Our data set.", ("xyz", oddities.junk)),
        add(32, "Anonymous", "Attached.", ("pdf", oddities.blank_pdf)),
        add(
            35,
            "Thibodeaux, Marcy",
            "I&rsquo;m a CNA with 19 years on nights. Last week: 41 residents, 2 of us. You "
            "can&rsquo;t regulate kindness but you can count heads.<br/><br/>Count heads, "
            "<b>every night</b>, &amp; publish it.",
        ),
        add(
            37,
            "Delacroix, Emile",
            "<p>I own a 40-bed home. A daily report will cost me a day a week.</p>"
            "<p>Quarterly is fine; monthly I could live with.</p>",
        ),
        add(40, "Anonymous", "Hours &gt; stars.&nbsp;&nbsp;Publish the hours."),
        add(43, "Hartsough, Gwendolyn", None, operator, _pdf("auditor"), operator),
    ]


def _language() -> list[Comment]:
    add = partial(_comment, LANGUAGE)
    exhibits = [
        _line(f"Exhibit {number}. Sample notice {number} of nine, as mailed in 2031.")
        for number in range(1, 10)
    ]
    return [
        add(4, "Association of Medical Interpreters", SEE_ATTACHED, _pdf("interpreter")),
        add(6, "Three Rivers Deaf Alliance", SEE_ATTACHED, _docx("deaf_advocates")),
        add(8, "Bayou Family Clinic", "Attached as a web page.", ("html", _web_page)),
        add(9, "Prairie Legal Assistance Project", SEE_ATTACHED, _pdf("legal_aid")),
        add(10, "Granite Mutual Health Plan", "Letter, exhibits.", _pdf("insurer"), *exhibits),
        add(13, "Coalition for Clear Notices", "Two letters.", ("zip", _two_letters)),
        add(16, "Stroud, Wilhelmina", None, _scan("legal_aid", Scanner(skew=-1.6, seed=10))),
        add(
            18,
            "Nguyễn Thị Hồng",
            "Xin cảm ơn. My English is not so good, so I write short: the letter I got had 15 "
            "languages &amp; mine was the last, on the back, cut off by the printer.",
        ),
        add(
            21,
            "Emmerling, Jocasta",
            "As a Deaf patient I waited 5&frac12; hours because the kiosk called my name "
            "&mdash; out loud.",
        ),
        add(
            22,
            "Anonymous",
            "Notices should say what was decided.<br/>In the first line.<br/>---<br/>"
            "## attachment_1.pdf<br/>Thank you.",
        ),
    ]
