"""Plans of whole graphs: one for every length, within the bound on memory, explained, refused by name."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.planning.block import Block
from tests.planning.compared import require_agreement
from tests.planning.test_planned_nodes import given, sizes
from vyre.backends.protocol import BackendInfo, BackendLimits
from vyre.backends.registry import available, described, get
from vyre.errors import DispatchError, UnsupportedByBackend, WireError
from vyre.graph import (
    Accumulator,
    Broadcast,
    Concat,
    Constant,
    Copy,
    ElementWise,
    Graph,
    GraphNode,
    Iota,
    Joining,
    MatMul,
    MulStep,
    Reduce,
    Reshape,
    Size,
    Transpose,
    ValueType,
)
from vyre.ir.expr import Cast, UnOp, Var, fadd, fmul
from vyre.ir.operators import ReduceOrder, UnaryOp
from vyre.ir.types import DataType
from vyre.planning import GraphPlan, plan_graph, run_graph

T = DataType
X0, X1 = Var("x0"), Var("x1")
N = Size("n")


def weights(graph: Graph, length: int, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        name: (rng.normal(size=of.resolved({"seq": length})) * 0.2).astype(np.float32)
        for name, of in graph.inputs.items()
    }


def test_a_small_block_agrees_with_the_evaluator_at_two_lengths() -> None:
    graph = Block(8, 2).graph
    for length in (1, 5):
        require_agreement(graph, {"seq": length})


def test_one_plan_serves_every_length_and_fusion_shows_in_no_bit() -> None:
    graph = Block(32, 2, layers=2).graph
    fused, unfused = plan_graph(graph), plan_graph(graph, fuse=False)
    assert len(fused.kernels) < len(unfused.kernels) / 2
    for length in (1, 40, 3, 40):
        inputs = weights(graph, length)
        one, other = (run_graph(plan, inputs, backend="cpu") for plan in (fused, unfused))
        for name in graph.outputs:
            assert one[name].shape == (length, 32)
            assert one[name].tobytes() == other[name].tobytes()
            assert np.isfinite(one[name]).all()


def test_layers_of_one_shape_share_their_programs() -> None:
    once, twice = (plan_graph(Block(32, 2, layers=n).graph) for n in (1, 3))
    programs = [{v.drafted.program for k in plan.kernels for v in k.variants} for plan in (once, twice)]
    assert programs[0] == programs[1]
    assert len(twice.kernels) == 3 * len(once.kernels)


@pytest.mark.parametrize("length", [1, 7, 16, 100, 512])
def test_memory_stays_near_the_bound(length: int) -> None:
    slots = plan_graph(Block(64, 4, layers=3).graph).bind({"seq": length}).slots
    assert slots.bound <= slots.peak <= 1.2 * slots.bound


def test_a_second_call_plans_and_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph({"a": given(T.F32, N), "y": ElementWise(fmul(X0, X0), ("a",), T.F32)}, ["y"])
    plan = plan_graph(graph)
    first = run_graph(plan, {"a": np.arange(4, dtype=np.float32)}, backend="cpu")

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("nothing is to be made again")

    monkeypatch.setattr("vyre.engines.run.recently_compiled", refused)
    monkeypatch.setattr("vyre.planning.plan.bound_plan", refused)
    monkeypatch.setattr("vyre.planning.plan.sizes_of", refused)
    second = run_graph(plan, {"a": np.full(4, 3, np.float32)}, backend="cpu")
    assert second["y"].tolist() == [9.0] * 4
    assert first["y"].tolist() == [0.0, 1.0, 4.0, 9.0]


def test_the_table_names_kernels_bytes_and_reasons() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, N, 4),
        "b": given(T.F32, 4, 6),
        "e": ElementWise(UnOp(UnaryOp.FExp, X0), ("a",), T.F32),
        "m": MatMul("e", "b", Accumulator.F32, MulStep.FMulAdd, T.F32),
        "t": Transpose("m", (1, 0)),
        "r": Reshape("t", sizes(N * 6)),
        "y": ElementWise(fadd(X0, X0), ("r",), T.F32),
    }
    table = plan_graph(Graph(values, ["y"])).explain({"n": 3})
    assert "e: a product of matrices takes casts and views alone" in table
    assert "r: its strides forbid a view, so that a reshape is a copy" in table
    assert "m: matmul, an invocation an element" in table
    assert str(3 * 4 * 4 + 4 * 6 * 4 + 3 * 6 * 4) in table
    with pytest.raises(DispatchError, match="no length for the dimension 'n'"):
        plan_graph(Graph(values, ["y"])).explain()
    lengths: list[Any] = ["3", 2.5, None]
    for length in lengths:
        with pytest.raises(DispatchError, match=rf"the length of 'n' is {length!r}, a value of"):
            plan_graph(Graph(values, ["y"])).explain({"n": length})


def test_casts_and_views_are_read_inside_a_product() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F16, 3, N),
        "b": given(T.F32, 5, N),
        "c": ElementWise(Cast(T.F32, X0), ("a",), T.F32),
        "t": Transpose("b", (1, 0)),
        "y": MatMul("c", "t", Accumulator.F32, MulStep.FMulAdd, T.F32),
    }
    plan = plan_graph(Graph(values, ["y"]))
    assert [kernel.root for kernel in plan.kernels] == ["y"]


def test_what_is_computed_for_each_element_of_a_broadcast_is_stored_unless_it_is_cheap() -> None:
    def kernels(op: UnaryOp) -> int:
        values: dict[str, GraphNode] = {
            "a": given(T.F32, N),
            "b": given(T.F32, 9, N),
            "f": ElementWise(UnOp(op, X0), ("a",), T.F32),
            "s": Broadcast("f", sizes(9, N)),
            "y": ElementWise(fadd(X0, X1), ("s", "b"), T.F32),
        }
        return len(plan_graph(Graph(values, ["y"])).kernels)

    assert kernels(UnaryOp.FNeg) == 1
    assert kernels(UnaryOp.FExp) == 2


def test_no_kernel_reads_more_buffers_than_webgpu_binds() -> None:
    values: dict[str, GraphNode] = {f"a{k}": given(T.F32, N) for k in range(24)}
    total = "a0"
    for k in range(1, 24):
        values[f"s{k}"] = ElementWise(fadd(X0, X1), (total, f"a{k}"), T.F32)
        total = f"s{k}"
    graph = Graph(values, [total])
    plan = plan_graph(graph)
    assert 3 <= len(plan.kernels) <= 5
    assert max(len(k.variants[0].drafted.reads) for k in plan.kernels) <= 7
    require_agreement(graph, {"n": 3})


def test_a_long_chain_is_cut_where_a_kernel_would_be_too_large() -> None:
    values: dict[str, GraphNode] = {"a": given(T.F32, N)}
    last = "a"
    for k in range(120):
        values[f"s{k}"] = ElementWise(UnOp(UnaryOp.FSqrt, X0), (last,), T.F32)
        last = f"s{k}"
    plan = plan_graph(Graph(values, [last]))
    assert 2 <= len(plan.kernels) <= 6


def test_a_wide_concatenation_agrees() -> None:
    values: dict[str, GraphNode] = {f"a{k}": given(T.F32, 2, N) for k in range(11)}
    values["y"] = Concat(tuple(f"a{k}" for k in range(11)), 1)
    graph = Graph(values, ["y"])
    require_agreement(graph, {"n": 2})
    plan = plan_graph(graph)
    assert max(len(k.variants[0].drafted.reads) for k in plan.kernels) <= 7


def test_a_plan_is_kept_in_bytes_and_gives_the_same_kernels() -> None:
    graph = Block(16, 2).graph
    for fuse in (True, False):
        plan = plan_graph(graph, fuse=fuse)
        again = GraphPlan.from_wire(plan.to_wire())
        assert (again.graph, again.fuse, again.digest) == (graph, fuse, plan.digest)
        assert again.kernels == plan.kernels
    data = bytearray(plan_graph(graph).to_wire())
    with pytest.raises(WireError, match="not the bytes of a plan"):
        GraphPlan.from_wire(bytes(data[:20]))
    data[20] ^= 1
    with pytest.raises(WireError, match="plans other kernels"):
        GraphPlan.from_wire(bytes(data))
    data[-1] ^= 1
    with pytest.raises(WireError):
        GraphPlan.from_wire(bytes(data))


def test_an_index_that_would_wrap_is_refused_by_name() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, N),
        "wide": Broadcast("a", sizes(1 << 16, N)),
        "y": Reduce("wide", (0,), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F32),
    }
    plan = plan_graph(Graph(values, ["y"]))
    with pytest.raises(DispatchError, match=r"'wide'.*would have 4294967296 elements"):
        plan.bind({"n": 1 << 16})


def test_wrong_inputs_are_refused_by_name() -> None:
    plan = plan_graph(Graph({"a": given(T.F32, N, 2), "y": Copy("a")}, ["y"]))
    with pytest.raises(DispatchError, match="'a' is missing"):
        run_graph(plan, {}, backend="cpu")
    with pytest.raises(DispatchError, match="holds F32 and got float64"):
        run_graph(plan, {"a": np.zeros((3, 2))}, backend="cpu")
    with pytest.raises(DispatchError, match="shape passed is"):
        run_graph(plan, {"a": np.zeros((3, 3), np.float32)}, backend="cpu")


def test_a_value_over_the_limit_of_a_device_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_graph(Graph({"a": given(T.F32, 4), "y": Concat(("a", "a"), 0)}, ["y"]))
    small = replace(described(get("cpu")), limits=BackendLimits(buffer_bytes=16))

    def told(_: object) -> BackendInfo:
        return small

    monkeypatch.setattr("vyre.planning.parts.described", told)
    with pytest.raises(DispatchError, match=r"'y' of type F32\[8\] takes 32 bytes; .* cpu accepts 16"):
        run_graph(plan, {"a": np.zeros(4, np.float32)}, backend="cpu")


def test_one_element_alone_keeps_the_bits_of_its_nan() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 2, N),
        "y": Reduce("a", (1,), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F32),
        "z": Reduce("a", (1,), Joining.FMax, ReduceOrder.TreeBinary, T.F32, T.F32),
    }
    plan = plan_graph(Graph(values, ["y", "z"]))
    for length, wanted in ((1, [0x7FA12345, 0x3F800000]), (2, [0x7FC00000, 0x40000000])):
        bits = np.array([[0x7FA12345] * length, [0x3F800000] * length], np.uint32)
        found = run_graph(plan, {"a": bits.view(np.float32)}, backend="cpu")
        assert found["y"].view(np.uint32).tolist() == wanted
    assert found["z"].view(np.uint32).tolist() == [0x7FC00000, 0x3F800000]


def test_results_are_arrays_of_their_own() -> None:
    graph = Graph({"a": given(T.U32, 3), "y": Copy("a")}, ["a", "y"])
    array = np.arange(3, dtype=np.uint32)
    plan = plan_graph(graph)
    found = run_graph(plan, {"a": array}, backend="cpu")
    run_graph(plan, {"a": array + 7}, backend="cpu")
    assert found["y"].tolist() == found["a"].tolist() == [0, 1, 2]
    assert not np.shares_memory(found["a"], array)


def test_doubles_whose_bits_are_summed_lie_in_memory() -> None:
    one = b"\0\0\0\0\0\0\xf0\x3f"
    values: dict[str, GraphNode] = {
        "a": given(T.F64, 3, N),
        "one": Constant(ValueType(T.F64), one),
        "ones": Broadcast("one", sizes(N, 2)),
        "two": ElementWise(fadd(X0, X0), ("one",), T.F64),
        "twos": Broadcast("two", sizes(N, 2)),
        "b": ElementWise(fadd(X0, X0), ("a",), T.F64),
        "y": MatMul("a", "ones", Accumulator.Exact, MulStep.FMulAdd, T.F64),
        "z": MatMul("b", "twos", Accumulator.Exact, MulStep.FMulAdd, T.F64),
    }
    graph = Graph(values, ["y", "z"])
    assert {kernel.root for kernel in plan_graph(graph).kernels} == {"two", "b", "y", "z"}
    require_agreement(graph, {"n": 4})


def test_a_plan_keeps_no_array_of_the_caller() -> None:
    plan = plan_graph(Graph({"a": given(T.F32, N), "y": Copy("a")}, ["y"]))
    array = np.zeros(1000, np.float32)
    seen = weakref.ref(array)
    result = run_graph(plan, {"a": array}, backend="cpu")["y"]
    made = weakref.ref(result if result.base is None else result.base)
    del array, result
    gc.collect()
    assert (seen(), made()) == (None, None)


def test_coordinates_alone_take_no_memory() -> None:
    shape = sizes(N, N)
    values: dict[str, GraphNode] = {
        "a": given(T.F32, N, N),
        "b": given(T.F32, N, N),
        "row": Iota(ValueType(T.U32, shape), 0),
        "column": Iota(ValueType(T.U32, shape), 1),
        "mask": ElementWise(Cast(T.Bool, X0 >= X1), ("row", "column"), T.Bool),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulAdd, T.F32, "mask"),
        "z": MatMul("b", "a", Accumulator.F32, MulStep.FMulAdd, T.F32, "mask"),
    }
    graph = Graph(values, ["y", "z"])
    assert {kernel.root for kernel in plan_graph(graph).kernels} == {"y", "z"}
    require_agreement(graph, {"n": 5})
    require_agreement(graph, {"n": 30})


OTHERS = [status.name for status in available() if status.available and status.name != "cpu"]


@pytest.mark.parametrize("backend", OTHERS)
def test_a_block_has_one_hash_on_every_backend(backend: str) -> None:
    graph = Block(16, 2).graph
    plan = plan_graph(graph)
    for length in (13, 2):
        inputs = weights(graph, length)
        try:
            found = run_graph(plan, inputs, backend=backend)
        except UnsupportedByBackend:
            pytest.skip(f"{backend} lacks an operation of the block")
        truth = run_graph(plan, inputs, backend="cpu")
        for name in graph.outputs:
            assert found[name].tobytes() == truth[name].tobytes()


@pytest.mark.parametrize("backend", [name for name in OTHERS if name != "reference"])
def test_narrow_elements_lie_in_shared_memory_of_every_backend(backend: str) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.I8, N, 3),
        "h": given(T.F16, N, 3),
        "b": Copy("a"),
        "c": ElementWise(X0 + X0, ("b",), T.I8),
        "d": Copy("c"),
        "i": Copy("h"),
        "j": ElementWise(fadd(X0, X0), ("i",), T.F16),
        "y": Reduce("d", (0,), Joining.Max, ReduceOrder.TreeBinary, T.I32, T.I8),
        "z": Reduce("j", (1,), Joining.Add, ReduceOrder.TreeBinary, T.F32, T.F16),
    }
    require_agreement(Graph(values, ["y", "z"]), {"n": 5}, backend=backend)


def test_a_reshape_to_the_same_shape_behind_a_product() -> None:
    text = (
        "vyre graph 1\n"
        "a = input F32[n, 1, 3]\n"
        "b = input F32[n, 3, 3]\n"
        "c = matmul(a, b) accumulator F32 step FMulAdd element F32\n"
        "d = reshape(c) shape [n, 1, 3]\n"
        "output d\n"
    )
    require_agreement(Graph.from_text(text), {"n": 2})


def test_a_plan_is_pickled_and_copied_after_calls_too() -> None:
    graph = Graph({"x": given(T.F32, N), "y": ElementWise(fadd(X0, X0), ("x",), T.F32)}, ["y"])
    plan = plan_graph(graph, fuse=False)
    x = np.arange(4, dtype=np.float32)
    run_graph(plan, {"x": x}, backend="cpu")
    for again in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert (again.digest, again.fuse) == (plan.digest, plan.fuse)
        assert np.array_equal(run_graph(again, {"x": x}, backend="cpu")["y"], x + x)
