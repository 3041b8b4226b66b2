"""A graph on NumPy arrays by the reference evaluator: slow, and right by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.backends.foreign import host_array
from vyre.backends.storage import array_of_bits, bits_of
from vyre.engines.memory import as_array
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.graph.graph import Graph


def evaluated(graph: Graph, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The outputs by name, Bool as NumPy's own. Raises `VyreError` for an array of another element type."""
    given = {name: _elements(name, kind.element, inputs[name]) for name, kind in graph.inputs.items()}
    made = evaluate(graph, given)
    return {name: _array(made[name], graph.types[name].element) for name in graph.outputs}


def _elements(name: str, element: DataType, value: Any) -> Elements:
    array = host_array(f"the input {name!r}", value)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)  # any order of bytes, by value
    return Elements(array.shape, bits_of(as_array(name, element, array)))


def _array(value: Elements, element: DataType) -> NDArray[Any]:
    made = array_of_bits(element, value.bits, value.shape)
    return made != 0 if element is DataType.Bool else made
