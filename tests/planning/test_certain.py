"""Exact products in two steps: the evaluator's bits, whatever is certain, on cores and in teams.

The kernels of teams run on `cpu` here; those by matrix instructions on `reference`, which has them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.planning.compared import as_array, bits_of, random_elements
from tests.planning.forced import results
from vyre.backends import get
from vyre.graph import (
    Accumulator,
    Broadcast,
    ElementWise,
    Graph,
    Input,
    MatMul,
    MulStep,
    Size,
    Transpose,
    ValueType,
)
from vyre.ir.expr import LitU32, Var, fadd, fmul
from vyre.ir.types import DataType as T
from vyre.planning import certain, plan_graph
from vyre.planning.certain import CertainProduct, OpenProduct
from vyre.planning.kernels import certain as ends
from vyre.planning.kernels import levels, matrices, open_tiles
from vyre.planning.kernels.warp_tile import Cut
from vyre.planning.plan import GraphPlan
from vyre.planning.replay import replayed
from vyre.reference.tensors import Elements, evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.planning.kernels.site import Variant

    Floats = NDArray[np.float32]

CORE, TEAM = frozenset({"cpu"}), frozenset({"cuda"})
ULP = 2.0**-24


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """However small a product is, it is made in two steps."""
    monkeypatch.setattr(certain, "LEAST", 0)


def exact(element: T = T.F32) -> MatMul:
    return MatMul("a", "b", Accumulator.Exact, MulStep.FMulAdd, element, None)


def product(left: Any, right: Any, into: T = T.F32, of: T = T.F32) -> Graph:
    given = {"a": Input(ValueType(of, left)), "b": Input(ValueType(T.F32, right))}
    return Graph({**given, "y": exact(into)}, ["y"])


def require_same(
    graph: Graph, given: Mapping[str, Elements], *, backend: str = "cpu", fused: tuple[bool, ...] = (True,)
) -> None:
    truth = evaluate(graph, given)
    arrays = {name: as_array(graph.inputs[name].element, value) for name, value in given.items()}
    for fuse in fused:
        plan = plan_graph(graph, fuse=fuse)
        for place in (CORE, TEAM):
            nodes = [node for _, node in plan.form(place).lowered.values]
            assert any(isinstance(node, OpenProduct) for node in nodes)
            for name, found in zip(graph.outputs, results(plan, arrays, place, backend), strict=True):
                of = np.dtype(f"<u{graph.types[name].element.stride}")
                have = bits_of(found.view(of))
                wanted = truth[name].bits
                wrong = [k for k in range(len(wanted)) if have[k] != wanted[k]]
                assert not wrong, (
                    f"{name}[{wrong[0]}] is {have[wrong[0]]:#x}, not {wanted[wrong[0]]:#x}; {place}, "
                    f"fuse={fuse}, {len(wrong)} of {len(wanted)} differ"
                )


def elements(array: Floats) -> Elements:
    return Elements(array.shape, [int(b) for b in array.reshape(-1).view(np.uint32)])


def check(a: Floats, b: Floats, into: T = T.F32) -> None:
    require_same(product(a.shape, b.shape, into), {"a": elements(a), "b": elements(b)})


def spread(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> Floats:
    return (rng.normal(size=shape) * 2.0 ** rng.integers(low, high, shape)).astype(np.float32)


def cancelling(
    rng: np.random.Generator, reach: int, rows: int = 9, columns: int = 66
) -> tuple[Floats, Floats]:
    """Sums of which nothing is left."""
    half, other = spread(rng, (rows, 12), -reach, reach), spread(rng, (12, columns), -reach, reach)
    return np.concatenate([half, -half], axis=1), np.concatenate([other, other])


def nearly(rng: np.random.Generator, reach: int) -> tuple[Floats, Floats]:
    """Sums of which hardly anything is left."""
    a, b = cancelling(rng, reach)
    for row in range(1, len(a)):
        at = int(rng.integers(24))
        towards = np.float32(row % 2 * 9)
        a[row, at] = np.nextafter(a[row, at], towards, dtype=np.float32)
    return a, b


def ties(columns: int = 66) -> tuple[Floats, Floats]:
    """Half-way between two results, and next to it on either side."""
    steps = (0, 2.0**-80, -(2.0**-80), 2.0**-140)
    a = np.array([[1, ULP, s, 2 * j * ULP] for s in steps for j in range(3)], np.float32)
    return a, np.where(np.arange(columns) % 2, -1, 1).astype(np.float32) * np.ones((4, 1), np.float32)


def lost_products(columns: int = 66) -> tuple[Floats, Floats]:
    """Each of 62 small products is lost to the sum of doubles: all that the bound allows, but for a factor
    of two. The sum is so close to half-way that they decide."""
    lost = 62 * 2.0**-25
    a = [2.0**14, *[2.0**-13] * 62, -(2.0**14), 64, 2.0**-18, *(-lost * f for f in (0.125, 0.25, 0.425))]
    b = [2.0**14, *[2.0**-12] * 62, 2.0**14, *[1.0] * 5]
    return np.array([a], np.float32), np.repeat(np.array([b], np.float32).T, columns, axis=1)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-8, 8), (-20, 20), (-60, 60), (-125, 0), (40, 63)])
def test_numbers_of_every_spread(low: int, high: int) -> None:
    rng = np.random.default_rng(high)
    check(spread(rng, (9, 37), low, high), spread(rng, (37, 66), low, high))


@pytest.mark.parametrize("reach", [1, 20, 60])
def test_sums_that_cancel(reach: int) -> None:
    check(*cancelling(np.random.default_rng(reach), reach))
    check(*nearly(np.random.default_rng(reach), reach))


def test_ties_and_their_neighbours() -> None:
    check(*ties())
    a, b = ties()
    check(a * np.float32(2.0**-63), b * np.float32(2.0**-63))
    check(*lost_products())


def test_results_that_are_subnormal_or_round_to_a_zero() -> None:
    small = np.float32(2.0**-149)
    a = np.array([[s * small, s * small, t * small] for s in (1, -1, 3) for t in (0, 1, -2)], np.float32)
    columns = np.array([[0.5, 0.25, 2**-20, 1.5, 0.5], [0, 0.25, -(2**-20), 0, 0.5], [0, 0, 0, 1, 2**-126]])
    check(a, np.tile(columns.astype(np.float32), (1, 14)))


def test_infinities_nan_and_overflow() -> None:
    top, inf, nan = np.finfo(np.float32).max, np.inf, np.nan
    rows = [
        [inf, 1],
        [inf, -inf],
        [nan, 1],
        [top, top],
        [-top, -top],
        [top, -top],
        [inf, 0],
        [0, 0],
        [-0.0, 0],
    ]
    b = np.array([[1, 0, top, -1, inf], [1, 1, top, 1, 1]], np.float32)
    check(np.array(rows, np.float32), b)
    half = np.float32(2.0**103)  # which makes of the largest number the first that is infinite
    edges = [[top, half, s] for s in (0, 1, -1, 2.0**-140, -(2.0**-140))]
    check(np.array(edges, np.float32), np.repeat(np.array([[1, -1]], np.float32), 3, axis=0))


@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 0, 3), (3, 1, 5), (1, 40, 1), (17, 2, 130), (70, 5, 3), (40, 9, 50)]
)
def test_shapes(m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(m)
    check(spread(rng, (m, k), -3, 3), spread(rng, (k, n), -3, 3))


@pytest.mark.parametrize("into", [T.F16, T.BF16])
def test_narrow_results(into: T) -> None:
    rng = np.random.default_rng(4)
    check(spread(rng, (9, 20), -2, 3), spread(rng, (20, 66), -2, 3), into)
    check(*cancelling(rng, 8), into)
    a, b = ties()
    a[:, 1] = 2.0**-11 if into is T.F16 else 2.0**-8
    check(a, b, into)
    check(a * np.float32(2.0**-24), b, into)


@pytest.mark.parametrize("of", [T.F16, T.BF16])
def test_narrow_operands(of: T) -> None:
    graph = product((9, 33), (33, 66), T.F32, of)
    require_same(graph, random_elements(graph, {}, 3))


def test_batches_views_and_what_is_fused_behind() -> None:
    values = {
        "x": Input(ValueType(T.F32, (3, 20, 10))),
        "w": Input(ValueType(T.F32, (7, 20))),
        "bias": Input(ValueType(T.F32, (3, 10, 7))),
        "a": Transpose("x", (0, 2, 1)),
        "wt": Transpose("w", (1, 0)),
        "b": Broadcast("wt", (Size(3), Size(20), Size(7))),
        "p": exact(),
        "y": ElementWise(fadd(fmul(Var("x0"), Var("x0")), Var("x1")), ("p", "bias"), T.F32),
    }
    graph = Graph(values, ["y"])
    require_same(graph, random_elements(graph, {}, 2), fused=(True, False))
    both = Graph(values, ["y", "p"])
    require_same(both, random_elements(both, {}, 5))


@pytest.mark.parametrize("length", [1, 2, 5, 33])
def test_dynamic_sizes(length: int) -> None:
    graph = product(("m", "k"), ("k", 66))
    rng = np.random.default_rng(length)
    half, other = spread(rng, (5, length), -9, 9), spread(rng, (length, 66), -9, 9)
    a, b = np.concatenate([half, -half], axis=1), np.concatenate([other, other])
    a[1] = spread(rng, (2 * length,), -9, 9)
    require_same(graph, {"a": elements(a), "b": elements(b)})


def test_few_open_elements_and_many_are_summed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 8 x 66 elements of a tile are open; `FEW` puts them on either side."""
    rng = np.random.default_rng(8)
    for columns in (2, 5):
        check(*cancelling(rng, 20, 5, columns))
    a, b = spread(rng, (9, 24), -3, 3), spread(rng, (24, 66), -3, 3)
    a[4, 12:], b[12:] = -a[4, :12], b[:12]
    check(a, b)
    monkeypatch.setattr(open_tiles, "FEW", 0x40)
    check(a, b)


