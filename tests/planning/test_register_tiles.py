"""Products by tiles in registers, on whatever backend is here: the bits of the kernel that has no tiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import vyre
from tests.planning.compared import as_array, random_elements
from tests.planning.forced import forced, results
from vyre.engines.memory import EngineMemory
from vyre.graph import (
    Accumulator,
    Broadcast,
    ElementWise,
    Graph,
    GraphNode,
    Input,
    MatMul,
    MulStep,
    Reshape,
    Size,
    Slice,
    Transpose,
    ValueType,
)
from vyre.ir.expr import Var, fadd
from vyre.ir.types import DataType
from vyre.lower.cuda import emit
from vyre.lower.prepare import prepare
from vyre.lower.ways import CUDA_WAYS
from vyre.planning import plan_graph
from vyre.planning.kernels.products import product_variants
from vyre.planning.kernels.registers import BROAD, LARGE, PACE, SMALL, TALL, Tile, best_tile, register_variant
from vyre.planning.kernels.thin import thin_variants
from vyre.planning.layout import lies_in_fours

if TYPE_CHECKING:
    from collections.abc import Mapping


T = DataType
TINY = Tile(32, 32, 4, 4, 8)
LAPPED = Tile(32, 32, 4, 4, 8, overlapped=True)
TEAM = frozenset({"cuda"})


def given(element: DataType, *shape: int | str) -> Input:
    return Input(ValueType(element, shape))


def require_same_bits(
    graph: Graph, tile: Tile | None, sizes: Mapping[str, int] | None = None, backend: str = "cpu"
) -> None:
    """By tiles, or by the kernel for few rows or columns, the bits are those of single elements."""
    arrays = {
        name: as_array(graph.inputs[name].element, value)
        for name, value in random_elements(graph, sizes or {}, 7).items()
    }
    plan = plan_graph(graph)
    fast = forced(
        plan, lambda site: register_variant(site, tile) if tile is not None else thin_variants(site)[0]
    )
    slow = forced(plan, lambda site: product_variants(site)[0])
    for have, wanted in zip(
        results(fast, arrays, backend=backend), results(slow, arrays, backend=backend), strict=True
    ):
        assert np.array_equal(have, wanted)


def product(left: DataType, right: DataType, accumulator: Accumulator, m: int, k: int, n: int) -> Graph:
    element = T.F32 if left.is_float else T[accumulator.value]
    values: dict[str, GraphNode] = {
        "a": given(left, m, k),
        "b": given(right, k, n),
        "y": MatMul("a", "b", accumulator, MulStep.FMulAdd, element),
    }
    return Graph(values, ["y"])


EDGES = [(32, 4, 32), (33, 5, 31), (1, 1, 1), (64, 12, 36), (31, 3, 40), (40, 8, 33), (65, 7, 4)]


@pytest.mark.parametrize("shape", EDGES, ids=str)
@pytest.mark.parametrize(("backend", "tile"), [("cpu", TINY), ("cpu", LAPPED), ("opencl", LAPPED)], ids=str)
def test_every_edge_gives_the_bits_of_single_elements(
    backend: str, tile: Tile, shape: tuple[int, int, int]
) -> None:
    require_same_bits(product(T.F32, T.F32, Accumulator.F32, *shape), tile, backend=backend)


@pytest.mark.parametrize("tile", PACE, ids=str)
@pytest.mark.parametrize("shape", [(128, 16, 128), (130, 21, 140)], ids=str)
def test_the_tiles_in_use_give_the_bits_of_single_elements(tile: Tile, shape: tuple[int, int, int]) -> None:
    require_same_bits(product(T.F32, T.F32, Accumulator.F32, *shape), tile)


@pytest.mark.parametrize("shape", [(1, 96, 40), (3, 70, 5), (40, 33, 1), (1, 32, 1), (2, 7, 9)], ids=str)
@pytest.mark.parametrize("backend", ["cpu", "opencl"])
def test_few_rows_or_columns_give_the_bits_of_single_elements(
    backend: str, shape: tuple[int, int, int]
) -> None:
    m, k, n = shape
    require_same_bits(product(T.F32, T.F32, Accumulator.F32, m, k, n), None, backend=backend)
    values: dict[str, GraphNode] = {
        "a": given(T.F32, m, k),
        "w": given(T.F32, n, k),
        "b": Transpose("w", (1, 0)),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulFAdd, T.F32),
        "z": ElementWise(fadd(Var("x0"), Var("x0")), ("y",), T.F32),
    }
    require_same_bits(Graph(values, ["z"]), None, backend=backend)


def test_few_rows_whose_number_is_told_by_the_call_take_the_kernel_for_few() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, "n", 64),
        "b": given(T.F32, 64, 256),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulAdd, T.F32),
    }
    kernel = plan_graph(Graph(values, ["y"])).chosen(TEAM)[0]
    labels = [kernel.variant({"n": n}, TEAM).label for n in (1, 16, 17, 40, 1 << 16)]
    few, tile = "32 elements a workgroup, loads ahead", "in registers"
    assert labels == [few, few, "tiles of 64 x 64", f"tiles of 64 x 64 {tile}", f"tiles of 128 x 128 {tile}"]


@pytest.mark.parametrize("step", MulStep)
def test_steps_that_a_mask_leaves_out_do_not_show(step: MulStep) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 2, 37, 13),
        "b": given(T.F32, 2, 13, 36),
        "mask": given(T.Bool, 2, 37, 13),
        "y": MatMul("a", "b", Accumulator.F32, step, T.F32, "mask"),
    }
    require_same_bits(Graph(values, ["y"]), TINY)


@pytest.mark.parametrize("left", [T.I8, T.U16, T.F16])
def test_other_elements_are_widened_on_their_way(left: DataType) -> None:
    accumulator = Accumulator.F32 if left.is_float else Accumulator.I32
    require_same_bits(product(left, left, accumulator, 40, 10, 36), TINY)


def test_sides_are_read_along_whichever_axis_lies_in_memory() -> None:
    """Turned, cut, reshaped and repeated sides, with what is computed behind the product."""
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 8, 3, 44),
        "b": given(T.F32, 40, 8),
        "c": given(T.F32, 40),
        "turned": Transpose("a", (1, 2, 0)),
        "cut": Slice("turned", (Size(0), Size(4), Size(0)), (Size(3), Size(44), Size(8)), (1, 1, 1)),
        "right": Transpose("b", (1, 0)),
        "rights": Broadcast("right", (Size(3), Size(8), Size(40))),
        "y": MatMul("cut", "rights", Accumulator.F32, MulStep.FMulAdd, T.F32),
        "bias": Broadcast("c", (Size(3), Size(40), Size(40))),
        "z": ElementWise(fadd(Var("x0"), Var("x1")), ("y", "bias"), T.F32),
        "flat": Reshape("a", (Size(24), Size(44))),
        "heads": Reshape("flat", (Size(24), Size(11), Size(4))),
        "head": Transpose("heads", (1, 0, 2)),
        "other": Transpose("heads", (1, 2, 0)),
        "w": MatMul("head", "other", Accumulator.F32, MulStep.FMulFAdd, T.F32),
    }
    require_same_bits(Graph(values, ["z", "w"]), TINY)


@pytest.mark.parametrize("length", [4, 37])
def test_lengths_that_are_told_by_the_call(length: int) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, "n", 12),
        "b": given(T.F32, 12, "n"),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulAdd, T.F32),
        "z": MatMul("y", "a", Accumulator.F32, MulStep.FMulAdd, T.F32),
    }
    require_same_bits(Graph(values, ["z"]), TINY, {"n": length})


def test_the_inner_loop_is_fused_steps_on_registers_and_wide_loads() -> None:
    """By the PTX: nothing lies in local memory, and every load of a side takes four words."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")
    from vyre.backends.cuda.backend import compile_source

    plan = plan_graph(product(T.F32, T.F32, Accumulator.F32, 4096, 4096, 4096))
    program = plan.chosen(TEAM)[0].variants[0].drafted.program
    ptx = compile_source(emit(prepare(program, ways=CUDA_WAYS)), "compute_90").decode()
    steps = LARGE.high * LARGE.wide * LARGE.deep
    assert len(re.findall(r"fma\.rn\.f32", ptx)) == steps
    assert len(re.findall(r"ld\.shared", ptx)) == (LARGE.high + LARGE.wide) * LARGE.deep
    assert len(re.findall(r"ld\.global\.nc\.v4", ptx)) == 4  # a tile of each side before the loop and in it
    assert not re.findall(r"ld\.global\.(?!nc\.v4)", ptx)
    assert ".local" not in ptx


