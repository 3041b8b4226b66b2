"""Rules for one call: the op exists, can vanish or be emitted, and gets the arguments of its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.op import Category
from vyre.validate.mismatch import conversion_hint

if TYPE_CHECKING:
    from vyre.ir import expr as e
    from vyre.ir.types import DataType
    from vyre.validate.sites import ExpressionSite


def call(c: ExpressionSite, expr: e.Call, types: list[DataType | None]) -> DataType | None:
    """The declared output, whatever is wrong with the arguments: one mistake, one error."""
    op = c.context.ops.get(expr.op_id)
    if op is None:
        close = c.report.suggest(expr.op_id, c.context.ops.ids())
        c.fail(
            expr,
            "V016",
            f"no op is registered as {expr.op_id}.{close}",
            f"register an Op with id {expr.op_id} before lowering.",
        )
        return None
    if op.id not in c.context.calls:
        c.context.calls[op.id] = c.path_of(expr)
    if op.category is Category.C and not op.hardware:
        c.fail(
            expr,
            "V020",
            f"{op.id} is a hardware instruction (Category C) without a body to inline.",
            "call a Category A op, or use the expression node that stands for the instruction.",
        )
    if len(types) != len(op.params):
        plural = "" if len(op.params) == 1 else "s"
        c.fail(
            expr,
            "V027",
            f"{op.id} takes {len(op.params)} argument{plural}, not {len(types)}.",
            f"pass {len(op.params)} argument{plural} to {op.id}.",
        )
        return op.output
    for position, (found, param) in enumerate(zip(types, op.params, strict=True)):
        if found is not None and found is not param.type:
            c.fail(
                expr,
                "V028",
                f"argument {position} of {op.id}, {param.name}, is {found.value}, not {param.type.value}.",
                f"{conversion_hint(found, param.type)} or call an op with a {found.value} input.",
                operand=position,
            )
    return op.output
