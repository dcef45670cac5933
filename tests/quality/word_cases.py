"""DOCX: every place where Word keeps text, and those whose text is not the letter's."""

from __future__ import annotations

import io
import zipfile

from samples.letter import load
from samples.word import (
    letter_docx,
    package,
    paragraph,
    picture,
    run,
    table,
    text_box,
    zip_bytes,
)

from tests.quality.case import Case

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_AUTHOR = 'w:author="A" w:date="2031-01-01T00:00:00Z"'


def _body(*blocks: str) -> bytes:
    return package("".join(blocks))


def _p(text: str, properties: str = "") -> str:
    return paragraph(run(text, properties))


def _edited(data: bytes, edit) -> bytes:
    """Return the package with `edit(name, content)` applied to each part; it may add parts."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return zip_bytes(edit(files))


def _add_part(data: bytes, name: str, xml: str, content_type: str, relation: str) -> bytes:
    """Return the package with one more part, related to the main document as rId90."""
    kind = relation if "://" in relation else f"{_OFFICE_REL}/{relation}"
    target = name.removeprefix("word/")

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        files = dict(files)
        rels = "word/_rels/document.xml.rels"
        link = f'<Relationship Id="rId90" Type="{kind}" Target="{target}"/></Relationships>'
        files[rels] = files[rels].replace(b"</Relationships>", link.encode())
        override = f'<Override PartName="/{name}" ContentType="{content_type}"/></Types>'
        types = "[Content_Types].xml"
        files[types] = files[types].replace(b"</Types>", override.encode())
        files[name] = xml.encode("utf-8")
        return files

    return _edited(data, edit)


_OFFICE_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def _tracked() -> bytes:
    moved = run("This sentence was moved to the end.")
    return _body(
        paragraph(
            run("The limit is ")
            + f'<w:del w:id="1" {_AUTHOR}>{run("ten", tag="delText")}</w:del>'
            + f'<w:ins w:id="2" {_AUTHOR}>{run("fourteen")}</w:ins>'
            + run(" days.")
        ),
        paragraph(f'<w:moveFrom w:id="3" {_AUTHOR}>{moved}</w:moveFrom>'),
        _p("Between the two places stands this."),
        paragraph(f'<w:moveTo w:id="4" {_AUTHOR}>{moved}</w:moveTo>'),
    )


def _merged_table() -> bytes:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{_p(text)}</w:tc>"

    restart, go_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        cell("Region") + cell("Beds in the year", '<w:gridSpan w:val="2"/>'),
        cell("North", restart) + cell("2029: 41") + cell("2030: 38"),
        cell("", go_on) + cell("licensed") + cell("staffed"),
        cell("South") + cell("2029: 17") + cell("2030: 19"),
    )
    grid = "<w:gridCol w:w='2000'/>" * 3
    inner = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    return _body(f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{inner}</w:tbl>", _p("After."))


def _nested_table() -> bytes:
    inner = table((("inner left", "inner right"),))
    outer = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w='4000'/></w:tblGrid><w:tr><w:tc>"
        f"{_p('Above the inner table')}{inner}{_p('Below it')}</w:tc></w:tr></w:tbl>"
    )
    return _body(outer, _p("After."))


def _controls() -> bytes:
    block = f"<w:sdt><w:sdtPr/><w:sdtContent>{_p('Chosen: oppose.')}</w:sdtContent></w:sdt>"
    inline = f"<w:sdt><w:sdtContent>{run('Delphine Marchetti')}</w:sdtContent></w:sdt>"
    row = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w='2000'/></w:tblGrid><w:sdt><w:sdtContent>"
        f"<w:tr><w:tc>{_p('Row in a control')}</w:tc></w:tr></w:sdtContent></w:sdt></w:tbl>"
    )
    return _body(paragraph(run("Name: ") + inline), block, row, _p("End."))


def _endnotes() -> bytes:
    body = paragraph(run("See the note.") + '<w:r><w:endnoteReference w:id="2"/></w:r>')
    xml = (
        f'<w:endnotes xmlns:w="{_W}"><w:endnote w:id="2">'
        f"{_p('Endnote: the figures are of March.')}</w:endnote></w:endnotes>"
    )
    return _add_part(_body(body), "word/endnotes.xml", xml, f"{_WORD}.endnotes+xml", "endnotes")


def _comments() -> bytes:
    body = paragraph(
        '<w:commentRangeStart w:id="0"/>'
        + run("We object.")
        + '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>'
    )
    xml = (
        f'<w:comments xmlns:w="{_W}"><w:comment w:id="0" w:author="Reviewer">'
        f"{_p('Should we say how strongly?')}</w:comment></w:comments>"
    )
    return _add_part(_body(body), "word/comments.xml", xml, f"{_WORD}.comments+xml", "comments")


def _hyperlink() -> bytes:
    body = paragraph(
        run("Our study: ") + f'<w:hyperlink r:id="rId90">{run("read it")}</w:hyperlink>'
    )

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        rels = "word/_rels/document.xml.rels"
        link = (
            f'<Relationship Id="rId90" Type="{_OFFICE_REL}/hyperlink" TargetMode="External" '
            'Target="https://example.org/study-7"/></Relationships>'
        )
        return files | {rels: files[rels].replace(b"</Relationships>", link.encode())}

    return _edited(_body(body), edit)


def _fields() -> bytes:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    code = '<w:r><w:instrText xml:space="preserve"> REF secretBookmark \\h </w:instrText></w:r>'
    complex_field = mark("begin") + code + mark("separate") + run("section four") + mark("end")
    simple = f'<w:fldSimple w:instr=" DATE ">{run("July 4, 2031")}</w:fldSimple>'
    return _body(paragraph(run("As said in ") + complex_field + run(" on ") + simple))


def _alt_chunk() -> bytes:
    html = "<html><body><p>The whole letter came in as a chunk &amp; stays one.</p></body></html>"
    body = _p("Before the chunk.") + '<w:altChunk r:id="rId90"/>'
    return _add_part(_body(body), "word/chunk.html", html, "text/html", "aFChunk")


def _strict() -> bytes:
    """The letter in the Strict variant, whose namespaces are others."""
    swaps = (
        (_W, "http://purl.oclc.org/ooxml/wordprocessingml/main"),
        (_OFFICE_REL, "http://purl.oclc.org/ooxml/officeDocument/relationships"),
    )

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        for old, new in swaps:
            files = {
                name: content.replace(old.encode(), new.encode()) for name, content in files.items()
            }
        return files

    return _edited(letter_docx(load("pharmacist")), edit)


def _macro_enabled() -> bytes:
    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        types = "[Content_Types].xml"
        content = files[types].replace(
            f"{_WORD}.document.main+xml".encode(),
            b"application/vnd.ms-word.document.macroEnabled.main+xml",
        )
        return files | {types: content, "word/vbaProject.bin": b"\xd0\xcf\x11\xe0 Sub AutoOpen()"}

    return _edited(letter_docx(load("pharmacist")), edit)


def _numbered() -> bytes:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for level, kind, text in ((0, "decimal", "%1."), (1, "lowerLetter", "%2)"))
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )

    def item(text: str, level: int) -> str:
        number = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        return paragraph(run(text), properties=number)

    body = [("Delay the rule", 0), ("by one year", 1), ("or by two", 1), ("Pay for travel", 0)]
    return package("".join(item(*entry) for entry in body), {"word/numbering.xml": numbering})


def _wrapped() -> bytes:
    smart = f'<w:smartTag w:element="place">{run("Ketchikan")}</w:smartTag>'
    custom = f'<w:customXml w:element="x">{run(" in Alaska")}</w:customXml>'
    special = (
        "<w:r><w:t>a self</w:t><w:noBreakHyphen/><w:t>help group</w:t><w:tab/>"
        "<w:t>meets</w:t><w:br/><w:t>weekly</w:t></w:r>"
    )
    return _body(paragraph(run("We live near ") + smart + custom), paragraph(special))


def _equation() -> bytes:
    math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    xml = f'<m:oMath xmlns:m="{math}"><m:r><m:t>rate=cost/days</m:t></m:r></m:oMath>'
    return _body(paragraph(run("We propose ") + xml))


def _byte_order_mark() -> bytes:
    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        name = "word/document.xml"
        return files | {name: b"\xef\xbb\xbf" + files[name]}

    return _edited(_body(_p("A mark stands before this document.")), edit)


def _entities() -> bytes:
    """A part that declares entities: must neither expand without end nor read a file."""

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        name = "word/document.xml"
        bomb = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 20}">' for i in range(1, 9))
        head = f'<!DOCTYPE d [<!ENTITY e0 "boom boom boom"><!ENTITY f SYSTEM "file:///etc/passwd">{bomb}]>'
        content = files[name].replace(b"<w:document", head.encode() + b"<w:document", 1)
        return files | {name: content.replace(b"STAND-IN", b"&e8;&f;")}

    return _edited(_body(_p("Before the entity STAND-IN after it.")), edit)


def _truncated() -> bytes:
    data = letter_docx(load("nurse_union"))
    return data[: len(data) * 6 // 10]


_UNION_ROW = ("Evening", "11", "8", "71.5", "60.0")

CASES = (
    Case("letter.docx", lambda: letter_docx(load("nurse_union")),
         must=("affiliated with no political party", "it has caused no grievance in six years",
               "insurance paperwork"),
         must_not=("billing",),
         once=("I have fourteen people to get up before breakfast.",
               "United Caregivers Local 1417 — May 21, 2031"),
         rows=(_UNION_ROW, ("Shift", "Scheduled aides", "Present aides"))),
    Case("tracked.docx", _tracked, must=("The limit is fourteen days.",), must_not=("ten days",),
         once=("This sentence was moved to the end.",),
         order=("Between the two places", "This sentence was moved")),
    Case("text-box.docx", lambda: _body(_p("Body."), text_box("Only in the box."), _p("End.")),
         once=("Only in the box.",), order=("Body.", "Only in the box.", "End.")),
    Case("merged.docx", _merged_table, rows=(
        ("Region", "Beds in the year"), ("North", "2029: 41", "2030: 38"),
        ("licensed", "staffed"), ("South", "2029: 17", "2030: 19"))),
    Case("nested.docx", _nested_table, must=("Above the inner table", "Below it"),
         once=("inner left", "inner right"), order=("Above the inner", "inner left", "After.")),
    Case("controls.docx", _controls, must=("Name: Delphine Marchetti", "Chosen: oppose."),
         once=("Row in a control",)),
    Case("endnotes.docx", _endnotes, once=("Endnote: the figures are of March.",)),
    Case("comments.docx", _comments, order=("We object.", "Should we say how strongly?")),
    Case("hyperlink.docx", _hyperlink, must=("read it", "https://example.org/study-7")),
    Case("fields.docx", _fields, must=("As said in section four on July 4, 2031",),
         must_not=("secretBookmark",)),
    Case("chunk.docx", _alt_chunk, must=("The whole letter came in as a chunk & stays one.",)),
    Case("strict.docx", _strict, must=("A courier run in our area costs $38",),
         rows=(("Cefazolin", "20 mg/mL", "10", "1"),)),
    Case("macro.docm", _macro_enabled, must=("A courier run in our area costs $38",),
         must_not=("AutoOpen",)),
    Case("numbered.docx", _numbered, must=(
        "1. Delay the rule", "a) by one year", "b) or by two", "2. Pay for travel")),
    Case("wrapped.docx", _wrapped, must=("We live near Ketchikan in Alaska", "a self")),
    Case("equation.docx", _equation, must=("rate=cost/days",)),
    Case("vanish.docx", lambda: _body(_p("Seen."), _p("unseen draft", "<w:vanish/>")),
         must=("Seen.",), must_not=("unseen draft",)),
    Case("bom.docx", _byte_order_mark, must=("A mark stands before this document.",)),
    Case("picture-missing.docx",
         lambda: _body(_p("The picture got lost."), picture("rId6", (5, 5))),
         must=("The picture got lost.",)),
    Case("blank.docx", lambda: _body(paragraph("")), reason="blank"),
    Case("entities.docx", _entities, must=("Before the entity",), also=("failed",),
         must_not=("root:", "boom boom boomboom")),
    Case("truncated.docx", _truncated, "failed", "corrupt"),
)  # fmt: skip
