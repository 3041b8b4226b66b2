"""Formulas over doubles: the bits of an F32 go in, become an F64, and come out again rounded once.

The steps are the language's own F64 operations, strict on every target that has them, so a formula gives the
same bits everywhere. Four more operations reach into the bits of a double, and three divide and take roots
of numbers that are not extreme; targets with doubles have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Call, Cast, Expr, FMulAdd, Literal, Var, lift
from vyre.ir.float_formats import F32
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType
from vyre.numeric.functions.script import Script

if TYPE_CHECKING:
    from collections.abc import Sequence

_SIGN = 1 << 63


def number(significand: int, places: int = 0) -> int:
    """The bits of the double `significand / 2^places`, exactly.

    Constants are made of integers, as Python may round or flush otherwise on the day it compiles this file.
    """
    size = abs(significand)
    exponent = size.bit_length() - 1
    assert exponent <= 52, "it has more bits than a double"
    if not size:
        return 0
    field = 1023 + exponent - places
    return (_SIGN if significand < 0 else 0) | (field << 52) + ((size << (52 - exponent)) - (1 << 52))


ZERO, HALF, ONE, TWO = number(0), number(1, 1), number(1), number(2)
MAGIC = number(3, -51)
"""1.5 * 2^52. Added to a number below 2^31 in size, it leaves the nearest integer in the low word."""

LOW_WORD, HIGH_WORD, JOINED = "native.f64.low_word", "native.f64.high_word", "native.f64.joined"
SCALE, NARROW, FROM_I32 = "native.f64.scale", "native.f64.to_f32", "native.f64.from_i32"
QUOTIENT, SHORT_QUOTIENT = "native.f64.quotient", "native.f64.short_quotient"
ROOT = "native.f64.root"

SIGN, SIZE, INFINITY, NAN = F32.sign, F32.magnitude, F32.infinity, F32.nan


class DoubleScript(Script):
    """A formula of the function `name` of F32."""

    def __init__(self, name: str, *params: str) -> None:
        self.name = name
        super().__init__(f"double.f32.{name}", *params, doc=f"{name} of F32 in doubles, correctly rounded.")

    def rarely(self, condition: Expr, result: Var, op_id: str) -> None:
        """Where the condition holds, the result is that of another op of the same arguments."""
        with self.when(condition):
            self.assign(result, Call(op_id, self.params))


def double(bits: int) -> Literal:
    """The literal of these bits."""
    return Literal(DataType.F64, bits)


def minus(bits: int) -> Literal:
    """The literal of the opposite number."""
    return double(bits ^ _SIGN)


def widened(bits: Expr) -> Expr:
    """The F64 of the bits of an F32."""
    return Cast(DataType.F64, Cast(DataType.F32, bits))


def rounded(value: Expr) -> Expr:
    """The bits of the nearest F32. The value is not a NaN."""
    return Call(NARROW, (value,))


def from_i32(bits: Expr) -> Expr:
    """The double of a signed number."""
    return Call(FROM_I32, (bits,))


def added(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FAdd, a, b)


def less(a: Expr, b: Expr) -> Expr:
    """`a - b`."""
    return BinOp(BinaryOp.FSub, a, b)


def times(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FMul, a, b)


def over(a: Expr, b: Expr) -> Expr:
    return BinOp(BinaryOp.FDiv, a, b)


def fused(a: Expr, b: Expr, c: Expr) -> Expr:
    """`a * b + c`, rounded once."""
    return FMulAdd(a, b, c)


def below(a: Expr, b: Expr) -> Expr:
    """Whether `a < b`."""
    return BinOp(BinaryOp.FLt, a, b)


def quotient(a: Expr, b: Expr) -> Expr:
    """`a / b`, rounded once, of sizes from 2^-200 to 2^200, or where a is zero; unspecified elsewhere."""
    return Call(QUOTIENT, (a, b))


def short_quotient(a: Expr, b: Expr) -> Expr:
    """The same of numbers with at most 32 significant bits."""
    return Call(SHORT_QUOTIENT, (a, b))


def root(a: Expr) -> Expr:
    """The square root, rounded once, of a number from 2^-800 to 2^200. It is unspecified elsewhere."""
    return Call(ROOT, (a,))


def low_word(value: Expr) -> Expr:
    return Call(LOW_WORD, (value,))


def high_word(value: Expr) -> Expr:
    return Call(HIGH_WORD, (value,))


def joined(high: Expr | int, low: Expr) -> Expr:
    """The double of two words."""
    return Call(JOINED, (lift(high), low))


def scaled(value: Expr, exponent: Expr) -> Expr:
    """`value * 2^exponent` where both are normal numbers; the exponent may be negative."""
    return Call(SCALE, (value, exponent))


def series(s: DoubleScript, x: Expr, coefficients: Sequence[int]) -> Expr:
    """Horner's rule; coefficients are bits of doubles, the lowest first."""
    total: Expr = double(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = s("sum", fused(total, x, double(c)))
    return total
