"""Element types as the schema of an op has them: inputs of one type agree, and so do the outputs of it.

On the host sizes are whole numbers, and the type that a model gives them is kept beside them: exporters that
cast sizes to int32 compute with them beside tensors of int32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.ir.types import DataType
from vyre.onnx.values import I32, HostArray
from vyre.tensor import comparing as c
from vyre.tensor.defaults import element_of
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from vyre.onnx.values import OnnxNode

_T = DataType
_NAMES = {
    _T.F32: "float", _T.F16: "float16", _T.BF16: "bfloat16", _T.F64: "double", _T.Bool: "bool",
    _T.I8: "int8", _T.I16: "int16", _T.I32: "int32", _T.I64: "int64",
    _T.U8: "uint8", _T.U16: "uint16", _T.U32: "uint32",
}  # fmt: skip
"""The names of element types in the schemas of ONNX."""
KINDS = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 16: "bfloat16",
}  # fmt: skip
"""The element types that we have, by their numbers in ONNX."""


def element(value: Any) -> DataType | None:
    """The element type of a value; None if it is not a tensor of a type that we have."""
    if isinstance(value, Tensor):
        return value.element
    if not isinstance(value, HostArray):
        return None
    try:
        return element_of(value.kind if value.is_symbolic else value.array.dtype)
    except VyreError:
        return None


def required(ctx: OnnxNode, schema: Any) -> dict[str, DataType]:
    """The element type of each type variable. Raises `VyreError` for an input that is not of its type."""
    found: dict[str, tuple[int, DataType]] = {}
    for index, value in enumerate(ctx.inputs):
        formal = _formal(schema, index)
        kind = element(value)
        if kind is None or formal is None:
            continue
        if not _taken(schema, index, f"tensor({_NAMES[kind]})"):
            fix = "repair or export the model again; Cast converts by value."
            raise ctx.refuse(f"input {index} is {_NAMES[kind]}, which the op does not take", fix)
        if not formal.is_homogeneous:
            continue
        first, wanted = found.setdefault(formal.type_str, (index, kind))
        if wanted is not kind:
            what = f"input {first} is {_NAMES[wanted]} and input {index} is {_NAMES[kind]}"
            raise ctx.refuse(what, "repair or export the model again; Cast converts by value.")
    return {name: kind for name, (_, kind) in found.items()}


def _formal(schema: Any, index: int) -> Any:
    return schema.inputs[min(index, len(schema.inputs) - 1)] if schema.inputs else None


def _taken(schema: Any, index: int, name: str) -> bool:
    """Whether the op takes the type, in this version or in the newest: exporters were ahead of the schema."""
    from onnx import defs

    formals = (_formal(schema, index), _formal(defs.get_schema(schema.name), index))
    return any(formal is not None and name in formal.types for formal in formals)


def named(kinds: dict[str, DataType], schema: Any, made: Any) -> Any:
    """What a node made, whole numbers in the element types of its outputs."""
    if isinstance(made, list):
        values: list[Any] = made  # pyright: ignore[reportUnknownVariableType]
        return [_as(kinds.get(_variable(schema, i)), value) for i, value in enumerate(values)]
    return _as(kinds.get(_variable(schema, 0)), made)


def _variable(schema: Any, index: int) -> str:
    return schema.outputs[min(index, len(schema.outputs) - 1)].type_str


def _as(kind: DataType | None, value: Any) -> Any:
    if kind is not _T.I32 or element(value) is not _T.I64:
        return value
    if isinstance(value, Tensor):
        return c.astype(value, kind)
    if value.is_symbolic:
        return replace(value, kind=I32)
    return HostArray(value.array.astype(I32))
