"""What a tensor operation does where the caller does not say: one table, shown by the docs.

what                             default                                   named at the call by
sum, mean, prod of floats        the binary tree                           order="strict"
... accumulated in               F32 for F32, F16, BF16; F64 for F64       accumulator=
matmul of floats                 F32, one rounding a step, k ascending     accumulator=, step=
matmul of integers               I32, or U32 where both sides are unsigned accumulator=
min, max, argmin, argmax         NaN is greatest, the first of equals wins (fmin, fmax: a number wins)
softmax, norms, attention        computed in F32, rounded once
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.graph.nodes import Accumulator, MulStep
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from typing import Any

_T = DataType
_REDUCED = {_T.F32: _T.F32, _T.F16: _T.F32, _T.BF16: _T.F32, _T.F64: _T.F64}
_ORDERS = {"tree": ReduceOrder.TreeBinary, "strict": ReduceOrder.Strict}
_STEPS = {"fma": MulStep.FMulAdd, "mul_add": MulStep.FMulFAdd}
_NAMES = {kind.value.lower(): kind for kind in _T}
_NUMPY = {
    "float32": _T.F32,
    "float16": _T.F16,
    "bfloat16": _T.BF16,
    "float64": _T.F64,
    "float": _T.F64,
    "int": _T.I64,
    "uint32": _T.U32,
    "int32": _T.I32,
    "int64": _T.I64,
    "bool": _T.Bool,
    "int8": _T.I8,
    "uint8": _T.U8,
    "int16": _T.I16,
    "uint16": _T.U16,
}


def element_of(value: Any) -> DataType:
    """The element type that a user names: `vyre.f32`, `DataType.F32`, "f32", "float32" or a dtype."""
    if isinstance(value, DataType):
        return value
    declared = getattr(value, "__vyre_type__", None)
    if isinstance(declared, DataType):
        return declared
    name = str(getattr(value, "name", None) or getattr(value, "__name__", None) or value)
    name = name.rpartition(".")[2].lower()
    found = _NUMPY.get(name) or _NAMES.get(name)
    if found is None:
        raise VyreError(
            f"{value!r} does not name an element type.",
            fix='use vyre.f32, a NumPy dtype, or a name such as "f32", "bf16", "i8" or "bool".',
        )
    return found


def accumulator_of(element: DataType, named: Any) -> DataType:
    """In what elements are joined."""
    if named is not None:
        return element_of(named)
    if element in _REDUCED:
        return _REDUCED[element]
    return _T.U32 if element is _T.Bool else element.loaded


def order_of(named: str | None, element: DataType) -> ReduceOrder:
    if named is None:
        return ReduceOrder.TreeBinary
    if named not in _ORDERS:
        raise VyreError(f"the order {named!r} does not exist.", fix='use order="tree" or order="strict".')
    return _ORDERS[named] if element.is_float else ReduceOrder.TreeBinary


def product_of(
    left: DataType, right: DataType, accumulator: Any, step: str | None
) -> tuple[Accumulator, MulStep]:
    """How a product of matrices is summed."""
    if step is not None and step not in _STEPS:
        raise VyreError(f"the step {step!r} does not exist.", fix='use step="fma" or step="mul_add".')
    chosen = _STEPS[step or "fma"]
    if accumulator is not None:
        if str(accumulator).lower() == "exact":
            return Accumulator.Exact, chosen
        name = element_of(accumulator).value
        if name not in Accumulator.__members__:
            raise VyreError(
                f"a product of matrices is not summed in {name}.",
                fix='use accumulator= "f32", "f64", "i32", "u32" or "exact".',
            )
        return Accumulator[name], chosen
    if left.is_float:
        wide = _T.F64 in (left, right)
        return Accumulator.F64 if wide else Accumulator.F32, chosen
    signed = _T.I32 in (left.loaded, right.loaded)
    return Accumulator.I32 if signed else Accumulator.U32, chosen
