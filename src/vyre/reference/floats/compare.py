"""Comparisons (0 or 1), classification, and minimumNumber/maximumNumber (decision 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vyre.reference.floats.formats import Format


def order_key(fmt: Format, bits: int) -> int:
    """An integer that orders numbers by value; both zeros have key 0."""
    magnitude = bits & fmt.magnitude_mask
    return -magnitude if bits & fmt.sign_bit else magnitude


def _ordered(fmt: Format, a: int, b: int) -> bool:
    return not (fmt.is_nan(a) or fmt.is_nan(b))


def eq(fmt: Format, a: int, b: int) -> int:
    return int(_ordered(fmt, a, b) and order_key(fmt, a) == order_key(fmt, b))


def ne(fmt: Format, a: int, b: int) -> int:
    """The negation of `eq`: 1 when either operand is NaN."""
    return 1 - eq(fmt, a, b)


def lt(fmt: Format, a: int, b: int) -> int:
    return int(_ordered(fmt, a, b) and order_key(fmt, a) < order_key(fmt, b))


def gt(fmt: Format, a: int, b: int) -> int:
    return lt(fmt, b, a)


def le(fmt: Format, a: int, b: int) -> int:
    return int(_ordered(fmt, a, b) and order_key(fmt, a) <= order_key(fmt, b))


def ge(fmt: Format, a: int, b: int) -> int:
    return le(fmt, b, a)


def is_nan(fmt: Format, a: int) -> int:
    return int(fmt.is_nan(a))


def is_inf(fmt: Format, a: int) -> int:
    return int(fmt.is_infinite(a))


def minimum(fmt: Format, a: int, b: int) -> int:
    """The smaller number; a number beats NaN, and -0 is below +0."""
    return _select(fmt, a, b, smaller=True)


def maximum(fmt: Format, a: int, b: int) -> int:
    """The larger number; a number beats NaN, and +0 is above -0."""
    return _select(fmt, a, b, smaller=False)


def _select(fmt: Format, a: int, b: int, *, smaller: bool) -> int:
    if fmt.is_nan(a):
        return fmt.canonical_nan if fmt.is_nan(b) else b
    if fmt.is_nan(b):
        return a
    # Keys tie only for equal bits and for the two zeros, which their sign bits order.
    below = (order_key(fmt, a), -fmt.sign_of(a)) < (order_key(fmt, b), -fmt.sign_of(b))
    return a if below == smaller else b
