"""Which operands a value depends on: those that an earlier one lets through.

All operands are evaluated. What one loads that is not chosen, as in `a[i - 1] if i > 0 else 0` for i = 0, is
dropped, so an index out of bounds in it is not a finding.
"""

from __future__ import annotations

from vyre.ir import expr as e
from vyre.ir.operators import BinaryOp

Guards = tuple[tuple[int, bool], ...]
"""Numbers of values, each with whether it is true where the operand is chosen."""


def guarded(expr: e.Expr, number: int) -> tuple[Guards, ...]:
    """What each operand of an expression depends on, where `number` is that of the first operand's value."""
    match expr:
        case e.Select():
            return (), ((number, True),), ((number, False),)
        case e.BinOp(op=BinaryOp.And):
            return (), ((number, True),)
        case e.BinOp(op=BinaryOp.Or):
            return (), ((number, False),)
        case _:
            return ((),) * len(expr.children)
