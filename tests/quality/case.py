"""One file of the gate and the right answer to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A generated file and its facts. Pages count from 1.

    `must` are strings that the text holds, `must_not` such that it doesn't, `once` such that it
    holds exactly once, `order` strings that stand in this order; `rows` are table rows whose cells
    are cells of one output row, in order. `reason` is checked when given. White space counts as
    one blank, or not at all with `nospace`. `also` are other honest statuses, after
    which no facts are asked for.
    """

    name: str
    make: Callable[[], bytes]
    status: str = "ok"
    reason: str | None = None
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    ocr_pages: tuple[int, ...] = ()
    nospace: bool = False
    also: tuple[str, ...] = ()
