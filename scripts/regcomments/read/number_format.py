"""Cell values as a spreadsheet shows them: number formats of OOXML (ECMA-376 part 1, 18.8.31)."""

from __future__ import annotations

import datetime as dt
import functools
import operator
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
_DIGITS = re.compile(r"[#0?][#0?,]*(?:\.[#0?]*)?|\.[#0?]+")
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?\d{1,15}(?:\.\d{1,15})?)\]")
_HOLDS = {
    "<=": operator.le,
    ">=": operator.ge,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_EPOCH, _EPOCH_1904 = dt.datetime(1899, 12, 30), dt.datetime(1904, 1, 1)
_LAST_DAY = 2_958_466  # 9999-12-31


@dataclass(frozen=True)
class _Section:
    """One section of a format: what stands before and after the digits, and how many there are.

    At least `least` digits stand before the point; from the decimals after the first
    `least_decimals` zeros at the end go. `mask` is filled for digits that literals part, as in
    telephone numbers: the places of digits ("0", "#") and, marked by a space before it, each
    character between them.
    """

    before: str
    after: str
    least: int
    decimals: int
    least_decimals: int
    thousands: bool
    percent: bool
    mask: tuple[str, ...] = ()


def show(value: float, code: str = "", *, since_1904: bool = False) -> str:
    """Return `value` as the format `code` shows it; dates in ISO form whatever their format.

    Formats beyond digits, separators, percent and literals (fractions, exponents, scaling) show
    the number with up to 15 digits.
    """
    if _is_date(code):
        return _date(value, since_1904)
    chosen, negative = _chosen(value, code)
    section = _section(chosen)
    if section is None or value != value or abs(value) == float("inf"):
        return plain_number(value)
    number = abs(value) if negative else value
    number *= 100 if section.percent else 1
    separator = "," if section.thousands and not section.mask else ""
    digits = f"{number:{separator}.{section.decimals}f}"
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, _, decimals = digits.partition(".")
    if section.mask:
        digits = _masked(whole, decimals, section.mask)
    else:
        while len(decimals) > section.least_decimals and decimals.endswith("0"):
            decimals = decimals[:-1]
        whole = whole if section.thousands else whole.rjust(section.least, "0")
        digits = f"{whole}.{decimals}" if decimals else whole
    return f"{sign}{section.before}{digits}{section.after}".strip()


def _chosen(value: float, code: str) -> tuple[str, bool]:
    """The section of the format for `value`, and whether it shows a negative without its sign."""
    sections = code.split(";")
    for at, section in enumerate(sections[:2]):
        condition = _CONDITION.search(section)
        if condition is None:
            continue
        if _HOLDS[condition[1]](value, float(condition[2])):
            return section, False
        if at == len(sections) - 1 or (at == 0 and not _CONDITION.search(sections[1])):
            return sections[min(at + 1, len(sections) - 1)], False
    if _CONDITION.search(sections[0]) and len(sections) > 2:
        return sections[2], False
    negative = value < 0 and len(sections) > 1 and bool(sections[1].strip())
    return (sections[1] if negative else sections[0]), negative


def _masked(whole: str, decimals: str, mask: tuple[str, ...]) -> str:
    """Put digits into the places of `mask`: the first place takes all that are left."""
    left = list(whole.lstrip("0"))
    point = mask.index(" .") if decimals else len(mask)
    places = sum(len(place) == 1 for place in mask[:point])
    out: list[str] = []
    for place in reversed(mask[:point]):
        if len(place) == 2:
            out.append(place[1])
            continue
        places -= 1
        take = len(left) if places == 0 else 1
        out.append("".join(left[-take:] if take else ()) or ("0" if place == "0" else ""))
        del left[len(left) - min(take, len(left)) :]
    following = iter(decimals)
    tail = [place[1] if len(place) == 2 else next(following, "") for place in mask[point:]]
    return "".join(reversed(out)) + "".join(tail)


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
    end = max(match.end() for match in _DIGITS.finditer(bare))
    digits = found.group()
    parted = end > found.end()
    whole, _, decimals = (bare[found.start() : end] if parted else digits).partition(".")
    scaled = whole.endswith(",") or bare[end:].startswith(",")
    places = re.sub("[^#0?]", "", decimals)
    if scaled or "General" in code or len(places) > 15 or (parted and "." in decimals):
        return None
    literals = [m[1] or m[2] or m[3] for m in _LITERAL.finditer(code) if m[1] or m[2] or m[3]]
    head = bare[: found.start()]
    split = head.count("\0")
    before = _fill(head, literals[:split])
    middle = bare[found.start() : end]
    inside = literals[split : split + middle.count("\0")]
    after = _fill(bare[end:], literals[split + len(inside) :])
    zeros = re.sub("[^#0?]", "", whole).lstrip("#?")
    return _Section(
        before,
        after,
        least=len(zeros),
        decimals=len(places),
        least_decimals=len(places.rstrip("#?")),
        thousands="," in whole,
        percent="%" in bare,
        mask=_mask(middle, inside) if parted else (),
    )


def _mask(text: str, literals: list[str]) -> tuple[str, ...]:
    """The places and characters of _Section.mask, from a format without and its literals."""
    parts = iter(literals)
    mask: list[str] = []
    for char in text:
        if char in "#0?":
            mask.append(char)
        elif char == "\0":
            mask += [f" {letter}" for letter in next(parts, "")]
        elif char != ",":
            mask.append(f" {char}")
    return tuple(mask)


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
