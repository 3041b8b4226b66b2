"""Equivalence classes that several ops share.

The classes of one op cover all its inputs, and every sample is a member of its class; both are proved by
the tests of the registry.
"""

from __future__ import annotations

from typing import Any

from vyre.conform.registry.build import MAX, class1, class2
from vyre.semantics.domain import Domain

D = Domain[Any]


def both(d: D, p: Any, q: Any) -> Any:
    return d.and_(p, q)


def ordered(d: D, a: Any, b: Any) -> tuple[Any, Any]:
    """The words as a pair with the first below the second."""
    low = d.ite(d.ult(a, b), a, b)
    high = d.ite(d.ult(a, b), b, a)
    same = d.eq(low, high)
    at_top = d.eq(high, d.const(MAX))
    one = d.const(1)
    lower = d.ite(both(d, same, at_top), d.sub(low, one), low)
    upper = d.ite(both(d, same, d.not_(at_top)), d.add(high, one), high)
    return lower, upper


def swapped(d: D, a: Any, b: Any) -> tuple[Any, Any]:
    low, high = ordered(d, a, b)
    return high, low


def nonzero(d: D, a: Any) -> Any:
    return d.ite(a, a, d.const(1))


def is_zero(d: D, a: Any) -> Any:
    return d.eq(a, d.const(0))


BELOW = class2("a < b", lambda d, a, b: d.ult(a, b), ordered)
EQUAL = class2("a = b", lambda d, a, b: d.eq(a, b), lambda d, a, b: (a, a))
ABOVE = class2("a > b", lambda d, a, b: d.ult(b, a), swapped)
ACROSS = class2(
    "high bits differ",
    lambda d, a, b: d.shr(d.xor(a, b), d.const(31)),
    lambda d, a, b: (a, d.xor(d.and_(b, d.const(MAX >> 1)), d.and_(d.not_(a), d.const(1 << 31)))),
)
ORDER = (BELOW, EQUAL, ABOVE, ACROSS)

DISJOINT = class2(
    "no common bit", lambda d, a, b: is_zero(d, d.and_(a, b)), lambda d, a, b: (a, d.and_(b, d.not_(a)))
)
OVERLAP = class2(
    "a common bit",
    lambda d, a, b: d.ne(d.and_(a, b), d.const(0)),
    lambda d, a, b: (d.or_(a, d.shl(d.const(1), b)), d.or_(b, d.shl(d.const(1), b))),
)
BITS = (DISJOINT, OVERLAP, EQUAL)

TRUTH = (
    class2(
        "false, false",
        lambda d, a, b: both(d, is_zero(d, a), is_zero(d, b)),
        lambda d, a, b: (d.const(0), d.const(0)),
    ),
    class2(
        "false, true",
        lambda d, a, b: both(d, is_zero(d, a), d.ne(b, d.const(0))),
        lambda d, a, b: (d.const(0), nonzero(d, b)),
    ),
    class2(
        "true, false",
        lambda d, a, b: both(d, d.ne(a, d.const(0)), is_zero(d, b)),
        lambda d, a, b: (nonzero(d, a), d.const(0)),
    ),
    class2(
        "true, true",
        lambda d, a, b: both(d, d.ne(a, d.const(0)), d.ne(b, d.const(0))),
        lambda d, a, b: (nonzero(d, a), nonzero(d, b)),
    ),
)

DIVISION = (
    class2("b = 0", lambda d, a, b: is_zero(d, b), lambda d, a, b: (a, d.const(0))),
    class2("b = 1", lambda d, a, b: d.eq(b, d.const(1)), lambda d, a, b: (a, d.const(1))),
    BELOW,
    class2(
        "a >= b > 1",
        lambda d, a, b: both(d, d.ult(d.const(1), b), d.ule(b, a)),
        lambda d, a, b: (
            d.or_(a, d.const(1 << 31)),
            d.add(d.urem(b, d.const((1 << 31) - 2)), d.const(2)),
        ),
    ),
)

SHIFT = (
    class2("amount 0", lambda d, a, b: is_zero(d, b), lambda d, a, b: (a, d.const(0))),
    class2(
        "amount 1 to 31",
        lambda d, a, b: both(d, d.ne(b, d.const(0)), d.ult(b, d.const(32))),
        lambda d, a, b: (a, d.add(d.urem(b, d.const(31)), d.const(1))),
    ),
    class2("amount 32", lambda d, a, b: d.eq(b, d.const(32)), lambda d, a, b: (a, d.const(32))),
    class2(
        "amount over 32",
        lambda d, a, b: d.ult(d.const(32), b),
        lambda d, a, b: (a, d.ite(d.ult(d.const(32), b), b, d.add(b, d.const(33)))),
    ),
)

ZERO = class1("zero", is_zero, lambda d, a: d.const(0))
NONZERO = class1("not zero", lambda d, a: d.ne(a, d.const(0)), nonzero)
ODD = class1("lowest bit set", lambda d, a: d.and_(a, d.const(1)), lambda d, a: d.or_(a, d.const(1)))
HIGH = class1("highest bit set", lambda d, a: d.shr(a, d.const(31)), lambda d, a: d.or_(a, d.const(1 << 31)))
SINGLE = class1(
    "one bit set",
    lambda d, a: both(d, d.ne(a, d.const(0)), is_zero(d, d.and_(a, d.sub(a, d.const(1))))),
    lambda d, a: d.shl(d.const(1), a),
)
ONES = class1("all bits set", lambda d, a: d.eq(a, d.const(MAX)), lambda d, a: d.const(MAX))
