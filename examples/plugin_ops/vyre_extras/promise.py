"""The spec of an op of words, as short as it can be said."""

from collections.abc import Callable
from typing import Any

from vyre import Call, DataType, Op
from vyre.conform.spec.law import AlgebraicLaw
from vyre.conform.spec.op import ExpressionForm, OpSpec
from vyre.ir.signature import OpSignature


def promise(op: Op, meaning: Callable[..., Any], *laws: AlgebraicLaw, edges: tuple[int, ...]) -> OpSpec:
    """`edges` are the values of an operand at which something may change."""
    words = tuple(DataType.U32 for _ in op.params)
    form = ExpressionForm(lambda operands: Call(op.id, operands))
    return OpSpec(
        op.id,
        OpSignature(words, DataType.U32),
        meaning,
        form,
        op.doc,
        laws=laws,
        boundaries=(edges,) * len(words),
    )
