"""docpipe: read a PDF by its text layer when that will do, by geometry when structure is wanted.

`handle` tries the text layer first and goes on to liteparse (in process, its OCR off) when the
layer is empty, when page grading finds it junk, when it cannot be read, or when the caller asks
for structure. Only the structural path reconstructs tables.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import yaml

from regcomments import grade
from regcomments.read import pagefacts
from regcomments.read.pdf_open import open_pdf
from regcomments.tables import address
from regcomments.tables.files import file_sha256
from regcomments.tables.items import Box, PageItems, Ruling, Table, TextItem
from regcomments.tables.pdf import upright_items
from regcomments.tables.reconstruct import reconstruct_tables
from regcomments.tables.sources import liteparse_layout

LAYOUT_VERSION = 1


class DocpipeError(Exception):
    """No path gave a result; `reasons` says why, one entry a path tried."""

    def __init__(self, path: Path, reasons: dict[str, str]) -> None:
        super().__init__(
            f"{path.name}: " + "; ".join(f"{name}: {why}" for name, why in reasons.items())
        )
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class TextLayer:
    """What the fast path read: the text, and whether grading takes it for junk or a stub."""

    text: str
    junk: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A layout block: its kind ("paragraph", "table", …), its text, its box in points."""

    kind: str
    text: str
    bbox: Box | None


