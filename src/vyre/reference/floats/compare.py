"""Comparisons (0 or 1), classification, and minimumNumber/maximumNumber (decision 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.reference.floats import formats
from vyre.reference.floats.formats import is_infinite, sign_of

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat


def order_key(fmt: FloatFormat, bits: int) -> int:
    """An integer that orders numbers by value; both zeros have key 0."""
    magnitude = bits & fmt.magnitude
    return -magnitude if bits & fmt.sign else magnitude


def _ordered(fmt: FloatFormat, a: int, b: int) -> bool:
    return not (is_nan(fmt, a) or is_nan(fmt, b))


def eq(fmt: FloatFormat, a: int, b: int) -> int:
    return int(_ordered(fmt, a, b) and order_key(fmt, a) == order_key(fmt, b))


def ne(fmt: FloatFormat, a: int, b: int) -> int:
    """The negation of `eq`: 1 when either operand is NaN."""
    return 1 - eq(fmt, a, b)


def lt(fmt: FloatFormat, a: int, b: int) -> int:
    return int(_ordered(fmt, a, b) and order_key(fmt, a) < order_key(fmt, b))


def gt(fmt: FloatFormat, a: int, b: int) -> int:
    return lt(fmt, b, a)


def le(fmt: FloatFormat, a: int, b: int) -> int:
    return int(_ordered(fmt, a, b) and order_key(fmt, a) <= order_key(fmt, b))


def ge(fmt: FloatFormat, a: int, b: int) -> int:
    return le(fmt, b, a)


def is_nan(fmt: FloatFormat, a: int) -> int:
    return int(formats.is_nan(fmt, a))


def is_inf(fmt: FloatFormat, a: int) -> int:
    return int(is_infinite(fmt, a))


def minimum(fmt: FloatFormat, a: int, b: int) -> int:
    """The smaller number; a number beats NaN, and -0 is below +0."""
    return _select(fmt, a, b, smaller=True)


def maximum(fmt: FloatFormat, a: int, b: int) -> int:
    """The larger number; a number beats NaN, and +0 is above -0."""
    return _select(fmt, a, b, smaller=False)


def _select(fmt: FloatFormat, a: int, b: int, *, smaller: bool) -> int:
    if is_nan(fmt, a):
        return fmt.nan if is_nan(fmt, b) else b
    if is_nan(fmt, b):
        return a
    # Keys tie only for equal bits and for the two zeros, which their sign bits order.
    below = (order_key(fmt, a), -sign_of(fmt, a)) < (order_key(fmt, b), -sign_of(fmt, b))
    return a if below == smaller else b
