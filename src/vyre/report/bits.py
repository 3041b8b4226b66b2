"""Two values side by side, bit by bit, with the bits that differ marked."""

from __future__ import annotations

import re
from html import escape

_HEX = re.compile(r"0x([0-9A-Fa-f]+)\Z")


def side_by_side(expected: str, actual: str) -> str:
    """HTML of both values: as bits where both are hexadecimal words, else as they are."""
    left, right = _word(expected), _word(actual)
    if left is None or right is None:
        return _rows(escape(expected), escape(actual))
    width = max(8, -(-max(left.bit_length(), right.bit_length()) // 8) * 8)
    return _rows(_bits(left, right, width), _bits(right, left, width), escape(expected), escape(actual))


def _word(text: str) -> int | None:
    found = _HEX.match(text.strip())
    return int(found[1], 16) if found and len(found[1]) <= 32 else None


def _bits(value: int, other: int, width: int) -> str:
    shown: list[str] = []
    for k in reversed(range(width)):
        bit = value >> k & 1
        shown.append(f"<b>{bit}</b>" if bit != other >> k & 1 else str(bit))
        if k % 8 == 0 and k:
            shown.append(" ")
    return "".join(shown)


def _rows(left: str, right: str, left_text: str = "", right_text: str = "") -> str:
    return (
        '<table class="bits">'
        f"<tr><th>expected</th><td>{left_text}</td><td><code>{left}</code></td></tr>"
        f"<tr><th>actual</th><td>{right_text}</td><td><code>{right}</code></td></tr></table>"
        if left_text
        else '<table class="bits">'
        f"<tr><th>expected</th><td><code>{left}</code></td></tr>"
        f"<tr><th>actual</th><td><code>{right}</code></td></tr></table>"
    )
