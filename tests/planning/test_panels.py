"""Products by panels, as `cpu` computes them: the bits of the kernels that run on every backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre.tensor as vt
from tests.planning.compared import as_array, random_elements
from tests.planning.forced import forced, results
from vyre.backends.cores import WIDE_REGISTERS
from vyre.backends.cpu.backend import CpuBackend
from vyre.graph import (
    Accumulator,
    ElementWise,
    Graph,
    GraphNode,
    Input,
    MatMul,
    MulStep,
    Size,
    Slice,
    Transpose,
    ValueType,
)
from vyre.ir.expr import Var, fadd
from vyre.ir.types import DataType
from vyre.planning import plan_graph
from vyre.planning.kernels.panels import NARROW, THIN, THIN_NARROW, WIDE, Panel, fitted, panel_variant
from vyre.planning.kernels.products import product_variants
from vyre.planning.kernels.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping


T = DataType
TINY = Panel(6, 16, 5, 3, 8)


def sizes(*numbers: int) -> tuple[Size, ...]:
    return tuple(map(Size, numbers))


def given(element: DataType, *shape: int | str) -> Input:
    return Input(ValueType(element, shape))


def product(
    m: int, k: int, n: int, left: DataType = T.F32, accumulator: Accumulator = Accumulator.F32
) -> Graph:
    element = left if left.is_float else T[accumulator.value]
    values: dict[str, GraphNode] = {
        "a": given(left, m, k),
        "b": given(left, k, n),
        "y": MatMul("a", "b", accumulator, MulStep.FMulAdd, element),
    }
    return Graph(values, ["y"])


def arrays_of(graph: Graph, sizes: Mapping[str, int] | None = None) -> dict[str, Any]:
    found = random_elements(graph, sizes or {}, 7)
    return {name: as_array(graph.inputs[name].element, value) for name, value in found.items()}


def require_same_bits(graph: Graph, panel: Panel, sizes: Mapping[str, int] | None = None) -> None:
    plan, arrays = plan_graph(graph), arrays_of(graph, sizes)
    fast = forced(plan, lambda site: panel_variant(site, panel))
    slow = forced(plan, lambda site: product_variants(site)[0])
    for have, wanted in zip(results(fast, arrays), results(slow, arrays), strict=True):
        assert np.array_equal(have, wanted)


@pytest.mark.parametrize("shape", [(1, 1, 1), (6, 5, 16), (7, 6, 17), (13, 11, 9), (3, 16, 33)], ids=str)
def test_every_edge_gives_the_bits_of_single_elements(shape: tuple[int, int, int]) -> None:
    require_same_bits(product(*shape), TINY)


@pytest.mark.parametrize("panel", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("shape", [(130, 300, 270), (9, 40, 33)], ids=str)
def test_the_panels_in_use_give_the_bits_of_single_elements(
    panel: Panel, shape: tuple[int, int, int]
) -> None:
    require_same_bits(product(*shape), panel)


@pytest.mark.parametrize(
    ("left", "accumulator"),
    [
        (T.F32, Accumulator.F64),
        (T.F64, Accumulator.F64),
        (T.F16, Accumulator.F32),
        (T.BF16, Accumulator.F32),
        (T.I8, Accumulator.I32),
        (T.U32, Accumulator.U32),
    ],
    ids=str,
)
def test_every_accumulator(left: DataType, accumulator: Accumulator) -> None:
    require_same_bits(product(7, 11, 19, left, accumulator), TINY)


def test_views_masks_batches_and_what_follows() -> None:
    """Both sides transposed, the right one cut out of more, steps left out, and a sum behind."""
    values: dict[str, GraphNode] = {
        "w": given(T.F32, 2, 11, 7),
        "u": given(T.F32, 2, 24, 12),
        "m": given(T.Bool, 2, 7, 11),
        "c": given(T.F32, 2, 7, 20),
        "a": Transpose("w", (0, 2, 1)),
        "v": Slice("u", sizes(0, 2, 1), sizes(2, 22, 12), (1, 1, 1)),
        "b": Transpose("v", (0, 2, 1)),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulFAdd, T.F32, mask="m"),
        "z": ElementWise(fadd(Var("x0"), Var("x1")), ("y", "c"), T.F32),
    }
    require_same_bits(Graph(values, ["z"]), TINY)


@pytest.mark.parametrize("panel", [THIN, THIN_NARROW], ids=["wide", "narrow"])
def test_few_rows(panel: Panel) -> None:
    require_same_bits(product(3, 70, 100), panel)


def test_rows_whose_number_is_told_by_the_call() -> None:
    values: dict[str, GraphNode] = {
        "a": given(T.F32, "n", 33),
        "b": given(T.F32, 33, 40),
        "y": MatMul("a", "b", Accumulator.F32, MulStep.FMulAdd, T.F32),
    }
    graph = Graph(values, ["y"])
    for rows in (1, 17):
        require_same_bits(graph, TINY, {"n": rows})
    plan = plan_graph(graph)
    for hardware, rows in ((frozenset({"cpu"}), 17), (frozenset({"cpu", WIDE_REGISTERS}), 1)):
        arrays = arrays_of(graph, {"n": rows})
        for have, wanted in zip(results(plan, arrays, hardware), results(plan, arrays), strict=True):
            assert np.array_equal(have, wanted)


def test_every_nan_is_the_canonical_one() -> None:
    """The sums in registers hold whatever NaN the processor made."""

    @vt.function
    def twice(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
        return vt.matmul(vt.matmul(a, b), b)

    odd = np.full((16, 16), 0xFFC12345, np.uint32).view(np.float32)
    found = twice(odd, np.ones((16, 16), np.float32), backend="cpu")
    assert np.all(found.view(np.uint32) == 0x7FC00000)


def test_cpu_takes_panels_and_narrow_ones_for_a_processor_without_wide_registers() -> None:
    plan = plan_graph(product(64, 64, 64))
    older = CpuBackend(cpu="x86-64-v2")
    assert plan.hardware(older) == {"cpu"}
    assert "panels of 18 x 64" in plan.explain(backend=older)
    assert plan.chosen(frozenset()) is plan.kernels


def test_panels_fit_the_matrices() -> None:
    graph = product(20, 3, 40)
    site = Site(graph, plan_graph(graph).fusion, "y", None)
    assert fitted(WIDE, site) == Panel(24, 64, 3, 8, 32)
    graph = product(4096, 4096, 4096)
    assert fitted(WIDE, Site(graph, plan_graph(graph).fusion, "y", None)) == WIDE
