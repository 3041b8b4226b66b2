"""The integer primitives, one file for each integer operator; a file may have any name."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

from vyre.errors import OpError
from vyre.ir.operators import INTEGER_BINARY_OPS, INTEGER_UNARY_OPS

if TYPE_CHECKING:
    from vyre.conform.spec.op import OpSpec


def specs() -> list[OpSpec]:
    """The spec of every integer operator, in the order of the operators."""
    files = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    made: dict[str, OpSpec] = {file.SPEC.id: file.SPEC for file in files}
    for op in (*INTEGER_BINARY_OPS, *INTEGER_UNARY_OPS):
        if op.row.op_id not in made:
            raise OpError(
                f"the operator {op.value} has no spec.",
                fix=f"add a file to conform/registry/primitive/ whose SPEC is {op.row.op_id}.",
            )
    return [made[op.row.op_id] for op in (*INTEGER_BINARY_OPS, *INTEGER_UNARY_OPS)]
