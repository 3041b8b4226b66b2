"""Products with few rows or columns, whose long side is streamed: the bits of single elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.planning.compared import as_array, random_elements
from tests.planning.forced import forced, results
from vyre.graph import (
    Accumulator,
    Broadcast,
    Graph,
    GraphNode,
    Input,
    MatMul,
    MulStep,
    Size,
    Transpose,
    ValueType,
)
from vyre.ir.types import DataType
from vyre.planning import plan_graph
from vyre.planning.kernels.products import product_variants
from vyre.planning.kernels.site import Site
from vyre.planning.kernels.thin import USUAL, Streaming, thin_variants

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.planning.kernels.site import Variant

T = DataType
TEAM = frozenset({"cuda"})
TINY = Streaming(2, 32, 2)
"""Many panels where there are few k."""


def given(element: DataType, *shape: int | str) -> Input:
    return Input(ValueType(element, shape))


def product(left: Input, right: Input, accumulator: Accumulator = Accumulator.F32) -> Graph:
    element = T[accumulator.value]
    made = MatMul("a", "b", accumulator, MulStep.FMulAdd, element)
    return Graph({"a": left, "b": right, "y": made}, ["y"])


def variants(graph: Graph, way: Streaming) -> list[Variant]:
    plan = plan_graph(graph)
    (kernel,) = (kernel for kernel in plan.kernels if kernel.kind == "matmul")
    site = Site(plan.lowered, plan.fusion, kernel.root, plan.fusion.core.get(kernel.root))
    return list(thin_variants(site, way))


def require_same_bits(
    graph: Graph, way: Streaming = TINY, sizes: Mapping[str, int] | None = None, count: int = 1
) -> None:
    """There are so many ways to see what is few, and each gives the bits of single elements."""
    elements = random_elements(graph, sizes or {}, 7).items()
    arrays = {name: as_array(graph.inputs[name].element, value) for name, value in elements}
    plan = plan_graph(graph)
    (wanted,) = results(forced(plan, lambda site: product_variants(site)[0]), arrays)
    assert len(variants(graph, way)) == count
    for number in range(count):
        kernel = forced(plan, lambda site, number=number: thin_variants(site, way)[number])
        (have,) = results(kernel, arrays)
        assert np.array_equal(have, wanted), number


WAYS = [Streaming(2, 32, 1), TINY, Streaming(1, 32, 3), Streaming(4, 64, 4), Streaming(8, 128, 2)]


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("turned", [False, True])
def test_how_panels_come_does_not_show(way: Streaming, turned: bool) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 3, 300),
        "w": given(T.F32, 36, 300) if turned else given(T.F32, 300, 36),
        "b": Transpose("w", (1, 0) if turned else (0, 1)),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulAdd, T.F32),
    }
    require_same_bits(Graph(values, ["y"]), way)


@pytest.mark.parametrize(
    ("shape", "count"),
    [((1, 64, 33), 1), ((16, 100, 5), 2), ((33, 70, 3), 1), ((40, 65, 1), 1)],
    ids=str,
)
def test_few_of_either(shape: tuple[int, int, int], count: int) -> None:
    m, k, n = shape
    require_same_bits(product(given(T.F32, m, k), given(T.F32, k, n)), count=count)


@pytest.mark.parametrize(
    ("element", "accumulator"),
    [(T.F64, Accumulator.F64), (T.F32, Accumulator.F64), (T.F16, Accumulator.F32), (T.I8, Accumulator.I32)],
    ids=str,
)
def test_other_elements(element: DataType, accumulator: Accumulator) -> None:
    require_same_bits(product(given(element, 3, 70), given(element, 70, 40), accumulator))


@pytest.mark.parametrize("step", MulStep)
def test_steps_that_a_mask_leaves_out(step: MulStep) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, 2, 3, 70),
        "b": given(T.F32, 2, 70, 20),
        "mask": given(T.Bool, 2, 3, 70),
        "y": MatMul("a", "b", Accumulator.F32, step, T.F32, "mask"),
    }
    require_same_bits(Graph(values, ["y"]))


@pytest.mark.parametrize("batch", [3, 24])
def test_batches_with_a_right_side_in_common_are_rows(batch: int) -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, batch, 2, 64),
        "w": given(T.F32, 64, 40),
        "b": Broadcast("w", (Size(batch), Size(64), Size(40))),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulAdd, T.F32),
    }
    graph = Graph(values, ["y"])
    assert [variant.groups({}) for variant in variants(graph, TINY)] == [2 * -(-2 * batch // 16)]
    require_same_bits(graph)


@pytest.mark.parametrize("length", [1, 15])
def test_lengths_that_are_told_by_the_call(length: int) -> None:
    graph = product(given(T.F32, "n", 64), given(T.F32, 64, "m"))
    require_same_bits(graph, sizes={"n": length, "m": 37}, count=2)


def test_a_depth_that_is_told_by_the_call() -> None:
    require_same_bits(product(given(T.F32, 2, "k"), given(T.F32, "k", 36)), sizes={"k": 101})


@pytest.mark.parametrize("accumulator", [Accumulator.F32, Accumulator.F64, Accumulator.I32])
@pytest.mark.parametrize(("rows", "columns"), [(1, 4), (16, 4), (4, 16), (200, 1), (64, 64)])
def test_a_product_over_nothing_is_planned(rows: int, columns: int, accumulator: Accumulator) -> None:
    element = T[accumulator.value]
    graph = product(given(element, rows, 0), given(element, 0, columns), accumulator)
    assert variants(graph, USUAL) == []
    assert plan_graph(graph).bind({}, TEAM).hardware == TEAM


def test_what_fills_the_last_panel_leaves_minus_zero_as_it_is() -> None:
    graph = product(given(T.F32, 1, 33), given(T.F32, 33, 4))
    arrays = {"a": np.full((1, 33), -1e-30, np.float32), "b": np.full((33, 4), 1e-30, np.float32)}
    (have,) = results(forced(plan_graph(graph), lambda site: thin_variants(site, TINY)[0]), arrays)
    assert have.view(np.uint32).tolist() == [1 << 31] * 4


@pytest.mark.parametrize("rows", [1, 8, 16, "n"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("element", [T.F32, T.F64])
def test_a_workgroup_has_room_for_its_panels(rows: int | str, masked: bool, element: DataType) -> None:
    values: dict[str, GraphNode] = {
        "a": given(element, rows, 4096),
        "b": given(element, 4096, 512),
        "mask": given(T.Bool, rows, 4096),
    }
    mask = "mask" if masked else None
    values["y"] = MatMul("a", "b", Accumulator[element.name], MulStep.FMulAdd, element, mask)
    (variant,) = variants(Graph(values, ["y"]), USUAL)
    shared = [buffer for buffer in variant.drafted.program.buffers if buffer.access.shared]
    assert 16 << 10 < sum(buffer.count * buffer.element.stride for buffer in shared) <= 48 << 10
