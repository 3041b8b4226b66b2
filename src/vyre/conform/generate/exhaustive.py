"""All values of a small domain: every operand word over 0 to 2^bits - 1, the last one fastest."""

from __future__ import annotations

from typing import Any

from vyre.conform.generate.stream import CaseStream
from vyre.errors import VyreError


def stream(masks: tuple[int, ...], *, bits: int = 8) -> CaseStream:
    """2^(bits * words) cases; refused beyond 64 index bits."""
    if not 1 <= bits <= 32 or bits * len(masks) > 63:
        raise VyreError(
            f"all values of {len(masks)} words of {bits} bits are too many to count.",
            fix="use fewer bits, or random cases.",
        )
    mask = (1 << bits) - 1

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        shifts = [bits * (len(masks) - 1 - j) for j in range(len(masks))]
        return tuple(d.and_(_window(d, low, high, shift), d.const(mask)) for shift in shifts)

    return CaseStream("exhaustive", masks, length=1 << (bits * len(masks)), make=make)


def _window(d: Any, low: Any, high: Any, shift: int) -> Any:
    """The 32 bits of the index from `shift` on."""
    if shift == 0:
        return low
    if shift >= 32:
        return d.shr(high, d.const(shift - 32))
    return d.or_(d.shr(low, d.const(shift)), d.shl(high, d.const(32 - shift)))
