"""Calls with values over the limit of a device: computed in pieces to the same bits, or refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vyre
from tests.planning.compared import as_array, bits_of
from vyre import nn
from vyre import tensor as vt
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.generate.graphs import random_graph, random_inputs, random_sizes
from vyre.errors import DispatchError
from vyre.planning import GraphPlan, plan_graph, run_graph
from vyre.planning.cutting import cuts
from vyre.planning.parts import PartedCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import BackendInfo

SEEDS = 40


class Narrow(CpuBackend):
    """A device that binds few bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(canaries=False)
        self.most = most

    def describe(self) -> BackendInfo:
        info = super().describe()
        return replace(info, limits=replace(info.limits, buffer_bytes=self.most))


def array(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def layer(x: vt.Tensor, w: vt.Tensor, b: vt.Tensor) -> Any:
    return nn.gelu(x @ w + b)


def attended(x: vt.Tensor, w: vt.Tensor) -> Any:
    q, k, v = (nn.split_heads(part, 2) for part in vt.split(x @ w, 3, -1))
    return nn.merge_heads(nn.attention(q, k, v, causal=True))


def scaled(x: vt.Tensor) -> Any:
    return x * 2 + 1


def product(x: vt.Tensor, y: vt.Tensor) -> Any:
    return x @ y


def squared(x: vt.Tensor) -> Any:
    return vt.concat([x @ x, x], 1)


def columns(x: vt.Tensor) -> Any:
    return x.sum(0), x.T


def total_and_pair(x: vt.Tensor) -> Any:
    return x.sum(), vt.concat([x, x], 1)


def prefixes(x: vt.Tensor) -> Any:
    return vt.cumsum(x, 1)


def merged(x: vt.Tensor) -> Any:
    return x.reshape(24, 8) * 3


def parted(x: vt.Tensor) -> Any:
    return x.reshape(6, 32) * 3


def numbered(x: vt.Tensor) -> Any:
    return x + vt.arange(64).astype("f32")


def with_constant(x: vt.Tensor) -> Any:
    return x + vt.constant(np.arange(64, dtype=np.float32))


def taken(table: vt.Tensor, indices: vt.Tensor) -> Any:
    return vt.take(table, indices, axis=0)


CASES: list[tuple[Any, list[Any], int]] = [
    (scaled, [array(1000)], 400),
    (scaled, [array(40, 25)], 400),
    (layer, [array(64, 8), array(8, 8, seed=1), array(8, seed=2)], 1000),
    (product, [array(4, 16), array(16, 64, seed=1)], 2048),
    (product, [array(6, 5, 7), array(6, 7, 3, seed=1)], 250),
    (squared, [array(16, 16)], 1024),
    (nn.softmax, [array(64, 32)], 2048),
    (columns, [array(32, 64)], 1024),
    (total_and_pair, [array(16, 4)], 300),
    (prefixes, [array(64, 10)], 512),
    (merged, [array(6, 4, 8)], 256),
    (parted, [array(24, 8)], 256),
    (numbered, [array(64)], 128),
    (with_constant, [array(64)], 128),
    (taken, [array(4, 8), np.arange(40, dtype=np.uint32) % 5], 512),
    (attended, [array(8, 6, 8), array(8, 24, seed=3)], 1000),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_pieces_give_the_bits_of_the_whole(number: int) -> None:
    function, given, most = CASES[number]
    made = vt.function(function)
    whole, found = made(*given, backend="cpu"), made(*given, backend=Narrow(most))
    several = function in (columns, total_and_pair)
    for wanted, have in zip(whole, found, strict=True) if several else [(whole, found)]:
        assert (have.dtype, have.shape) == (wanted.dtype, wanted.shape)
        assert have.tobytes() == wanted.tobytes()
    plan = made.plan(*given)
    parts = plan.parts(plan.bind({}), Narrow(most))
    assert parts is not None
    assert parts.each < parts.cut.count
    assert max(parts.plan.bind({"piece": parts.each}).nbytes.values()) <= most


def test_a_dynamic_length_is_cut_anew_for_each_call() -> None:
    made = vt.function(x=("rows", 4))(layer)
    backend = Narrow(128)
    w, b = array(4, 4, seed=1), array(4, seed=2)
    for rows in (3, 100, 9, 100):
        x = array(rows, 4, seed=rows)
        assert made(x, w, b, backend=backend).tobytes() == made(x, w, b, backend="cpu").tobytes()


def total(x: vt.Tensor) -> Any:
    return x.sum()


def along(x: vt.Tensor) -> Any:
    return vt.cumsum(x, 0)


def doubled(x: vt.Tensor) -> Any:
    return vt.concat([x, x], 0)


def stirred(x: vt.Tensor) -> Any:
    return x.reshape(4, 16).T.reshape(64) + 1


@pytest.mark.parametrize("function", [total, along, doubled, stirred])
def test_what_sees_all_of_a_value_is_refused_by_name(function: Any) -> None:
    made = vt.function(function)
    with pytest.raises(DispatchError, match=r"'x' of type .* accepts 128 per buffer, and the graph cannot"):
        made(array(64), backend=Narrow(128))


def test_arrays_on_the_device_are_not_cut() -> None:
    backend = Narrow(300)
    x = vyre.to_device(array(16, 4), backend=backend)
    with pytest.raises(DispatchError, match="accepts 300 per buffer, and arrays that are on the device"):
        vt.function(total_and_pair)(x, backend=backend)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_graphs_in_pieces_have_the_bits_of_the_whole(seed: int) -> None:
    graph = random_graph(seed)
    _, sizes = random_sizes(graph, seed)
    given = {
        name: as_array(graph.inputs[name].element, value)
        for name, value in random_inputs(graph, sizes, seed).items()
    }
    whole = run_graph(graph, given, backend="cpu")
    for cut in cuts(graph, sizes):
        found = PartedCall(plan_graph(cut.graph), cut, max(1, cut.count // 2)).run(given, on_cpu)
        for name, wanted in whole.items():
            assert found[name].shape == wanted.shape
            assert bits_of(found[name]) == bits_of(wanted), (name, cut.count)


def on_cpu(plan: GraphPlan, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return run_graph(plan, inputs, backend="cpu")


def test_most_random_graphs_can_be_cut() -> None:
    graphs = [random_graph(seed) for seed in range(SEEDS)]
    ways = [len(list(cuts(graph, random_sizes(graph, seed)[1]))) for seed, graph in enumerate(graphs)]
    assert sum(count > 0 for count in ways) > SEEDS / 3
    assert sum(ways) > SEEDS / 2
