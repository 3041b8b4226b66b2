"""Sums, differences, products, quotients and remainders. Division by zero gives 0 (decision 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import mul_hi
from vyre.ir.limits import U32_MAX
from vyre.optimize.rules.build import I32, U32, c, d, popcount, rule, suffix, word, x, y

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.optimize.rule import Rule


def _sums(t: DataType) -> list[Rule]:
    zero, one, ones, s = word(t, 0), word(t, 1), word(t, U32_MAX), suffix(t)
    every = {"x": t, "y": t, "c": t, "d": t}
    return [
        rule(f"add-zero{s}", x + zero, x, **every),
        rule(f"sub-zero{s}", x - zero, x, **every),
        rule(f"sub-self{s}", x - x, zero, **every),
        rule(f"sub-from-zero{s}", zero - x, -x, **every),
        rule(f"negate-twice{s}", -(-x), x, **every),
        rule(f"negate-difference{s}", -(x - y), y - x, **every),
        rule(f"add-negated{s}", x + -y, x - y, **every),
        rule(f"negated-add{s}", -x + y, y - x, **every),
        rule(f"sub-negated{s}", x - -y, x + y, **every),
        rule(f"add-constants{s}", (x + c) + d, x + (c + d), **every),
        rule(f"add-sub-constants{s}", (x + c) - d, x + (c - d), **every),
        rule(f"sub-add-constants{s}", (x - c) + d, x + (d - c), **every),
        rule(f"sub-constants{s}", (x - c) - d, x - (c + d), **every),
        rule(f"constant-sub-add{s}", c - (x + d), (c - d) - x, **every),
        rule(f"constant-sub-sub{s}", c - (x - d), (c + d) - x, **every),
        rule(f"add-then-sub{s}", (x + y) - y, x, **every),
        rule(f"add-then-sub-first{s}", (x + y) - x, y, **every),
        rule(f"sub-then-add{s}", (x - y) + y, x, **every),
        rule(f"add-difference{s}", x + (y - x), y, **every),
        rule(f"sub-difference{s}", x - (x - y), y, **every),
        rule(f"sub-sum{s}", x - (x + y), -y, **every),
        rule(f"add-complement{s}", x + ~x, ones, **every),
        rule(f"complement-plus-one{s}", ~x + one, -x, **every),
        rule(f"negate-complement{s}", -(~x), x + one, **every),
        rule(f"complement-negated{s}", ~(-x), x - one, **every),
        rule(f"mul-zero{s}", x * zero, zero, **every),
        rule(f"mul-one{s}", x * one, x, **every),
        rule(f"mul-minus-one{s}", x * ones, -x, **every),
        rule(f"mul-constants{s}", (x * c) * d, x * (c * d), **every),
        rule(f"negated-mul-constant{s}", -x * c, x * -c, **every),
        rule(f"mul-negated-both{s}", -x * -y, x * y, **every),
        rule(f"negate-mul-constant{s}", -(x * c), x * -c, **every),
    ]


RULES = (
    *_sums(U32),
    *_sums(I32),
    rule("mul-hi-zero", mul_hi(x, 0), 0),
    rule("mul-hi-one", mul_hi(x, 1), 0),
    rule("div-one", x // 1, x),
    rule("div-zero", x // 0, 0),
    rule("zero-div", 0 // x, 0),
    # 0 / 0 is 0, so the quotient of a number by itself is not always 1.
    rule("div-self", x // x, x.ne(0)),
    rule("div-all-ones", x // U32_MAX, x.eq(U32_MAX)),
    rule("div-constants", (x // c) // d, x // (c * d), when=mul_hi(c, d).eq(0)),
    rule("div-beyond", (x // c) // d, 0, when=mul_hi(c, d).ne(0)),
    rule("div-shifted", (x >> c) // d, 0, when=(c < 32).and_(d > (U32_MAX >> c))),
    rule("mod-one", x % 1, 0),
    rule("mod-zero", x % 0, 0),
    rule("zero-mod", 0 % x, 0),
    rule("mod-self", x % x, 0),
    rule("mod-twice", (x % y) % y, x % y),
    rule("mod-multiple", (x % c) % d, x % d, when=(c % d).eq(0).and_(c.ne(0))),
    rule("mod-smaller", (x % c) % d, x % c, when=c <= d),
    rule("mod-below", (x % c) < d, 1, when=c.ne(0).and_(c <= d)),
    rule("mod-not-above", (x % c) <= d, 1, when=c.ne(0).and_(c - 1 <= d)),
    rule("and-mod", (x & c) % d, x & c, when=c < d),
    rule("popcount-below", popcount(x) < c, 1, when=c > 32),
)
"""Every `c`, `d` is a literal; I32 rules are the U32 ones, because the bits do not depend on the sign."""
