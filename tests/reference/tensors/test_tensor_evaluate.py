"""Graphs as wholes: several outputs, dynamic lengths, wrong inputs and the budget of steps."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tests.reference.tensors.arrays import elements
from vyre.errors import DispatchError, StepBudgetExceeded
from vyre.graph import (
    NODES,
    Accumulator,
    Broadcast,
    Concat,
    Copy,
    ElementWise,
    Graph,
    GraphNode,
    Input,
    Joining,
    MatMul,
    MulStep,
    Reduce,
    Scan,
    Size,
    Slice,
    Transpose,
    ValueType,
)
from vyre.ir import BinaryOp, BinOp, DataType, Var
from vyre.ir.operators import ReduceOrder
from vyre.reference.tensors import Elements, evaluate
from vyre.reference.tensors.evaluate import _Evaluation  # pyright: ignore[reportPrivateUsage]

_T = DataType
SEQ = Size("seq")
X = Input(ValueType(_T.U32, (SEQ, 2)))


def test_every_length_of_a_dynamic_dimension() -> None:
    shifted = Slice("twice", (SEQ, Size(0)), (SEQ * 2 - 1, Size(2)), (1, 1))
    graph = Graph([("x", X), ("twice", Concat(("x", "x"), 0)), ("y", shifted)], ["y", "twice", "y"])
    for length in (1, 2, 5):
        x = np.arange(2 * length, dtype=np.uint32).reshape(length, 2)
        got = evaluate(graph, {"x": elements(_T.U32, x)})
        assert list(got) == ["y", "twice"]
        assert got["y"] == elements(_T.U32, x[:-1])
    with pytest.raises(DispatchError, match="seq - 1"):
        evaluate(graph, {"x": Elements((0, 2), [])})


def test_an_input_may_be_an_output() -> None:
    assert evaluate(Graph([("x", X)], ["x"]), {"x": Elements((1, 2), [3, 4])})["x"].bits == [3, 4]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Elements((2, 2), [1, 2, 3]), r"the input 'x' has 3 elements and its shape \[2, 2\] has 4"),
        (Elements((1, 2), [1, 1 << 32]), "not the bits of U32"),
        (Elements((1, 2), [-1, 1]), "not the bits of U32"),
        (Elements((2,), [1, 2]), "pass an array of 2 axes"),
    ],
)
def test_wrong_elements_are_refused(given: Elements, message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        evaluate(Graph([("x", X)], ["x"]), {"x": given})


@pytest.mark.parametrize(
    "node",
    [
        Broadcast("x", (Size(1 << 20), SEQ, Size(2))),
        Scan("x", 0, Joining.Add, _T.U32, _T.U32),
        MatMul("t", "x", Accumulator.U32, MulStep.FMulAdd, _T.U32),
        ElementWise(BinOp(BinaryOp.Add, Var("x0"), Var("x0")), ("x",), _T.U32),
    ],
)
def test_the_work_is_bounded(node: GraphNode) -> None:
    graph = Graph([("x", X), ("t", Transpose("x", (1, 0))), ("y", node)], ["y"])
    with pytest.raises(StepBudgetExceeded, match="up to 'y' takes more than 1000 steps"):
        evaluate(graph, {"x": Elements((200, 2), [1] * 400)}, step_budget=1000)


def test_a_budget_is_for_the_whole_graph() -> None:
    graph = Graph([("x", X), ("a", Copy("x")), ("y", Copy("a"))], ["y"])
    x = Elements((50, 2), [1] * 100)
    assert evaluate(graph, {"x": x}, step_budget=200)["y"] == x
    with pytest.raises(StepBudgetExceeded, match="up to 'y'"):
        evaluate(graph, {"x": x}, step_budget=199)


def test_expressions_share_the_budget() -> None:
    doubled = BinOp(BinaryOp.Add, Var("x0"), Var("x0"))
    once = Graph([("x", X), ("y", ElementWise(doubled, ("x",), _T.U32))], ["y"])
    twice = Graph([*once.values, ("z", ElementWise(doubled, ("y",), _T.U32))], ["z"])
    x = Elements((50, 2), [1] * 100)
    assert evaluate(once, {"x": x}, step_budget=1000)["y"].bits == [2] * 100
    with pytest.raises(StepBudgetExceeded, match="up to 'z'"):
        evaluate(twice, {"x": x}, step_budget=1000)


def test_an_empty_axis_is_joined_for_every_place() -> None:
    sums = Reduce("x", (0,), Joining.Add, ReduceOrder.TreeBinary, _T.U32, _T.U32)
    assert evaluate(Graph([("x", X), ("y", sums)], ["y"]), {"x": Elements((0, 2), [])})["y"].bits == [0, 0]


def test_a_node_without_a_meaning_is_seen() -> None:
    graph = Graph([("x", X)], ["x"])
    with pytest.raises(TypeError, match="GraphNode has no meaning"):
        _Evaluation(graph, {"seq": 1}, 100).value("x", GraphNode())
    assert GraphNode not in NODES


def test_no_numpy_is_loaded() -> None:
    code = "import sys, vyre.reference.tensors; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
