"""Bytes to text: byte order marks, UTF-8, the two Latin code pages of old office files, others."""

from __future__ import annotations

import codecs
import re

import charset_normalizer

SAMPLE = 65_536  # bytes that detection looks at; it is quadratic in nothing, but slow per byte
# Above this share of high bytes among those that aren't white space, a text isn't in Latin script:
# French and Czech reach 0.15, Cyrillic, Greek, Arabic and CJK start at 0.6.
_OTHER_SCRIPT = 0.3
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What is looked for in other scripts. Narrow on purpose: each further code page is a chance to err.
_OTHER_CHARSETS = [
    *("cp1251", "koi8_r", "cp866", "iso8859_5", "mac_cyrillic", "cp1256", "cp1255", "cp1253"),
    *("gb18030", "big5", "cp932", "euc_jp", "cp949", "cp874", "iso8859_7"),
]
# In the order that settles a tie: where letters fit either way, the Western one is meant.
_LATIN_CHARSETS = ("cp1252", "mac_roman", "cp850", "cp1250", "iso8859_2")
# Labels that mean another charset in practice (WHATWG Encoding Standard).
_ALIASES = {
    **dict.fromkeys(("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "gb_2312-80"), "gb18030"),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601"), "cp949"),
    **dict.fromkeys(("macintosh", "x-mac-roman", "mac"), "mac_roman"),
    **dict.fromkeys(("utf8", "unicode-1-1-utf-8", "utf-8"), "utf-8"),
    "iso-8859-9": "cp1254",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-unicode": "utf-16",
    "unicode": "utf-16",
}
_SURE_MARKS = frozenset("’‘“”–—•…§®™©°£€«»¿¡½¼¾·ºª²³¹\u00a0")
_INSIDE_WORDS = frozenset("’‘–—·\u00a0")  # those that stand between two letters as well
_HIGH = re.compile(rb"[\x80-\xff]")


def _cp1252_byte(error: UnicodeError) -> tuple[str, int]:
    """Decode the bytes that a codec refused as CP1252, or Latin-1 where that has no character."""
    assert isinstance(error, UnicodeDecodeError)
    raw = error.object[error.start : error.end]
    return "".join(_LATIN_BYTE[byte] for byte in raw), error.end


_LATIN_BYTE = [
    bytes([byte]).decode("cp1252", "ignore") or bytes([byte]).decode("latin-1")
    for byte in range(256)
]
codecs.register_error("regcomments.cp1252", _cp1252_byte)