def nothing_kept(*_: object, **__: object) -> LitU32:
    return LitU32(0x1234)


def test_levels_tell_without_every_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_tiles, "exact_bits", nothing_kept)
    rng = np.random.default_rng(6)
    for a, b in (cancelling(rng, 20), nearly(rng, 20), ties(), lost_products(), cancelling(rng, 1, 3, 3)):
        plan = plan_graph(product(a.shape, b.shape))
        found, wanted = (results(plan, {"a": a, "b": b}, place) for place in (TEAM, frozenset[str]()))
        assert found[0].tobytes() == wanted[0].tobytes()
    far = cancelling(rng, 60)
    plan = plan_graph(product(far[0].shape, far[1].shape))
    assert (results(plan, {"a": far[0], "b": far[1]}, TEAM)[0].view(np.uint32) == 0x1234).any()


def test_ordinary_sums_are_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_tiles, "exact_bits", nothing_kept)
    monkeypatch.setattr(open_tiles, "settled", nothing_kept)
    rng = np.random.default_rng(5)
    a, b = spread(rng, (40, 64), -8, 8), spread(rng, (64, 40), -8, 8)
    plan = plan_graph(product(a.shape, b.shape))
    found, wanted = (results(plan, {"a": a, "b": b}, place)[0] for place in (TEAM, frozenset[str]()))
    assert np.count_nonzero(found.view(np.uint32) != wanted.view(np.uint32)) <= 2


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_ends_too_close_are_seen(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    monkeypatch.setattr(ends, "LOST", ends.LOST * share)
    with pytest.raises(AssertionError, match="differ"):
        check(*lost_products())


def check_hard_sums() -> None:
    rng = np.random.default_rng(1)
    for a, b in (nearly(rng, 20), ties(), lost_products(), nearly(rng, 60), nearly(rng, 40)):
        check(a, b)


@pytest.mark.parametrize(
    ("name", "value"), [("_FIRST", 2.0**-60), ("_SHARE", 2.0**-80), ("_AROUND", 0.0), ("_SUMMED", 0.0)]
)
def test_wrong_levels_are_seen(monkeypatch: pytest.MonkeyPatch, name: str, value: float) -> None:
    monkeypatch.setattr(levels, name, value)
    with pytest.raises(AssertionError, match="differ"):
        check_hard_sums()


def test_tiles_by_matrix_instructions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "FLOATS", (Cut(32, 64, 32, 32, 16),) * 2)
    a, b = nearly(np.random.default_rng(2), 4)
    a = np.concatenate([a, lost_products()[0][:, : a.shape[1]], a, a, a])[:33]
    plan = plan_graph(product(a.shape, b.shape))
    hardware = TEAM | matrices.INSTRUCTIONS
    kernel = next(k for k in plan.chosen(hardware) if k.root.startswith("exact") and k.kind == "matmul")
    assert "instructions" in kernel.variant({}, hardware).label
    found = results(plan, {"a": a, "b": b}, hardware, "reference")[0]
    assert found.tobytes() == results(plan, {"a": a, "b": b})[0].tobytes()


