"""A graph on NumPy arrays by the reference evaluator: slow, and right by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import array_of_bits, bits_of
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.graph.graph import Graph


def evaluated(graph: Graph, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The outputs by name, Bool as NumPy's own. The arrays have been held against the types of the inputs."""
    arrays = {name: np.asarray(inputs[name]) for name in graph.inputs}
    given = {name: Elements(array.shape, bits_of(array)) for name, array in arrays.items()}
    made = evaluate(graph, given)
    return {name: _array(made[name], graph.types[name].element) for name in graph.outputs}


def _array(value: Elements, element: DataType) -> NDArray[Any]:
    made = array_of_bits(element, value.bits, value.shape)
    return made != 0 if element is DataType.Bool else made
