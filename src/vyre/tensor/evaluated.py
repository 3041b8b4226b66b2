"""A graph on NumPy arrays by the reference evaluator: slow, and right by definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import BOOL, STORAGE
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.graph.graph import Graph
    from vyre.ir.types import DataType

_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def evaluated(graph: Graph, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """The outputs by name. The arrays have been held against the types of the inputs."""
    given = {name: elements(np.asarray(inputs[name])) for name in graph.inputs}
    made = evaluate(graph, given)
    return {name: array(made[name], graph.types[name].element) for name in graph.outputs}


def elements(values: NDArray[Any]) -> Elements:
    """The bits of an array."""
    whole = np.ascontiguousarray(values)
    if whole.dtype == BOOL:
        whole = whole.astype(np.uint32)
    whole = whole.astype(whole.dtype.newbyteorder("="), copy=False)
    bits: list[int] = whole.reshape(-1).view(_WORDS[whole.itemsize]).tolist()
    return Elements(values.shape, bits)


def array(value: Elements, element: DataType) -> NDArray[Any]:
    """The array of these bits; Bool as NumPy's own."""
    dtype = STORAGE[element]
    made = np.array(value.bits, _WORDS[dtype.itemsize]).view(dtype).reshape(value.shape)
    return made != 0 if element.name == "Bool" else made
