"""Literals move to the right, so that every other rule need look for them there only."""

from vyre.ir.expr import BinOp, Expr
from vyre.ir.operators import (
    INTEGER_COMPARE_OPS,
    LOGICAL_BINARY_OPS,
    PRIMITIVE_BINARY_OPS,
    SIGN_AGNOSTIC_OPS,
    BinaryOp,
)
from vyre.optimize.rules.build import BOOL, I32, U32, c, rule, suffix, x

_SWAPPED = {
    op: BinaryOp(op.row.mirror)
    for op in sorted(PRIMITIVE_BINARY_OPS, key=INTEGER_COMPARE_OPS.__contains__)
    if op.row.mirror
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
