"""Tensors that come from no argument: constants, counters, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import boundary
from vyre.graph.nodes import Constant, Iota
from vyre.graph.types import ValueType
from vyre.ir.types import DataType
from vyre.tensor.applying import counted
from vyre.tensor.scalars import element_bits
from vyre.tensor.shaping import broadcast_to, sizes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.graph.sizes import Size
    from vyre.tensor.value import V


def _bytes(values: Sequence[float], element: DataType) -> bytes:
    width = element.stride
    return b"".join(element_bits(v, element).to_bytes(width, "little") for v in values)


@boundary
def full_like(x: V, shape: Any, value: float, element: DataType | None = None) -> V:
    """A tensor of one value in the graph of `x`."""
    kind = element or x.element
    return broadcast_to(x.made(Constant(ValueType(kind), _bytes([value], kind))), shape)


@boundary
def constant(x: V, values: Sequence[float], element: DataType) -> V:
    """A table of one axis in the graph of `x`."""
    return x.made(Constant(ValueType(element, [len(values)]), _bytes(values, element)))


@boundary
def iota(x: V, shape: Any, axis: int, element: DataType = DataType.U32) -> V:
    """Each element is its coordinate along the axis."""
    return x.made(Iota(ValueType(element, sizes_of(shape)), axis))


def of_size(x: V, size: Size, element: DataType) -> V:
    """A dimension, dynamic or not, as a scalar of the graph of `x`, rounded to nearest."""
    if size.static is not None:
        return full_like(x, (), size.static, element)
    return counted(x, size, element)
