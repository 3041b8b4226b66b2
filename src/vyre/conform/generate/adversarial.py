"""Inputs that make real devices fail.

Shift amounts of 32 and just around, zero divisors, dividends next to a multiple of the divisor (where a
reciprocal rounds the wrong way), values at 2^24 (where a float drops bits), at 2^31 (where a signed compare
turns), at 2^32, and operands of every magnitude alike.
"""

from __future__ import annotations

from typing import Any

from vyre.conform.generate.counter import word
from vyre.conform.generate.stream import CaseStream


def _patterns(d: Any, r: Any, s: Any) -> list[Any]:
    """One operand in 16 shapes, from two free words."""
    c, one = d.const, d.const(1)
    small = d.and_(r, c(7))
    return [
        c(0),
        c(0xFFFF_FFFF),
        d.and_(r, c(31)),
        d.add(c(30), small),
        d.shl(one, r),
        d.sub(d.shl(one, r), one),
        d.not_(d.shl(one, r)),
        d.sub(c(0), small),
        d.sub(c(0x8000_0003), small),
        d.sub(c(0x0100_0003), small),
        d.sub(c(0x0001_0003), small),
        d.and_(r, c(255)),
        d.mul(d.and_(r, c(255)), c(0x0101_0101)),
        d.or_(r, c(0x8000_0000)),
        d.shr(r, s),
        r,
    ]


def _operand(d: Any, low: Any, high: Any, j: int, *, seed: int) -> Any:
    r = word(d, low, high, seed=seed, stream=3 * j)
    s = word(d, low, high, seed=seed, stream=3 * j + 1)
    which = d.shr(s, d.const(28))
    options = _patterns(d, r, s)
    chosen = options[0]
    for k, option in enumerate(options[1:], 1):
        chosen = d.ite(d.eq(which, d.const(k)), option, chosen)
    return chosen


def stream(masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """Every fourth case is a dividend next to a multiple of its divisor, the others 16 shapes per operand."""

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        operands = [_operand(d, low, high, j, seed=seed) for j in range(len(masks))]
        if len(operands) >= 2:
            near = d.eq(d.and_(low, d.const(3)), d.const(3))
            a, b = operands[0], operands[1]
            offset = d.sub(d.and_(d.shr(low, d.const(2)), d.const(3)), d.const(1))
            operands[0] = d.ite(near, d.add(d.mul(d.udiv(a, b), b), offset), a)
        return tuple(operands)

    return CaseStream("adversarial", masks, seed, make=make)
