"""Two values side by side, bit by bit, with the bits that differ marked."""

from __future__ import annotations

import re
from html import escape

_HEX = re.compile(r"0x([0-9A-Fa-f]+)\Z")


def side_by_side(first: tuple[str, str], second: tuple[str, str]) -> str:
    """HTML of two values, each after its name: as bits where both are hexadecimal words, else as they are."""
    left, right = _word(first[1]), _word(second[1])
    if left is None or right is None:
        return _table(_row(first[0], "", escape(first[1])), _row(second[0], "", escape(second[1])))
    digits = max(len(text.strip()) - len("0x") for _, text in (first, second))
    width = max(8, -(-4 * digits // 8) * 8)
    return _table(
        _row(first[0], escape(first[1]), _bits(left, right, width)),
        _row(second[0], escape(second[1]), _bits(right, left, width)),
    )


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


def _row(name: str, text: str, code: str) -> str:
    cell = f"<td>{text}</td>" if text else ""
    return f"<tr><th>{escape(name)}</th>{cell}<td><code>{code}</code></td></tr>"


def _table(first: str, second: str) -> str:
    return f'<table class="bits">{first}{second}</table>'
