"""cbrt: the cube root of the significand, in two limbs, times a power of 2^(1/3).

No result is a midpoint of a format: the cube of one has more bits than an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import LitU32, mul_hi, select
from vyre.numeric.functions.coefficients import CUBE_ROOT, CUBE_ROOTS_OF_2
from vyre.numeric.functions.ending import Unrounded, nearest, taken_apart
from vyre.numeric.functions.limbs import looked_up_wide, minus, plus, product
from vyre.numeric.functions.quotient import lifted
from vyre.numeric.functions.script import Script
from vyre.numeric.soft.layout import prefix

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.ir.float_formats import FloatFormat
    from vyre.ir.op import Op
    from vyre.numeric.functions.limbs import Words

_THIRD = 0x55555556
_TOO_MUCH = 1 << 12
"""Units of 2^-64: more than a step of Newton may fall short by, as its slope is right to 28 bits only."""

_LIFT = 600
"""A multiple of 3 that makes every exponent positive."""


def cbrt(fmt: FloatFormat) -> Op:
    s = Script(f"{prefix(fmt)}.cbrt", "a", doc="The cube root, correctly rounded.")
    (a,) = s.params
    x = taken_apart(s, fmt, a)
    # The significand is a fraction from 1/2 to 1 here, so that the exponent is one more.
    lifted_exponent = s.let(x.exponent + (_LIFT + 1), "lifted")
    third = s.let(mul_hi(lifted_exponent, _THIRD), "third")
    rest = s.let(lifted_exponent - third * 3, "rest")
    words = product(s, _root(s, x.significand), looked_up_wide(s, rest, CUBE_ROOTS_OF_2, 2), 2)
    words, top = lifted(s, words)
    exponent = s.let(third - _LIFT // 3 + top - 1, "result_exponent")
    finite = s.let(nearest(s, fmt, Unrounded(words, exponent)), "finite")
    value = s("value", select(x.size.eq(0), 0, finite) | x.sign << fmt.sign_shift)
    return s.gives(select(x.size < fmt.infinity, value, select(x.size.eq(fmt.infinity), a, fmt.nan)))


def _root(s: Script, n: Expr) -> Words:
    """The cube root of a fraction from 1/2 to 1, within 2^-61.

    A cubic and two steps of Newton give `h` near `n^(-1/3) / 2`; the root is then corrected twice by its
    residual times `4h^2 / 3`.
    """
    c0, c1, c2, c3 = CUBE_ROOT
    slope = s.let(c1 - mul_hi(n, s.let(c2 - mul_hi(n, c3))))
    h = s.let(c0 - mul_hi(n, slope) << 2, "start")
    for _ in range(2):
        # 8nh^3 is just below 1; less 16 for the products that were cut.
        cube = s.let(mul_hi(s.let(mul_hi(s.let(mul_hi(h, h)), h)), n), "cube")
        lack = s.let(-((cube << 3) + 24), "lack")
        h = s.let(h + mul_hi(h, s.let(mul_hi(lack, _THIRD))), "better")
    square = s.let(mul_hi(h, h) << 1, "square")
    step = s.let(mul_hi(square, 2 * _THIRD), "step")
    g = s.let((mul_hi(n, square) << 1) - 8, "guess")
    zero = LitU32(0)
    left = minus(s, (n, zero, zero), product(s, (g,), product(s, (g,), (g,), 2), 3))
    better = plus(s, (g, LitU32(_TOO_MUCH)), product(s, (step,), left[:2], 2))
    # So the second residual is negative wherever the first step ended.
    cube = product(s, product(s, better, better, 3), better, 3)
    over = minus(s, cube, (n, zero, zero))
    return minus(s, better, (zero, s.let(mul_hi(over[1], step))))
