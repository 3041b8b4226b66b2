"""The error function.

Below 1/2, `erf x = 2x * series(4x^2)`, so small arguments keep their own exponent. From there to 4, each half
has a polynomial of its own in `v = 2x - k`, whose coefficients have either sign: the sums are two's
complements. From 4 on the result is 1, because `1 - erf x` is less than a quarter of its last place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import select
from vyre.numeric.functions.ending import Unrounded, nearest, taken_apart
from vyre.numeric.functions.error_coefficients import ERF_NEAR_ZERO, ERF_ROWS
from vyre.numeric.functions.limbs import chosen, looked_up_wide, moved_right, plus, product
from vyre.numeric.functions.quotient import lifted
from vyre.numeric.functions.script import Script
from vyre.numeric.functions.series import alternating
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words

_LARGE = 2
"""From 2^2 on the result is 1: `erfc(4)` is below 2^-25."""


def erf(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.erf", "a", doc="The error function, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    near, near_exponent = _near_zero(s, x)
    far = s("far", (x.exponent + 1) < 3)
    words = chosen(s, far, _half(s, x), near)
    exponent = s.let(select(far, -1 & 0xFFFFFFFF, near_exponent), "result_exponent")
    bits = nearest(s, fmt, Unrounded(words, exponent))
    large = s("large", x.size >= (fmt.bias + _LARGE << fmt.fraction_bits))
    size = s("size", select(large, fmt.one, select(x.size.eq(0), 0, bits)))
    return s.gives(select(x.size > fmt.infinity, fmt.nan, size | x.sign << fmt.sign_shift))


def _near_zero(s: Script, x: Parts) -> tuple[Words, Expr]:
    """For arguments below 1/2; garbage elsewhere."""
    square = product(s, (x.significand,), (x.significand,), 2)
    # In units of 2^(2 * exponent - 60); the shift makes that 2^-64.
    places = s.let(-(x.exponent + 2 << 1), "places")
    v = moved_right(s, square, s.let(select(places > 63, 63, places), "places"), most=63)
    words, top = lifted(s, product(s, (x.significand,), alternating(s, v, ERF_NEAR_ZERO, 2), 2))
    return words, s.let(x.exponent + top, "near_exponent")


def _half(s: Script, x: Parts) -> Words:
    """For arguments from 1/2 to 4, as a fraction that is normalised; garbage elsewhere."""
    scaled = s.let(x.significand >> (1 - x.exponent), "scaled")
    row, v = s.let(scaled >> 29, "row"), s.let(scaled << 3, "v")
    total: Words = ()
    for coefficients in reversed(ERF_ROWS):
        c = looked_up_wide(s, row, coefficients, 2)
        if not total:
            total = c
            continue
        first, *rest = product(s, (v,), total, 2)
        # A negative number is 1 less than its two's complement, so `v` is too much.
        total = plus(s, c, (s.let(first - select(total[0] >> 31, v, 0)), *rest))
    return total
