"""Exact sums by pairs of doubles: the evaluator's bits, whatever the inputs, and every bit kept only where a
pair cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.planning.compared import require_same
from vyre.graph import Accumulator, Graph, Input, MatMul, MulStep, ValueType
from vyre.ir.expr import LitU32
from vyre.ir.types import DataType as T
from vyre.planning import plan_graph, run_graph
from vyre.planning.kernels import exact_pairs
from vyre.reference.tensors import Elements

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]


def product(m: int, k: int, n: int, element: T = T.F32) -> Graph:
    of = {"a": Input(ValueType(element, (m, k))), "b": Input(ValueType(T.F32, (k, n)))}
    return Graph({**of, "y": MatMul("a", "b", Accumulator.Exact, MulStep.FMulAdd, T.F32, None)}, ["y"])


def spread(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> NDArray[np.float32]:
    return (rng.normal(size=shape) * 2.0 ** rng.integers(low, high, shape)).astype(np.float32)


def elements(array: NDArray[np.float32]) -> Elements:
    return Elements(array.shape, [int(b) for b in array.reshape(-1).view(np.uint32)])


def check(a: NDArray[np.float32], b: NDArray[np.float32]) -> None:
    graph = product(a.shape[0], a.shape[1], b.shape[1])
    require_same(graph, {"a": elements(a), "b": elements(b)})


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-8, 8), (-60, 60), (-125, 0), (40, 63)])
def test_numbers_of_every_spread(low: int, high: int) -> None:
    rng = np.random.default_rng(high)
    check(spread(rng, (6, 70), low, high), spread(rng, (70, 5), low, high))


def test_sums_of_which_little_or_nothing_is_left() -> None:
    rng = np.random.default_rng(1)
    half = spread(rng, (5, 20), -20, 20)
    a = np.concatenate([half, -half], axis=1)
    a[1, 3] = np.nextafter(a[1, 3], np.float32(9), dtype=np.float32)
    b = np.concatenate([spread(rng, (20, 4), -3, 3)] * 2)
    a[2, 0], b[0, :] = np.float32(2**-149), np.float32(2**-100)
    check(a, b)


def test_ties_and_their_neighbours() -> None:
    ulp = np.float32(2**-24)
    steps = [0, 1, -1]
    a = np.array([[1, ulp, s * 2.0**-80, 2 * j * ulp] for s in steps for j in range(3)], np.float32)
    check(a, np.array([[1, -1], [1, -1], [1, -1], [1, -1]], np.float32))


def test_infinities_nan_and_overflow() -> None:
    top = np.finfo(np.float32).max
    rows = [[np.inf, 1], [np.inf, -np.inf], [np.nan, 1], [top, top], [-top, -top], [top, -top], [np.inf, 0]]
    check(np.array(rows, np.float32), np.array([[1, 0, top], [1, 1, top]], np.float32))


def test_the_bound_holds_for_long_sums() -> None:
    rng = np.random.default_rng(3)
    check(spread(rng, (2, 3000), -30, 30), spread(rng, (3000, 2), -30, 30))


def test_a_bound_that_is_too_small_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact_pairs, "_LOST", 0.0)
    monkeypatch.setattr(exact_pairs, "_ROUNDED", 0.0)
    with pytest.raises(AssertionError, match="differ"):
        test_ties_and_their_neighbours()


def nothing_kept(*_: object) -> LitU32:
    return LitU32(0)


def test_ordinary_sums_do_not_keep_every_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    a, b = spread(rng, (40, 64), -8, 8), spread(rng, (64, 40), -8, 8)
    graph, given = product(40, 64, 40), {"a": a, "b": b}
    wanted = run_graph(plan_graph(graph), given, backend="cpu")["y"]
    monkeypatch.setattr(exact_pairs, "exact_bits", nothing_kept)
    short = run_graph(plan_graph(graph), given, backend="cpu")["y"]
    assert np.count_nonzero(short.view(np.uint32) != wanted.view(np.uint32)) <= 2
