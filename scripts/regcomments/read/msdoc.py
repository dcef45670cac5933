"""Word files before 2007 (doc): all stories as Markdown, tables as pipe tables."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from regcomments.read.flow import Flow
from regcomments.read.msdoc_file import (
    Paragraph,
    WordFile,
    is_inside,
)
from regcomments.read.msdoc_lists import Lists
from regcomments.read.ole_pictures import large_pictures, pages_of
from regcomments.read.options import ReadOptions
from regcomments.read.rtf_text import symbol
from regcomments.records import Document, UnreadableError
from regcomments.status import Reason, Status

_PARAGRAPH, _CELL, _LINE, _BREAK = "\r", "\x07", "\x0b", "\x0c"
_FIELD, _RESULT, _FIELD_END = "\x13", "\x14", "\x15"
_NOTE = "\x02"
_PLAIN = Paragraph()
# Other places of this range are marks of pictures, comments and drawings.
_CHARACTERS = {"\x1e": "-", "\x1f": "", "\t": " ", "\x00": ""}
_LINK = re.compile(r'HYPERLINK\s+(?:\\\w\s+)*"?((?:https?://|mailto:)[^"\s]+)', re.I)
_SYMBOL = re.compile("[\uf020-\uf0ff]")  # places of a symbol font
# Share of unassigned characters and controls without a meaning from which a damaged file was read
# at wrong places; whole files have none, the damaged ones tried had 0.02 and more.
_NOISE = 0.01
_MEANINGLESS = re.compile("[\x03\x04\x0e-\x12\x16-\x1d]")


def read_doc(path: Path, options: ReadOptions) -> Document:
    """Return the document at `path`: headers, body, text boxes, footers, notes, comments.

    Deleted revisions and hidden text are left out. Large pictures that hold writing want OCR.
    Raises UnreadableError: encrypted, corrupt.
    """
    word = WordFile(path)
    text = _Reader(word).run()
    chars = len("".join(text.split()))
    pages = pages_of(large_pictures(word.pictures), chars)
    if _is_noise(word.text):
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "the text is not language")
    return Document("doc", "ms-doc", body=text, pages=pages)


def picture(path: Path, number: int) -> bytes:
    """Return the bytes of large picture `number` (from 1). Raises LookupError."""
    found = large_pictures(WordFile(path).pictures)
    if not 1 <= number <= len(found):
        raise LookupError(f"no picture {number} in {path.name}")
    return found[number - 1]


def _is_noise(text: str) -> bool:
    sample = text[:100_000]
    bad = sum(unicodedata.category(char) == "Cn" for char in sample if char > "\u02ff")
    bad += len(_MEANINGLESS.findall(sample))
    return bad > _NOISE * len(sample) + 8


class _Reader:
    def __init__(self, word: WordFile) -> None:
        self._word = word
        self._marks = word.paragraph_marks()
        self._dropped = word.left_out()
        self._lists = word.lists()

    def run(self) -> str:
        """Return all stories in reading order, each header and footer once."""
        spans = self._word.spans
        heads: list[str] = []
        feet: list[str] = []
        stories = self._word.header_stories()
        for at, span in enumerate(stories[6:] if len(stories) > 6 else stories):
            # Even, odd headers; even, odd footers; first header, first footer.
            (feet if at % 6 in (2, 3, 5) else heads).append(self._story(*span))
        heads.append(self._story(*spans["head_boxes"]))
        blocks = [*heads, self._story(*spans["text"]), self._story(*spans["boxes"]), *feet]
        blocks += self._notes("footnotes", "[{}]: ")
        blocks += self._notes("endnotes", "[{}]: ")
        blocks += self._notes("comments", "Comment: ")
        return "\n\n".join(dict.fromkeys(block for block in blocks if block.strip()))

    def _notes(self, name: str, label: str) -> list[str]:
        start, end = self._word.spans[name]
        if name != "comments" and _NOTE in self._word.text[start:end]:
            cuts = [at for at in range(start, end) if self._word.text[at] == _NOTE]
            spans = zip(cuts, [*cuts[1:], end], strict=True)
            notes = [self._story(a + 1, b) for a, b in spans]
        else:
            notes = [self._story(start, end)]
        return [label.format(at) + note for at, note in enumerate(notes, 1) if note.strip()]

    def _story(self, start: int, end: int) -> str:
        story = _Story(self._word, self._marks, self._dropped, self._lists)
        return story.run(start, end)


class _Story:
    """One pass over the characters of a story."""

    def __init__(
        self,
        word: WordFile,
        marks: dict[int, Paragraph],
        dropped: list[tuple[int, int]],
        lists: Lists,
    ) -> None:
        self._text = word.text
        self._modern = word.modern
        self._marks = marks
        self._dropped = dropped
        self._lists = lists
        self._flow = Flow()
        self._table = self._row = self._open = False
        self._fields: list[list[str]] = []  # instructions of the open fields
        self._showing: list[bool] = []  # whether the text of an open field is its result
        self._notes = 0
        self._fresh = True  # nothing of the paragraph was written

    def run(self, start: int, end: int) -> str:
        """Return the characters from `start` to `end` as Markdown."""
        run_start = start
        for at in range(start, end):
            char = self._text[at]
            if char >= " " and char not in "\x7f":
                continue
            self._add(run_start, at)
            run_start = at + 1
            self._control(char, at)
        self._add(run_start, end)
        return self._flow.markdown()

    def _add(self, start: int, end: int) -> None:
        """Add a stretch of plain characters, without what is deleted or hidden."""
        if start >= end:
            return
        if not self._dropped:
            text = self._text[start:end]
        else:
            text = "".join(
                self._text[at] for at in range(start, end) if not is_inside(at, self._dropped)
            )
        if not text:
            return
        if self._showing and not all(self._showing):
            if self._fields:
                self._fields[-1].append(text)
            return
        if text.strip():
            self._leave_table_before(start)
            self._head(start)
        self._flow.text(_SYMBOL.sub(lambda match: symbol(ord(match[0])), text))

    def _head(self, position: int) -> None:
        """Mark the first text of a paragraph as heading or list item, if it is one."""
        if not self._fresh:
            return
        self._fresh = False
        end = next(
            (
                at
                for at in range(position, min(position + 20_000, len(self._text)))
                if self._text[at] in (_PARAGRAPH, _BREAK, _CELL)
            ),
            None,
        )
        paragraph = _PLAIN if end is None else self._marks.get(end, _PLAIN)
        label = self._lists.label(paragraph.list, paragraph.level) if paragraph.list else None
        if self._open:
            self._flow.text(f"{label} " if label and label != "-" else "")
        elif 1 <= paragraph.style <= 9:
            self._flow.heading(paragraph.style)
            self._flow.text(f"{label} " if label and label != "-" else "")
        elif label:
            self._flow.item(label, paragraph.level + 1)

    def _leave_table_before(self, position: int) -> None:
        """Outside a cell, text begins one if its paragraph lies in a table; else tables end."""
        if self._open:
            return
        if self._ends_in_cell(position):
            if not self._table:
                self._flow.begin_table()
                self._table = True
            if not self._row:
                self._flow.begin_row()
                self._row = True
            self._flow.begin_cell()
            self._open = True
        elif self._table:
            self._flow.end_table()
            self._table = self._row = False

    def _ends_in_cell(self, position: int) -> bool:
        for at in range(position, min(position + 100_000, len(self._text))):
            char = self._text[at]
            if char == _CELL:
                return True
            if char in (_PARAGRAPH, _BREAK):
                return self._marks.get(at, _PLAIN).in_table
        return False

    def _control(self, char: str, at: int) -> None:
        if char == _FIELD:
            self._fields.append([])
            self._showing.append(False)
        elif char == _RESULT and self._showing:
            self._showing[-1] = True
        elif char == _FIELD_END and self._showing:
            self._showing.pop()
            found = _LINK.search("".join(self._fields.pop()))
            if found and all(self._showing):
                self._flow.link(found[1])
        elif self._showing and not all(self._showing):
            return
        elif char == _CELL:
            self._cell(at)
        elif char in (_PARAGRAPH, _BREAK):
            self._paragraph()
        elif char == _LINE:
            self._flow.line_break()
        elif char == _NOTE and not is_inside(at, self._dropped):
            self._notes += 1
            self._flow.text(f"[{self._notes}]")
        else:
            self._flow.text(_CHARACTERS.get(char, ""))

    def _paragraph(self) -> None:
        self._fresh = True
        if self._open:
            self._flow.end_block()
            return
        self._flow.end_item()

    def _cell(self, at: int) -> None:
        # A row ends with a mark of its own; before Word 97 it is only told by its being empty.
        row_end = self._marks.get(at, _PLAIN).row_end or (
            not self._modern and not self._open and self._row and self._text[at - 1] == _CELL
        )
        if row_end and not self._open:
            self._row = False
            return
        if not self._open:
            self._leave_table_before(at)
        self._fresh = True
        if self._open:
            self._flow.end_cell()
            self._open = False
        if row_end:
            self._row = False
