"""Cheaper operations of the same value: shifts and masks for powers of two."""

from vyre.ir.expr import mul_hi
from vyre.optimize.rule import Proof
from vyre.optimize.rules.build import c, ctz, popcount, rule, x

_POWER = popcount(c).eq(1)

RULES = (
    rule("mul-power", x * c, x << ctz(c), when=_POWER),
    rule("mul-hi-power", mul_hi(x, c), x >> (32 - ctz(c)), when=_POWER.and_(c > 1)),
    rule("div-power", x // c, x >> ctz(c), when=_POWER, proof=Proof.Cases),
    rule("mod-power", x % c, x & (c - 1), when=_POWER, proof=Proof.Cases),
    rule("div-is-zero", (x // c).eq(0), x < c, when=c),
    rule("div-not-zero", (x // c).ne(0), x >= c, when=c),
)
