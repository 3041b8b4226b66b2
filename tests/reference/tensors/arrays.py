"""NumPy arrays as elements of graphs and back, and graphs of a single node."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from vyre.graph import Graph, Input, ValueType
from vyre.ir.types import DataType
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from vyre.graph import GraphNode

DTYPES: dict[DataType, Any] = {
    DataType.F32: np.float32,
    DataType.F16: np.float16,
    DataType.BF16: ml_dtypes.bfloat16,
    DataType.F64: np.float64,
    DataType.U32: np.uint32,
    DataType.I32: np.int32,
    DataType.Bool: np.uint32,
    DataType.I64: np.int64,
    DataType.I8: np.int8,
    DataType.U8: np.uint8,
    DataType.I16: np.int16,
    DataType.U16: np.uint16,
}
NAMES = "abcdef"


def elements(t: DataType, values: Any) -> Elements:
    """An array, or lists of numbers, as elements of the type."""
    array = np.ascontiguousarray(np.asarray(values, DTYPES[t]))
    shape = np.asarray(values).shape
    return Elements(shape, array.reshape(-1).view(f"u{array.itemsize}").tolist())


def array(t: DataType, given: Elements) -> NDArray[Any]:
    dtype = np.dtype(DTYPES[t])
    return np.array(given.bits, f"u{dtype.itemsize}").view(dtype).reshape(given.shape)


def bits(t: DataType, value: float) -> int:
    return elements(t, [value]).bits[0]


def graph_of(node: GraphNode, operands: Sequence[tuple[DataType, Elements]]) -> Graph:
    """The node over inputs `a`, `b`, … of static shapes; its value is `y`."""
    inputs = [(NAMES[i], Input(ValueType(t, of.shape))) for i, (t, of) in enumerate(operands)]
    return Graph([*inputs, ("y", node)], ["y"])


def value_of(node: GraphNode, *operands: tuple[DataType, Any]) -> Elements:
    """What the node gives over operands `a`, `b`, …: pairs of a type and an array, or elements."""
    given = [(t, v if isinstance(v, Elements) else elements(t, v)) for t, v in operands]
    graph = graph_of(node, given)
    return evaluate(graph, {NAMES[i]: of for i, (_, of) in enumerate(given)})["y"]


def array_of(node: GraphNode, *operands: tuple[DataType, Any]) -> NDArray[Any]:
    """The same as an array."""
    given = [(t, v if isinstance(v, Elements) else elements(t, v)) for t, v in operands]
    return array(graph_of(node, given).types["y"].element, value_of(node, *given))


def rounded(t: DataType, exact: Fraction) -> int:
    """The bits nearest to a rational number, ties to even, found among the neighbours of a first guess."""
    dtype = np.dtype(DTYPES[t])
    guess = bits(t, float(exact))

    def distance(candidate: int) -> tuple[Fraction, int]:
        number = np.array([candidate], f"u{dtype.itemsize}").view(dtype)[0]
        return abs(Fraction(float(number)) - exact), candidate & 1

    sign = 1 << (8 * dtype.itemsize - 1)
    near = [guess, *(guess + step for step in (-1, 1) if guess & ~sign)]
    return min(near, key=distance)
