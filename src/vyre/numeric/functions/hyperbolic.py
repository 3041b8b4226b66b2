"""tanh, sinh, cosh and expm1: sums and a quotient of exponentials, which are fractions of 96 bits.

`tanh x = (1 - e) / (1 + e)` with `e = exp(-2x)`. Nothing cancels badly: below 2^-13 the result is x itself,
because `x^3 / 3` is less than a quarter of its last place, and from there on `1 - e` keeps 83 bits. From 16
on the result is 1. In the same way sinh begins at 2^-12 and expm1 at 2^-25, where `exp x - 1` keeps 70 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import LitU32, select
from vyre.numeric.functions.coefficients import LOG2_E
from vyre.numeric.functions.ending import Unrounded, beside_one, nearest, taken_apart
from vyre.numeric.functions.exponentials import RANGE, power_of_two
from vyre.numeric.functions.limbs import (
    chosen,
    literal,
    minus,
    moved_right,
    negated_if,
    normalised,
    plus,
    product,
    shifted,
)
from vyre.numeric.functions.quotient import divided
from vyre.numeric.functions.script import Script
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.ending import Parts
    from vyre.numeric.functions.limbs import Words

_SMALL = 13
"""Arguments below 2^-13 are their own result."""

_LARGE = 4
"""From 2^4 on the result is 1: `2 exp(-32)` is below 2^-45."""

_SMALL_SINE = 12
"""sinh of less than 2^-12 is the argument; cosh of it is 1."""

_ONE = LitU32(1)


def tanh(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.tanh", "a", doc="The hyperbolic tangent, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    bits = nearest(s, fmt, _between(s, x))
    large = s("large", x.size >= (fmt.bias + _LARGE << fmt.fraction_bits))
    small = s("small", x.size < (fmt.bias - _SMALL << fmt.fraction_bits))
    value = s("value", select(large, fmt.one, select(small, x.size, bits)) | x.sign << fmt.sign_shift)
    return s.gives(select(x.size > fmt.infinity, fmt.nan, value))


def sinh(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.sinh", "a", doc="The hyperbolic sine, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    up, down, places = _both(s, x)
    words, moved = normalised(s, minus(s, up.words, moved_right(s, down.words, places, most=95)), keep=2)
    finite = nearest(s, fmt, Unrounded(words, s.let(up.exponent - 1 - moved, "result_exponent")))
    small = s("small", x.size < (fmt.bias - _SMALL_SINE << fmt.fraction_bits))
    value = s("value", select(small, x.size, select(_beyond(s, fmt, x), fmt.infinity, finite)))
    return s.gives(select(x.size > fmt.infinity, fmt.nan, value | x.sign << fmt.sign_shift))


def cosh(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.cosh", "a", doc="The hyperbolic cosine, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    up, down, places = _both(s, x)
    half = moved_right(s, shifted(s, down.words, -1), places, most=95)
    words, moved = normalised(s, plus(s, shifted(s, up.words, -1), half), keep=2)
    finite = nearest(s, fmt, Unrounded(words, s.let(up.exponent - moved, "result_exponent")))
    small = s("small", x.size < (fmt.bias - _SMALL_SINE << fmt.fraction_bits))
    value = s("value", select(small, fmt.one, select(_beyond(s, fmt, x), fmt.infinity, finite)))
    return s.gives(select(x.size > fmt.infinity, fmt.nan, value))


def expm1(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.expm1", "a", doc="e to the power of the argument, less 1, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    whole, *fraction = negated_if(s, _octaves(s, x), x.sign)
    power = power_of_two(s, whole, tuple(fraction))
    # Of the power and 1, the lesser is moved to the place of the greater.
    distance = s.let(select(x.sign, -power.exponent, power.exponent), "distance")
    places = s.let(select(distance > 95, 95, distance), "places")
    one = literal(1 << 95, 3)
    lesser = moved_right(s, chosen(s, x.sign, power.words, one), places, most=95)
    words, moved = normalised(s, minus(s, chosen(s, x.sign, one, power.words), lesser), keep=2)
    exponent = s.let(select(x.sign, 0, power.exponent) - moved, "result_exponent")
    finite = nearest(s, fmt, Unrounded(words, exponent))
    end = s("end", select(x.sign, fmt.one, fmt.infinity))
    size = s("size", select(_beyond(s, fmt, x), end, finite) | x.sign << fmt.sign_shift)
    small = s("small", x.size < beside_one(fmt))
    return s.gives(select(x.size > fmt.infinity, fmt.nan, select(small, a, size)))


def _beyond(s: Script, fmt: FloatFormat, x: Parts) -> Expr:
    """Whether the exponential is as good as infinite, or nothing."""
    return s("beyond", x.size >= (fmt.bias + RANGE << fmt.fraction_bits))


def _both(s: Script, x: Parts) -> tuple[Unrounded, Unrounded, Expr]:
    """The exponentials of the size of x and of its negative, and how far apart their exponents are."""
    octaves = _octaves(s, x)
    negative = negated_if(s, octaves, _ONE)
    up, down = (power_of_two(s, whole, tuple(rest)) for whole, *rest in (octaves, negative))
    places = s.let(up.exponent - down.exponent, "places")
    return up, down, s.let(select(places > 95, 95, places), "places")


def _octaves(s: Script, x: Parts) -> Words:
    """The size of `x log2(e)`: an integer and three limbs. Garbage below 2^-35 and from `RANGE` on."""
    scaled = product(s, (x.significand,), literal(LOG2_E, 3), 4)
    # In units of 2^(exponent - 125); the shift makes that 2^-96.
    return moved_right(s, scaled, s.let(29 - x.exponent, "places"), most=63)


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
