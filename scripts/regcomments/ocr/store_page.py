"""One page of a stored result as JSON values, and back; what is read back is checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from regcomments.ocr.engines import Opinion, Outcome, PageResult


class StoreError(ValueError):
    """A file in the store that isn't what its name promises."""


@dataclass(frozen=True)
class StoredPage:
    """One page (from 1) of a stored result, and which engine read it, at which attempt."""

    result: PageResult
    engine: str
    version: str
    digest: str
    attempt: int = 1

    @property
    def key(self) -> str:
        """`engine-digest`, as in the names of the store."""
        return f"{self.engine}-{self.digest}"


def dump_page(result: PageResult, attempt: int) -> dict[str, Any]:
    """Return `result`, read at `attempt` (from 1), as JSON values that UTF-8 can hold."""
    page: dict[str, Any] = {"outcome": str(result.outcome), "attempt": attempt}
    if _is_number(result.confidence):
        page["confidence"] = round(result.confidence, 3)
    if result.error:
        page["error"] = _writable(result.error)
    if result.flags:
        page["flags"] = [_writable(flag) for flag in result.flags]
    if result.second is not None:
        page["second"] = {
            "engine": result.second.engine,
            "agreement": round(result.second.agreement, 3),
            "markdown": _writable(result.second.markdown),
        }
    page["markdown"] = _writable(result.markdown)
    return page


def load_page(number: int, item: Mapping[str, Any], raw: Mapping[str, Any]) -> StoredPage:
    """Return page `number` of the result `raw` from its JSON values `item`.

    Raises StoreError, ValueError, KeyError, TypeError, AttributeError for what isn't a page.
    """
    second = item.get("second")
    error, confidence = item.get("error"), item.get("confidence")
    flags, attempt = item.get("flags", []), item["attempt"]
    if number < 1 or type(attempt) is not int or attempt < 1:
        raise StoreError(f"page {number}, attempt {attempt!r}")
    if not isinstance(flags, list):
        raise StoreError(f"page {number}: flags {flags!r:.40}")
    if not (confidence is None or type(confidence) in (int, float)):
        raise StoreError(f"page {number}: confidence {confidence!r:.40}")
    result = PageResult(
        number=number,
        outcome=Outcome(item["outcome"]),
        markdown=_text(item["markdown"]),
        confidence=confidence if _is_number(confidence) else None,
        error=None if error is None else _text(error),
        flags=tuple(map(_text, flags)),
        second=Opinion(
            _text(second["engine"]), _text(second["markdown"]), float(second["agreement"])
        )
        if second
        else None,
    )
    return StoredPage(result, raw["engine"], str(raw["version"]), raw["digest"], attempt)


def _is_number(value: float | None) -> bool:
    # JSON has neither NaN nor infinity, which a server's probabilities may come to.
    return value is not None and math.isfinite(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise StoreError(f"text that is {type(value).__name__}")
    value.encode()  # UnicodeEncodeError, a ValueError: combined.md could not hold it
    return value


def _writable(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates: a server's JSON may hold halves of pairs."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
