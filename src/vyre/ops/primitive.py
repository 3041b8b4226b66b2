"""`primitive.*`: the integer operators of the language on U32, one op each (decision 20)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.expr import BinOp, UnOp
from vyre.ir.operators import PRIMITIVE_BINARY_OPS, PRIMITIVE_UNARY_OPS
from vyre.ops.build import A, B, binary, unary

if TYPE_CHECKING:
    from vyre.ir.op import Op


def ops() -> list[Op]:
    return [
        *(binary(op.row.op_id, BinOp(op, A, B), op.row.doc) for op in PRIMITIVE_BINARY_OPS),
        *(unary(op.row.op_id, UnOp(op, A), op.row.doc) for op in PRIMITIVE_UNARY_OPS),
    ]