def test_many_reads_of_a_tile_ask_once_whether_they_are_inside() -> None:
    """Rows of 1001 are read word by word: eight of each side for one look at its length."""
    graph = product(T.F32, T.F32, Accumulator.F32, 1001, 1001, 1001)
    plan = forced(plan_graph(graph), lambda site: register_variant(site, Tile(64, 64, 8, 8, 8)))
    text = emit(prepare(plan.kernels[0].variants[0].drafted.program, ways=CUDA_WAYS)).text
    for side, step in (("a0", 8 * 1001), ("a1", 1001)):
        places = [int(n) for n in re.findall(rf"\(b_{side} \+ \w+\)\[(\d+)u\]", text)]
        assert sorted(set(places)) == [n * step for n in range(1, 8)]


@pytest.mark.parametrize(
    ("shape", "tile"),
    [
        ((4096, 4096), LARGE),
        ((8192, 8192), LARGE),
        ((2048, 2048), LARGE),
        ((1024, 1024), SMALL),
        ((1536, 1536), SMALL),
        ((2999, 2999), SMALL),
        ((2000, 2000), LARGE),
        ((64, 1024, 64), TALL),
        ((64, 64, 2048), BROAD),
        ((40, 40), SMALL),
        ((0, 40), SMALL),
    ],
)
def test_the_tile_follows_the_shape(shape: tuple[int, ...], tile: Tile) -> None:
    assert best_tile(*shape) == tile


