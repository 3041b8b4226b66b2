"""What a function that a kernel calls gives back: its type, and the value it starts from."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from vyre.frontend.intrinsics import make
from vyre.frontend.operators import constant
from vyre.frontend.signature import evaluate, value_type
from vyre.frontend.stored import not_a_value
from vyre.frontend.values import Const, Value
from vyre.ir.types import FLOAT_TYPES, STORED_TYPES, DataType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.frontend.source import Source


def result_type(source: Source, names: Mapping[str, Any]) -> DataType | None:
    """The annotated type; None for a function that gives nothing back."""
    returns = source.tree.returns
    if returns is None or (isinstance(returns, ast.Constant) and returns.value is None):
        return None
    output = value_type(evaluate(source, returns, names, source.function.__annotations__.get("return")))
    if output is None or output is DataType.Bytes:
        source.fail(
            returns, "this is not a type that a result can have.", "use a type such as u32, f32 or boolean."
        )
    if output in STORED_TYPES:
        source.fail(returns, *not_a_value(output))
    return output


def zero(kind: DataType) -> Value:
    """The value that a result has until a `return` gives it one."""
    if kind in (DataType.Vec2U32, DataType.Vec4U32):
        return make(kind, (Const(0),) * kind.lanes)
    number: bool | int | float = 0.0 if kind in FLOAT_TYPES else False if kind is DataType.Bool else 0
    return constant(Const(number), kind)
