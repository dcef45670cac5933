"""Charts, diagrams and sizes of drawings in a Word document."""

from __future__ import annotations

import re

from lxml import etree

from regcomments.read.word_controls import CX
from regcomments.read.word_xml import DGM, A, C

# Points of a chart that are written out; a scatter of measurements isn't text.
MAX_CHART_POINTS = 2000
MAX_SERIES = 40
_EMU = 12_700  # English metric units in a point
_UNITS = {"pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "px": 0.75, "pc": 12.0, "": 0.75}
_SIZE = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*([0-9.]{1,12})\s*(pt|in|cm|mm|px|pc)?", re.I)


def points(emu: str | None) -> float:
    """Return a length in EMU as points; 0 when it isn't a number."""
    return int(emu) / _EMU if emu and re.fullmatch(r"[0-9]{1,12}", emu) else 0.0


def shape_size(style: str | None) -> tuple[float, float]:
    """Return width and height in points from the style of a VML shape, 0 where not stated."""
    found = {"width": 0.0, "height": 0.0}
    for name, number, unit in _SIZE.findall(style or ""):
        if number.count(".") <= 1 and number != ".":
            found[name.lower()] = float(number) * _UNITS[unit.lower()]
    return found["width"], found["height"]


def read_diagram(root: etree._Element | None) -> str:
    """Return the text of a SmartArt data model, a line per node, in the order of the model."""
    if root is None:
        return ""
    lines = []
    for point in root.iter(DGM + "pt"):
        body = point.find(DGM + "t")
        if point.get("type") not in ("pres", "sibTrans", "parTrans") and body is not None:
            lines.append(_paragraphs(body))
    return "\n".join(line for line in lines if line)


def read_chart(root: etree._Element | None) -> str:
    """Return a chart as its title and a pipe table of the values cached in it."""
    if root is None:
        return ""
    if next(root.iter(CX + "data"), None) is not None:
        return _extended_chart(root)
    title = root.find(f"{C}chart/{C}title")
    lines = [_paragraphs(title)] if title is not None else []
    series = list(root.iter(C + "ser"))[:MAX_SERIES]
    names, columns = [], []
    categories: dict[int, str] = {}
    for item in series:
        names.append(" ".join(_cached(item.find(C + "tx")).values()))
        for tag in ("cat", "xVal"):
            for index, value in _cached(item.find(C + tag)).items():
                categories.setdefault(index, value)
        value = item.find(C + "val")
        columns.append(_cached(value if value is not None else item.find(C + "yVal")))
    indices = sorted(set(categories).union(*columns))[:MAX_CHART_POINTS]
    if indices:
        rows = [["", *names], ["---"] * (1 + len(names))]
        rows += [
            [categories.get(index, ""), *(column.get(index, "") for column in columns)]
            for index in indices
        ]
        lines.append("\n".join("| " + " | ".join(map(_cell, row)) + " |" for row in rows))
    else:
        lines.extend(name for name in names if name)
    for axis in root.iter(C + "valAx", C + "catAx", C + "dateAx"):
        axis_title = axis.find(C + "title")
        if axis_title is not None:
            lines.append(_paragraphs(axis_title))
    return "\n\n".join(line for line in lines if line)


def _extended_chart(root: etree._Element) -> str:
    title = root.find(f"{CX}chart/{CX}title")
    lines = [_paragraphs(title)] if title is not None else []
    for dimension in root.iter(CX + "strDim", CX + "numDim"):
        values = [(node.text or "").strip() for node in dimension.iter(CX + "pt")]
        lines.append(", ".join(value for value in values[:MAX_CHART_POINTS] if value))
    return "\n\n".join(line for line in lines if line)


def _cached(node: etree._Element | None) -> dict[int, str]:
    values: dict[int, str] = {}
    if node is None:
        return values
    for number, point in enumerate(node.iter(C + "pt")):
        if number >= MAX_CHART_POINTS:
            break
        index = point.get("idx") or ""
        value = point.find(C + "v")
        if value is not None and index.isascii() and index.isdigit() and len(index) < 10:
            values.setdefault(int(index), (value.text or "").strip())
    if not values:
        direct = node.find(C + "v")
        if direct is not None and direct.text:
            values[0] = direct.text.strip()
    return values


def _paragraphs(node: etree._Element) -> str:
    lines = []
    for paragraph in node.iter(A + "p"):
        lines.append("".join(text.text or "" for text in paragraph.iter(A + "t")).strip())
    return " ".join(line for line in lines if line)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()
