"""tanh, for the approximate track: correctly rounded, so it is within every tolerance.

`tanh x = (1 - e) / (1 + e)` with `e = exp(-2x)` as a fraction of 96 bits. Nothing cancels badly: below 2^-13
the result is x itself, because `x^3 / 3` is less than a quarter of its last place, and from there on `1 - e`
keeps 83 bits. From 16 on the result is 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import LitU32, select
from vyre.numeric.functions.coefficients import LOG2_E
from vyre.numeric.functions.ending import Unrounded, nearest, taken_apart
from vyre.numeric.functions.exponentials import power_of_two
from vyre.numeric.functions.limbs import literal, moved_right, negated_if, normalised, product, shifted
from vyre.numeric.functions.quotient import divided
from vyre.numeric.functions.script import Script

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words
    from vyre.numeric.soft.layout import Layout

_SMALL = 13
"""Arguments below 2^-13 are their own result."""

_LARGE = 4
"""From 2^4 on the result is 1: `2 exp(-32)` is below 2^-45."""

_ONE = LitU32(1)


def tanh(fmt: Layout) -> Op:
    s = Script(f"{fmt.prefix}.tanh", "a", doc="The hyperbolic tangent, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    bits = nearest(s, fmt, _between(s, x))
    large = s("large", x.size >= (fmt.bias + _LARGE << fmt.fraction_bits))
    small = s("small", x.size < (fmt.bias - _SMALL << fmt.fraction_bits))
    value = s("value", select(large, fmt.one, select(small, x.size, bits)) | x.sign << fmt.sign_shift)
    return s.gives(select(x.size > fmt.infinity, fmt.nan, value))


def _between(s: Script, x: Parts) -> Unrounded:
    """The result for arguments between the two ends; garbage elsewhere."""
    e = _decayed(s, x)
    over, moved = normalised(s, negated_if(s, e, _ONE), keep=2)
    half = shifted(s, e, -1)
    under = (s.let(half[0] | 1 << 31), half[1])
    ratio, whole = divided(s, over, under)
    return Unrounded(ratio, s.let(whole - 2 - moved, "ratio_exponent"))


def _decayed(s: Script, x: Parts) -> Words:
    """exp(-2x) in units of 2^-96."""
    scaled = product(s, (x.significand,), literal(LOG2_E, 3), 4)
    # In units of 2^(exponent - 124); the shift makes that 2^-96.
    places: Expr = s.let(28 - x.exponent, "places")
    whole, *fraction = negated_if(s, moved_right(s, scaled, places, most=63), _ONE)
    e = power_of_two(s, whole, tuple(fraction))
    return moved_right(s, e.words, s.let(~e.exponent, "fall"), most=63)
