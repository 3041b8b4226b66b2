"""Expressions that the kernels of a plan are written with: literals by bits, widening, rounding, indices.

Integers that are known now are folded, so that an index over static sizes holds no needless arithmetic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, Cast, Expr, LitBool, Literal, LitI32, LitU32, Select, UnOp
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import BinaryOp, UnaryOp
from vyre.ir.types import NARROW_TYPES, SIGNED_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Callable

T = DataType
ZERO = LitU32(0)


def plus(a: Expr, b: Expr) -> Expr:
    """The sum of two indices, which wraps as it would in the kernel: one may be an input out of range."""
    match a, b:
        case LitU32(value=x), LitU32(value=y):
            return LitU32((x + y) & U32_MAX)
        case (LitU32(value=0), other) | (other, LitU32(value=0)):
            return other
        case _:
            return a + b


def times(a: Expr, b: Expr) -> Expr:
    """The product of two indices, likewise."""
    match a, b:
        case LitU32(value=x), LitU32(value=y):
            return LitU32((x * y) & U32_MAX)
        case (LitU32(value=0), _) | (_, LitU32(value=0)):
            return ZERO
        case (LitU32(value=1), other) | (other, LitU32(value=1)):
            return other
        case _:
            return a * b


def both(conditions: list[Expr]) -> Expr | None:
    """All of them; None where there are none."""
    found: Expr | None = None
    for condition in conditions:
        found = condition if found is None else found & condition
    return found


def literal(element: DataType, bits: int) -> Expr:
    """The value that is loaded from a buffer of this element where it holds these bits."""
    if element in SIGNED_TYPES or element is T.I32:
        width = element.bits
        return LitI32(bits - (1 << width) if bits >> (width - 1) else bits)
    match element.loaded:
        case T.U32:
            return LitU32(bits)
        case T.Bool:
            return LitBool(bits != 0)
        case kind:
            return Literal(kind, bits)


def reloaded(element: DataType, value: Expr, kind: DataType) -> Expr:
    """What is loaded after `value`, of the type `kind`, was stored to an element of this type."""
    if element not in NARROW_TYPES:
        return value
    mask = (1 << element.bits) - 1
    bits = (value if kind is T.U32 else Cast(T.U32, value)) & LitU32(mask)
    if element not in SIGNED_TYPES:
        return bits
    sign = LitU32(1 << (element.bits - 1))
    return Cast(T.I32, (bits ^ sign) - sign)


def widened(value: Expr, kind: DataType, to: DataType) -> Expr:
    """An exact change of type: among floats, or of an integer to its accumulator."""
    if kind is to:
        return value
    if to is T.F64 and kind is not T.F32:
        value = Cast(T.F32, value)
    return Cast(to, value)


def rounded(
    value: Expr, kind: DataType, element: DataType, name: Callable[[Expr], Expr]
) -> tuple[Expr, DataType]:
    """`value`, of the type `kind`, as it is stored to `element`, with the type of that; floats round once.

    `name` gives a name to an expression that is used more than once.
    """
    if kind is T.F64 and element in (T.F16, T.BF16):
        return Cast(element, _odd(name(value), name)), element
    if not kind.is_float:
        return value, kind
    return (value if kind is element else Cast(element, value)), element


def _odd(value: Expr, name: Callable[[Expr], Expr]) -> Expr:
    """An F64 as F32, rounded to odd: what is rounded from there to fewer bits is rounded once."""
    near = name(Cast(T.F32, value))
    back = name(Cast(T.F64, near))
    bits = name(Cast(T.U32, near))
    above = BinOp(BinaryOp.FGt, UnOp(UnaryOp.FAbs, back), UnOp(UnaryOp.FAbs, value))
    inexact = BinOp(BinaryOp.FLt, back, value) | BinOp(BinaryOp.FGt, back, value)
    return Cast(T.F32, Select(inexact, (bits - above) | LitU32(1), bits))
