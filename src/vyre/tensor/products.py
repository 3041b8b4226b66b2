"""Products of matrices, whose accumulator and step are named or those of `defaults`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError
from vyre.graph.nodes import MatMul
from vyre.ir.types import DataType
from vyre.tensor.applying import LONG_FIX, refused
from vyre.tensor.defaults import element_of, product_of
from vyre.tensor.mixed import mixed
from vyre.tensor.shaping import broadcast_to, common_shape, expand_dims, reshape
from vyre.tensor.value import operation, require

if TYPE_CHECKING:
    from vyre.graph.nodes import Accumulator
    from vyre.tensor.value import V


@operation
def matmul(
    a: V,
    b: V,
    *,
    accumulator: Any = None,
    step: str | None = None,
    element: Any = None,
    mask: V | None = None,
) -> V:
    """[..., m, k] times [..., k, n], k ascending; axes before the last two broadcast.

    A vector is a row on the left and a column on the right. `element` is what the sums are rounded to. Where
    `mask`, of Bool and [..., m, k], is False, the step is left out. The accumulator "exact"
    rounds the exact sum once.
    """
    require(b, "matmul")
    if a.ndim == 0 or b.ndim == 0:
        raise VyreError(f"{a.type} @ {b.type} has a scalar as an operand.", fix="use * instead.")
    if DataType.I64 in (a.element, b.element):
        raise refused("matmul()", DataType.I64, LONG_FIX)
    if a.element.is_float != b.element.is_float:
        raise mixed(a.element, b.element, f" in {a.type} @ {b.type}")
    row, column = a.ndim == 1, b.ndim == 1
    left = expand_dims(a, 0) if row else a
    right = expand_dims(b, 1) if column else b
    if left.type.shape[-1] != right.type.shape[-2]:
        raise VyreError(
            f"{a.type} @ {b.type}: {left.type.shape[-1]} columns meet {right.type.shape[-2]} rows.",
            fix="make the last axis of the left side as long as the one before the last of the right side.",
        )
    shapes = [left.type.shape[:-2], right.type.shape[:-2]]
    if mask is not None:
        shapes.append(mask.type.shape[:-2])
    batch = common_shape(shapes)
    left = broadcast_to(left, (*batch, *left.type.shape[-2:]))
    right = broadcast_to(right, (*batch, *right.type.shape[-2:]))
    chosen, way = product_of(a.element, b.element, accumulator, step)
    gives = _output(a.element, b.element, chosen) if element is None else element_of(element)
    masked = None if mask is None else broadcast_to(mask, left.type.shape).name
    made = left.made(MatMul(left.name, right.name, chosen, way, gives, masked))
    shape = made.type.shape
    if row or column:
        made = reshape(made, (*shape[:-2], *(() if row else shape[-2:-1]), *(() if column else shape[-1:])))
    return made


def _output(left: DataType, right: DataType, accumulator: Accumulator) -> DataType:
    """What the sums are rounded to: the type of the operands where they agree, else the wider one."""
    if not left.is_float:
        return DataType[accumulator.value]
    if left is right:
        return left
    return DataType.F64 if DataType.F64 in (left, right) else DataType.F32
