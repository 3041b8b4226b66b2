"""Short names, so that a family of rules reads as a table."""

from __future__ import annotations

from vyre.ir.expr import Expr, LitBool, LitI32, LitU32, UnOp, Var, lift
from vyre.ir.limits import U32_MAX
from vyre.ir.operators import UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import postorder
from vyre.optimize.rule import Proof, Rule, Types

U32 = DataType.U32
I32 = DataType.I32
BOOL = DataType.Bool
ONES = LitU32(U32_MAX)

x, y, z = Var("x"), Var("y"), Var("z")
c, d = Var("c"), Var("d")


def rule(
    name: str,
    pattern: Expr,
    replacement: Expr | int,
    *,
    when: Expr | None = None,
    proof: Proof = Proof.Bits,
    of: DataType = U32,
    **types: DataType | Types,
) -> Rule:
    """A rule over values of type `of`; metavariables of other types, or of several, are named."""
    listed = {x.name: (of,) for x in postorder(pattern) if isinstance(x, Var)}
    listed |= {name: (t,) if isinstance(t, DataType) else t for name, t in types.items()}
    return Rule(name, pattern, lift(replacement), when, listed, proof)


def word(t: DataType, bits: int) -> Expr:
    """A literal of U32, I32 or Bool by its bits."""
    if t is I32:
        return LitI32(bits - (1 << 32) if bits >> 31 else bits)
    return LitBool(bool(bits)) if t is BOOL else LitU32(bits)


def suffix(t: DataType) -> str:
    """Names of rules for U32 are bare; others carry their type."""
    return "" if t is U32 else f".{t.value.lower()}"


def logical_not(value: Expr) -> UnOp:
    return UnOp(UnaryOp.LogicalNot, value)


def popcount(value: Expr) -> UnOp:
    return UnOp(UnaryOp.Popcount, value)


def ctz(value: Expr) -> UnOp:
    return UnOp(UnaryOp.Ctz, value)


def clz(value: Expr) -> UnOp:
    return UnOp(UnaryOp.Clz, value)


def reverse_bits(value: Expr) -> UnOp:
    return UnOp(UnaryOp.ReverseBits, value)
