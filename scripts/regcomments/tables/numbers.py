"""Cell texts to numbers."""

from __future__ import annotations

import re

# Currency, sign, digits with thousands separators or without, decimals, per cent, note marks.
_NUMBER = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[-+−–])?\s*(?P<currency>[$€£¥]|US\$|EUR|USD)?\s*(?P<sign2>[-−–])?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)?|\.\d+)"
    r"\s*(?P<percent>%)?\s*(?P<close>\))?\s*[*†‡§¶¹²³]{0,3}"
)


def number_of(text: str) -> float | None:
    """Return the value of a cell that is one number, else None.

    "1,200.00", "$2,856.00", "12.5%" (12.5), "0,3057" (decimal comma), "1 000", "−3" and "5.3**"
    are numbers. Accounts write negative amounts in brackets: "($1,200)" is -1200; a bracket
    without a currency sign may as well be a percentage or a standard error, and is None.
    """
    text = text.strip()
    # Nothing longer is one number; it keeps the pattern from hostile input.
    if not text or len(text) > 40:
        return None
    found = _NUMBER.fullmatch(text)
    if not found:
        return None
    if bool(found["open"]) != bool(found["close"]):
        return None
    if found["open"] and not found["currency"]:
        return None
    digits = re.sub(r"[ \u00a0\u202f]", "", found["digits"])
    # No thousands begin with a nought: "0,305" has a decimal comma.
    if re.fullmatch(r"[^0]\d{0,2}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    value = float(digits.replace(",", "."))
    negative = (
        found["open"] or found["sign"] in ("-", "−", "–") or found["sign2"] is not None
    )  # fmt: skip
    return -value if negative else value
