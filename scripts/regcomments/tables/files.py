"""Which tables a file holds, and its digest."""

from __future__ import annotations

from pathlib import Path

from regcomments.digest import file_sha256 as file_sha256
from regcomments.read.sniff import Kind, sniff
from regcomments.tables.items import Table


def tables_of_file(path: Path) -> list[Table]:
    """Return the tables of a PDF or DOCX by content, none of any other kind.

    Raises UnreadableError for a damaged or protected file, OSError for an unreadable one.
    """
    # Imported here: the two readers pull in different libraries.
    kind = sniff(path)
    if kind == Kind.PDF:
        from regcomments.tables.pdf import tables_of_pdf

        return tables_of_pdf(path)
    if kind == Kind.DOCX:
        from regcomments.tables.word import tables_of_docx

        return tables_of_docx(path)
    return []
