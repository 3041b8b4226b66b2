"""Division by a constant as a multiplication, for machines whose compilers do not do it themselves.

For every divisor d from 2 on there is a shift s and a multiplier m = ceil(2^(32+s) / d) with
x // d == x * m >> (32 + s) for all u32 x (Granlund and Montgomery). m has 32 or 33 bits; the 33rd bit is
added by hand, so that everything stays within u32. The rules are made per divisor, and proved per divisor.

They are not in the default table: LLVM and NVRTC do this themselves with a real multiply-high, while WGSL has
no such instruction and `MulHi` costs four multiplications there; and the text of a kernel with `x / 7` is
easier to read.
"""

from __future__ import annotations

from typing import NamedTuple

from vyre.ir.expr import BinOp, Expr, LitU32, Var, mul_hi
from vyre.ir.operators import BinaryOp
from vyre.optimize.rule import Rule

_X = Var("x")


class Magic(NamedTuple):
    """`multiplier` without its 33rd bit; `wide` says whether that bit is set."""

    multiplier: int
    shift: int
    wide: bool


def magic(divisor: int) -> Magic:
    """The constants of one divisor from 2 to 2^32 - 1."""
    bits = (divisor - 1).bit_length()
    multiplier = -(-(1 << 32 + bits) // divisor)
    while bits > 0:
        # A smaller multiplier will do while its rounding error stays within 2^s.
        smaller = -(-(1 << 31 + bits) // divisor)
        if smaller * divisor - (1 << 31 + bits) > 1 << bits - 1:
            break
        multiplier, bits = smaller, bits - 1
    return Magic(multiplier & 0xFFFF_FFFF, bits, multiplier >> 32 != 0)


def quotient(value: Expr, divisor: int) -> Expr:
    """`value // divisor` without a division. `value` stands twice in it where the multiplier is wide."""
    found = magic(divisor)
    high = mul_hi(value, LitU32(found.multiplier))
    if not found.wide:
        return high >> found.shift
    # (value + high) >> shift in 33 bits: half of the difference first, so that no carry is lost.
    return (((value - high) >> 1) + high) >> (found.shift - 1)


def division_rule(divisor: int) -> Rule:
    pattern = BinOp(BinaryOp.Div, _X, LitU32(divisor))
    return Rule(f"div-by-{divisor}", pattern, quotient(_X, divisor))


def remainder_rule(divisor: int) -> Rule:
    pattern = BinOp(BinaryOp.Mod, _X, LitU32(divisor))
    return Rule(f"mod-by-{divisor}", pattern, _X - quotient(_X, divisor) * divisor)
