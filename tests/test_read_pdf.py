"""The PDF reader: whole files, from opening to the document."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from pdf_files import LETTER, plain, save, write
from regcomments.read.members import MemberReader
from regcomments.read.options import ReadOptions
from regcomments.read.pdf import read_pdf
from regcomments.read.summary import document_text, summarise
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status


def with_members(**limits: int) -> ReadOptions:
    """Return options under which embedded PDFs are read."""

    def read(path: Path, options: ReadOptions):
        from regcomments.read import failure_of

        try:
            return summarise(read_pdf(path, options))
        except UnreadableError as error:
            return failure_of(error)

    options = ReadOptions(**limits)
    return ReadOptions(**limits, read_member=MemberReader(read, options))


def test_a_letter_comes_whole(tmp_path: Path) -> None:
    seen: list[int] = []
    path = save(tmp_path / "a.pdf", write(), write("Page two."))
    document = read_pdf(path, ReadOptions(on_pages=seen.append))
    assert (document.kind, document.paged, len(document.pages), seen) == ("pdf", True, 2, [2])
    assert document.pages[0].text.split("\n") == LETTER.split("\n")
    assert document.pages[1].text == "Page two."
    assert not any(page.needs_ocr for page in document.pages)
    assert document.pages[0].facts["chars"] > 100
    assert document.warnings == ()


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_rotated_pages_read_the_same(tmp_path: Path, rotation: int) -> None:
    path = save(tmp_path / "a.pdf", lambda page: (write()(page), page.set_rotation(rotation)))
    assert read_pdf(path, ReadOptions()).pages[0].text == LETTER


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_text_reads_the_same(tmp_path: Path, turn: int) -> None:
    path = save(tmp_path / "a.pdf", write(x=300, y=400, rotate=turn))
    assert read_pdf(path, ReadOptions()).pages[0].text == LETTER


@pytest.mark.parametrize(
    ("owner", "user", "expected"),
    [("secret", "", "ok"), ("secret", "key", "encrypted"), ("", "key", "encrypted")],
)
def test_passwords(tmp_path: Path, owner: str, user: str, expected: str) -> None:
    path = save(
        tmp_path / "a.pdf",
        write(),
        encryption=pymupdf.PDF_ENCRYPT_AES_256,
        owner_pw=owner,
        user_pw=user,
        permissions=0,
    )
    if expected == "ok":
        assert document_text(read_pdf(path, ReadOptions())) == LETTER
    else:
        assert refusal(path) == (Status.FAILED, Reason.ENCRYPTED)


def refusal(path: Path, options: ReadOptions | None = None) -> tuple[Status, Reason]:
    with pytest.raises(UnreadableError) as caught:
        read_pdf(path, options or ReadOptions())
    assert "\n" not in caught.value.detail
    assert str(path.parent) not in caught.value.detail
    return caught.value.status, caught.value.reason


NO_PAGES = (
    b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n"
    b"2 0 obj\n<</Type/Pages/Kids[]/Count 0>>\nendobj\n"
)
HALF_A_WRAPPER = (
    b"%PDF-1.4\n1 0 obj\n<</Filter /MicrosoftIRMServices /V 5>>\nendobj\n"
    b"trailer\n<</Encrypt 1 0 R /Root 2 0 R /Size 3>>\n%%EOF\n"
)


def with_xref(body: bytes) -> bytes:
    """Return a PDF of `body` with a cross-reference table, so that nothing need be repaired."""
    offsets = [body.index(f"{n} 0 obj".encode()) for n in (1, 2)]
    table = b"".join(f"{offset:010d} 00000 n \n".encode() for offset in offsets)
    return (
        body
        + b"xref\n0 3\n0000000000 65535 f \n"
        + table
        + b"trailer\n<</Size 3/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(body)
    )


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.CORRUPT),
        (b"%PDF-1.7\n", Reason.CORRUPT),
        (b"not a PDF at all, only words\n" * 20, Reason.CORRUPT),
        (NO_PAGES, Reason.CORRUPT),
        (with_xref(NO_PAGES), Reason.NO_PAGES),
        (HALF_A_WRAPPER, Reason.RIGHTS_MANAGED),
    ],
    ids=["empty", "header", "words", "no_pages_damaged", "no_pages", "half_a_rights_wrapper"],
)
def test_files_without_a_page(tmp_path: Path, data: bytes, reason: Reason) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    assert refusal(path) == (Status.FAILED, reason)


def test_a_file_guarded_by_a_licence_server(tmp_path: Path) -> None:
    path = save(
        tmp_path / "a.pdf",
        write(),
        encryption=pymupdf.PDF_ENCRYPT_AES_128,
        owner_pw="x",
        user_pw="y",
    )
    data = path.read_bytes()
    assert b"/Filter/Standard" in data
    # Another length would move the objects behind it, so names of eight letters are used.
    path.write_bytes(data.replace(b"/Filter/Standard", b"/Filter/FOPN_fow"))
    assert refusal(path) == (Status.FAILED, Reason.RIGHTS_MANAGED)


def test_page_limit(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pdf", *[write("x")] * 4)
    assert refusal(path, ReadOptions(max_pages=3)) == (Status.FAILED, Reason.TOO_LARGE)
    assert len(read_pdf(path, ReadOptions(max_pages=4)).pages) == 4


def test_a_damaged_file_is_repaired_and_says_so(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pdf", write(), write("Page two."))
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"xref")])
    document = read_pdf(path, ReadOptions())
    assert LETTER in document.pages[0].text
    assert any("damaged" in warning for warning in document.warnings)


def test_one_damaged_page_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    with pymupdf.open() as made:
        for text in ("Page one.", "Page two.", "Page three."):
            made.new_page().insert_text((72, 90), text)
        kids = [made[k].xref for k in range(3)]
        made.xref_set_key(made[0].xref, "Parent", "null")
        made.update_object(kids[1], "<< /Type /Pages /Kids 7 /Count 1 >>")
        made.save(path)
    try:
        document = read_pdf(path, ReadOptions())
    except UnreadableError as error:
        pytest.fail(f"nothing read: {error}")
    text = document_text(document)
    assert "Page three." in text


def portfolio(path: Path, cover: str, members: dict[str, bytes], collection: bool) -> Path:
    with pymupdf.open() as made:
        made.new_page().insert_text((72, 90), cover)
        for name, data in members.items():
            made.embfile_add(name, data, filename=name)
        if collection:
            made.xref_set_key(made.pdf_catalog(), "Collection", "<< /Type /Collection >>")
        made.save(path)
    return path


COVER = (
    "For the best experience, open this PDF portfolio in\nAcrobat X or Adobe Reader X, or later."
)


def test_a_portfolio_is_ok_when_its_documents_are_read(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pdf", write("The comment itself.")).read_bytes()
    path = portfolio(tmp_path / "a.pdf", COVER, {"letter.pdf": inner}, collection=True)
    document = read_pdf(path, with_members())
    assert document.reason == Reason.PORTFOLIO
    assert [(m.name, m.result.status, m.result.text) for m in document.members] == [
        ("letter.pdf", Status.OK, "The comment itself.")
    ]


@pytest.mark.parametrize("members", [{}, {"broken.pdf": b"%PDF-1.4 broken"}])
def test_a_portfolio_without_a_readable_document_fails(tmp_path: Path, members: dict) -> None:
    path = portfolio(tmp_path / "a.pdf", COVER, members, collection=True)
    assert refusal(path, with_members()) == (Status.FAILED, Reason.PORTFOLIO)


def test_attachments_of_an_ordinary_letter(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pdf", write("Exhibit A.")).read_bytes()
    path = portfolio(tmp_path / "a.pdf", LETTER, {"a.pdf": inner, "b.pdf": b"no"}, collection=False)
    document = read_pdf(path, with_members())
    assert document.reason is None
    assert [m.result.status for m in document.members] == [Status.OK, Status.FAILED]


def test_files_inside_files_end_at_the_depth_allowed(tmp_path: Path) -> None:
    data = save(tmp_path / "0.pdf", write("Level 0.")).read_bytes()
    for level in range(1, 6):
        path = portfolio(
            tmp_path / f"{level}.pdf", f"Level {level}.", {"x.pdf": data}, collection=False
        )
        data = path.read_bytes()
    document = read_pdf(path, with_members(max_member_depth=2))
    levels = []
    members = document.members
    while members:
        levels.append(members[0].result)
        members = members[0].result.members
    assert [r.text for r in levels] == ["Level 4.", "Level 3.", ""]
    assert levels[-1].reason == Reason.TOO_LARGE


def test_many_and_large_attachments_are_bounded(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pdf", write("x")).read_bytes()
    members = {f"{n}.pdf": inner + b"%" * n for n in range(9)}
    path = portfolio(tmp_path / "a.pdf", LETTER, members, collection=False)
    document = read_pdf(path, with_members(max_members=4))
    assert len(document.members) == 4
    assert "5 more documents" in " ".join(document.warnings)
    document = read_pdf(path, with_members(max_member_bytes=len(inner) + 2))
    assert [m.result.reason for m in document.members[3:]] == [Reason.TOO_LARGE] * 6


def test_a_bomb_inside_costs_only_itself(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pdf", write("x")).read_bytes()
    members = {"bomb.pdf": bytes(30_000_000), "b.pdf": inner}
    path = portfolio(tmp_path / "a.pdf", LETTER, members, collection=False)
    with pymupdf.open(path) as made:
        for xref in range(1, made.xref_length()):
            if made.xref_get_key(xref, "Params/Size")[1] == "30000000":
                made.xref_set_key(xref, "Params/Size", "30")
        path = tmp_path / "b.pdf"
        made.save(path, deflate=True)
    assert path.stat().st_size < 100_000
    results = [m.result for m in read_pdf(path, with_members(max_member_bytes=1_000_000)).members]
    assert [r.reason for r in results] == [Reason.TOO_LARGE, None]
    assert "unpacks to more than 1000000 bytes" in results[0].error


def test_members_in_the_branches_of_a_name_tree(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pdf", write("In a branch.")).read_bytes()
    path = portfolio(tmp_path / "a.pdf", LETTER, {"b.pdf": inner}, collection=False)
    with pymupdf.open(path) as made:
        catalog = made.pdf_catalog()
        leaf = made.get_new_xref()
        made.update_object(
            leaf,
            "<< /Limits [(b) (b)] /Names "
            + made.xref_get_key(catalog, "Names/EmbeddedFiles/Names")[1]
            + " >>",
        )
        made.xref_set_key(catalog, "Names", f"<< /EmbeddedFiles << /Kids [{leaf} 0 R] >> >>")
        made.save(tmp_path / "tree.pdf")
    members = read_pdf(tmp_path / "tree.pdf", with_members()).members
    assert [(m.name, m.result.text) for m in members] == [("b.pdf", "In a branch.")]


def test_a_file_pinned_to_a_page_is_a_member(tmp_path: Path) -> None:
    inner = save(tmp_path / "inner.pdf", write("Pinned text.")).read_bytes()
    path = save(
        tmp_path / "a.pdf",
        lambda page: (
            write()(page),
            page.add_file_annot((300, 300), inner, "pin.pdf", desc="see attached"),
        ),
    )
    document = read_pdf(path, with_members())
    assert [(m.name, m.result.text) for m in document.members] == [("pin.pdf", "Pinned text.")]


def xfa(path: Path, text: str, *, dynamic: bool) -> Path:
    with pymupdf.open() as made:
        made.new_page().insert_text((72, 90), text)
        stream = made.get_new_xref()
        made.update_object(stream, "<<>>")
        made.update_stream(stream, b"<xdp/>", new=True)
        made.xref_set_key(made.pdf_catalog(), "AcroForm", f"<< /Fields [] /XFA {stream} 0 R >>")
        if dynamic:
            made.xref_set_key(made.pdf_catalog(), "NeedsRendering", "true")
        made.save(path)
    return path


WAIT = "Please wait...\nIf this message is not replaced, your viewer cannot show this document."


@pytest.mark.parametrize(
    ("text", "dynamic", "reason"),
    [(WAIT, True, Reason.XFA), (WAIT, False, Reason.XFA), (LETTER, True, None)],
)
def test_dynamic_forms(tmp_path: Path, text: str, dynamic: bool, reason: Reason | None) -> None:
    path = xfa(tmp_path / "a.pdf", text, dynamic=dynamic)
    if reason:
        assert refusal(path) == (Status.FAILED, reason)
    else:
        assert plain(LETTER) in plain(document_text(read_pdf(path, ReadOptions())))


def grid(page: pymupdf.Page) -> None:
    """Draw a ruled table of 4 rows and 3 columns under a sentence."""
    page.insert_text((72, 80), "Rates by program are as follows.")
    rows = [
        ("Program", "2022", "2023"),
        ("Clinic", "101.5", "99"),
        ("Ward", "7", "8"),
        ("All", "9", "12"),
    ]
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            page.insert_text((80 + 120 * c, 115 + 20 * r), text)
    for k in range(5):
        page.draw_line((72, 100 + 20 * k), (432, 100 + 20 * k))
    for k in range(4):
        page.draw_line((72 + 120 * k, 100), (72 + 120 * k, 180))


def test_tables_come_as_pipe_rows_unless_told_otherwise(tmp_path: Path) -> None:
    path = save(tmp_path / "a.pdf", grid)
    piped = read_pdf(path, ReadOptions()).pages[0].text
    assert "| Clinic | 101.5 | 99 |" in piped
    assert piped.startswith("Rates by program are as follows.\n\n| Program")
    assert piped.count("Clinic") == 1
    text = read_pdf(path, ReadOptions(pdf_tables="text")).pages[0].text
    assert "|" not in text
    assert "Clinic  101.5  99" in text
