"""Operands that depend on each other, where independent random words never meet.

Case k takes relation k modulo 32: equal, complements, negatives, one bit apart, shifted, rotated, masked, a
multiple; and a xor, difference or sum that is one of the values at which arithmetic goes wrong. A third
operand repeats one of the first two, or is free.
"""

from __future__ import annotations

from typing import Any

from vyre.conform.generate.counter import word
from vyre.conform.generate.stream import CaseStream
from vyre.conform.spec.edges import EDGES

RELATIONS = 32
"""A power of two, so that the relation of a case is in the low bits of its index."""


def _related(d: Any, a: Any, r: Any, *, seed: int) -> list[Any]:
    """The second operand under each relation, from the first and a free word."""
    c, one, top = d.const, d.const(1), d.const(0x8000_0000)
    fixed = c(0x9E37_79B9 ^ (seed & 0xFFFF_FFFF))
    bit, edge = d.shl(one, r), _edge(d, r)
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
        *(d.xor(a, edge),) * 4,
        *(d.sub(a, edge),) * 4,
        *(d.sub(edge, a),) * 4,
        d.or_(d.and_(a, c(0xFFFF_0000)), d.and_(r, c(0xFFFF))),
        d.or_(d.and_(a, c(0xFFFF)), d.and_(r, c(0xFFFF_0000))),
        d.mul(a, r),
        d.shr(a, c(16)),
    ]


def _edge(d: Any, r: Any) -> Any:
    """One of 32 constants, by the upper bits of a free word."""
    which = d.shr(r, d.const(27))
    found = d.const(EDGES[0])
    for k, value in enumerate(EDGES[1:], 1):
        found = d.ite(d.eq(which, d.const(k)), d.const(value), found)
    return found


def stream(masks: tuple[int, ...], *, seed: int) -> CaseStream:
    """Pairs in one of 32 relations; a single word gets values close to the powers of two."""

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
        # The roles change every 32 cases, so that each relation is met both ways round.
        flip = d.and_(low, d.const(RELATIONS))
        first, second = d.ite(flip, b, a), d.ite(flip, a, b)
        rest = [_later(d, low, high, j, first, second, seed=seed) for j in range(2, len(masks))]
        return (first, second, *rest)

    return CaseStream("correlated", masks, seed, make=make)


def _later(d: Any, low: Any, high: Any, j: int, a: Any, b: Any, *, seed: int) -> Any:
    choice = d.and_(d.shr(low, d.const(6 + j)), d.const(3))
    free = word(d, low, high, seed=seed, stream=j)
    repeated = d.ite(d.eq(choice, d.const(1)), b, d.not_(a))
    return d.ite(d.eq(choice, d.const(3)), free, d.ite(choice, repeated, a))
