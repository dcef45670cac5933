"""Compressed RTF, as Outlook stores formatted bodies ([MS-OXRTFCP])."""

from __future__ import annotations

import struct

MAX_SIZE = 50_000_000  # bytes unpacked
_COMPRESSED, _RAW = b"LZFu", b"MELA"
_WINDOW = 4096
# The dictionary's initial content is fixed by the format ([MS-OXRTFCP] 2.1.2.1).
_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)


def decompress(data: bytes) -> bytes:
    """Return the RTF in `data`. Raises ValueError when it isn't compressed RTF."""
    if len(data) < 16:
        raise ValueError("too short for compressed RTF")
    size = struct.unpack_from("<I", data, 4)[0]
    kind = data[8:12]
    if kind == _RAW:
        return data[16 : 16 + size]
    if kind != _COMPRESSED:
        raise ValueError("not compressed RTF")
    window = bytearray(_START.ljust(_WINDOW, b"\0"))
    write = len(_START)
    out = bytearray()
    at = 16
    while at < len(data) and len(out) < min(size, MAX_SIZE):
        control = data[at]
        at += 1
        for bit in range(8):
            if at >= len(data):
                break
            if not control >> bit & 1:
                piece = data[at : at + 1]
                at += 1
                out += piece
                window[write] = piece[0]
                write = (write + 1) % _WINDOW
                continue
            reference = int.from_bytes(data[at : at + 2], "big")
            at += 2
            start, length = reference >> 4, (reference & 15) + 2
            if start == write:  # the end
                return bytes(out[:size])
            for step in range(length):
                value = window[(start + step) % _WINDOW]
                out.append(value)
                window[write] = value
                write = (write + 1) % _WINDOW
    return bytes(out[:size])
