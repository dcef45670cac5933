"""Tables of DOCX as cells: what the document shows, each once, spans where they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from regcomments.tables.word import tables_of_docx
from word_files import p, package, r, tbl, tc, tr

GRID = [["Code", "2017"], ["A1", "10"]]


def _twice(table: str) -> str:
    """Return a text box as Word writes it: once as a drawing, once for old programs."""
    box = f"<w:txbxContent>{table}{p()}</w:txbxContent>"
    choice = (
        "<w:drawing><wps:wsp xmlns:wps="
        '"http://schemas.microsoft.com/office/word/2010/wordprocessingShape">'
        f"<wps:txbx>{box}</wps:txbx></wps:wsp></w:drawing>"
    )
    fallback = (
        '<w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml">'
        f"<v:textbox>{box}</v:textbox></v:shape></w:pict>"
    )
    return (
        '<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/'
        f'markup-compatibility/2006"><mc:Choice Requires="wps">{choice}</mc:Choice>'
        f"<mc:Fallback>{fallback}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )


TABLE = tbl(tr("Code", "2017"), tr("A1", "10"))


@pytest.mark.parametrize(
    ("body", "grids"),
    [
        (TABLE, [GRID]),
        (_twice(TABLE), [GRID]),
        (
            tbl(tr("Code", "2017"), tr(tc(f"<w:p>{r('A1')}{r('x', '<w:vanish/>')}</w:p>"), "10")),
            [GRID],
        ),
        (
            tbl(
                tr("Code", "2017"),
                tr(tc(f"<w:p>{r('A1')}<w:moveFrom>{r('gone')}</w:moveFrom></w:p>"), "10"),
            ),
            [GRID],
        ),
        (f"<w:moveFrom>{TABLE}</w:moveFrom>", []),
        (tbl(tr("Of\u00adfice", "2017"), tr("A1", "10")), [[["Office", "2017"], ["A1", "10"]]]),
    ],
    ids=["plain", "text-box", "hidden-run", "moved-text", "moved-table", "soft-hyphen"],
)
def test_cells_the_document_does_not_show(
    tmp_path: Path, body: str, grids: list[list[list[str]]]
) -> None:
    path = tmp_path / "attachment_1.docx"
    path.write_bytes(package(body))
    assert [table.grid() for table in tables_of_docx(path)] == grids


def test_span_of_the_last_cell_of_a_short_row(tmp_path: Path) -> None:
    path = tmp_path / "attachment_1.docx"
    path.write_bytes(package(tbl(tr("Code", "2017", "2018"), tr("A1", "10"), tr("A2", "11", "12"))))
    (table,) = tables_of_docx(path)
    assert table.cell(1, 1).col_span == 1
    assert all(table.cell(row, col) for row in range(3) for col in range(3))
