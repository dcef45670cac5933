"""What a marker process answers about a page, weighed: pure rules.

marker gives empty or half pages without an exception when its server stumbles. What the server
said to each request, and what surya and marker logged, tells more than the text alone; the text
against the ink on the page is for judge.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from regcomments.ocr.engines import Outcome, PageResult

FULL_PAGE, BLOCK, LAYOUT = "high_accuracy_bbox", "block", "layout"
# Log lines of marker 2.0 and surya 0.22 after which a part of the page is missing. Others tell
# of requests that were tried again: what counts of those is the last try.
_LOSSES = (
    "OCR failed for",
    "Dropping OCR block output",
    "Layout inference failed",
    "Skipping layout block",
    "Unknown layout label",
)
# Labels whose text marker leaves out on purpose: pictures, and captions that a model gives them.
_SILENT = {"Figure", "Image", "Diagram", "Blank-Page"}
_DIV = re.compile(r"<(/?)div\b([^>]*)>", re.IGNORECASE)
_LABEL = re.compile(r'data-label\s*=\s*"([^"]*)"')
_TAG = re.compile(r"<[^>]*>")
_LOST_LETTERS = 40  # said by the server and not in the text; a shorter gap is a dropped mark
_KEPT_SHARE = 0.7
# Chat models that can't see a page say so instead of reading it. Only whole, short answers about
# an image count: commenters do write that they could not read a document.
_REFUSAL = re.compile(
    r"(i['’]m sorry|sorry|i apologi[sz]e|unfortunately|as an ai|i am unable|i['’]m unable)\b.{0,80}"
    r"\b(can['’]?t|cannot|can not|unable|not able)\b.{0,60}\b(image|picture|photo)\b",
    re.IGNORECASE | re.DOTALL,
)
_REFUSAL_CHARS = 400


def weigh(number: int, answer: Mapping[str, Any]) -> PageResult:
    """Return the result for page `number`. Text that isn't whole is `failed` and kept aside."""
    text = str(answer.get("markdown", ""))
    answers = answer.get("answers") or []
    error = (
        answer.get("error")
        or _request_fault(answers)
        or _loss(answer.get("warnings") or [])
        or ("the server answers that it can't read" if refusal(text) else None)
        or _lost_on_the_way(text, answers)
    )
    flags = _flags(answers, answer.get("warnings") or [])
    outcome = Outcome.FAILED if error else Outcome.TEXT if text.strip() else Outcome.NOTHING
    return PageResult(
        number,
        outcome,
        markdown=text,
        confidence=_confidence(answers),
        error=str(error)[:300] if error else None,
        flags=flags,
        seconds=float(answer.get("seconds", 0.0)),
    )


def _request_fault(answers: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why the server's answers don't make a whole page."""
    if not answers:
        return "marker asked the server nothing about this page"
    broken = Counter(item["kind"] for item in answers if item["error"])
    for kind, what in ((LAYOUT, "the layout of the page"), (BLOCK, "blocks of the page")):
        if broken[kind]:
            return f"the server failed on {what} ({broken[kind]} requests)"
    pages = [item for item in answers if item["kind"] == FULL_PAGE]
    if len(pages) == len(answers) and all(item["error"] for item in pages):
        return "the server failed on the page"
    # A full page that failed is read again block by block: then the blocks count.
    used = pages if len(pages) == len(answers) else [i for i in answers if i["kind"] == BLOCK]
    if not used:
        return "the server failed on the page and gave no layout for a second way"
    for item in used:
        if item["kind"] == BLOCK and not item["raw"].strip():
            return "the server gave nothing for a block of the page"
        limit = item.get("limit")
        if limit and item["tokens"] >= limit:
            return f"the server's answer stops at its limit of {limit} tokens"
        if item["raw"].strip() and item["kind"] == FULL_PAGE and not _LABEL.search(item["raw"]):
            return "the server's answer has no block of a page"
        if cut_off(item["raw"], item["kind"]):
            return "the server's answer stops in the middle"
        if refusal(_TAG.sub(" ", item["raw"])):
            return "the server answers that it can't read"
    return None


def cut_off(raw: str, kind: str) -> bool:
    """True when the HTML of an answer ends before its elements do."""
    text = re.sub(r"^```[a-zA-Z]*\n|\n```\s*$", "", raw.strip()).strip()
    if not text:
        return False
    if kind == FULL_PAGE:
        opened = sum(1 if match[1] == "" else -1 for match in _DIV.finditer(text))
        return opened > 0 or not text.endswith(">")
    # Of a single block only what is surely unfinished counts: half a tag, an open paragraph.
    tail = text[text.rfind("<") :] if "<" in text else ""
    return (bool(tail) and ">" not in tail and re.match(r"</?[a-z]", tail) is not None) or (
        text.count("<p>") > text.count("</p>") or text.count("<table") > text.count("</table>")
    )


def _loss(warnings: Sequence[str]) -> str | None:
    for line in warnings:
        if line.startswith(_LOSSES):
            return f"marker lost a part of the page: {line}"
    return None


def refusal(text: str) -> bool:
    """True when `text` is nothing but a model's excuse for not reading an image."""
    plain = text.strip()
    return len(plain) <= _REFUSAL_CHARS and _REFUSAL.match(plain) is not None


def said_letters(raw: str) -> int:
    """Return the letters of a full-page answer that stand in blocks which marker writes out."""
    count = depth = 0
    silent, start = False, 0
    for match in _DIV.finditer(raw):
        if match[1] == "":
            if depth == 0:
                label = _LABEL.search(match[2])
                silent, start = bool(label) and label[1] in _SILENT, match.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0 and not silent:
                count += _letters(_TAG.sub(" ", raw[start : match.start()]))
    return count


def _lost_on_the_way(text: str, answers: Sequence[Mapping[str, Any]]) -> str | None:
    """Return a fault when the server said much more than marker wrote."""
    pages = [item for item in answers if item["kind"] == FULL_PAGE and not item["error"]]
    if len(pages) != len(answers):
        return None  # read block by block: what was said of the whole page was not used
    said, kept = sum(said_letters(item["raw"]) for item in pages), _letters(text)
    if said - kept > _LOST_LETTERS and kept < _KEPT_SHARE * said:
        return f"marker wrote {kept} letters of {said} that the server read"
    return None


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _confidence(answers: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean token probability of the answers that made the text, by their length."""
    good = [item for item in answers if not item["error"] and item["kind"] != LAYOUT]
    blocks = [item for item in good if item["kind"] == BLOCK]
    sure = [item for item in blocks or good if item["probability"] is not None]
    weight = sum(len(item["raw"]) for item in sure)
    if not weight:
        return None
    return round(sum(len(item["raw"]) * item["probability"] for item in sure) / weight, 3)


def _flags(answers: Sequence[Mapping[str, Any]], warnings: Sequence[str]) -> tuple[str, ...]:
    flags = []
    if any(item["kind"] == BLOCK for item in answers):
        flags.append("by_blocks")
    if any(line.startswith("dropped ") for line in warnings):
        flags.append("blank_blocks_dropped")
    return tuple(flags)
