"""Tensors made inside a traced function: `full`, `zeros`, `ones`, `arange`, and arrays kept as constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError, boundary
from vyre.graph.nodes import Constant, Iota
from vyre.graph.types import ValueType
from vyre.ir.limits import MAX_GRAPH_CONSTANT_BYTES
from vyre.ir.types import DataType
from vyre.tensor.builder import current
from vyre.tensor.defaults import element_of
from vyre.tensor.scalars import element_bits
from vyre.tensor.shaping import broadcast_to, sizes_of
from vyre.tensor.tensor import Tensor

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


@boundary
def arange(count: SizeLike, element: Any = DataType.U32) -> Tensor:
    """0, 1, … as U32 or I32."""
    return _made(Iota(ValueType(element_of(element), sizes_of(count)), 0))


@boundary
def constant(values: Any, element: Any = None) -> Tensor:
    """A small array as part of the graph; large ones are arguments of the function."""
    array = np.asarray(values) if element is None else np.asarray(values, dtype=_dtype(element))
    kind = element_of(array.dtype if element is None else element)
    if array.dtype == np.bool_:
        array = array.astype(np.uint32)
    data = np.ascontiguousarray(array).tobytes()
    if len(data) > MAX_GRAPH_CONSTANT_BYTES:
        raise VyreError(f"a constant of {len(data)} bytes.", fix="pass the array as an argument instead.")
    return _made(Constant(ValueType(kind, array.shape), data))


def _dtype(element: Any) -> str:
    kind = element_of(element)
    names = {DataType.Bool: "?", DataType.F32: "f4", DataType.F16: "f2", DataType.F64: "f8"}
    if kind is DataType.BF16:
        raise VyreError("a constant of bf16 from numbers.", fix="make it f32 and use astype(vyre.bf16).")
    return names.get(kind) or f"{'u' if kind.value[0] == 'U' else 'i'}{kind.stride}"
