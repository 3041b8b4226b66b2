"""Chains of reductions over rows as one kernel: the bits of the kernels that store every step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre.tensor as vt
from tests.planning.compared import as_array, random_elements
from tests.planning.test_planned_nodes import reductions
from vyre import nn
from vyre.graph import Graph, GraphNode, Input, Joining, Reduce, ValueType
from vyre.ir.operators import ReduceOrder
from vyre.ir.types import DataType
from vyre.planning import GraphPlan, plan_graph, run_graph
from vyre.planning.kernels import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TEAM = frozenset({"cuda"})


def _team(*_: object) -> frozenset[str]:
    return TEAM


def require_same_bits(
    plan: GraphPlan,
    arrays: Mapping[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    kinds: list[str],
    backend: str = "cpu",
) -> None:
    """The plan for teams has kernels of these kinds, and gives the bits of the one for every backend."""
    assert [kernel.kind for kernel in plan.chosen(TEAM)] == kinds
    wanted = run_graph(plan, arrays, backend=backend)
    monkeypatch.setattr(GraphPlan, "hardware", _team)
    found = run_graph(plan, arrays, backend=backend)
    for name, have in found.items():
        assert np.array_equal(have.view(np.uint8), wanted[name].view(np.uint8)), name


def softmax(x: vt.Tensor) -> vt.Tensor:
    return nn.softmax(x)


def layer_norm(x: vt.Tensor) -> vt.Tensor:
    weight = vt.arange(x.shape[-1]).astype("f32")
    return nn.layer_norm(x, weight, weight)


def rms_norm(x: vt.Tensor) -> vt.Tensor:
    return nn.rms_norm(x, vt.arange(x.shape[-1]).astype("f32"))


def log_softmax(x: vt.Tensor) -> vt.Tensor:
    return nn.log_softmax(x)


FUNCTIONS: list[Callable[[vt.Tensor], vt.Tensor]] = [softmax, layer_norm, rms_norm, log_softmax]


@pytest.mark.parametrize("length", [128, 131, 200, 1028, 2048])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_chain_over_rows_is_one_kernel_of_the_same_bits(
    function: Callable[[vt.Tensor], vt.Tensor], length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(length)
    x = rng.normal(size=(2, 1, 3, length)).astype(np.float32)
    x[0, 0, 1, ::7] = np.float32(-0.0)
    x[1, 0, 2, 5] = np.float32(np.nan)
    x[1, 0, 0, 9] = np.float32(np.inf)
    plan = vt.function(function).plan(x)
    require_same_bits(plan, {"x": x}, monkeypatch, kinds=["rows"])


@pytest.mark.parametrize("each", [8, 32, 64])
def test_how_many_elements_an_invocation_has_does_not_show(
    each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With many of them there are fewer invocations than results of four neighbours on the next level."""
    monkeypatch.setattr(rows, "EACH", each)
    x = np.random.default_rng(each).normal(size=(2, 2048)).astype(np.float32)
    require_same_bits(vt.function(layer_norm).plan(x), {"x": x}, monkeypatch, kinds=["rows"])


@pytest.mark.parametrize("backend", ["opencl", "wgpu"])
def test_rows_have_the_same_bits_on_other_backends(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(3).normal(size=(5, 150)).astype(np.float32)
    plan = vt.function(layer_norm).plan(x)
    require_same_bits(plan, {"x": x}, monkeypatch, kinds=["rows"], backend=backend)


def test_every_reduction_of_rows_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    values: dict[str, GraphNode] = {}
    for number, (element, accumulator, made, joining, order) in enumerate(reductions()):
        if joining not in (Joining.ArgMin, Joining.ArgMax) and order is ReduceOrder.TreeBinary:
            values[f"a{number}"] = Input(ValueType(element, (3, 300)))
            values[f"y{number}"] = Reduce(f"a{number}", (1,), joining, order, accumulator, made)
    graph = Graph(values, [name for name in values if name.startswith("y")])
    given = random_elements(graph, {}, 5)
    arrays = {name: as_array(graph.inputs[name].element, value) for name, value in given.items()}
    kinds = ["rows"] * len(graph.outputs)
    require_same_bits(plan_graph(graph), arrays, monkeypatch, kinds=kinds)


@pytest.mark.parametrize("length", [100, 128, 300])
def test_rows_whose_length_is_told_by_the_call_are_reduced_by_workgroups(
    length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Reduce("a", (1,), Joining.Add, ReduceOrder.TreeBinary, DataType.F32, DataType.F32)
    graph = Graph({"a": Input(ValueType(DataType.F32, (600, "n"))), "y": node}, ["y"])
    plan = plan_graph(graph)
    labels = [kernel.variant({"n": length}, TEAM).label for kernel in plan.chosen(TEAM)]
    assert labels == ["an invocation a row" if length < 128 else "a workgroup a row"]
    x = np.random.default_rng(length).normal(size=(600, length)).astype(np.float32)
    require_same_bits(plan, {"a": x}, monkeypatch, kinds=["reduce"])


def test_what_needs_other_rows_is_stored_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The transpose of a softmax, added to it, needs the sums of all rows."""
    x = np.random.default_rng(4).normal(size=(128, 128)).astype(np.float32)

    def crossed(x: vt.Tensor) -> vt.Tensor:
        made = nn.softmax(x)
        return made + vt.transpose(made)

    plan = vt.function(crossed).plan(x)
    require_same_bits(plan, {"x": x}, monkeypatch, kinds=["rows", "rows", "map"])


def test_a_chain_that_would_be_too_much_for_one_kernel_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(5).normal(size=(3, 128)).astype(np.float32)

    def deep(x: vt.Tensor) -> vt.Tensor:
        for _ in range(3):
            for _ in range(3):
                x = vt.exp(vt.sin(x))
            x = x - vt.sum(x, axis=-1, keepdims=True)
        return x

    plan = vt.function(deep).plan(x)
    require_same_bits(plan, {"x": x}, monkeypatch, kinds=["map", "rows", "rows"])


def test_attention_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    q, k, v = (rng.normal(size=(2, 130, 36)).astype(np.float32) for _ in range(3))

    def attended(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor) -> vt.Tensor:
        return nn.attention(q, k, v)

    plan = vt.function(attended).plan(q, k, v)
    kinds = ["matmul", "rows", "rows", "matmul"]
    require_same_bits(plan, {"q": q, "k": k, "v": v}, monkeypatch, kinds=kinds)
