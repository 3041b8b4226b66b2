"""exp, exp2 and exp10: 2 to the power of a fixed-point number.

`y = x * log2(base)` has 64 bits after the point. Its integer part is the exponent of the result; the first
four bits of its fraction choose a power of 2^(1/16) from a table, and a polynomial does the rest. F32 tries
something quicker first (`quick.py`), which leaves the rounding of one argument in 400 open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import Expr, LitU32, select
from vyre.ir.float_formats import F32
from vyre.numeric.functions import quick
from vyre.numeric.functions.coefficients import EXP2, EXP2_3, EXP2_TABLE, EXP2_TABLE_3, LOG2_10, LOG2_E
from vyre.numeric.functions.ending import Unrounded, nearest, taken_apart
from vyre.numeric.functions.limbs import (
    literal,
    looked_up_wide,
    moved_right,
    negated_if,
    plus,
    product,
    shifted,
)
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import rising
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words

RANGE = 8
"""From 2^8 on, no base comes anywhere near a finite nonzero result."""

FARTHEST = 200
"""Exponents beyond this are as good as infinite in every format."""

TINY = 100 << 23
"""The bits of 2^-27 in F32: every base to the power of less is 1."""

_TABLES = {2: (EXP2_TABLE, EXP2), 3: (EXP2_TABLE_3, EXP2_3)}


def exp(fmt: FloatFormat) -> Op:
    return _power(fmt, "exp", "e to the power of the argument, correctly rounded.", LOG2_E, quick.E)


def exp2(fmt: FloatFormat) -> Op:
    return _power(fmt, "exp2", "2 to the power of the argument, correctly rounded.", None, quick.TWO)


def exp10(fmt: FloatFormat) -> Op:
    return _power(fmt, "exp10", "10 to the power of the argument, correctly rounded.", LOG2_10, quick.TEN)


def _power(fmt: FloatFormat, name: str, doc: str, log2_of_base: int | None, base: quick.QuickBase) -> Op:
    s = Script(f"{prefix(fmt)}.{name}", "a", doc=doc)
    (a,) = s.params
    if fmt is not F32:
        x = taken_apart(s, fmt, a)
        finite = _finite(s, fmt, x, log2_of_base)
        return s.gives(_with_limits(s, fmt, x.sign, x.size, finite))
    first = quick.first_try(s, a, base)
    result, again = s("result", first.bits), s("again", 0)
    with s.when(first.open):
        size, sign = s("size", a & fmt.magnitude), s("sign", a >> fmt.sign_shift)
        s.assign(result, _with_limits(s, fmt, sign, size, LitU32(fmt.one)))
        s.assign(again, size - TINY < (fmt.bias + RANGE << fmt.fraction_bits) - TINY)
    with s.when(again):
        s.assign(result, _finite(s, fmt, taken_apart(s, fmt, a), log2_of_base))
    return s.gives(result)


def _with_limits(s: Script, fmt: FloatFormat, sign: Expr, size: Expr, finite: Expr) -> Expr:
    beyond = s("beyond", size >= (fmt.bias + RANGE << fmt.fraction_bits))
    limit = s("limit", select(sign, 0, fmt.infinity))
    return select(size > fmt.infinity, fmt.nan, select(beyond, limit, finite))


def _finite(s: Script, fmt: FloatFormat, x: Parts, log2_of_base: int | None) -> Expr:
    whole, high, low = _binary_exponent(s, x, log2_of_base)
    return nearest(s, fmt, power_of_two(s, whole, (high, low)))


def _binary_exponent(s: Script, x: Parts, log2_of_base: int | None) -> Words:
    """`x * log2(base)` as an integer and two limbs of fraction; garbage from `RANGE` on."""
    if log2_of_base is None:
        scaled: Words = (s.let(x.significand >> 2), s.let(x.significand << 30), LitU32(0))
    else:
        scaled = product(s, (x.significand,), literal(log2_of_base, 3), 3)
    # In units of 2^(exponent - 93); arguments below 2^-66 end as 0 or as one unit.
    places = s.let(29 - x.exponent, "places")
    places = s.let(select(places > 95, 95, places), "places")
    return negated_if(s, moved_right(s, scaled, places, most=95), x.sign)


def power_of_two(s: Script, whole: Expr, fraction: Words) -> Unrounded:
    """2 to the power of `whole + fraction`, of two or three limbs, the exponent kept within `FARTHEST`."""
    count = len(fraction)
    table, series = _TABLES[count]
    rest = shifted(s, fraction, 4)
    start = looked_up_wide(s, s.let(fraction[0] >> 28, "index"), table, count)
    growth = product(s, rest, rising(s, rest, series, count), count)
    words = plus(s, start, product(s, start, growth, count))
    return Unrounded(words, limited(s, whole))


def limited(s: Script, exponent: Expr) -> Expr:
    lifted = s.let(exponent + (1 << 30), "lifted")
    high = s.let(select(lifted > (1 << 30) + FARTHEST, FARTHEST, exponent), "high")
    return s.let(select(lifted < (1 << 30) - FARTHEST, -FARTHEST & 0xFFFFFFFF, high), "limited")
