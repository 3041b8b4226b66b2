"""Division and square root of 64-bit fixed-point numbers.

Estimates always err to the small side, so that every correction is positive. Numbers called normalised lie
between 1/2 and 1: their top bit is set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import LitU32, mul_hi, select
from vyre.numeric.functions.coefficients import RECIPROCAL, ROOT
from vyre.numeric.functions.limbs import literal, minus, plus, product, shifted

if TYPE_CHECKING:
    from vyre.ir.expr import Expr
    from vyre.numeric.functions.limbs import Words
    from vyre.numeric.functions.script import Script

_HALF = 1 << 31


def reciprocal(s: Script, b: Words) -> Words:
    """`1 / 2b` for a normalised `b` of two limbs, within 2^-61.

    A cubic, two steps of Newton in one limb, then `1/(1 - d) = 1 + d + d^2` in two.
    """
    h = _cubic(s, b[0], RECIPROCAL)
    for _ in range(2):
        # Less 2 for what the product and the second limb of b may hide.
        lack = s.let(_HALF - 2 - mul_hi(b[0], h), "lack")
        h = s.let(h + (mul_hi(h, lack) << 1), "better")
    lack2 = minus(s, literal(_HALF << 32, 2), product(s, (h,), b, 2))
    d = shifted(s, lack2, 1)
    middle = s.let(d[0] << 16 | d[1] >> 16, "middle")
    d = plus(s, d, (LitU32(0), s.let(mul_hi(middle, middle))))
    return plus(s, (h, LitU32(0)), product(s, (h,), d, 2))


def _cubic(s: Script, x: Expr, coefficients: tuple[int, ...]) -> Expr:
    c0, c1, c2, c3 = coefficients
    slope = s.let(c1 - mul_hi(x, s.let(c2 - mul_hi(x, c3))))
    return s.let(c0 - mul_hi(x, slope) << 3, "start")


def divided(s: Script, a: Words, b: Words) -> tuple[Words, Expr]:
    """`a / b` of normalised numbers: normalised, and 1 if that is half the quotient, else 0 (it is all)."""
    words = product(s, a, reciprocal(s, b), 2)
    return lifted(s, words)


def lifted(s: Script, words: Words) -> tuple[Words, Expr]:
    """A number of 1/4 or more made normalised; 1 if it already was, 0 if it was doubled."""
    top = s.let(words[0] >> 31, "top")
    by = s.let(top ^ 1, "by")
    rest = s.let(31 - by)
    out = [s.let(words[k] << by | (words[k + 1] >> 1) >> rest) for k in range(len(words) - 1)]
    return (*out, s.let(words[-1] << by)), top


def long_division(s: Script, a: Expr, b: Expr, count: int) -> tuple[Words, Expr]:
    """`a / b` of two limbs, `a` below a normalised `b`: `count` limbs, rounded down, and the remainder.

    Each limb comes from the last remainder and `v = floor((2^64 - 1) / b) - 2^32`, off by one at most
    (Möller and Granlund). The reciprocal gives `v` exactly when the last 7 bits of `b` are zero.
    """
    near = reciprocal(s, (b, LitU32(0)))
    v = s.let(near[0] << 1 | near[1] >> 31, "v")
    out: list[Expr] = []
    rest = a
    for _ in range(count):
        below = s.let(v * rest)
        q = s.let(mul_hi(v, rest) + rest + 1)
        left = s.let(-(q * b))
        over = s.let(left > below)
        q = s.let(q - over)
        left = s.let(left + select(over, b, 0))
        again = s.let(left >= b)
        out.append(s.let(q + again, "digit"))
        rest = s.let(left - select(again, b, 0), "rest")
    return tuple(out), rest


def root(s: Script, n: Expr) -> Words:
    """The square root of one limb between 1/4 and 1, in two, within 2^-62 and never too large.

    A cubic and three steps of Newton give `h` near `1 / 2sqrt(n)`; the root is then corrected twice by its
    residual times `h`.
    """
    h = _cubic(s, n, ROOT)
    for _ in range(3):
        # 4nh^2 is just below 1; less 4 for the products that were cut.
        lack = s.let(-((mul_hi(s.let(mul_hi(h, h)), n) << 2) + 8), "lack")
        h = s.let(h + mul_hi(h, s.let(lack >> 1)), "better")
    g = s.let(mul_hi(n, h) << 1, "guess")
    residual = minus(s, (n, LitU32(0)), (s.let(mul_hi(g, g)), s.let(g * g)))
    better = plus(s, (g, LitU32(0)), product(s, residual, (h,), 2))
    square = product(s, better, better, 3)
    left = minus(s, (n, LitU32(0), LitU32(0)), square)
    return plus(s, better, (LitU32(0), s.let(mul_hi(left[1], h))))
