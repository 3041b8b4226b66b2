"""Kernels of matrix instructions: the bits of every other kernel, and chosen only where they can run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.planning.compared import random_bits
from vyre.backends.registry import get
from vyre.backends.storage import STORAGE
from vyre.graph import Graph
from vyre.graph.nodes import Accumulator, ElementWise, Input, MatMul, MulStep, Transpose
from vyre.graph.types import ValueType
from vyre.ir.expr import Var, fadd
from vyre.ir.types import DataType
from vyre.planning import plan_graph, run_graph
from vyre.planning.kernels import matrices
from vyre.planning.kernels.matrices import INSTRUCTIONS
from vyre.planning.kernels.warp_tile import BACKEND, Cut
from vyre.planning.plan import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from vyre.graph.nodes import GraphNode
    from vyre.planning import GraphPlan
    from vyre.planning.kernels.build import PlannedKernel

T = DataType
SMALL = {
    "FLOATS": (Cut(64, 32, 32, 32, 16), Cut(64, 64, 32, 64, 32)),
    "DOUBLES": (Cut(32, 16, 16, 8, 8), Cut(16, 32, 16, 16, 8)),
    "BYTES": (Cut(64, 32, 32, 16, 64), Cut(32, 64, 32, 32, 64)),
}
"""Tiles of the same making that an interpreter computes in a moment."""


@pytest.fixture(params=[0, 1], ids=["one part a warp across", "two parts a warp"])
def _small(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, cuts in SMALL.items():
        chosen: Cut = cuts[int(request.param)]
        monkeypatch.setattr(matrices, name, (chosen, chosen))


def product(
    left: DataType,
    right: DataType,
    accumulator: Accumulator,
    sizes: tuple[int, int, int],
    *,
    batch: Sequence[int] = (),
    turned: bool = False,
    output: DataType | None = None,
    step: MulStep = MulStep.FMulAdd,
) -> Graph:
    m, k, n = sizes
    values: dict[str, GraphNode] = {
        "a": Input(ValueType(left, (*batch, *((k, m) if turned else (m, k))))),
        "b": Input(ValueType(right, (*batch, *((n, k) if turned else (k, n))))),
    }
    names = ("a", "b")
    if turned:
        axes = (*range(len(batch)), len(batch) + 1, len(batch))
        values |= {"at": Transpose("a", axes), "bt": Transpose("b", axes)}
        names = ("at", "bt")
    values["y"] = MatMul(*names, accumulator, step, output or T[accumulator.value])
    return Graph(values, ["y"])


def arrays(graph: Graph, seed: int) -> dict[str, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    made: dict[str, NDArray[Any]] = {}
    for name, of in graph.inputs.items():
        sizes = of.resolved({})
        bits = random_bits(of.element, int(np.prod(sizes)), rng)
        made[name] = np.array(bits, f"<u{of.element.stride}").view(STORAGE[of.element]).reshape(sizes)
    return made


def kernel(plan: GraphPlan) -> PlannedKernel:
    """The first kernel for backends whose workgroups are teams."""
    return plan.chosen(frozenset({BACKEND}))[0]


def by_instructions(plan: GraphPlan, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """What the interpreter makes of the kernels for devices with every instruction."""
    wanted = frozenset(h for v in kernel(plan).variants for h in v.hardware)
    assert wanted & INSTRUCTIONS
    session = plan.session(plan.bind({}, wanted), get("reference"), on_device=False)
    session.run({name: (of, inputs[name]) for name, of in plan.graph.inputs.items()})
    return session.take(f"out_{plan.graph.outputs[0]}").copy()


def require_same(graph: Graph, seed: int = 1) -> None:
    plan = plan_graph(graph)
    inputs = arrays(graph, seed)
    found = by_instructions(plan, inputs)
    truth = run_graph(plan, inputs, backend="cpu")[graph.outputs[0]]
    assert found.tobytes() == truth.tobytes()


SIZES = [(12, 1, 12), (17, 19, 13), (33, 40, 18), (16, 16, 32)]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
@pytest.mark.parametrize(
    ("left", "right", "output"),
    [(T.F32, T.F32, T.F32), (T.F64, T.F64, T.F64), (T.F16, T.F64, T.F32), (T.BF16, T.F32, T.BF16)],
)
def test_sums_of_doubles(
    left: DataType, right: DataType, output: DataType, sizes: tuple[int, int, int], turned: bool
) -> None:
    require_same(product(left, right, Accumulator.F64, sizes, turned=turned, output=output))


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("sizes", [*SIZES, (20, 64, 33), (13, 160, 12)], ids=str)
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
def test_sums_of_bytes(sizes: tuple[int, int, int], turned: bool) -> None:
    require_same(product(T.I8, T.I8, Accumulator.I32, sizes, turned=turned))


@pytest.mark.usefixtures("_small")
def test_batches_and_what_follows_a_product() -> None:
    graph = product(T.F32, T.F32, Accumulator.F64, (13, 5, 14), batch=(2, 1), output=T.F32)
    values = dict(graph.values)
    values["z"] = ElementWise(fadd(Var("x0"), Var("x0")), ("y",), T.F32)
    require_same(Graph(values, ["z"]))
    require_same(product(T.I8, T.I8, Accumulator.I32, (13, 32, 14), batch=(2,)))


@pytest.mark.usefixtures("_small")
def test_a_sum_of_minus_zero_stays_past_the_end_of_k() -> None:
    """A product that underflows leaves -0, which +0 added behind it would change."""
    graph = product(T.F64, T.F64, Accumulator.F64, (12, 3, 12))
    plan = plan_graph(graph)
    inputs = {"a": np.full((12, 3), -1e-200), "b": np.full((3, 12), 1e-200)}
    found = by_instructions(plan, inputs)
    assert found.tobytes() == np.full(144, -0.0).tobytes()


def test_the_real_tiles() -> None:
    require_same(product(T.F32, T.F32, Accumulator.F64, (14, 3, 12), output=T.F32))


def label(plan: GraphPlan, hardware: frozenset[str]) -> str:
    return plan.chosen(hardware)[0].variant({}, hardware).label


def test_they_are_taken_where_all_of_the_instruction_is_there() -> None:
    plan = plan_graph(product(T.F32, T.F32, Accumulator.F64, (1536, 8, 1536), output=T.F32))
    wanted = kernel(plan).variants[0].hardware
    assert wanted == {BACKEND, *(f"mma_f64.m16n8k16_{i}" for i in range(4))}
    assert label(plan, wanted) == "tiles of 64 x 64 by matrix instructions"
    for missing in wanted:
        assert "instructions" not in label(plan, wanted - {missing})
    assert "instructions" not in label(plan, NOTHING)
    assert plan.hardware(get("reference")) == INSTRUCTIONS
    assert plan.chosen(INSTRUCTIONS) is plan.kernels
    assert not any(v.hardware for k in plan.kernels for v in k.variants)
    assert plan.hardware(get("cpu")).isdisjoint(INSTRUCTIONS)
    assert plan.bind({}).hardware == NOTHING
    small = plan_graph(product(T.F32, T.F32, Accumulator.F64, (1536, 8, 100), output=T.F32))
    assert label(small, wanted) == "tiles of 32 x 64 by matrix instructions"


def test_other_products_have_no_such_kernel() -> None:
    others = [
        product(T.F32, T.F32, Accumulator.F32, (64, 64, 64)),
        product(T.F64, T.F64, Accumulator.F64, (64, 64, 64), step=MulStep.FMulFAdd),
        product(T.I8, T.U8, Accumulator.I32, (64, 64, 64)),
        product(T.F32, T.F32, Accumulator.F64, (64, 64, 4), output=T.F32),
    ]
    for graph in others:
        assert not any(h in INSTRUCTIONS for v in kernel(plan_graph(graph)).variants for h in v.hardware)


def test_a_kernel_is_one_instruction_for_every_part() -> None:
    """In PTX, of two turns: sums in registers, and memory read in vectors or copied past the registers."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")
    from vyre.backends.cuda.backend import compile_source
    from vyre.lower.cuda import emit
    from vyre.lower.prepare import prepare
    from vyre.lower.ways import CUDA_WAYS

    def compiled(graph: Graph) -> str:
        program = kernel(plan_graph(graph)).variants[0].drafted.program
        return compile_source(emit(prepare(program, ways=CUDA_WAYS)), "compute_90").decode()

    doubles = compiled(product(T.F32, T.F32, Accumulator.F64, (2048, 2048, 2048), output=T.F32))
    floats = matrices.FLOATS[0]
    each = floats.warp_rows // 16 * floats.warp_columns // 8
    assert len(re.findall(r"mma\.sync\.aligned\.m16n8k16", doubles)) == 2 * each * floats.deep // 16
    assert "ld.global.nc.v4" in doubles
    assert len(re.findall(r"ld\.shared\.v4", doubles)) == 2 * floats.deep // 16 * floats.warp_columns // 8
    assert "fma.rn.f64" not in doubles
    assert ".local" not in doubles
    turned = product(T.I8, T.I8, Accumulator.I32, (2048, 2048, 2048), turned=True)
    found = compiled(Graph(_one_side(turned), ["y"]))
    assert len(re.findall(r"mma\.sync\.aligned\.m16n8k32", found)) == 2 * 64 // 16 * 64 // 8 * 2
    assert "ld.global" not in found
    assert len(re.findall(r"cp\.async\.cg\.shared\.global", found)) == 3 * 2 * 128 * 64 // (16 * 128)
    assert "ld.shared.v4" in found
    assert ".local" not in found


def _one_side(graph: Graph) -> dict[str, GraphNode]:
    """The left side as it lies in memory."""
    values = dict(graph.values)
    values["a"] = Input(ValueType(T.I8, (2048, 2048)))
    del values["at"]
    values["y"] = MatMul("a", "bt", Accumulator.I32, MulStep.FMulAdd, T.I32)
    return values