def decode(data: bytes, label: str | None = None) -> tuple[str, str]:
    """Return `data` as text without byte order mark, and the name of the charset used.

    `label` is what the file says of itself; it is believed when it decodes without errors. Never
    raises: bytes that no charset explains come through as CP1252.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace").lstrip("\ufeff"), name.removesuffix("-sig")
    wide = _wide_charset(data)
    if wide:
        return data.decode(wide, "replace"), wide
    labelled = charset_of_label(label)
    # Text in a charset of shifts (ISO 2022, HZ, UTF-7) has no high bytes either.
    if not _HIGH.search(data) and not _is_iso2022(data) and not _stateful(labelled):
        return data.decode("ascii"), "ascii"
    if labelled is not None and labelled.startswith(("utf-16", "utf-32")) and b"\0" not in data:
        labelled = None  # who could read the label knows better (HTML Standard, 13.2.3.3)
    for name in ("utf-8", labelled):
        if name is None or (name == "utf-8" and (_stateful(labelled) or _is_iso2022(data))):
            continue
        try:
            return data.decode(name), name
        except (UnicodeError, LookupError):
            continue
    name = detect(data)
    return data.decode(name, "regcomments.cp1252"), name


def charset_of_label(label: str | None) -> str | None:
    """Return the Python codec that a charset label stands for, None when it is unknown."""
    name = (label or "").strip().strip("'\"").lower()
    name = _ALIASES.get(name, name)
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    # `hex`, `zlib`, `rot13` … are codecs too, and some of them run wild on untrusted bytes.
    return codec.name if getattr(codec, "_is_text_encoding", True) and name != "idna" else None


def detect(data: bytes) -> str:
    """Return the likeliest charset of bytes that are not clean UTF-8."""
    sample = data[:SAMPLE]
    if _is_iso2022(sample):
        return "iso2022_jp"
    if _mostly_utf8(sample):
        return "utf-8"
    if _is_ebcdic(sample):
        return "cp500"
    dense = re.sub(rb"\s+", b"", sample)
    high = len(_HIGH.findall(dense))
    if high > _OTHER_SCRIPT * max(len(dense), 1) and high >= 8:
        found = _other_script(sample)
        if found:
            return found
    scores = [_latin_score(sample, name) for name in _LATIN_CHARSETS]
    found = _LATIN_CHARSETS[scores.index(max(scores))]
    return "cp1254" if found == "cp1252" and _is_turkish(sample) else found


def _is_turkish(sample: bytes) -> bool:
    """CP1254 has ğ, ı, ş for ð, ý, þ; Icelandic, which has these, is full of á, í, ó."""
    turkish = len(re.findall(rb"[\xd0\xdd\xde\xf0\xfd\xfe]", sample))
    icelandic = len(re.findall(rb"[\xc1\xc6\xc9\xcd\xd3\xda\xe1\xe6\xe9\xed\xf3\xfa]", sample))
    return turkish >= 3 and turkish > 5 * icelandic


def _other_script(sample: bytes) -> str | None:
    """Cyrillic, Greek, Semitic and CJK charsets; two mistakes of the detector are put right."""
    kana = sample.decode("euc_jp", "replace")
    if len(re.findall("[\u3041-\u3093]", kana)) > 0.2 * len(kana) and "\ufffd" not in kana[:-1]:
        return "euc_jp"
    for match in charset_normalizer.from_bytes(sample, cp_isolation=_OTHER_CHARSETS):
        letters = [char for char in str(match) if char.isalpha()]
        shouting = sum(char.isupper() for char in letters) > 0.7 * len(letters)
        if match.encoding == "koi8_r" and shouting:
            continue  # small Hebrew letters are the capitals of KOI8-R
        if match.coherence > 0 or match.encoding in _OTHER_CHARSETS[8:]:
            alike = match.encoding in ("cp1251", "mac_cyrillic")
            return _windows_or_mac(sample) if alike else match.encoding
    return None


def _windows_or_mac(sample: bytes) -> str:
    """Small Cyrillic letters are alike in both charsets, capitals lie apart."""
    # 0xDF is a small letter of the Mac; a capital stands before small letters as a rule.
    windows, mac = (rb"[\xc0-\xde](?=[\xe0-\xff])", rb"[\x80-\x9f](?=[\xdf-\xff])")
    capitals = len(re.findall(windows, sample)), len(re.findall(mac, sample))
    return "cp1251" if capitals[0] >= capitals[1] else "mac_cyrillic"


def _stateful(name: str | None) -> bool:
    return name is not None and name.startswith(("iso2022", "hz", "utf-7", "utf_7"))


def _is_iso2022(data: bytes) -> bool:
    return bool(re.search(rb"\x1b\$[@B]|\x1b\(J", data[:SAMPLE]))


def _is_ebcdic(sample: bytes) -> bool:
    """Text of a mainframe: its spaces are the ASCII for "@", its letters lie above 0x80."""
    spaces = sample.count(b"\x40")
    if spaces < 0.05 * len(sample) or sample.count(b" ") > 0.01 * len(sample):
        return False
    text = sample.decode("cp500")
    return sum(char.isascii() and (char.isalnum() or char == " ") for char in text) > 0.8 * len(
        text
    )


def _wide_charset(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: Latin text has its NULs all on one side."""
    sample = data[:4096]
    if b"\x00" not in sample or len(sample) < 8:
        return None
    sides = [sample[start::2] for start in (0, 1)]
    zeros = [side.count(0) / len(side) for side in sides]
    if zeros[0] > 0.9 and zeros[1] > 0.4:
        return "utf-32-be" if sample[3::4].count(0) == 0 else None
    if zeros[1] > 0.9 and zeros[0] > 0.4:
        return "utf-32-le" if sample[0::4].count(0) == 0 else None
    if zeros[1] > 0.5 and zeros[0] < 0.02:
        return "utf-16-le"
    return "utf-16-be" if zeros[0] > 0.5 and zeros[1] < 0.02 else None


def _mostly_utf8(sample: bytes) -> bool:
    """UTF-8 with a few stray bytes, as pasting into a UTF-8 file leaves them."""
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    good = sum(1 for char in text if char > "\x7f") - wrong
    return good >= 3 * wrong and good > 0


def _latin_score(sample: bytes, name: str) -> float:
    """How well the non-ASCII characters fit between their neighbours when read as `name`."""
    text = sample.decode(name, "replace")
    score = 0.0
    for match in re.finditer(r"[^\x00-\x7f]", text):
        char = match.group()
        before = text[match.start() - 1 : match.start()]
        after = text[match.end() : match.end() + 1]
        if char == "\ufffd" or "\x80" <= char <= "\x9f":
            score -= 3
        elif char.isalpha():
            beside = before.isalpha() or after.isalpha()
            wrong_case = char.isupper() and (
                before.islower() or (before.isalpha() and after.islower())
            )
            score += -2 if wrong_case else (1 if beside else 0.5)
        elif before.isalpha() and after.isalpha() and char not in _INSIDE_WORDS:
            score -= 2
        else:
            score += 1 if char in _SURE_MARKS else -0.5
    return score
