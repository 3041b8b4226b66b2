"""Operands that depend on each other, where independent random words never meet.

Case k takes relation k modulo 16: equal, complements, negatives, a fixed difference, a fixed xor, one bit
apart, shifted, rotated, masked. A third operand repeats one of the first two, or is free.
"""

from __future__ import annotations

from typing import Any

from vyre.conform.generate.counter import word
from vyre.conform.generate.stream import CaseStream

RELATIONS = 16
"""A power of two, so that the relation of a case is in the low bits of its index."""


def _related(d: Any, a: Any, r: Any, *, seed: int) -> list[Any]:
    """The second operand under each relation, from the first and a free word."""
    c, one, top = d.const, d.const(1), d.const(0x8000_0000)
    fixed = c(0x9E37_79B9 ^ (seed & 0xFFFF_FFFF))
    bit = d.shl(one, r)
    return [
        a,
        d.not_(a),
        d.sub(c(0), a),
        d.add(a, one),
        d.sub(a, one),
        d.xor(a, bit),
        d.xor(a, top),
        d.xor(a, fixed),
        d.sub(fixed, a),
        d.shl(a, r),
        d.shr(a, r),
        d.or_(d.shl(a, r), d.shr(a, d.sub(c(0), r))),
        d.and_(a, r),
        d.or_(a, r),
        d.mul(a, d.and_(r, c(15))),
        d.and_(a, c(31)),
    ]


def stream(masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """Pairs in one of 16 relations; a single word gets values close to the powers of two."""

    def make(d: Any, low: Any, high: Any) -> tuple[Any, ...]:
        a = word(d, low, high, seed=seed, stream=0)
        r = word(d, low, high, seed=seed, stream=1)
        if len(masks) == 1:
            near = d.sub(d.shl(d.const(1), r), d.and_(a, d.const(3)))
            return (d.ite(d.and_(low, d.const(1)), near, d.xor(near, d.shl(d.const(1), a))),)
        which = d.and_(low, d.const(RELATIONS - 1))
        options = _related(d, a, r, seed=seed)
        b = options[0]
        for k, option in enumerate(options[1:], 1):
            b = d.ite(d.eq(which, d.const(k)), option, b)
        # The roles change every 16 cases, so that each relation is met both ways round.
        flip = d.and_(low, d.const(RELATIONS))
        first, second = d.ite(flip, b, a), d.ite(flip, a, b)
        rest = [_later(d, low, high, j, first, second, seed=seed) for j in range(2, len(masks))]
        return (first, second, *rest)

    return CaseStream("correlated", masks, seed, make=make)


def _later(d: Any, low: Any, high: Any, j: int, a: Any, b: Any, *, seed: int) -> Any:
    choice = d.and_(d.shr(low, d.const(5 + j)), d.const(3))
    free = word(d, low, high, seed=seed, stream=j)
    repeated = d.ite(d.eq(choice, d.const(1)), b, d.not_(a))
    return d.ite(d.eq(choice, d.const(3)), free, d.ite(choice, repeated, a))
