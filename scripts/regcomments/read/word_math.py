"""Equations of Office MathML as one line of text."""

from __future__ import annotations

from lxml import etree

from regcomments.read.word_xml import VAL, M, W

_MAX_DEPTH = 40  # nesting of fractions in fractions; deeper ones are read flat
_SKIP = {W + "del", W + "moveFrom", W + "rPr", M + "rPr", M + "ctrlPr"}


def math_text(node: etree._Element, depth: int = 0) -> str:
    """Return an equation linearised: `a/b`, `x^2`, `x_1`, `√(x)`, rows of a matrix with `;`."""
    if depth > _MAX_DEPTH:
        return "".join(text.text or "" for text in node.iter(M + "t"))
    tag = node.tag
    if tag == M + "t" or tag == W + "t":
        return node.text or ""
    if not isinstance(tag, str) or tag in _SKIP or tag.endswith("Pr"):
        return ""

    def part(name: str) -> str:
        child = node.find(M + name)
        return math_text(child, depth + 1) if child is not None else ""

    def joined(separator: str, name: str) -> str:
        return separator.join(math_text(child, depth + 1) for child in node.iterchildren(M + name))

    name = tag.rpartition("}")[2]
    if name == "f":
        return f"{_group(part('num'))}/{_group(part('den'))}"
    if name == "sSup":
        return f"{part('e')}^{_group(part('sup'))}"
    if name == "sSub":
        return f"{part('e')}_{_group(part('sub'))}"
    if name == "sSubSup":
        return f"{part('e')}_{_group(part('sub'))}^{_group(part('sup'))}"
    if name == "rad":
        return f"{part('deg')}√({part('e')})"
    if name == "nary":
        lower, upper = part("sub"), part("sup")
        bounds = (f"_{_group(lower)}" if lower else "") + (f"^{_group(upper)}" if upper else "")
        return f"{_property(node, 'naryPr', 'chr', '∫')}{bounds} {part('e')}"
    if name == "d":
        left, right = _property(node, "dPr", "begChr", "("), _property(node, "dPr", "endChr", ")")
        return left + joined(_property(node, "dPr", "sepChr", "|"), "e") + right
    if name == "m":
        return "[" + joined("; ", "mr") + "]"
    if name == "mr":
        return joined(", ", "e")
    if name == "func":
        return f"{part('fName')} {part('e')}"
    if name == "eqArr":
        return joined("; ", "e")
    return "".join(math_text(child, depth + 1) for child in node)


def _group(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"


def _property(node: etree._Element, group: str, name: str, default: str) -> str:
    child = node.find(f"{M}{group}/{M}{name}")
    if child is None:
        return default
    return child.get(M + "val") or child.get(VAL) or ""
