"""What lies inside Word documents: pictures, charts, diagrams, imported and embedded files."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image, ImageDraw, ImageFont
from regcomments.read.options import ReadOptions
from regcomments.read.word import parts, picture, read_word
from regcomments.read.word_embedded import ole_payload
from regcomments.records import Extraction
from regcomments.status import Reason, Status

from tests.word_files import p, package, r, read, tbl, tc, tr, xml

SENTENCES = (
    "We write to oppose the proposed cut to the clinic payment.",
    "Our patients travel two hours to reach the nearest hospital.",
    "Last winter three of them arrived too late for treatment.",
    "The agency has counted neither their journeys nor their pain.",
    "Please keep the rate where it stands until the study is done.",
)


def written(lines: int, size: tuple[int, int] = (1240, 1600)) -> Image.Image:
    """Return a white page with so many lines of print."""
    image = Image.new("L", size, "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(26)
    for number in range(lines):
        draw.text((90, 100 + 44 * number), SENTENCES[number % len(SENTENCES)], "black", font)
    return image


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


def drawing(name: str, inches: tuple[float, float]) -> str:
    width, height = (round(length * 914_400) for length in inches)
    return (
        f'<w:p><w:r><w:drawing><wp:inline><wp:extent cx="{width}" cy="{height}"/><a:graphic>'
        f'<a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="{name}"/></pic:blipFill></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )


def old_drawing(name: str) -> str:
    return (
        '<w:p><w:r><w:pict><v:shape style="width:450pt;height:600pt"><v:imagedata '
        f'r:id="{name}"/></v:shape></w:pict></w:r></w:p>'
    )


LETTER = encoded(written(20))
PHOTO = encoded(Image.effect_mandelbrot((900, 700), (-2, -1.5, 1, 1.5), 90).convert("RGB"), "JPEG")
LOGO = encoded(written(1, (700, 200)))
LONG_TEXT = "".join(p(" ".join(SENTENCES)) for _ in range(4))
LINKS = [
    *(("letter", "image", "media/image1.png"), ("photo", "image", "media/image2.jpeg")),
    *(("logo", "image", "media/image3.png"), ("broken", "image", "media/image4.png")),
    *(("drawn", "image", "media/image5.emf"), ("linked", "image", "https://example.org/x.png")),
]
MEDIA = {
    "word/media/image1.png": LETTER,
    "word/media/image2.jpeg": PHOTO,
    "word/media/image3.png": LOGO,
    "word/media/image4.png": LETTER[:500],
    "word/media/image5.emf": b"\1\0\0\0" + bytes(200),
}


@pytest.mark.parametrize(
    ("body", "pages"),
    [
        (drawing("letter", (6.5, 8.5)), [1]),
        (old_drawing("letter"), [1]),
        (p("Please see below.") + drawing("letter", (6.5, 8.5)), [1]),
        (drawing("photo", (6, 4)) + drawing("letter", (6.5, 8.5)), [2]),
        # the same picture twice is one picture
        (drawing("letter", (6.5, 8.5)) + drawing("letter", (3, 4)), [1]),
        # a letter in print with a whole page in a picture: the picture says more
        (LONG_TEXT + drawing("letter", (6.5, 8.5)), [1]),
        (LONG_TEXT + drawing("logo", (2, 0.6)), []),
        (drawing("photo", (6, 4)), []),
        (drawing("broken", (6, 8)), []),
        (drawing("drawn", (6, 8)), []),
        (drawing("linked", (6, 8)), []),
        (p("Text."), []),
    ],
)
def test_pictures_that_hold_writing(tmp_path, body, pages):
    document = read(tmp_path, package(body, MEDIA, LINKS))
    assert [page.number for page in document.pages] == pages
    assert all(page.needs_ocr and page.reason == Reason.IMAGE for page in document.pages)
    assert not document.paged


@pytest.mark.parametrize(("inches", "count"), [((6, 8), 1), ((1, 0.5), 0)])
def test_a_large_drawing_is_a_warning(tmp_path, inches, count):
    document = read(tmp_path, package(drawing("drawn", inches), MEDIA, LINKS))
    assert document.warnings == ("drawings (EMF, WMF) were not searched for text",) * count


def test_picture_is_fetched_by_its_number(tmp_path):
    path = tmp_path / "letter.docx"
    body = drawing("photo", (6, 4)) + drawing("letter", (6.5, 8.5))
    path.write_bytes(package(body, MEDIA, LINKS))
    (page,) = read_word(path, ReadOptions()).pages
    assert picture(path, page.number) == LETTER
    with pytest.raises(LookupError):
        picture(path, 3)


def test_picture_in_a_header_counts_too(tmp_path):
    from tests.word_files import relations

    parts_ = {
        **MEDIA,
        "word/header1.xml": xml("w:hdr", drawing("letter", (6.5, 8.5))),
        "word/_rels/header1.xml.rels": relations(LINKS),
    }
    links = [("h", "header", "header1.xml")]
    body = '<w:sectPr><w:headerReference r:id="h"/></w:sectPr>'
    assert [page.number for page in read(tmp_path, package(body, parts_, links)).pages] == [1]


def graphic(inner: str) -> str:
    return (
        "<w:p><w:r><w:drawing><wp:inline><a:graphic><a:graphicData>"
        f"{inner}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>"
    )


def cache(tag: str, values: list[str]) -> str:
    rows = "".join(f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values))
    return f"<c:{tag}>{rows}</c:{tag}>"


def test_chart_is_a_table_of_its_values(tmp_path):
    words = "<a:p><a:r><a:t>Beds by year</a:t></a:r></a:p>"
    title = f"<c:title><c:tx><c:rich>{words}</c:rich></c:tx></c:title>"
    series = (
        f"<c:ser><c:tx><c:strRef>{cache('strCache', ['Rural'])}</c:strRef></c:tx>"
        f"<c:cat><c:strRef>{cache('strCache', ['2021', '2022'])}</c:strRef></c:cat>"
        f"<c:val><c:numRef>{cache('numCache', ['40', '35'])}</c:numRef></c:val></c:ser>"
    )
    chart = xml("c:chartSpace", f"<c:chart>{title}<c:plotArea>{series}</c:plotArea></c:chart>")
    data = package(
        graphic('<c:chart r:id="k"/>'), {"word/chart1.xml": chart}, [("k", "chart", "chart1.xml")]
    )
    assert read(tmp_path, data).body == (
        "Beds by year\n\n|  | Rural |\n| --- | --- |\n| 2021 | 40 |\n| 2022 | 35 |"
    )


def test_diagram_gives_its_nodes_once(tmp_path):
    def point(text: str, kind: str = "node") -> str:
        body = f"<dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t>"
        return f'<dgm:pt type="{kind}">{body}</dgm:pt>'

    model = xml(
        "dgm:dataModel",
        f"<dgm:ptLst>{point('Apply')}{point('Wait')}{point('Apply', 'pres')}</dgm:ptLst>",
    )
    data = package(
        graphic('<dgm:relIds r:dm="d"/>'),
        {"word/data1.xml": model},
        [("d", "diagramData", "data1.xml")],
    )
    assert read(tmp_path, data).body == "Apply\nWait"


CHUNK = '<w:altChunk r:id="c"/>'
MHT = (
    b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=B\r\n\r\n--B\r\n"
    b"Content-Type: text/html; charset=utf-8\r\n\r\n<html><body><p>From the web.</p></body></html>"
    b"\r\n--B--\r\n"
)


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        (
            "c.htm",
            "<html><body><h1>Förord</h1><p>Se &amp; läs</p><script>x()</script></body></html>",
            "### Förord\n\nSe & läs",
        ),
        ("c.mht", MHT, "From the web."),
        ("c.mht", MHT.replace(b"utf-8", b"koi8-r").replace(b"From", b"\xef\xd4"), "От the web."),
        ("c.txt", "Plain words.", "Plain words."),
        ("c.txt", "It’s café prose.".encode("cp1252"), "It’s café prose."),
        ("c.docx", package(p("A whole document.")), "A whole document."),
    ],
)
def test_imported_parts(tmp_path, name, data, expected):
    data = data.encode() if isinstance(data, str) else data
    document = read(
        tmp_path, package(p("Own.") + CHUNK, {f"word/{name}": data}, [("c", "aFChunk", name)])
    )
    assert document.body == f"Own.\n\n{expected}"
    assert document.warnings == ()


def test_notes_of_word_2003_stand_apart(tmp_path):
    note = f"<w:footnote>{p('A note.')}</w:footnote>"
    body = f"<w:p>{r('Text')}<w:r>{note}</w:r></w:p>"
    data = xml("w:document", f"<w:body>{body}</w:body>")
    uri = "http://schemas.microsoft.com/office/word/2003/wordml"
    data = data.replace("http://schemas.openxmlformats.org/wordprocessingml/2006/main", uri)
    assert read(tmp_path, data.encode()).body == "Text\n\nA note."


def test_imported_part_that_is_missing_or_broken_is_a_warning(tmp_path):
    links = [("c", "aFChunk", "gone.htm")]
    document = read(tmp_path, package(p("Own.") + CHUNK, links=links))
    assert document.body == "Own."
    assert document.warnings == ("imported part word/gone.htm was not read",)
    document = read(tmp_path, package(p("Own.") + CHUNK, {"word/gone.htm": b"PK\3\4x"}, links))
    assert document.body == "Own."
    assert "could not be read" in document.warnings[0]


def embedded(name: str, server: str = "Word.Document.12") -> str:
    return (
        f'<w:p><w:r><w:object><o:OLEObject ProgID="{server}" r:id="{name}"/></w:object></w:r></w:p>'
    )


def options_that_remember() -> tuple[ReadOptions, list[tuple[str, bytes, int]]]:
    seen: list[tuple[str, bytes, int]] = []

    def read_member(name: str, data: bytes, options: ReadOptions) -> Extraction:
        seen.append((name, data, options.depth))
        return Extraction(Status.OK, text=name)

    return ReadOptions(read_member=read_member), seen


def test_embedded_documents_are_members(tmp_path):
    options, seen = options_that_remember()
    data = package(
        p("See the sheet.") + embedded("x") + embedded("e", "Equation.3"),
        {"word/embeddings/Sheet.xlsx": b"sheet", "word/embeddings/Eq.xlsx": b"equation"},
        [("x", "package", "embeddings/Sheet.xlsx"), ("e", "package", "embeddings/Eq.xlsx")],
    )
    document = read(tmp_path, data, options)
    assert seen == [("Sheet.xlsx", b"sheet", 1)]
    assert [member.name for member in document.members] == ["Sheet.xlsx"]
    assert [(part.name, part.load()) for part in parts(tmp_path / "letter.docx")] == [
        ("Sheet.xlsx", b"sheet")
    ]


def test_members_are_bounded(tmp_path):
    options, seen = options_that_remember()
    body = "".join(embedded(f"x{n}") for n in range(60))
    files = {f"word/embeddings/s{n}.xlsx": b"sheet" for n in range(60)}
    links = [(f"x{n}", "package", f"embeddings/s{n}.xlsx") for n in range(60)]
    document = read(tmp_path, package(body, files, links), options)
    assert len(seen) == options.max_members
    assert document.warnings == ("10 more documents inside were not read",)


def test_ole_objects_that_are_not_ole():
    assert ole_payload(b"not OLE") is None
    assert ole_payload(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)) is None


def test_packaged_file_is_taken_out_of_its_stream():
    from regcomments.read.word_embedded import _native

    label, path, content = b"fees.csv\0", b"C:\\data\\fees.csv\0", b"a,b\n1,2\n"
    stream = (
        struct.pack("<IH", 99, 2)
        + label
        + path
        + struct.pack("<HHI", 0, 3, len(path))
        + path
        + struct.pack("<I", len(content))
        + content
    )
    assert _native(stream) == ("fees.csv", content)
    for cut in range(len(stream) - len(content)):
        assert _native(stream[:cut]) is None


def test_picture_in_a_cell_counts(tmp_path):
    body = tbl(tr(tc(drawing("letter", (6, 8))), tc(f"<w:p>{r('x')}</w:p>")))
    assert [page.number for page in read(tmp_path, package(body, MEDIA, LINKS)).pages] == [1]
