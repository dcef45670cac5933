"""DOCX: headers by kind, form fields, shapes, revisions in odd places; and OLE packages."""

from __future__ import annotations

import random

from samples.letter import load
from samples.pdf import letter_pdf
from samples.scan import Scanner, jpeg
from samples.word import letter_docx, package, paragraph, picture, run, table, zip_bytes

from tests.quality.case import Case
from tests.quality.ole import compound_file
from tests.quality.word_cases import _AUTHOR, _WORD, _add_part, _body, _edited, _p

_W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'


def _field(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


def _legacy_form() -> bytes:
    def code(text: str) -> str:
        return f'<w:r><w:instrText xml:space="preserve"> {text} </w:instrText></w:r>'

    typed = (
        _field("begin")
        + code("FORMTEXT")
        + _field("separate")
        + run("Ludmila Ostrander")
        + _field("end")
    )
    nested = (
        _field("begin")
        + code("IF ")
        + _field("begin")
        + code("MERGEFIELD hiddenName")
        + _field("end")
        + _field("separate")
        + run("the shown branch")
        + _field("end")
    )
    return _body(paragraph(run("Name: ") + typed), paragraph(run("Result: ") + nested))


def _placeholder() -> bytes:
    unfilled = (
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
        f"{run('Click or tap here to enter text.')}</w:sdtContent></w:sdt>"
    )
    ticked = (
        f'<w:sdt><w:sdtPr><w14:checkbox {_W14}><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr>'
        f"<w:sdtContent>{run(chr(0x2612))}</w:sdtContent></w:sdt>"
    )
    return _body(paragraph(run("Fax: ") + unfilled), paragraph(ticked + run(" I oppose.")))


def _old_text_box() -> bytes:
    inner = f"<w:txbxContent>{_p('Words in a box of 2003.')}</w:txbxContent>"
    shape = f'<v:shape style="width:200pt"><v:textbox>{inner}</v:textbox></v:shape>'
    return _body(_p("Body."), paragraph(f"<w:r><w:pict>{shape}</w:pict></w:r>"), _p("End."))


def _headers() -> bytes:
    def header(text: str) -> str:
        return paragraph(run(text))

    parts = {"word/header1.xml": header("Header of Ferris County")}
    data = package(_p("The body of the letter."), parts)
    xml = (
        '<w:hdr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        f"{header('First page: Office of the Clerk')}</w:hdr>"
    )
    data = _add_part(data, "word/header9.xml", xml, f"{_WORD}.header+xml", "header")

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        name = "word/document.xml"
        first = b'<w:sectPr><w:headerReference w:type="first" r:id="rId90"/><w:titlePg/>'
        return files | {name: files[name].replace(b"<w:sectPr>", first)}

    return _edited(data, edit)


def _deleted_row() -> bytes:
    rows = table((("kept", "1"), ("struck", "2"), ("added", "3")))
    first, struck, added = rows.split("<w:tr>")[1:]
    mark = f'<w:trPr><w:{{}} w:id="9" {_AUTHOR}/></w:trPr>'
    deleted = struck.replace("<w:t ", "<w:delText ").replace("</w:t>", "</w:delText>")
    deleted = deleted.replace("<w:r>", f'<w:del w:id="8" {_AUTHOR}><w:r>')
    deleted = deleted.replace("</w:r>", "</w:r></w:del>")
    xml = (
        rows.split("<w:tr>")[0]
        + "<w:tr>" + first
        + "<w:tr>" + mark.format("del") + deleted
        + "<w:tr>" + mark.format("ins") + added
    )  # fmt: skip
    return _body(xml, _p("After."))


def _note_in_table() -> bytes:
    cell = paragraph(run("$9,000") + '<w:r><w:footnoteReference w:id="1"/></w:r>')
    xml = (
        "<w:tbl><w:tblPr/><w:tblGrid><w:gridCol w:w='2000'/><w:gridCol w:w='2000'/></w:tblGrid>"
        f"<w:tr><w:tc>{_p('Cost')}</w:tc><w:tc>{cell}</w:tc></w:tr></w:tbl>"
    )
    note = f'<w:footnote w:id="1">{_p("Before the discount.")}</w:footnote>'
    return package(xml + _p("After."), {"word/footnotes.xml": note})


def _renamed_main() -> bytes:
    """The main part has another name than usual; only the relations tell."""

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        out = {}
        for name, content in files.items():
            new = name.replace("word/document.xml", "word/letter7.xml")
            if name in ("[Content_Types].xml", "_rels/.rels"):
                content = content.replace(b"word/document.xml", b"word/letter7.xml")
            out[new.replace("_rels/document.xml.rels", "_rels/letter7.xml.rels")] = content
        return out

    return _edited(letter_docx(load("pharmacist")), edit)


def _bare() -> bytes:
    """No styles, no relations but the one to the body."""

    def edit(files: dict[str, bytes]) -> dict[str, bytes]:
        keep = ("[Content_Types].xml", "_rels/.rels", "word/document.xml")
        types = files["[Content_Types].xml"]
        start = types.index(b'<Override PartName="/word/styles.xml"')
        end = types.index(b"/>", start) + 2
        out = {name: files[name] for name in keep}
        return out | {"[Content_Types].xml": types[:start] + types[end:]}

    return _edited(_body(_p("A package with nothing but this.")), edit)


def _glossary() -> bytes:
    xml = (
        '<w:glossaryDocument xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/'
        f'main"><w:docParts><w:docPart><w:docPartBody>{_p("Building block text")}'
        "</w:docPartBody></w:docPart></w:docParts></w:glossaryDocument>"
    )
    kind = f"{_WORD}.document.glossary+xml"
    body = _body(_p("Only the letter."))
    return _add_part(body, "word/glossary/document.xml", xml, kind, "glossaryDocument")


def _chunk_docx() -> bytes:
    inner = _body(_p("A whole document came as a chunk."))
    kind = f"{_WORD}.document.main+xml"
    body = _p("Before.") + '<w:altChunk r:id="rId90"/>' + _p("After.")
    data = _add_part(_body(body), "word/afchunk.docx", "", kind, "aFChunk")
    return _edited(data, lambda files: files | {"word/afchunk.docx": inner})


def _symbols() -> bytes:
    inner = (
        run("Half a dose")
        + '<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>'
        + run("10 mg, co")
        + "<w:r><w:softHyphen/></w:r>"
        + run("operation")
        + "<w:ruby><w:rt><w:r><w:t>upper</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>base</w:t></w:r>"
        "</w:rubyBase></w:ruby>"
    )
    return _body(paragraph(inner))


def _style_numbering() -> bytes:
    """Numbers that come with a heading style, not with the paragraph."""
    style = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
        '<w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )
    level = '<w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/>'
    numbering = (
        f'<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0">{level}</w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
    )
    body = paragraph(run("Summary"), "H1") + _p("text") + paragraph(run("Costs"), "H1")
    return package(body, {"word/styles.xml": style, "word/numbering.xml": numbering})


def _scanned_into_word() -> bytes:
    (image,) = Scanner(dpi=110, noise=2.0).scan(letter_pdf(load("daughter")))
    body = picture("rId6", (6.5, 6.5 * image.height / image.width))
    return package(body, media={"word/media/image1.jpg": jpeg(image, 50)})


def _encrypted_package() -> bytes:
    secret = random.Random(2).randbytes(6000)
    return compound_file({"EncryptionInfo": b"\4\0\4\0\x40\0\0\0<encryption/>" * 20,
                          "EncryptedPackage": secret})  # fmt: skip


def _rights_managed() -> bytes:
    transform = {"DRMEncryptedTransform": {"\x06Primary": b"rights" * 40}}
    return compound_file(
        {
            "EncryptedPackage": random.Random(3).randbytes(6000),
            "\x06DataSpaces": {
                "Version": b"v" * 60,
                "DataSpaceMap": b"DRMEncryptedDataSpace".ljust(120, b"\0"),
                "DataSpaceInfo": {"DRMEncryptedDataSpace": b"d" * 80},
                "TransformInfo": transform,
            },
        }
    )


def _message() -> bytes:
    """An Outlook message: subject, sender, body, and one attached letter (MS-OXMSG)."""

    def text(value: str) -> bytes:
        return value.encode("utf-16-le")

    def head(size: int, *entries: tuple[int, int]) -> bytes:
        fixed = b"".join(
            tag.to_bytes(4, "little") + b"\6\0\0\0" + value.to_bytes(8, "little")
            for tag, value in entries
        )
        return bytes(size) + fixed

    attachment = {
        "__properties_version1.0": head(8, (0x37050003, 1)),
        "__substg1.0_3704001F": text("letter.pdf"),
        "__substg1.0_3707001F": text("letter.pdf"),
        "__substg1.0_37010102": letter_pdf(load("dialysis_social_worker")),
    }
    counts = b"".join(n.to_bytes(4, "little") for n in (0, 1, 0, 1))
    return compound_file(
        {
            "__nameid_version1.0": {
                "__substg1.0_00020102": b"",
                "__substg1.0_00030102": b"",
                "__substg1.0_00040102": b"",
            },
            "__properties_version1.0": bytes(8)
            + counts
            + bytes(8)
            + head(0, (0x340D0003, 0x40000)),
            "__substg1.0_001A001F": text("IPM.Note"),
            "__substg1.0_0037001F": text("Comment on dialysis at home"),
            "__substg1.0_0C1A001F": text("Hilde Brannigan"),
            "__substg1.0_1000001F": text("Please accept my letter on caregivers.\r\n"),
            "__attach_version1.0_#00000000": attachment,
        }
    )


def _zip_named_docx() -> bytes:
    return zip_bytes({"letter.txt": b"This archive was named as if it were a letter."})


_PHARMACIST = "A courier run in our area costs $38"

CASES = (
    Case("legacy-form.docx", _legacy_form, must=(
        "Name: Ludmila Ostrander", "Result: the shown branch"),
        must_not=("FORMTEXT", "hiddenName")),
    Case("placeholder.docx", _placeholder, must=("☒ I oppose.",),
         must_not=("Click or tap here",)),
    Case("old-text-box.docx", _old_text_box, once=("Words in a box of 2003.",)),
    Case("headers.docx", _headers, once=(
        "Header of Ferris County", "First page: Office of the Clerk", "The body of the letter.")),
    Case("deleted-row.docx", _deleted_row, rows=(("kept", "1"), ("added", "3")),
         must_not=("struck",)),
    Case("note-in-table.docx", _note_in_table, once=("Before the discount.",), must=("$9,000",)),
    Case("renamed-main.docx", _renamed_main, must=(_PHARMACIST,)),
    Case("bare.docx", _bare, must=("A package with nothing but this.",)),
    Case("glossary.docx", _glossary, must=("Only the letter.",),
         must_not=("Building block text",)),
    Case("chunk-docx.docx", _chunk_docx, order=(
        "Before.", "A whole document came as a chunk.", "After.")),
    Case("symbols.docx", _symbols, must=("≥", "cooperation", "base")),
    Case("style-numbering.docx", _style_numbering, must=("I. Summary", "II. Costs")),
    Case("scanned-into-word.docx", _scanned_into_word, "ocr_needed", "image", ocr_pages=(1,)),
    Case("encrypted.docx", _encrypted_package, "failed", "encrypted"),
    Case("rights-managed.docx", _rights_managed, "failed", "rights_managed"),
    Case("message.msg", _message, must=("Comment on dialysis at home",
         "Please accept my letter on caregivers.", "All twenty of them manage")),
    Case("zip-named.docx", _zip_named_docx, must=("This archive was named as if",),
         also=("unsupported", "failed")),
)  # fmt: skip
