"""A wrong runner of graphs is seen, and the graph is cut down to where it goes wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE
from vyre.conform.diff.graphs import GraphCase, first_difference, smallest
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.graph import Accumulator, Copy, ElementWise, Graph, Input, MatMul, MulStep, Transpose, ValueType
from vyre.ir import BinaryOp, BinOp, DataType, Var
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.graph import GraphNode

_T = DataType


def elements_of(graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Elements]:
    made: dict[str, Elements] = {}
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array).reshape(-1)
        made[name] = Elements(array.shape, flat.view(f"u{array.itemsize}").tolist())
        assert array.dtype == STORAGE[graph.types[name].element]
    return made


def right(graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The evaluator as if it were a backend."""
    made: dict[str, NDArray[Any]] = {}
    for name, value in evaluate(graph, elements_of(graph, arrays)).items():
        dtype = STORAGE[graph.types[name].element]
        made[name] = np.array(value.bits, f"u{dtype.itemsize}").view(dtype).reshape(value.shape)
    return made


def without_masks(graph: Graph, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A backend that drops the mask of every product."""

    def unmasked(node: GraphNode) -> GraphNode:
        if not isinstance(node, MatMul):
            return node
        return MatMul(node.left, node.right, node.accumulator, node.step, node.element)

    values = [(name, unmasked(node)) for name, node in graph.values]
    return right(Graph(values, graph.outputs), arrays)


def test_what_is_right_has_no_difference() -> None:
    for seed in range(25):
        graph = random_graph(seed)
        for sizes in random_sizes(graph, seed):
            assert first_difference(GraphCase(graph, random_inputs(graph, sizes, seed)), right) is None


def test_a_bool_may_come_back_as_one_byte() -> None:
    graph = Graph([("x", Input(ValueType(_T.Bool, (2,))))], ["x"])
    case = GraphCase(graph, {"x": Elements((2,), [0, 1])})
    assert first_difference(case, lambda _, arrays: {"x": arrays["x"] != 0}) is None
    found = first_difference(case, lambda _, arrays: {"x": arrays["x"] == 0})
    assert str(found) == "x[0] is 0x00000001, and the evaluator says 0x00000000"


def test_another_shape_or_width_is_a_difference() -> None:
    graph = Graph([("x", Input(ValueType(_T.F32, (2, 1))))], ["x"])
    case = GraphCase(graph, {"x": Elements((2, 1), [0, 0])})
    flat = first_difference(case, lambda _, arrays: {"x": arrays["x"].reshape(-1)})
    assert str(flat) == "x is float32 [2], and the evaluator says F32 [2, 1]"
    wide = first_difference(case, lambda _, arrays: {"x": arrays["x"].astype(np.float64)})
    assert str(wide) == "x is float64 [2, 1], and the evaluator says F32 [2, 1]"


def test_a_dropped_mask_is_cut_out_of_its_graph() -> None:
    twice = ElementWise(BinOp(BinaryOp.FAdd, Var("x0"), Var("x0")), ("x",), _T.F32)
    graph = Graph(
        [
            ("x", Input(ValueType(_T.F32, ("n", 2)))),
            ("mask", Input(ValueType(_T.Bool, ("n", 2)))),
            ("y", twice),
            ("t", Transpose("y", (1, 0))),
            ("product", MatMul("y", "t", Accumulator.F32, MulStep.FMulAdd, _T.F32, "mask")),
            ("back", Transpose("product", (1, 0))),
            ("last", Copy("back")),
        ],
        ["y", "last", "t"],
    )
    ones = [0x3F80_0000] * 6
    case = GraphCase(graph, {"x": Elements((3, 2), ones), "mask": Elements((3, 2), [1, 1, 1, 1, 0, 1])})
    found = first_difference(case, without_masks)
    assert str(found) == "last[0, 2] is 0x41000000 (8.0), and the evaluator says 0x40800000 (4.0)"

    def differs(tried: GraphCase) -> bool:
        return first_difference(tried, without_masks) is not None

    small = smallest(case, differs)
    assert differs(small)
    assert small.graph.outputs == ("last",)
    kinds = {name: type(node).__name__ for name, node in small.graph.values}
    assert kinds["y"] == kinds["t"] == "Input"
    assert "x" not in small.inputs or kinds["x"] == "Input"
    assert small.inputs.keys() == small.graph.inputs.keys()
