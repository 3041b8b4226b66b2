"""Literals move to the right, so that every other rule need look for them there only."""

from vyre.ir.expr import BinOp, Expr
from vyre.ir.operators import LOGICAL_BINARY_OPS, SIGN_AGNOSTIC_OPS, BinaryOp
from vyre.optimize.rules.build import BOOL, I32, U32, c, rule, suffix, x

_SWAPPED = {
    BinaryOp.Add: BinaryOp.Add,
    BinaryOp.Mul: BinaryOp.Mul,
    BinaryOp.MulHi: BinaryOp.MulHi,
    BinaryOp.BitAnd: BinaryOp.BitAnd,
    BinaryOp.BitOr: BinaryOp.BitOr,
    BinaryOp.BitXor: BinaryOp.BitXor,
    BinaryOp.And: BinaryOp.And,
    BinaryOp.Or: BinaryOp.Or,
    BinaryOp.Eq: BinaryOp.Eq,
    BinaryOp.Ne: BinaryOp.Ne,
    BinaryOp.Lt: BinaryOp.Gt,
    BinaryOp.Gt: BinaryOp.Lt,
    BinaryOp.Le: BinaryOp.Ge,
    BinaryOp.Ge: BinaryOp.Le,
}


def _swap(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    return BinOp(_SWAPPED[op], right, left)


RULES = tuple(
    rule(f"literal-right-{op.value.lower()}{suffix(t)}", BinOp(op, c, x), _swap(op, c, x), c=t, x=t)
    for op in _SWAPPED
    for t in (U32, I32, BOOL)
    if t is U32 or (t is I32 and op in SIGN_AGNOSTIC_OPS) or (t is BOOL and op in LOGICAL_BINARY_OPS)
)
"""Not for two literals, which are folded first, so that no pair is swapped for ever."""
