"""Sums, differences, products, quotients and remainders. Division by zero gives 0 (decision 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import mul_hi
from vyre.ir.limits import U32_MAX
from vyre.optimize.rule import Proof
from vyre.optimize.rules.build import I32, U32, c, d, popcount, rule, suffix, word, x, y

if TYPE_CHECKING:
    from vyre.ir.types import DataType
    from vyre.optimize.rule import Rule


def _sums(t: DataType) -> list[Rule]:
    zero, one, ones, s = word(t, 0), word(t, 1), word(t, U32_MAX), suffix(t)
    negated = -x
    return [
        rule(f"add-zero{s}", x + zero, x, of=t),
        rule(f"sub-zero{s}", x - zero, x, of=t),
        rule(f"sub-self{s}", x - x, zero, of=t),
        rule(f"sub-from-zero{s}", zero - x, -x, of=t),
        rule(f"negate-twice{s}", -negated, x, of=t),
        rule(f"negate-difference{s}", -(x - y), y - x, of=t),
        rule(f"add-negated{s}", x + -y, x - y, of=t),
        rule(f"negated-add{s}", -x + y, y - x, of=t),
        rule(f"sub-negated{s}", x - -y, x + y, of=t),
        rule(f"add-constants{s}", (x + c) + d, x + (c + d), of=t),
        rule(f"add-sub-constants{s}", (x + c) - d, x + (c - d), of=t),
        rule(f"sub-add-constants{s}", (x - c) + d, x + (d - c), of=t),
        rule(f"sub-constants{s}", (x - c) - d, x - (c + d), of=t),
        rule(f"constant-sub-add{s}", c - (x + d), (c - d) - x, of=t),
        rule(f"constant-sub-sub{s}", c - (x - d), (c + d) - x, of=t),
        rule(f"add-then-sub{s}", (x + y) - y, x, of=t),
        rule(f"add-then-sub-first{s}", (x + y) - x, y, of=t),
        rule(f"sub-then-add{s}", (x - y) + y, x, of=t),
        rule(f"add-difference{s}", x + (y - x), y, of=t),
        rule(f"sub-difference{s}", x - (x - y), y, of=t),
        rule(f"sub-sum{s}", x - (x + y), -y, of=t),
        rule(f"add-complement{s}", x + ~x, ones, of=t),
        rule(f"complement-plus-one{s}", ~x + one, -x, of=t),
        rule(f"negate-complement{s}", -(~x), x + one, of=t),
        rule(f"complement-negated{s}", ~(-x), x - one, of=t),
        rule(f"mul-zero{s}", x * zero, zero, of=t),
        rule(f"mul-one{s}", x * one, x, of=t),
        rule(f"mul-minus-one{s}", x * ones, -x, of=t),
        rule(f"mul-constants{s}", (x * c) * d, x * (c * d), of=t),
        rule(f"negated-mul-constant{s}", -x * c, x * -c, of=t),
        rule(f"mul-negated-both{s}", -x * -y, x * y, of=t),
        rule(f"negate-mul-constant{s}", -(x * c), x * -c, of=t),
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
    rule("div-beyond", (x // c) // d, 0, when=mul_hi(c, d).ne(0), proof=Proof.Integers),
    rule("div-shifted", (x >> c) // d, 0, when=(c < 32).and_(d > (U32_MAX >> c))),
    rule("mod-one", x % 1, 0),
    rule("mod-zero", x % 0, 0),
    rule("zero-mod", 0 % x, 0),
    rule("mod-self", x % x, 0),
    rule("mod-twice", (x % y) % y, x % y, proof=Proof.Integers),
    rule("mod-smaller", (x % c) % d, x % c, when=c <= d, proof=Proof.Integers),
    rule("mod-below", (x % c) < d, 1, when=c.ne(0).and_(c <= d), proof=Proof.Integers),
    rule("mod-not-above", (x % c) <= d, 1, when=c.ne(0).and_(c - 1 <= d), proof=Proof.Integers),
    rule("and-mod", (x & c) % d, x & c, when=c < d),
    rule("popcount-below", popcount(x) < c, 1, when=c > 32),
)
"""Every `c`, `d` is a literal; I32 rules are the U32 ones, because the bits do not depend on the sign."""
