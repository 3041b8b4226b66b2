"""All ops of strict floats under one roof: of `soft`, the functions and their twins in doubles, guarded ones.

All but those of `soft` are built when they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.registry import Registry
from vyre.errors import OpError
from vyre.numeric.doubles import double_op
from vyre.numeric.functions import function_op
from vyre.numeric.functions.totals import total_op
from vyre.numeric.guarded import guarded_op
from vyre.numeric.soft import soft_ops

if TYPE_CHECKING:
    from vyre.ir.op import Op


class SoftRegistry(Registry):
    """Finds every id that `lowering` gives. Iteration and length cover the basic operations only."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(soft_ops())

    def get(self, op_id: str) -> Op | None:
        found = super().get(op_id) or function_op(op_id) or double_op(op_id) or total_op(op_id)
        return found or guarded_op(op_id)

    def __getitem__(self, op_id: str) -> Op:
        op = self.get(op_id)
        if op is None:
            raise OpError(f"there is no soft op {op_id}.", fix="take an id that `lowering` gives.")
        return op

    def __contains__(self, op_id: object) -> bool:
        return isinstance(op_id, str) and self.get(op_id) is not None
