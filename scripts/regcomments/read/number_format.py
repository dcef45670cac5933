"""Cell values as a spreadsheet shows them: number formats of OOXML (ECMA-376 part 1, 18.8.31)."""

from __future__ import annotations

import datetime as dt
import functools
import re
from dataclasses import dataclass

# Formats that every reader knows by number; those left out show a number as it is.
BUILT_IN = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    **dict.fromkeys((14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 57), "yyyy-mm-dd"),
    **dict.fromkeys((18, 19, 20, 21, 45, 46, 47), "hh:mm"),
    22: "yyyy-mm-dd hh:mm",
    37: "#,##0;(#,##0)",
    38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)",
}
_LITERAL = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]')
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]*)?")
_EPOCH, _EPOCH_1904 = dt.datetime(1899, 12, 30), dt.datetime(1904, 1, 1)
_LAST_DAY = 2_958_466  # 9999-12-31


@dataclass(frozen=True)
class _Section:
    """One section of a format: what stands before and after the digits, and how many there are."""

    before: str
    after: str
    decimals: int
    thousands: bool
    percent: bool


def show(value: float, code: str = "", *, since_1904: bool = False) -> str:
    """Return `value` as the format `code` shows it; dates in ISO form whatever their format.

    Formats beyond digits, separators, percent and literals (fractions, exponents, scaling) show
    the number with up to 15 digits.
    """
    if _is_date(code):
        return _date(value, since_1904)
    sections = code.split(";")
    negative = value < 0 and len(sections) > 1 and bool(sections[1].strip())
    section = _section(sections[1] if negative else sections[0])
    if section is None:
        return plain_number(value)
    number = abs(value) if negative else value
    number *= 100 if section.percent else 1
    separator = "," if section.thousands else ""
    digits = f"{number:{separator}.{section.decimals}f}"
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    return f"{sign}{section.before}{digits}{section.after}".strip()


def plain_number(value: float) -> str:
    """Return a number without trailing zeros, with up to 15 significant digits."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.15g}"


@functools.lru_cache(maxsize=500)
def _section(code: str) -> _Section | None:
    bare = _LITERAL.sub(lambda m: "\0" * bool(m[1] or m[2] or m[3]), code)
    found = _DIGITS.search(bare)
    if found is None or "/" in bare or "E" in bare.upper().replace("GENERAL", ""):
        return None
    digits = found.group()
    whole, _, decimals = digits.partition(".")
    scaled = whole.endswith(",") or bare[found.end() :].startswith(",")
    if scaled or "General" in code or len(decimals) > 15:
        return None
    literals = [m[1] or m[2] or m[3] for m in _LITERAL.finditer(code) if m[1] or m[2] or m[3]]
    head = bare[: found.start()]
    split = head.count("\0")
    before = _fill(head, literals[:split])
    after = _fill(bare[found.end() :], literals[split:])
    return _Section(before, after, len(decimals), "," in whole, "%" in bare)


def _fill(text: str, literals: list[str]) -> str:
    """Put the literals back where they were taken out; placeholders of other digits go."""
    parts = iter(literals)
    filled = re.sub("\0", lambda _: next(parts, ""), text)
    return re.sub(r"[#?@]", "", filled)


@functools.lru_cache(maxsize=500)
def _is_date(code: str) -> bool:
    bare = _LITERAL.sub(lambda m: "h" if re.match(r"\[[hms]+\]", m[0], re.I) else "", code)
    return "General" not in bare and bool(re.search(r"[ydhsm]", bare.split(";")[0], re.I))


def _date(value: float, since_1904: bool) -> str:
    if not 0 <= value < _LAST_DAY:
        return plain_number(value)
    moment = (_EPOCH_1904 if since_1904 else _EPOCH) + dt.timedelta(seconds=round(value * 86_400))
    if value < 1:
        return moment.strftime("%H:%M:%S").removesuffix(":00")
    return moment.isoformat(" ").removesuffix(" 00:00:00")
