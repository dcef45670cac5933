"""Numbers of list paragraphs, as Word shows them."""

from __future__ import annotations

import pytest
from regcomments.read.word_numbering import format_number

from tests.word_files import p, package, read, tbl, tc, tr


def level(number: int, text: str, kind: str = "decimal", more: str = "", start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def abstract(name: str, *levels: str) -> str:
    return f'<w:abstractNum w:abstractNumId="{name}">{"".join(levels)}</w:abstractNum>'


def num(name: str, target: str, overrides: str = "") -> str:
    return f'<w:num w:numId="{name}"><w:abstractNumId w:val="{target}"/>{overrides}</w:num>'


def item(text: str, name: str = "1", depth: int = 0, more: str = "") -> str:
    numbering = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{name}"/></w:numPr>'
    return p(text, more + numbering)


MULTI = abstract("0", level(0, "%1."), level(1, "%1.%2"), level(2, "%1.%2.%3", "lowerLetter"))
BULLETS = abstract("9", level(0, "\uf0b7", "bullet"), level(1, "o", "bullet"))
NUMBERING = MULTI + BULLETS + num("1", "0") + num("9", "9")

LISTS = {
    "decimal": (item("a") + item("b"), NUMBERING, "1. a\n2. b"),
    "multi-level": (
        item("a")
        + item("b", depth=1)
        + item("c", depth=2)
        + item("d", depth=1)
        + item("e")
        # a new higher number starts the lower ones again
        + item("f", depth=1),
        NUMBERING,
        "1. a\n  1.1 b\n    1.1.a c\n  1.2 d\n2. e\n  2.1 f",
    ),
    "a skipped level counts as begun": (item("a", depth=2), NUMBERING, "1.1.a a"),
    "bullets": (
        item("a", "9") + item("b", "9", 1) + item("c", "9"),
        NUMBERING,
        "- a\n  - b\n- c",
    ),
    "text between items goes on counting": (
        item("a") + p("Between.") + item("b"),
        NUMBERING,
        "1. a\n\nBetween.\n\n2. b",
    ),
    "empty items count": (item("a") + item("") + item("c"), NUMBERING, "1. a\n3. c"),
    "deleted items don't count": (
        item("a") + item("", more="<w:rPr><w:del/></w:rPr>") + item("b"),
        NUMBERING,
        "1. a\n2. b",
    ),
    "two numberings of one list go on": (
        item("a") + item("b", "2"),
        MULTI + num("1", "0") + num("2", "0"),
        "1. a\n2. b",
    ),
    "start override begins again, once": (
        item("a") + item("b", "2") + item("c", "2"),
        MULTI
        + num("1", "0")
        + num("2", "0", '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'),
        "1. a\n5. b\n6. c",
    ),
    "level override": (
        item("a"),
        MULTI
        + num(
            "1",
            "0",
            '<w:lvlOverride w:ilvl="0">' + level(0, "(%1)", "upperRoman") + "</w:lvlOverride>",
        ),
        "(I) a",
    ),
    "no restart": (
        item("a") + item("b", depth=1) + item("c") + item("d", depth=1),
        abstract("0", level(0, "%1."), level(1, "§ %2", more='<w:lvlRestart w:val="0"/>'))
        + num("1", "0"),
        "1. a\n  § 1 b\n2. c\n  § 2 d",
    ),
    "legal numbers": (
        item("a") + item("b", depth=1),
        abstract("0", level(0, "%1.", "upperRoman"), level(1, "%1.%2", more="<w:isLgl/>"))
        + num("1", "0"),
        "I. a\n  1.1 b",
    ),
    "own start": (
        item("a"),
        abstract("0", level(0, "Article %1:", start=4)) + num("1", "0"),
        "Article 4: a",
    ),
    "no number": (item("a"), abstract("0", level(0, "", "none")) + num("1", "0"), "a"),
    "switched off": (item("a", "0"), NUMBERING, "a"),
    "undefined list": (item("a", "77"), NUMBERING, "- a"),
    "impossible level": (item("a", depth=4000), NUMBERING, "1. a"),
    "no numbering part": (item("a"), "", "- a"),
    "line break inside an item": (
        (
            '<w:p><w:pPr><w:numPr><w:numId w:val="9"/></w:numPr></w:pPr><w:r><w:t>a</w:t><w:br/>'
            "<w:t>b</w:t></w:r></w:p>"
        ),
        NUMBERING,
        "- a\n  b",
    ),
    "in a cell": (
        tbl(tr(tc(item("a") + item("b")), "x")),
        NUMBERING,
        "| 1. a 2. b | x |\n| --- | --- |",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists(tmp_path, name):
    body, numbering, expected = LISTS[name]
    assert read(tmp_path, package(body, numbering=numbering)).body == expected


def test_list_of_a_style(tmp_path):
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:pPr><w:numPr>'
        '<w:numId w:val="1"/></w:numPr></w:pPr></w:style><w:style w:type="paragraph" '
        'w:styleId="H2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr>'
        "</w:pPr></w:style>"
    )
    numbering = abstract(
        "0",
        level(0, "%1.", "upperRoman", '<w:pStyle w:val="H1"/>'),
        level(1, "%1.%2", "decimal", '<w:pStyle w:val="H2"/>'),
    ) + num("1", "0")
    body = "".join(
        p(text, f'<w:pStyle w:val="{name}"/>')
        for text, name in (("A", "H1"), ("B", "H2"), ("C", "H1"))
    )
    document = read(tmp_path, package(body, styles=styles, numbering=numbering))
    assert document.body == "### I. A\n\n#### I.1 B\n\n### II. C"


def test_list_defined_by_a_numbering_style(tmp_path):
    styles = (
        '<w:style w:type="numbering" w:styleId="Outline"><w:name w:val="Outline"/><w:pPr><w:numPr>'
        '<w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
    )
    numbering = (
        '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="Outline"/></w:abstractNum>'
        + abstract("1", level(0, "%1)", "lowerLetter"))
        + num("1", "0")
        + num("2", "1")
    )
    document = read(tmp_path, package(item("x") + item("y"), styles=styles, numbering=numbering))
    assert document.body == "a) x\nb) y"


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        (4, "lowerRoman", "iv"),
        (1999, "upperRoman", "MCMXCIX"),
        (26, "lowerLetter", "z"),
        (28, "upperLetter", "BB"),
        (7, "decimalZero", "07"),
        (3, "ordinal", "3rd"),
        (11, "ordinal", "11th"),
        (21, "cardinalText", "Twenty-one"),
        (12, "ordinalText", "Twelfth"),
        (20, "ordinalText", "Twentieth"),
        (42, "ordinalText", "Forty-second"),
        (2, "decimalEnclosedCircle", "②"),
        (5, "chicago", "**"),
        (10, "chineseCounting", "十"),
        (21, "japaneseCounting", "二十一"),
        (3, "hebrew1", "3"),
        (0, "lowerLetter", "0"),
        (0, "lowerRoman", "0"),
    ],
)
def test_number_formats(value, kind, expected):
    assert format_number(value, kind) == expected