@dataclass(frozen=True, slots=True)
class LayoutPage:
    """One page of layout: its geometry and its blocks."""

    geometry: PageItems
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a document."""

    pages: tuple[LayoutPage, ...]

    @property
    def text(self) -> str:
        """The texts of all blocks, pages parted by an empty line; items where no block is."""
        return "\n\n".join(
            "\n".join(b.text for b in page.blocks if b.text.strip())
            or "\n".join(i.text for i in page.geometry.items)
            for page in self.pages
        ).strip()


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of `handle`.

    `force_structure` skips the text layer. `ocr` lets our engine read what the text layer does not
    hold (liteparse's own stays off). `base` replaces the address base made from the file's
    sha256. The readers are exchangeable for tests: each takes a path and raises what it likes.
    """

    force_structure: bool = False
    ocr: bool = False
    base: str | None = None
    text_reader: Callable[[Path], TextLayer] | None = None
    layout_reader: Callable[[Path], Layout] | None = None
    ocr_reader: Callable[[Path], str] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What `handle` returns; times in milliseconds, None for a path not tried.

    `method` names the path that gave `text`; `tables` are filled by the structural path only.
    """

    method: Literal["fastpath", "liteparse", "ocr"]
    text: str
    layout: Layout | None = None
    tables: tuple[Table, ...] = ()
    fastpath_ms: float | None = None
    liteparse_ms: float | None = None
    notes: dict[str, str] = field(default_factory=dict)

    def to_yaml(self) -> str:
        """Return the layout as YAML ("" on the fast path); `layout_from_yaml` reads it back."""
        return "" if self.layout is None else layout_to_yaml(self.layout)


def handle(path: Path, options: Options | None = None) -> Result:
    """Return the text of a PDF, with layout and tables when the structural path was taken.

    Raises DocpipeError naming every path's reason when none gave a result.
    """
    options = options or Options()
    path = Path(path)
    reasons: dict[str, str] = {}
    fast_ms = None
    if not options.force_structure:
        start = time.perf_counter()
        layer = _try_text_layer(path, options, reasons)
        fast_ms = (time.perf_counter() - start) * 1000
        if layer is not None:
            return Result("fastpath", layer.text, fastpath_ms=fast_ms)
    start = time.perf_counter()
    layout, tables = None, ()
    try:
        layout = (options.layout_reader or read_layout)(path)
        base = options.base or address.base_of("pdf", file_sha256(path))
        tables = tuple(reconstruct_tables([p.geometry for p in layout.pages], base))
    # Whatever a reader raises is a reason to try the next one; it is reported, not lost.
    except Exception as err:
        reasons["liteparse"] = f"{type(err).__name__}: {err}"
    liteparse_ms = (time.perf_counter() - start) * 1000
    if options.ocr and options.force_structure:
        _try_text_layer(path, options, reasons)  # tells a scan from a text that needs no OCR
    if options.ocr and reasons:
        try:
            text = (options.ocr_reader or read_by_ocr)(path)
            return Result("ocr", text, layout, tables, fast_ms, liteparse_ms, reasons)
        except Exception as err:  # as above
            reasons["ocr"] = f"{type(err).__name__}: {err}"
    if layout is None:
        raise DocpipeError(path, reasons)
    return Result("liteparse", layout.text, layout, tables, fast_ms, liteparse_ms, reasons)


def _try_text_layer(path: Path, options: Options, reasons: dict[str, str]) -> TextLayer | None:
    """Return the text layer if it will do, else None with the ground in `reasons`."""
    try:
        layer = (options.text_reader or read_text_layer)(path)
    except Exception as err:  # as in `handle`
        reasons["fastpath"] = f"{type(err).__name__}: {err}"
        return None
    if not layer.text.strip():
        reasons["fastpath"] = "the text layer is empty"
    elif layer.junk:
        reasons["fastpath"] = "grading finds the text layer unfit"
    return None if "fastpath" in reasons else layer


def read_by_ocr(path: Path, config: Mapping[str, Any] | None = None) -> str:
    """Return the Markdown that our OCR engine reads on all pages of a PDF, pages parted by a line.

    `config` is the workflow's; without it the default engine reads. Raises UnreadableError,
    EngineUnavailableError, and RuntimeError when no page could be read.
    """
    # Imported here: OCR brings Tesseract and numpy, which the other paths do without.
    from regcomments.ocr import engines
    from regcomments.ocr.source import FileSource, PageProcess

    with open_pdf(path) as doc:
        pages = tuple(range(1, doc.page_count + 1))
    engine = engines.make(config or {})
    try:
        with PageProcess() as process:
            source = FileSource(process, path, "", path.name, file_sha256(path), pages)
            results = sorted(engine.read(source), key=lambda r: r.number)
    finally:
        engine.close()
    faults = [r for r in results if r.outcome not in engines.DONE]
    if faults and len(faults) == len(results):
        raise RuntimeError(f"no page could be read; page {faults[0].number}: {faults[0].error}")
    return "\n\n".join(r.markdown for r in results if r.markdown)


def read_text_layer(path: Path) -> TextLayer:
    """Return the text layer of a PDF and the verdict of page grading on it.

    It is junk when a page's text may not be kept, or when every page still needs OCR. Pages that
    are plainly language are not graded, so that the fast path stays fast. Raises UnreadableError
    or OSError.
    """
    texts: list[str] = []
    facts: list[pagefacts.PageFacts] = []
    with open_pdf(path) as doc:
        for page in doc:
            text = page.get_text()
            texts.append(text)
            if not _plainly_language(text):
                facts.append(pagefacts.measure(page, text))
    verdicts = grade.judge_document(facts)
    graded_all = len(facts) == len(texts)
    junk = any(not v.keep_text for v in verdicts) or (
        graded_all and all(v.needs_ocr for v in verdicts)
    )
    return TextLayer("\n".join(texts), junk)


# A page with so many words of three letters and more, nearly all with a vowel, is no stub and no
# garble; grading it takes as long as reading it.
_PLAIN_WORDS = 20
_PLAIN_SHARE = 0.85
_VOWEL = re.compile("[aeiouyAEIOUY]")


def _plainly_language(text: str) -> bool:
    words = [w for w in text[:1500].split() if len(w) > 2 and w.isalpha()]
    if len(words) < _PLAIN_WORDS:
        return False
    return sum(bool(_VOWEL.search(w)) for w in words) >= _PLAIN_SHARE * len(words)


def read_layout(path: Path) -> Layout:
    """Return the layout of a PDF: liteparse's blocks and table boxes, and the items on each page.

    The items are PyMuPDF's words where it can read the page upright: liteparse writes every dash
    as a hyphen and knows fewer lines (cell F1 0.90 against 0.99). Else they are liteparse's own.
    Raises whatever liteparse raises.
    """
    found = liteparse_layout(path, geometry=False)
    words = upright_items(path)
    if len(words) < len(found):
        found = liteparse_layout(path)
    return Layout(
        tuple(
            LayoutPage(
                replace(words.get(page.number, page), boxes=page.boxes),
                tuple(Block(kind, text, box) for kind, text, box in blocks),
            )
            for page, blocks in found
        )
    )


def layout_to_yaml(layout: Layout) -> str:
    """Return a layout as YAML of plain types: strings are strings, boxes lists of numbers."""
    data = {
        "version": LAYOUT_VERSION,
        "pages": [
            {
                "number": p.geometry.number,
                "width": p.geometry.width,
                "height": p.geometry.height,
                "items": [{"text": i.text, "bbox": list(i[:4])} for i in p.geometry.items],
                "rulings": [list(r) for r in p.geometry.rulings],
                "boxes": None if p.geometry.boxes is None else [list(b) for b in p.geometry.boxes],
                "blocks": [
                    {"kind": b.kind, "text": b.text, "bbox": None if b.bbox is None else [*b.bbox]}
                    for b in p.blocks
                ],
            }
            for p in layout.pages
        ],
    }
    return yaml.dump(
        data, Dumper=_dumper(), allow_unicode=True, sort_keys=False, default_flow_style=None
    )


def layout_from_yaml(text: str) -> Layout:
    """Return the layout written by `layout_to_yaml`. Raises ValueError for anything else."""
    try:
        data: Any = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as err:
        raise ValueError(f"not a layout: {err}") from err
    if not isinstance(data, dict) or data.get("version") != LAYOUT_VERSION:
        raise ValueError(f"not a layout of version {LAYOUT_VERSION}")
    try:
        return Layout(tuple(_page_from(p) for p in data["pages"]))
    except (KeyError, TypeError, AttributeError) as err:
        raise ValueError(f"a layout lacks something: {err}") from err


def _page_from(p: dict[str, Any]) -> LayoutPage:
    geometry = PageItems(
        p["number"],
        p["width"],
        p["height"],
        tuple(TextItem(*i["bbox"], i["text"]) for i in p["items"]),
        tuple(Ruling(*r) for r in p["rulings"]),
        None if p["boxes"] is None else tuple(Box(*b) for b in p["boxes"]),
    )
    blocks = tuple(
        Block(b["kind"], b["text"], None if b["bbox"] is None else Box(*b["bbox"]))
        for b in p["blocks"]
    )
    return LayoutPage(geometry, blocks)


def _dumper() -> Any:
    return getattr(yaml, "CSafeDumper", yaml.SafeDumper)
