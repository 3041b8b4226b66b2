"""log, log2, log10 and log1p.

The argument is `2^k * m`. One of 16 factors `c` brings `m * c` next to 1, exactly: `m * c = 1 + u` with
`|u| < 1/32`. Then `log x = k log 2 - log c + log(1 + u)`, and `log(1 + u) = u * series(u)`. Near 1 the first
two terms are zero, so nothing cancels and the result is as good, relatively, as the series.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, select
from vyre.numeric.functions import coefficients as c
from vyre.numeric.functions.ending import Unrounded, beside_one, nearest, taken_apart
from vyre.numeric.functions.limbs import (
    chosen,
    literal,
    looked_up,
    looked_up_wide,
    minus,
    moved_right,
    negated_if,
    normalised,
    plus,
    product,
    shifted,
)
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import signed
from vyre.numeric.soft.layout import prefix
from vyre.numeric.soft.parts import TOP

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words

_FARTHEST = 1 << 16
"""A wrapped integer below it is not negative."""


@dataclass(frozen=True, slots=True)
class _Base:
    """`table` and `of_two` are in units of 2^-87, so that 9 bits of three limbs lie before the point."""

    name: str
    doc: str
    table: tuple[int, ...]
    series: tuple[int, ...]
    of_two: int


_NATURAL = _Base("log", "The natural logarithm, correctly rounded.", c.LOG_TABLE, c.LOG_SERIES, c.LOG_OF_2)
_BINARY = _Base("log2", "The logarithm to base 2, correctly rounded.", c.LOG2_TABLE, c.LOG2_SERIES, 1 << 87)
_DECIMAL = _Base(
    "log10", "The logarithm to base 10, correctly rounded.", c.LOG10_TABLE, c.LOG10_SERIES, c.LOG10_OF_2
)


def log(fmt: FloatFormat) -> Op:
    return _logarithm(fmt, _NATURAL)


def log2(fmt: FloatFormat) -> Op:
    return _logarithm(fmt, _BINARY)


def log10(fmt: FloatFormat) -> Op:
    return _logarithm(fmt, _DECIMAL)


def _logarithm(fmt: FloatFormat, base: _Base) -> Op:
    s = Script(f"{prefix(fmt)}.{base.name}", "a", doc=base.doc)
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    factor, row, power = near_one(s, x.significand, x.exponent)
    offset = s.let((x.significand >> 8) * factor - (1 << TOP), "offset")
    below = s.let(offset >> TOP, "below_one")
    distance = s.let(select(below, -offset, offset) << 6, "distance")
    value = _value(s, fmt, base, (distance,), below, row, power)
    special = s("special", select(x.size.eq(0), fmt.sign | fmt.infinity, fmt.nan))
    usual = s("usual", (a - 1) < fmt.infinity - 1)
    return s.gives(select(usual, value, select(a.eq(fmt.infinity), a, special)))


def log1p(fmt: FloatFormat) -> Op:
    """The logarithm of two limbs: the exact sum where it is near 1."""
    s = Script(
        f"{prefix(fmt)}.log1p", "a", doc="The natural logarithm of 1 and the argument, correctly rounded."
    )
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    words, exponent = _above_one(s, x)
    factor, row, power = near_one(s, words[0], exponent)
    offset = minus(s, shifted(s, product(s, (factor,), words, 3), 24)[:2], literal(1 << 63, 2))
    below = s.let(offset[0] >> TOP, "below_one")
    distance = shifted(s, negated_if(s, offset, below), 6)
    value = _value(s, fmt, _NATURAL, distance, below, row, power)
    small = s("small", x.size < beside_one(fmt))
    one = fmt.sign | fmt.one
    special = s("special", select(a.eq(one), fmt.sign | fmt.infinity, fmt.nan))
    special = s("special", select(a.eq(fmt.infinity), a, special))
    usual = s("usual", (a < fmt.infinity) | (x.sign & (x.size < fmt.one)))
    return s.gives(select(usual, select(small, a, value), special))


def _above_one(s: Script, x: Parts) -> tuple[Words, Expr]:
    """1 + x, normalised, and its exponent; what lies 63 places below the greater of the two is lost."""
    large = s("large", x.exponent < _FARTHEST)
    apart = s.let(select(large, x.exponent, -x.exponent), "apart")
    apart = s.let(select(apart > 63, 63, apart), "apart")
    given, one = (s.let(x.significand >> 1), s.let(x.significand << 31)), literal(1 << 62, 2)
    lesser = moved_right(s, chosen(s, large, one, given), apart, most=63)
    greater = chosen(s, large, given, one)
    words, moved = normalised(s, plus(s, greater, negated_if(s, lesser, x.sign)), keep=2)
    return words, s.let(select(large, x.exponent, 0) + 1 - moved, "sum_exponent")


def _value(
    s: Script, fmt: FloatFormat, base: _Base, distance: Words, below: Expr, row: Expr, power: Expr
) -> Expr:
    """The bits of the logarithm of `2^power / c (1 +- distance / 32)`, with the c of the row."""
    series = signed(s, distance, below, base.series, 2)
    part = shifted(s, product(s, distance, series, 3), -13)
    total = plus(s, looked_up_wide(s, row, base.table, 3), negated_if(s, part, below))
    total = plus(s, total, _multiple(s, power, base.of_two))
    sign = s("negative", total[0] >> TOP)
    words, moved = normalised(s, negated_if(s, total, sign), keep=3)
    finite = nearest(s, fmt, Unrounded(words, s.let(8 - moved, "result_exponent")))
    return s("value", select(words[0].eq(0), 0, sign << fmt.sign_shift | finite))


def near_one(s: Script, significand: Expr, exponent: Expr) -> tuple[Expr, Expr, Expr]:
    """The factor in units of 2^-8, the row of its logarithm, and the exponent that remains."""
    interval = s.let((significand >> 26 & 31) + 1 >> 1, "interval")
    up = s.let(interval >> 4, "up")
    row = s.let(interval & 15, "row")
    factor = s.let(looked_up(s, row, c.LOG_FACTORS) >> up, "factor")
    return factor, row, s.let(exponent + up, "power")


def _multiple(s: Script, power: Expr, of_two: int) -> Words:
    """`power * log 2` for a wrapped integer."""
    if of_two == 1 << 87:
        return (s.let(power << 23), LitU32(0), LitU32(0))
    sign = s.let(power >> TOP, "down")
    size = s.let(select(sign, -power, power), "times")
    return negated_if(s, product(s, (size,), literal(of_two, 3), 4)[1:], sign)
