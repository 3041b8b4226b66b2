"""The running digest of a generated program: a U32 into which every value is folded, by its bits.

A value that nobody stores would hide a fault. Each step multiplies by an odd number and joins a word by xor
or sum, which loses nothing of what came before, so a single wrong bit is in the digest until the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir import Assign, BinaryOp, BinOp, Cast, DataType, Expr, Lane, LitU32, Node, Var
from vyre.ir.types import LANE_TYPES

if TYPE_CHECKING:
    from random import Random

DIGEST = "d"
"""The name of the variable, and of nothing else."""

_FACTORS = (5, 33, 0x0100_0193, 0x9E37_79B1, 0x85EB_CA6B)


def words(value: Expr, t: DataType) -> tuple[Expr, ...]:
    """The bits of a value as U32 expressions; of an F64 the first 48 bits of its significand."""
    match t:
        case DataType.U32:
            return (value,)
        case DataType.F64:
            head = Cast(DataType.F32, value)
            rest = BinOp(BinaryOp.FSub, value, Cast(DataType.F64, head))
            return Cast(DataType.U32, head), Cast(DataType.U32, Cast(DataType.F32, rest))
        case _ if t in LANE_TYPES:
            return tuple(Lane(value, k) for k in range(t.lanes))
        case _:
            return (Cast(DataType.U32, value),)


def fold(rng: Random, value: Expr, t: DataType) -> Node:
    """The statement that takes a value into the digest."""
    digest: Expr = Var(DIGEST)
    for word in words(value, t):
        join = rng.choice((BinaryOp.BitXor, BinaryOp.Add))
        digest = BinOp(join, BinOp(BinaryOp.Mul, digest, LitU32(rng.choice(_FACTORS))), word)
    return Assign(DIGEST, digest)