FOURS: dict[str, tuple[GraphNode, bool]] = {
    "whole": (Reshape("a", (Size(6), Size(8))), True),
    "turned": (Transpose("a", (1, 0)), False),
    "by four": (Slice("a", (Size(2), Size(4)), (Size(6), Size(8)), (1, 1)), True),
    "by two": (Slice("a", (Size(2), Size(2)), (Size(6), Size(8)), (1, 1)), False),
    "every other": (Slice("a", (Size(0), Size(0)), (Size(6), Size(8)), (1, 2)), False),
    "other rows": (Slice("a", (Size(1), Size(0)), (Size(6), Size(8)), (2, 1)), True),
    "repeated": (Broadcast("row", (Size(6), Size(8))), True),
    "short rows": (Reshape("a", (Size(8), Size(6))), False),
}


@pytest.mark.parametrize("name", FOURS)
def test_fours_are_seen_through_views(name: str) -> None:
    node, wanted = FOURS[name]
    graph = Graph({"a": given(T.F32, 6, 8), "row": given(T.F32, 8), "v": node}, ["v"])
    assert lies_in_fours(graph, "v", {"a", "row"}, -1) is wanted


def test_what_begins_between_four_words_is_copied() -> None:
    """A part of an array may lie anywhere on the device; kernels may load four words of it at once."""
    from vyre.backends.registry import get

    backend = get("opencl")
    buffer = vyre.to_device(np.arange(8, dtype=np.float32), backend=backend)
    memory = EngineMemory(backend)
    memory.give("x", T.F32, buffer)
    assert memory.bound("x") is buffer
    owner, first, last = buffer.memory.span
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(buffer.memory, "span", (owner, first + 4, last + 4))
        assert memory.give("x", T.F32, buffer) == 8
    assert memory.bound("x") is not buffer
    assert np.array_equal(memory.take("x"), np.arange(8, dtype=np.float32))