def test_compiled_kernels_keep_their_sums_in_registers() -> None:
    """In PTX: the product by matrix instructions has nothing in local memory, its bounds included."""
    pytest.importorskip("cuda.bindings.nvrtc", reason="the package cuda-bindings is missing")
    from vyre.backends.cuda.backend import compile_source
    from vyre.lower.cuda import emit
    from vyre.lower.prepare import prepare
    from vyre.lower.ways import CUDA_WAYS

    plan, hardware = plan_graph(product((2048, 2048), (2048, 2048))), TEAM | matrices.INSTRUCTIONS
    *_, first, second = (kernel.variant({}, hardware) for kernel in plan.chosen(hardware))

    def compiled(variant: Variant) -> str:
        program = prepare(variant.drafted.program, ways=CUDA_WAYS)
        return compile_source(emit(program), "compute_90").decode()

    ptx = compiled(first)
    assert "mma.sync.aligned" in ptx
    assert ".local" not in ptx
    assert "what is open" in second.label
    assert "bar.sync" in compiled(second)


def test_what_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Masks, doubles and products that are not worth it."""
    sides = {"a": Input(ValueType(T.F32, (8, 9))), "b": Input(ValueType(T.F32, (9, 8)))}
    mask = Input(ValueType(T.Bool, (8, 9)))
    masked = MatMul("a", "b", Accumulator.Exact, MulStep.FMulAdd, T.F32, "m")
    small, wide = Graph({**sides, "y": exact()}, ["y"]), Graph({**sides, "y": exact(T.F64)}, ["y"])
    for graph in (Graph({**sides, "m": mask, "y": masked}, ["y"]), wide):
        assert certain.in_steps(graph) is graph
    assert certain.in_steps(small) is not small
    monkeypatch.setattr(certain, "LEAST", 1 << 15)
    assert certain.in_steps(small) is small


def test_a_plan_is_shown_kept_and_replayed() -> None:
    rng = np.random.default_rng(7)
    a, b = spread(rng, (40, 33), -3, 3), spread(rng, (33, 50), -3, 3)
    plan = GraphPlan.from_wire(plan_graph(product(a.shape, b.shape)).to_wire())
    shown = plan.explain(backend=get("cpu"))
    assert "4 kernels" in shown
    assert "what is open" in shown
    assert any(isinstance(node, CertainProduct) for _, node in plan.form(CORE).lowered.values)
    given = {"a": vyre.to_device(a, backend="cpu"), "b": vyre.to_device(b, backend="cpu")}
    left = {"y": vyre.device_zeros(2000, np.float32, backend="cpu")}
    made = replayed(plan, given, left, backend="cpu")
    given["a"].copy_from(-a)
    made.replay()
    wanted = results(plan, {"a": -a, "b": b})[0]
    assert left["y"].numpy().tobytes() == wanted.tobytes()
