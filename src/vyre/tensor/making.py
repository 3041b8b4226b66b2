"""Tensors made inside a traced function: `full`, `zeros`, `ones`, `arange`, and arrays kept as constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.conversion import array
from vyre.backends.storage import BOOL, STORAGE
from vyre.errors import VyreError, boundary
from vyre.graph.nodes import Constant, Iota
from vyre.graph.types import ValueType
from vyre.ir.limits import MAX_GRAPH_CONSTANT_BYTES
from vyre.ir.types import DataType
from vyre.tensor.builder import current
from vyre.tensor.defaults import element_of
from vyre.tensor.scalars import element_bits, known_array
from vyre.tensor.shaping import broadcast_to, sizes_of
from vyre.tensor.tensor import Tensor
from vyre.tensor.value import operation

if TYPE_CHECKING:
    from vyre.graph.nodes import GraphNode
    from vyre.graph.sizes import SizeLike


def _made(node: GraphNode) -> Tensor:
    builder = current()
    return Tensor(builder, builder.add(node))


@boundary
def full(shape: Any, value: float, element: Any = DataType.F32) -> Tensor:
    """One value everywhere; the shape may hold sizes of other tensors."""
    kind = element_of(element)
    data = element_bits(value, kind).to_bytes(kind.stride, "little")
    return broadcast_to(_made(Constant(ValueType(kind), data)), shape)


@boundary
def zeros(shape: Any, element: Any = DataType.F32) -> Tensor:
    return full(shape, 0, element)


@boundary
def ones(shape: Any, element: Any = DataType.F32) -> Tensor:
    return full(shape, 1, element)


@operation
def full_like(x: Tensor, value: float) -> Tensor:
    """One value in the shape and the element type of `x`."""
    return full(x.type.shape, value, x.element)


@operation
def zeros_like(x: Tensor) -> Tensor:
    return full_like(x, 0)


@operation
def ones_like(x: Tensor) -> Tensor:
    return full_like(x, 1)


@boundary
def arange(
    start: SizeLike, stop: SizeLike | None = None, step: int = 1, *, element: Any = DataType.U32
) -> Tensor:
    """0, 1, … to before `start`, or from `start` to before `stop` by `step`, as U32 or I32."""
    kind = element_of(element)
    if stop is None:
        return _made(Iota(ValueType(kind, sizes_of(start)), 0))
    if not isinstance(step, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError(
            f"the step {step!r} is not a whole number.",
            fix="multiply instead: arange(count).astype(vyre.f32) * step.",
        )
    first, last = (size.static for size in sizes_of((start, stop)))
    if first is None or last is None or not step:
        raise VyreError(
            f"arange({start}, {stop}, {step}) has a dynamic bound or a step of 0.",
            fix="add to arange(count), whose count may be dynamic.",
        )
    if kind is DataType.U32 and min(first, last) < 0:
        raise VyreError(f"arange({start}, {stop}) does not fit U32.", fix="pass element=vyre.i32.")
    counted = _made(Iota(ValueType(DataType.I32, (len(range(first, last, step)),)), 0))
    made = counted * step + first
    return made.astype(kind)


@boundary
def eye(rows: SizeLike, columns: SizeLike | None = None, element: Any = DataType.F32) -> Tensor:
    """1 on the diagonal and 0 elsewhere."""
    shape = sizes_of((rows, rows if columns is None else columns))
    row, column = (_made(Iota(ValueType(DataType.U32, shape), axis)) for axis in (0, 1))
    return (row == column).astype(element)


@boundary
def constant(values: Any, element: Any = None) -> Tensor:
    """A small array as part of the graph; large ones are arguments of the function.

    With `element`, floats are rounded to its nearest value; other numbers that it does not hold are refused.
    """
    values = known_array(values)
    kind = element_of(values.dtype if element is None else element)
    made = array(values, kind, rounded=True)
    data = np.ascontiguousarray(made.astype(STORAGE[kind]) if made.dtype == BOOL else made).tobytes()
    if len(data) > MAX_GRAPH_CONSTANT_BYTES:
        raise VyreError(
            f"a constant of {len(data)} bytes is too large.", fix="pass the array as an argument instead."
        )
    return _made(Constant(ValueType(kind, made.shape), data))
