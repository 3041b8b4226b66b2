"""How every function starts and ends: the parts of its argument, and the one rounding of its result.

Between the two, a function works on `Parts` and gives an `Unrounded`, whatever the format: 64 bits are
enough to round to F32, F16 or BF16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.numeric.soft.parts import OFFSET, TOP, rounded, unpack

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.float_formats import FloatFormat
    from vyre.numeric.functions.limbs import Words
    from vyre.numeric.functions.script import Script


@dataclass(frozen=True, slots=True)
class Parts:
    """A finite nonzero number: `significand / 2^31 * 2^exponent`, the leading bit at bit 31.

    `sign` is 0 or 1, `size` the bits without the sign, `exponent` a wrapped integer.
    """

    sign: Expr
    size: Expr
    significand: Expr
    exponent: Expr


@dataclass(frozen=True, slots=True)
class Unrounded:
    """`words / 2^31 * 2^exponent`: the point is behind the first limb, and the leading bit is its bit 31."""

    words: Words
    exponent: Expr


def taken_apart(s: Script, fmt: FloatFormat, value: Expr, name: str = "a") -> Parts:
    significand, exponent = unpack(s, fmt, value, name, top=TOP)
    sign = s.let(value >> fmt.sign_shift, f"sign_{name}")
    size = s.let(value & fmt.magnitude, f"size_{name}")
    return Parts(sign, size, significand, s.let(exponent - fmt.bias, f"power_{name}"))


def beside_one(fmt: FloatFormat) -> int:
    """The bits of 2^-25: expm1 and log1p of less are the argument. Every F16 but 0 is more."""
    return max(fmt.bias - 25 << fmt.fraction_bits, 1)


def nearest(s: Script, fmt: FloatFormat, value: Unrounded) -> Expr:
    """The magnitude bits nearest to an unrounded number, ties to even.

    The exponent lies above `-OFFSET - bias` and below `OFFSET`.
    """
    first, *rest = value.words
    below = rest[0]
    for word in rest[1:]:
        below = below | word
    jammed = s.let(first | below.ne(0), "jammed")
    return rounded(s, fmt, jammed, s.let(value.exponent + (fmt.bias + OFFSET), "biased"))
