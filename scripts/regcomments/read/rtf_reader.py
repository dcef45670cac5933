"""The control words and groups of RTF, turned into Markdown in one pass."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field, replace

from regcomments.read.flow import Flow
from regcomments.read.hypertext import html_to_markdown
from regcomments.read.rtf_text import (
    CHARACTERS,
    FONT_CODE_PAGES,
    FOOTERS,
    HEADERS,
    SYMBOL_CHARSET,
    code_page,
    form_mark,
    is_skipped,
    symbol,
)
from regcomments.records import UnreadableError
from regcomments.status import Reason, Status

MAX_DEPTH = 5000  # open groups; writers nest some dozens
_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])"
    r"|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_LINK = re.compile(r'HYPERLINK\s+(?:\\\w\s+)*"?((?:https?://|mailto:)[^"\s\\]+)', re.I)
_NO_BREAKS = frozenset(["fonttbl", "fldinst", "listtext"])


@dataclass(frozen=True)
class _State:
    """What a group inherits and its end undoes."""

    skip: bool = False
    hidden: bool = False
    uc: int = 1
    charset: str | None = None  # code page of the font, None for that of the document
    symbol: bool = False
    in_table: bool = False
    place: str = ""  # the destination, "" for the body


@dataclass
class _Sink:
    """Where text goes: the body, a note, a header. Knows whether a table is open in it."""

    flow: Flow = field(default_factory=Flow)
    table: bool = False
    row: bool = False
    cell: bool = False


def rtf_to_markdown(data: bytes) -> str:
    """Return the text of an RTF document; HTML that a mail program wrapped in RTF is unwrapped.

    Raises UnreadableError (`corrupt`) when it isn't RTF, or was cut off before its text.
    """
    return read(data)[0]


def read(data: bytes) -> tuple[str, bool]:
    """Return what `rtf_to_markdown` does, and whether the document was whole."""
    start = data.find(b"{\\rtf", 0, 4096)
    if start < 0:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "no RTF header")
    reader = _Reader(data[start:].decode("latin-1"))
    text = reader.run()
    if not text and not reader.is_whole:
        raise UnreadableError(Status.FAILED, Reason.CORRUPT, "cut off before its text")
    return text, reader.is_whole


class _Reader:
    """One pass over the tokens, with a stack of states instead of recursion."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._page = "cp1252"  # code page of the document
        self._fonts: dict[int, tuple[str | None, bool]] = {}
        self._font = 0  # the font being defined
        self._default_font: int | None = None
        self._state = _State()
        self._stack: list[tuple[_State, _Sink]] = []
        self._body = _Sink()
        self._sink = self._body
        self._bytes = bytearray()  # \'hh, decoded together since characters may take two
        self._high: int | None = None  # first half of a surrogate pair
        self._to_skip = 0  # characters that repeat a \u for old readers
        self._ignorable = False  # \* was seen, the next word names the group
        self._instruction: list[str] = []
        self._margins: dict[str, list[_Sink]] = {"header": [], "footer": []}
        self._notes: list[tuple[str, _Sink]] = []
        self._from_html = False
        self._markup: list[str] = []  # HTML that was wrapped
        self._htmlrtf = False
        self.is_whole = True  # no group was left open

    def run(self) -> str:
        """Return the Markdown of the whole document."""
        position, source = 0, self._source
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                position += 1
                continue
            position = match.end()
            word, number, byte, char, brace, text = match.groups()
            if byte is not None:
                self._byte(int(byte, 16))
                continue
            if text is not None:
                self._plain(text)
                continue
            if brace is None and word is None and char is None:
                continue
            self._flush()
            if brace == "{":
                if len(self._stack) < MAX_DEPTH:
                    self._stack.append((self._state, self._sink))
                self._ignorable = False
            elif brace == "}":
                self._close()
                if not self._stack:
                    break
            elif char is not None:
                self._symbol(char)
            elif word == "bin":
                position += max(int(number or 0), 0)
            else:
                self._word(word, None if number is None else int(number))
        self._flush()
        self.is_whole = not self._stack
        return self._result()

    def _result(self) -> str:
        if self._from_html and self._markup:
            return html_to_markdown("".join(self._markup))
        blocks = [sink.flow.markdown() for sink in self._margins["header"]]
        blocks.append(self._body.flow.markdown())
        blocks += [sink.flow.markdown() for sink in self._margins["footer"]]
        for label, sink in self._notes:
            text = sink.flow.markdown()
            blocks.append(f"{label}: {text}" if text else "")
        return "\n\n".join(dict.fromkeys(block for block in blocks if block.strip()))

    # Characters

    def _byte(self, value: int) -> None:
        if self._to_skip:
            self._to_skip -= 1
        else:
            self._bytes.append(value)

    def _plain(self, text: str) -> None:
        if self._to_skip:
            taken = min(self._to_skip, len(text))
            self._to_skip -= taken
            text = text[taken:]
        if not self._bytes and text.isascii():
            self._emit(text)
        else:
            self._bytes += text.encode("latin-1", "replace")

    def _flush(self) -> None:
        if not self._bytes:
            return
        raw, self._bytes = bytes(self._bytes), bytearray()
        if self._state.symbol:
            self._emit("".join(symbol(value) if value > 0x7F else chr(value) for value in raw))
        else:
            self._emit(raw.decode(self._state.charset or self._page, "regcomments.cp1252"))

    def _unicode(self, value: int) -> None:
        value &= 0xFFFF
        self._to_skip = self._state.uc
        if 0xD800 <= value < 0xDC00:
            self._high = value
            return
        if 0xDC00 <= value < 0xE000 and self._high is not None:
            value = 0x10000 + ((self._high - 0xD800) << 10) + (value - 0xDC00)
        self._high = None
        if 0xF000 <= value <= 0xF0FF:
            self._emit(symbol(value))
        else:
            self._emit(chr(value))

    def _emit(self, text: str) -> None:
        state = self._state
        if state.skip:
            return
        if state.place == "htmltag":
            if not self._htmlrtf:
                self._markup.append(text)
        elif self._from_html:
            if not self._htmlrtf and not state.place:
                self._markup.append(html.escape(text, quote=False))
        elif state.place == "fldinst":
            self._instruction.append(text)
        elif state.place == "fonttbl":
            return
        elif not state.hidden:
            self._open_cell(bool(text.strip()))
            self._sink.flow.text(text)

    # Structure

    def _open_cell(self, visible: bool) -> None:
        """Begin or end the table that text at this point implies."""
        sink = self._sink
        if sink.cell:
            return
        if self._state.in_table:
            if not visible:
                return
            self._begin_cell()
        elif sink.table and not sink.row and visible:
            sink.flow.end_table()
            sink.table = False

    def _begin_cell(self) -> None:
        sink = self._sink
        if not sink.table:
            sink.flow.begin_table()
            sink.table = True
        if not sink.row:
            sink.flow.begin_row()
            sink.row = True
        sink.flow.begin_cell()
        sink.cell = True

    def _cell(self) -> None:
        if not self._sink.cell:
            self._begin_cell()
        self._sink.flow.end_cell()
        self._sink.cell = False

    def _row(self) -> None:
        if self._sink.cell:
            self._cell()
        self._sink.row = False

    def _close(self) -> None:
        if not self._stack:
            return
        before = self._state
        self._state, sink = self._stack.pop()
        if sink is not self._sink:
            self._sink.flow.end_block()
            self._sink = sink
        if before.place == "fldinst" and self._state.place != "fldinst":
            instruction, self._instruction = "".join(self._instruction), []
            found = _LINK.search(instruction)
            self._emit(form_mark(instruction))
            if found and not before.skip:
                self._sink.flow.link(found[1])
        if before.place == "listtext" and self._state.place != "listtext":
            self._sink.flow.text(" ")
        self._to_skip = 0

    def _symbol(self, char: str) -> None:
        if char == "*":
            self._ignorable = True
        elif char in CHARACTERS:
            if self._to_skip:
                self._to_skip -= 1
            else:
                self._emit(CHARACTERS[char])
        elif char in "\r\n":
            self._paragraph()

    def _paragraph(self) -> None:
        if self._from_html:
            if not self._htmlrtf and not self._state.skip:
                self._markup.append("\n")
        elif not (self._state.skip or self._state.hidden or self._state.place in _NO_BREAKS):
            self._sink.flow.end_block()

    def _word(self, word: str, number: int | None) -> None:
        ignorable, self._ignorable = self._ignorable, False
        if word == "u" and number is not None:
            self._unicode(number)
            return
        if self._to_skip and word in CHARACTERS:
            self._to_skip -= 1
            return
        if word in CHARACTERS:
            self._emit(CHARACTERS[word])
        elif not self._destination(word, ignorable):
            self._control(word, number)

    def _destination(self, word: str, ignorable: bool) -> bool:
        """Handle words that begin a group of their own kind."""
        state = self._state
        if is_skipped(word, ignorable):
            self._state = replace(state, skip=True)
        elif word in ("fonttbl", "fldinst", "htmltag", "listtext", "pntext"):
            place = "listtext" if word == "pntext" else word
            self._state = replace(state, place=place)
        elif word == "fldrslt":
            self._state = replace(state, place="")
        elif word == "upr":  # the same text twice; the Unicode one follows in \ud
            self._state = replace(state, skip=True)
        elif word == "ud":
            self._state = replace(state, skip=False)
        elif word in HEADERS or word in FOOTERS:
            sink = _Sink()
            self._margins["header" if word in HEADERS else "footer"].append(sink)
            self._enter(sink)
        elif word in ("footnote", "annotation"):
            sink = _Sink()
            notes = sum(label.startswith("[") for label, _ in self._notes)
            label = f"[{notes + 1}]" if word == "footnote" else "Comment"
            if not state.skip:
                if word == "footnote":
                    self._sink.flow.text(label)
                self._notes.append((label, sink))
            self._enter(sink)
        else:
            return False
        return True

    def _enter(self, sink: _Sink) -> None:
        self._sink = sink
        self._state = replace(self._state, in_table=False, place="")

    def _control(self, word: str, number: int | None) -> None:
        state = self._state
        on = number != 0
        if word in ("par", "sect", "page", "column"):
            self._paragraph()
        elif word == "line":
            self._paragraph() if self._from_html else self._line()
        elif word == "pard":
            self._state = replace(state, in_table=False)
        elif word == "intbl":
            self._state = replace(state, in_table=True)
        elif word in ("cell", "nestcell", "row", "nestrow"):
            self._table_word(word)
        elif word == "uc":
            self._state = replace(state, uc=min(max(number or 0, 0), 10))
        elif word in ("v", "deleted"):
            self._state = replace(state, hidden=on)
        elif word == "plain":
            self._plain_font()
        elif word == "f" and number is not None:
            self._use_font(number)
        elif word == "deff":
            self._default_font = number
        elif word in ("fcharset", "cpg") and state.place == "fonttbl" and number is not None:
            self._define_font(word, number)
        elif word in ("ansicpg", "mac", "pc", "pca"):
            default = {"mac": 10000, "pc": 437, "pca": 850}.get(word, 1252)
            self._page = code_page(number if word == "ansicpg" and number else default)
        elif word in ("ffres", "ffdefres"):
            self._instruction.append(f"\\{word}{number}")
        elif word == "fromhtml":
            self._from_html = on
        elif word == "htmlrtf":
            self._htmlrtf = on

    def _line(self) -> None:
        if not (self._state.skip or self._state.hidden or self._state.place in _NO_BREAKS):
            self._sink.flow.line_break()

    def _table_word(self, word: str) -> None:
        if self._state.skip or self._from_html:
            return
        if word == "cell":
            self._cell()
        elif word == "row":
            self._row()
        elif word == "nestcell":
            self._sink.flow.text(" ")
        else:
            self._sink.flow.line_break()

    def _define_font(self, word: str, number: int) -> None:
        if word == "cpg":
            self._fonts[self._font] = (code_page(number), False)
        else:
            page = FONT_CODE_PAGES.get(number)
            self._fonts[self._font] = (page, number == SYMBOL_CHARSET)

    def _use_font(self, number: int) -> None:
        if self._state.place == "fonttbl":
            self._font = number
            return
        page, is_symbol = self._fonts.get(number, (None, False))
        # Charset 0 is what careless writers put everywhere: the document's code page wins.
        page = None if page == "cp1252" else page
        self._state = replace(self._state, charset=page, symbol=is_symbol)

    def _plain_font(self) -> None:
        self._state = replace(self._state, hidden=False, charset=None, symbol=False)
        if self._default_font is not None:
            self._use_font(self._default_font)
