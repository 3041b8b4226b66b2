"""The integer operators on 32-bit patterns: 18 binary, `MulHi`, and 7 unary, one line each.

Operands and results are unsigned bits. The operators that also take I32 give the same bits there
(decision 2). Division and remainder by zero are 0 (decision 4); shift amounts are taken modulo 32.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.limits import U32_MAX
from vyre.ir.operators import BinaryOp, UnaryOp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BINARY: Mapping[BinaryOp, Callable[[int, int], int]] = {
    BinaryOp.Add: lambda a, b: (a + b) & U32_MAX,
    BinaryOp.Sub: lambda a, b: (a - b) & U32_MAX,
    BinaryOp.Mul: lambda a, b: (a * b) & U32_MAX,
    BinaryOp.Div: lambda a, b: a // b if b else 0,
    BinaryOp.Mod: lambda a, b: a % b if b else 0,
    BinaryOp.BitAnd: lambda a, b: a & b,
    BinaryOp.BitOr: lambda a, b: a | b,
    BinaryOp.BitXor: lambda a, b: a ^ b,
    BinaryOp.Shl: lambda a, b: (a << (b & 31)) & U32_MAX,
    BinaryOp.Shr: lambda a, b: a >> (b & 31),
    BinaryOp.Eq: lambda a, b: 1 if a == b else 0,
    BinaryOp.Ne: lambda a, b: 1 if a != b else 0,
    BinaryOp.Lt: lambda a, b: 1 if a < b else 0,
    BinaryOp.Gt: lambda a, b: 1 if a > b else 0,
    BinaryOp.Le: lambda a, b: 1 if a <= b else 0,
    BinaryOp.Ge: lambda a, b: 1 if a >= b else 0,
    BinaryOp.And: lambda a, b: 1 if a and b else 0,
    BinaryOp.Or: lambda a, b: 1 if a or b else 0,
    BinaryOp.MulHi: lambda a, b: (a * b) >> 32,
}

UNARY: Mapping[UnaryOp, Callable[[int], int]] = {
    UnaryOp.Negate: lambda a: -a & U32_MAX,
    UnaryOp.BitNot: lambda a: a ^ U32_MAX,
    UnaryOp.LogicalNot: lambda a: 0 if a else 1,
    UnaryOp.Popcount: lambda a: a.bit_count(),
    UnaryOp.Clz: lambda a: 32 - a.bit_length(),
    UnaryOp.Ctz: lambda a: (a & -a).bit_length() - 1 if a else 32,
    UnaryOp.ReverseBits: lambda a: int(f"{a:032b}"[::-1], 2),
}


def binary(op: BinaryOp, a: int, b: int) -> int:
    return BINARY[op](a, b)


def unary(op: UnaryOp, a: int) -> int:
    return UNARY[op](a)
