"""exp, exp2 and exp10 of F32 to about 32 bits, out of products that fit in one word.

`first_try` gives the nearest F32, or says that its error leaves the rounding open. It is for targets where
the upper half of a product costs a dozen instructions: nothing in it needs one.

    base^x = 2^whole * table[index] * exp(r)       |r| < 0.0444

`whole` and `index` are the digits of a number `n`, which counts eighths of an octave. `r` is what is left of
x in units of 2^-35; it fits in a word, so the products that it comes out of may wrap. To multiply, words are
split into halves, the lower ones signed too. A product is three products of halves: the two in the middle are
added and cut off, and the lowest is left out. `docs/functions.md` has the errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32
from vyre.numeric.functions import quick_coefficients as constants
from vyre.numeric.functions.limbs import looked_up
from vyre.slotted import dataclass

if TYPE_CHECKING:
    from vyre.numeric.functions.script import Script

_FIRST_FIELD = 102
"""The exponent field of 2^-25. From there to below 2^7, a significand moves by 0 to 31 places."""

_START = 1024
"""`n` where x is zero: 128 octaves."""

_LATE = 4
"""In units of 2^-20 of an index, more than `n` may be wrong by: it is never too large."""

_SIGN = 1 << 31


@dataclass(frozen=True, slots=True)
class QuickBase:
    """The constants of a base.

    `places` is how finely x is seen, `index` makes `n` of it, `step` is what an index is worth and `start`
    what `n = 0` is; `scale` is the logarithm of the base, where it is not 1. From `limit` on, in bits of F32,
    results may be subnormal or infinite. Errors are less than `slack + 1` units of 2^-34, which `python -m
    lab.functions.quick_errors` has measured of every argument.
    """

    places: int
    index: int
    step: int
    start: int
    scale: int
    limit: int
    slack: int


E = QuickBase(35, constants.QUICK_INDEX_E, constants.QUICK_STEP_E, constants.QUICK_START_E, 0, 0x42AE0000, 2)
TWO = QuickBase(
    34,
    constants.QUICK_INDEX_2,
    constants.QUICK_STEP_2,
    constants.QUICK_START_2,
    constants.QUICK_SCALE_2,
    0x42FC0000,
    2,
)
TEN = QuickBase(
    36,
    constants.QUICK_INDEX_10,
    constants.QUICK_STEP_10,
    constants.QUICK_START_10,
    constants.QUICK_SCALE_10,
    0x42160000,
    3,
)


@dataclass(frozen=True, slots=True)
class Try:
    """The bits of the result, and 1 where they may be wrong."""

    bits: Expr
    open: Expr


@dataclass(frozen=True, slots=True)
class Sum:
    """A significand before it is rounded, `high * 2^-23 + low * 2^-34`, and the digits `n`.

    `high` is a wrapped integer. Half a place and the slack are part of `low`.
    """

    high: Expr
    low: Expr
    n: Expr


def first_try(s: Script, a: Expr, base: QuickBase) -> Try:
    """The power of the number with these bits; open outside of 2^-25 up to the limit of the base."""
    value = unrounded(s, a, base)
    significand = s("quick_significand", value.high + (value.low >> 11))
    # `n` has 128 octaves where the field has 127, and the leading bit of the significand adds one to that.
    bits = s("quick_bits", (value.n >> 3 << 23) + significand - (2 << 23))
    # With an error below slack + 1, an integer is on the wrong side of a midpoint only if it is that near.
    near = s("near_midpoint", value.low << 21 < 2 * base.slack + 1 << 21)
    # Where `n` is one too small, the result is 2 or more, and has one place less.
    late = s("late", significand > (1 << 24))
    size = s("quick_size", a & (_SIGN - 1))
    least = _FIRST_FIELD << 23
    outside = s("outside", size - least >= base.limit - least)
    return Try(bits, s("open", near | late | outside))


def unrounded(s: Script, a: Expr, base: QuickBase) -> Sum:
    """The sum whose bits above 2^-23 are the significand, if its error does not matter."""
    n, rest = _reduced(s, a, base)
    table = [value + 7 >> 4 for value in constants.QUICK_TABLE]
    below = [value - 16 * row for value, row in zip(constants.QUICK_TABLE, table, strict=True)]
    lowest = min(below)
    digits = sum(b - lowest << 4 * k for k, b in enumerate(below))
    row = looked_up(s, n, [value + (1 << 15) for value in table])
    row_high = s("row_high", row >> 16)
    row_low = s("row_low", (row & 0xFFFF) - (1 << 15))
    beside = s("beside", (LitU32(digits) >> (n << 2)) & 15)
    high, low = _halves(s, _less_one(s, rest))
    cross = s("cross", row_high * low + row_low * high + (_SIGN + (1 << 14)) >> 15)
    # The offsets of the digits beside the row and of the cross product; half a place; the slack.
    fixed = lowest - (1 << 16) + (1 << 10) + base.slack + _SIGN
    total = (row_high * high << 1) + cross + ((row & 127) << 4) + beside + (fixed & 0xFFFFFFFF)
    return Sum(s("row_top", (row >> 7) - (1 << 15 - 7) - (_SIGN >> 11)), s("total", total), n)


def _reduced(s: Script, a: Expr, base: QuickBase) -> tuple[Expr, Expr]:
    """The digits `n`, and `r` in units of 2^-35 as a wrapped integer."""
    field = s("quick_field", a >> 23 & 0xFF)
    number = s("number", a & 0x7FFFFF | 0x800000)
    sign = s("quick_sign", 1 - (a >> 31 << 1))
    # The size of x in units of 2^-24, and the 32 bits below it.
    whole = s("fixed", number << 7 >> _FIRST_FIELD + 31 - field)
    below = s("fixed_below", number << 8 << field - _FIRST_FIELD)
    up = base.places - 24
    size = s("fixed_size", whole << up | below >> 32 - up)
    coarse = s("coarse", whole >> 15)
    factor, part = base.index >> 15, base.index & 0x7FFF
    rest = (whole & 0x7FFF) * factor
    eighths = coarse * factor + ((rest + coarse * part if part else rest) >> 15)
    n = s("n", s("eighths", eighths) * sign + ((_START << 20) - _LATE) >> 20)
    step, part = base.step >> 16, base.step & 0xFFFF
    start = base.start + (1 << 15)
    left = size * sign - n * step + (start >> 16 & 0xFFFFFFFF)
    if part:
        left = left - (n * part + (0xFFFF - (start & 0xFFFF)) >> 16)
    left = s("left", left)
    if not base.scale:
        return n, left
    high, low = _halves(s, left)
    factor = base.scale + (1 << 15) >> 16
    part = base.scale - (factor << 16)
    cross = low * factor + high * (part & 0xFFFFFFFF) + (_SIGN + (1 << 14)) >> 15
    return n, s("scaled", (high * factor << 1) + s("scaled_cross", cross) - (1 << 16))


def _less_one(s: Script, r: Expr) -> Expr:
    """`exp(r) - 1`, in units of 2^-35: `r + r^2 (1/2 + r/6 + r^2 (1/24 + r/120))`."""
    c0, c1, c2, c3 = constants.QUICK_SERIES
    high, low = _halves(s, r)
    last = s("last_terms", high * c3 + (c2 + (1 << 12)) >> 13)
    # In units of 2^-38.
    double = s("double_product", high * low + (_SIGN + (1 << 14)) >> 15)
    square = s("square", high * high + double - (1 << 16))
    square_high, square_low = _halves(s, square, positive=True)
    # In units of 2^-44, then 2^-29.
    c1_high, c1_low = c1 >> 15, c1 & 0x7FFF
    small = square_high * last + high * c1_low + low * (c1_high >> 1) + ((1 << 30) + (1 << 14))
    series = s("series", high * c1_high + (s("small", small) >> 15) + (c0 - (1 << 15)))
    series_high, series_low = _halves(s, series, positive=True)
    cross = square_high * series_low + square_low * series_high + (_SIGN + (1 << 15)) >> 16
    return s("less_one", r + square_high * series_high + s("series_cross", cross) - (1 << 15))


def _halves(s: Script, value: Expr, *, positive: bool = False) -> tuple[Expr, Expr]:
    """`value = high * 2^16 + low`, both signed and wrapped, `low` from -2^15 on and below 2^15."""
    if positive:
        high = s("high", value + (1 << 15) >> 16)
    else:
        high = s("high", (value + (_SIGN + (1 << 15)) >> 16) - (1 << 15))
    return high, s("low", value - (high << 16))
