"""The character sets of WordPerfect, as far as letters and office signs go."""

from __future__ import annotations

# Bytes 01 to 20 of WordPerfect 6 stand for these.
INTERNATIONAL = "åÅæÆäÄáàâãÃçÇëéÉèêíñÑøØõÕöÖüÜúùß"
# Set 1, multinational: accents alone, then letters in pairs of capital and small.
_MULTINATIONAL = {
    23: "ß", 24: "ĸ", 25: "ȷ",
    **dict(enumerate("ÁáÂâÄäÀàÅåÆæÇçÉéÊêËëÈèÍíÎîÏïÌìÑñÓóÔôÖöÒòÚúÛûÜüÙùŸÿÃãĐđØøÕõÝýÐðÞþ", 26)),
    **dict(enumerate("ĂăĀāĄąĆćČčĈĉĊċĎďĚěĖėĒēĘę", 90)),
}  # fmt: skip
# Set 4, typographic.
_TYPOGRAPHIC = "●○■•*¶§¡¿«»£¥₧ƒªº½¼¢²ⁿ®©¤¾³‛’‘‟”“–—‹›○□†‡™℠℞●◦■▪□▫‒ﬀﬃﬄﬁﬂ…$₣₢₠₤‚„⅓⅔⅛⅜⅝⅞"
# Set 6, mathematical, and set 5, iconic: the few that letters use.
_MATHEMATICAL = {0: "−", 1: "±", 2: "≤", 3: "≥", 5: "/", 8: "⟨", 9: "⟩", 10: "∼", 11: "≈", 12: "≡"}
_ICONIC = {0: "♥", 4: "♂", 5: "♀", 7: "☺", 20: "☑", 21: "☐", 22: "☒", 23: "✓", 38: "☐", 44: "✓"}
_GREEK = "ΑαΒβΒϐΓγΔδΕεΖζΗηΘθΙιΚκΛλΜμΝνΞξΟοΠπΡρΣσΣςΤτΥυΦφΧχΨψΩω"


def character(charset: int, code: int) -> str:
    """Return character `code` of WordPerfect's set `charset`; "" when it isn't known."""
    if charset == 0:
        return chr(code) if 0x20 <= code < 0x7F else ""
    if charset == 1:
        return _MULTINATIONAL.get(code, "")
    if charset == 4:
        return _TYPOGRAPHIC[code] if code < len(_TYPOGRAPHIC) else ""
    if charset == 5:
        return _ICONIC.get(code, "")
    if charset == 6:
        return _MATHEMATICAL.get(code, "")
    if charset == 8:
        return _GREEK[code] if code < len(_GREEK) else ""
    return ""
