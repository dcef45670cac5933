"""What the Word reader makes of running text: everything that is shown, once, in order."""

from __future__ import annotations

import pytest
from regcomments.status import Reason

from tests.word_files import p, package, r, read, tbl, tc, tr, xml

HEADINGS = (
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="Own"/><w:basedOn w:val="H2"/>'
    '</w:style><w:style w:type="paragraph" w:styleId="H2"><w:name w:val="Heading 2"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="T"><w:name w:val="Title"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="O"><w:name w:val="Clause"/><w:pPr><w:outlineLvl '
    'w:val="2"/></w:pPr></w:style><w:style w:type="character" w:styleId="Secret"><w:name '
    'w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style>'
)


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def field(instruction: str, result: str, data: str = "") -> str:
    def char(kind: str, inner: str = "") -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}">{inner}</w:fldChar></w:r>'

    return (
        char("begin", data)
        + f'<w:r><w:instrText xml:space="preserve">{instruction}</w:instrText></w:r>'
        + char("separate")
        + result
        + char("end")
    )


def box(inner: str) -> str:
    """Return a text box as Word writes it: a modern shape, and the same in VML."""
    content = f"<w:txbxContent>{inner}</w:txbxContent>"
    return (
        '<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:anchor><a:graphic>'
        f"<a:graphicData><wps:wsp><wps:txbx>{content}</wps:txbx></wps:wsp></a:graphicData>"
        "</a:graphic></wp:anchor></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape>"
        f"<v:textbox>{content}</v:textbox></v:shape></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )


def sdt(content: str, properties: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


CHECKBOX = '<w14:checkbox><w14:checked w14:val="{}"/></w14:checkbox>'
FORM_BOX = "<w:ffData><w:checkBox>{}</w:checkBox></w:ffData>"
DROPDOWN = (
    '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="Hospital"/>'
    '<w:listEntry w:val="Clinic"/></w:ddList></w:ffData>'
)

SECRET = '<w:rStyle w:val="Secret"/>'
SHOWN = SECRET + '<w:vanish w:val="0"/>'
NOT_STRUCK = '<w:strike w:val="0"/>'
PROMPT = '<w:rStyle w:val="PlaceholderText"/>'
NESTED = " IF </w:instrText></w:r>" + field(" X ", r("no")) + "<w:r><w:instrText>"
UNCHECKED = FORM_BOX.format('<w:default w:val="0"/>')
TEXTS = {
    "runs": (f"<w:p>{r('We sup')}{r('port', '<w:b/>')}{r(' it.')}</w:p>", "We support it."),
    "two paragraphs": (p("One.") + p("Two."), "One.\n\nTwo."),
    "pretty-printed text": ("<w:p><w:r><w:t>a\n   b</w:t></w:r></w:p>", "a b"),
    "tab and break": (
        "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>",
        "a\tb\nc",
    ),
    "hyphens": (
        (
            "<w:p><w:r><w:t>co</w:t><w:noBreakHyphen/><w:t>pay reim</w:t><w:softHyphen/>"
            "<w:t>burse\u00admentx</w:t></w:r></w:p>"
        ),
        "co-pay reimbursementx",
    ),
    "no-break space": (p("Section\u00a05"), "Section 5"),
    "run outside a paragraph": (r("Loose words."), "Loose words."),
    "heading 1": (p("Summary", style("H1")), "### Summary"),
    "heading by base": (p("Detail", style("Sub")), "#### Detail"),
    "title": (p("A Letter", style("T")), "### A Letter"),
    "outline of the style": (p("Clause", style("O")), "##### Clause"),
    "outline of the paragraph": (p("Own", '<w:outlineLvl w:val="0"/>'), "### Own"),
    "outline of body text": (p("Own", style("H1") + '<w:outlineLvl w:val="9"/>'), "Own"),
    "long text in a heading style": (p("word " * 80, style("H1")), ("word " * 80).strip()),
    "inserted": (f"<w:p>{r('a ')}<w:ins>{r('new ')}</w:ins>{r('b')}</w:p>", "a new b"),
    "deleted": (
        f"<w:p>{r('a ')}<w:del><w:r><w:delText>old </w:delText></w:r></w:del>{r('b')}</w:p>",
        "a b",
    ),
    "inserted, then deleted": (
        f"<w:p>{r('a')}<w:ins><w:del>{r(' gone')}</w:del></w:ins></w:p>",
        "a",
    ),
    "moved": (
        (
            f"<w:p><w:moveFrom>{r('Moved.')}</w:moveFrom>{r('Stays.')}</w:p>"
            f"<w:p><w:moveTo>{r('Moved.')}</w:moveTo></w:p>"
        ),
        "Stays.\n\nMoved.",
    ),
    "deleted paragraph mark": (
        p("The rule is", "<w:rPr><w:del/></w:rPr>") + p(" too broad."),
        "The rule is too broad.",
    ),
    "deleted last paragraph mark": (p("The end.", "<w:rPr><w:del/></w:rPr>"), "The end."),
    "big first letter": (p("T", '<w:framePr w:dropCap="drop"/>') + p("he rule."), "The rule."),
    "deleted mark at the end of a cell": (
        tbl(tr(tc(p("a", "<w:rPr><w:del/></w:rPr>")), "b")) + p("c"),
        "| a | b |\n| --- | --- |\n\nc",
    ),
    "deleted mark before a table": (
        p("a", "<w:rPr><w:del/></w:rPr>") + tbl(tr("b", "c")),
        "a\n\n| b | c |\n| --- | --- |",
    ),
    "struck through": (
        (
            f"<w:p>{r('shall ')}{r('not ', '<w:strike/>')}{r('ever ', '<w:dstrike/>')}"
            f"{r('pay', NOT_STRUCK)}</w:p>"
        ),
        "shall ~~not ever~~ pay",
    ),
    "hidden": (f"<w:p>{r('a')}{r('secret', '<w:vanish/>')}{r('b')}</w:p>", "ab"),
    "hidden by style": (f"<w:p>{r('a')}{r('x', SECRET)}</w:p>", "a"),
    "shown against its style": (
        f"<w:p>{r('a', SHOWN)}</w:p>",
        "a",
    ),
    "style separator": (
        p("Run-in head.", "<w:rPr><w:vanish/><w:specVanish/></w:rPr>") + p(" And text."),
        "Run-in head. And text.",
    ),
    "text box once": (f"<w:p>{r('Beside.')}{box(p('Boxed.'))}</w:p>", "Beside.\n\nBoxed."),
    "text box in VML only": (
        "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>"
        + p("Old box.")
        + "</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>",
        "Old box.",
    ),
    "box in a box": (f"<w:p>{box('<w:p>' + box(p('Inner.')) + '</w:p>')}</w:p>", "Inner."),
    "word art": (
        '<w:p><w:r><w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict></w:r></w:p>',
        "DRAFT",
    ),
    "alternative of blocks": (
        (
            f"<mc:AlternateContent><mc:Choice>{p('Once.')}</mc:Choice><mc:Fallback>{p('Once.')}"
            "</mc:Fallback></mc:AlternateContent>"
        ),
        "Once.",
    ),
    "empty choice": (
        (
            f"<w:p><mc:AlternateContent><mc:Choice/><mc:Fallback>{r('Kept.')}</mc:Fallback>"
            "</mc:AlternateContent></w:p>"
        ),
        "Kept.",
    ),
    "field": (f"<w:p>{r('page ')}{field(' PAGEREF x ', r('7'))}</w:p>", "page 7"),
    "field in a field's code": (
        f"<w:p>{field(NESTED, r('yes'))}</w:p>",
        "yes",
    ),
    "field over paragraphs": (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>TOC</w:instrText>'
        f'</w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{r("Intro 1")}</w:p>'
        f'<w:p>{r("End 2")}<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>' + p("Text."),
        "Intro 1\n\nEnd 2\n\nText.",
    ),
    "field that never ends": (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText>'
        f"</w:r>{r('Words.')}</w:p>" + p("More."),
        "Words.\n\nMore.",
    ),
    "simple field": (
        f'<w:p><w:fldSimple w:instr=" DATE ">{r("May 1")}</w:fldSimple></w:p>',
        "May 1",
    ),
    "symbol field": (
        (
            '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>SYMBOL 254 \\f '
            '"Wingdings"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        ),
        "☑",
    ),
    "form check boxes": (
        (
            f"<w:p>{field('FORMCHECKBOX', '', FORM_BOX.format('<w:checked/>'))}{r(' yes ')}"
            f"{field('FORMCHECKBOX', '', UNCHECKED)}{r(' no')}</w:p>"
        ),
        "☒ yes ☐ no",
    ),
    "form dropdown": (f"<w:p>{field('FORMDROPDOWN', '', DROPDOWN)}</w:p>", "Clinic"),
    "control": (sdt(p("Block.")) + f"<w:p>{sdt(r('Inline.'))}</w:p>", "Block.\n\nInline."),
    "control in a control": (sdt(sdt(p("Deep."))), "Deep."),
    "placeholder": (
        f"<w:p>{r('Name: ')}{sdt(r('Click here to enter text.'), '<w:showingPlcHdr/>')}</w:p>",
        "Name:",
    ),
    "styled placeholder": (
        f"<w:p>{r('Name: ')}{sdt(r('Ihr Name', PROMPT), '<w:showingPlcHdr/>')}</w:p>",
        "Name:",
    ),
    "filled by a program": (
        f"<w:p>{sdt(r('Mercy Hospital of Ohio'), '<w:showingPlcHdr/>')}</w:p>",
        "Mercy Hospital of Ohio",
    ),
    "answer that begins like a prompt": (
        f"<w:p>{sdt(r('Add a stop sign at Elm Street.'), '<w:showingPlcHdr/>')}</w:p>",
        "Add a stop sign at Elm Street.",
    ),
    "check box control": (
        f"<w:p>{sdt(r('?'), CHECKBOX.format(1))}{r(' a ')}{sdt(r('?'), CHECKBOX.format(0))}</w:p>",
        "☒ a ☐",
    ),
    "symbols": (
        '<w:p><w:r><w:sym w:font="Symbol" w:char="F0B3"/><w:sym w:font="Wingdings" w:char="F0FE"/>'
        '<w:sym w:font="Wingdings" w:char="F036"/></w:r>'
        + r("\uf0b7 \uf061", '<w:rFonts w:ascii="Symbol"/>')
        + "</w:p>",
        "≥☑• α",
    ),
    "ruby": (
        (
            f"<w:p>{r('In ')}<w:r><w:ruby><w:rt>{r('とうきょう')}</w:rt><w:rubyBase>{r('東京')}"
            "</w:rubyBase></w:ruby></w:r></w:p>"
        ),
        "In 東京 (とうきょう)",
    ),
    "equation": (
        (
            "<w:p><m:oMath><m:r><m:t>x=</m:t></m:r><m:f><m:fPr/><m:num><m:r><m:t>a+b</m:t></m:r>"
            "</m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:sSup><m:e><m:r><m:t>y</m:t></m:r>"
            "</m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>"
        ),
        "x=(a+b)/2y^2",
    ),
    "wrappers": (
        (
            f"<w:p><w:smartTag>{r('Ohio')}</w:smartTag><w:bdo>{r(' law')}</w:bdo><w:customXml>"
            f"{r(' code')}</w:customXml></w:p>"
        ),
        "Ohio law code",
    ),
    "comments and instructions": (f"<w:p><!-- x --><?y z?>{r('a')}</w:p><!-- x -->", "a"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_running_text(tmp_path, name):
    body, expected = TEXTS[name]
    assert read(tmp_path, package(body, styles=HEADINGS)).body == expected


def test_hidden_text_is_counted(tmp_path):
    body = f"<w:p>{r('Seen.')}{r('12345', '<w:vanish/>')}</w:p>"
    assert read(tmp_path, package(body)).warnings == ("5 characters of hidden text left out",)


LINKS = [
    ("rId1", "hyperlink", "https://example.org/rule?a=1&b=2"),
    ("rId2", "hyperlink", "mailto:jo@example.org"),
    ("rId3", "hyperlink", "file:///C:/x.doc"),
]


FIELD_LINK = ' HYPERLINK "https://example.org/a" '
FIELD_ANCHOR = r' HYPERLINK \l "x" '


def link(name: str, text: str) -> str:
    return f'<w:hyperlink r:id="{name}">{r(text)}</w:hyperlink>'


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # The words around a link stay together: its address follows the paragraph.
        (
            f"<w:p>{r('See ')}{link('rId1', 'our study')}{r(' on page 2.')}</w:p>",
            "See our study on page 2. <https://example.org/rule?a=1&b=2>",
        ),
        (f"<w:p>{link('rId1', 'example.org/rule?a=1&amp;b=2')}</w:p>", "example.org/rule?a=1&b=2"),
        (f"<w:p>{link('rId2', 'jo@example.org')}</w:p>", "jo@example.org"),
        (f"<w:p>{link('rId2', 'Jo')}</w:p>", "Jo <jo@example.org>"),
        (f"<w:p>{link('rId3', 'a file')}</w:p>", "a file"),
        (f"<w:p>{link('rId9', 'broken')}</w:p>", "broken"),
        (f'<w:p><w:hyperlink w:anchor="x">{r("below")}</w:hyperlink></w:p>', "below"),
        (
            f"<w:p>{field(FIELD_LINK, r('there'))}{r('!')}</w:p>",
            "there! <https://example.org/a>",
        ),
        (f"<w:p>{field(FIELD_ANCHOR, r('here'))}</w:p>", "here"),
        (
            tbl(tr("a", tc(f"<w:p>{link('rId1', 'cell')}</w:p>"))),
            "| a | cell |\n| --- | --- |\n\n<https://example.org/rule?a=1&b=2>",
        ),
    ],
)
def test_links(tmp_path, body, expected):
    assert read(tmp_path, package(body, links=LINKS)).body == expected


def note(kind: str, name: str, inner: str, extra: str = "") -> str:
    return f'<w:{kind} w:id="{name}"{extra}>{inner}</w:{kind}>'


def test_notes_follow_in_the_order_of_their_marks(tmp_path):
    body = (
        f'<w:p>{r("First")}<w:r><w:footnoteReference w:id="5"/></w:r>{r(" second")}<w:r>'
        f'<w:footnoteReference w:id="2"/></w:r>{r(" third")}<w:r><w:endnoteReference w:id="2"/>'
        '</w:r><w:del><w:r><w:footnoteReference w:id="3"/></w:r></w:del></w:p>'
    )
    notes = (
        note("footnote", "0", p("-"), ' w:type="separator"')
        + note("footnote", "2", "<w:p><w:r><w:footnoteRef/></w:r>" + r(" Two.") + "</w:p>")
        + note("footnote", "3", p("Deleted."))
        + note("footnote", "5", p("Five.") + p("And more."))
    )
    document = read(
        tmp_path,
        package(
            body,
            {
                "word/footnotes.xml": xml("w:footnotes", notes),
                "word/endnotes.xml": xml("w:endnotes", note("endnote", "2", p("At the end."))),
            },
        ),
    )
    assert document.body == (
        "First[^1] second[^2] third[^e1]\n\n[^1]: Five.\n\n    And more.\n\n[^2]: Two.\n\n"
        "[^e1]: At the end."
    )


def test_headers_come_first_footers_last_each_text_once(tmp_path):
    section = (
        "<w:sectPr>"
        '<w:headerReference w:type="default" r:id="h1"/>'
        '<w:headerReference w:type="first" r:id="h2"/><w:headerReference w:type="even" r:id="h3"/>'
        '<w:footerReference w:type="default" r:id="f1"/>'
        "</w:sectPr>"
    )
    page = (
        f"<w:p>{r('Page ')}{field(' PAGE ', r('3'))}{r(' of ')}{field(' NUMPAGES ', r('9'))}</w:p>"
    )
    parts = {
        "word/header1.xml": xml("w:hdr", p("Mercy Hospital") + page),
        "word/header2.xml": xml("w:hdr", p("Mercy Hospital") + p("Office of the President")),
        "word/header3.xml": xml("w:hdr", p("Mercy Hospital")),
        "word/footer1.xml": xml("w:ftr", p("12 Main Street")),
        "word/header9.xml": xml("w:hdr", p("Never shown")),
    }
    links = [
        *(("h1", "header", "header1.xml"), ("h2", "header", "header2.xml")),
        *(("h3", "header", "header3.xml"), ("f1", "footer", "footer1.xml")),
    ]
    data = package(p("Body.", section) + section, parts, links)
    assert read(tmp_path, data).body == (
        "Mercy Hospital\n\nOffice of the President\n\nBody.\n\n12 Main Street"
    )


def test_comments_are_notes_with_their_author(tmp_path):
    body = (
        f'<w:p><w:commentRangeStart w:id="0"/>{r("Paid in full")}<w:commentRangeEnd w:id="0"/><w:r>'
        f'<w:commentReference w:id="0"/></w:r>{r(" by May.")}</w:p>'
    )
    comments = xml(
        "w:comments",
        f'<w:comment w:id="0" w:author="Ann Lee">{p("By whom?")}</w:comment>'
        f'<w:comment w:id="1">{p("")}</w:comment>',
    )
    assert read(tmp_path, package(body, {"word/comments.xml": comments})).body == (
        "Paid in full by May.\n\n> Comment by Ann Lee: By whom?"
    )


def test_glossary_does_not_leak(tmp_path):
    parts = {
        "word/glossary/document.xml": xml("w:glossaryDocument", p("Boilerplate")),
    }
    links = [("g", "glossaryDocument", "glossary/document.xml")]
    assert read(tmp_path, package(p("Letter."), parts, links)).body == "Letter."


def test_blank_document(tmp_path):
    document = read(tmp_path, package("<w:p/><w:sectPr/>"))
    assert (document.body, document.reason, document.pages) == ("", Reason.BLANK, ())
