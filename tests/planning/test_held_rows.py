"""Chains of reductions over rows in one kernel, as `cpu` computes them: the bits of one kernel a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import vyre.tensor as vt
from tests.planning.test_panels import arrays_of, results
from vyre import nn
from vyre.lower.languages import lower
from vyre.planning import plan_graph

if TYPE_CHECKING:
    from vyre.tensor import TensorFunction

CPU = frozenset({"cpu"})


@vt.function
def softmax(x: vt.Tensor) -> vt.Tensor:
    return nn.softmax(x)


@vt.function
def log_softmax(x: vt.Tensor) -> vt.Tensor:
    return nn.log_softmax(x)


@vt.function
def layer_norm(x: vt.Tensor) -> vt.Tensor:
    return nn.layer_norm(x, x[0] + 1, x[1])


@vt.function
def rms_norm(x: vt.Tensor) -> vt.Tensor:
    return nn.rms_norm(x, x[0])


@vt.function
def spread(x: vt.Tensor) -> vt.Tensor:
    """A reduction is stored, and something is computed behind it."""
    return vt.sqrt(vt.mean((x - vt.max(x, axis=-1, keepdims=True)) ** 2, axis=-1)) + 1


@vt.function
def centred(x: vt.Tensor) -> vt.Tensor:
    return x - vt.sum(x, axis=-1, keepdims=True)


CHAINS = [softmax, log_softmax, layer_norm, rms_norm, spread]


def require_same_bits(function: TensorFunction, shape: tuple[int, ...], dtype: type = np.float32) -> None:
    plan = plan_graph(function.graph(np.zeros(shape, dtype)))
    arrays = arrays_of(plan.graph)
    for have, wanted in zip(results(plan, arrays, CPU), results(plan, arrays), strict=True):
        assert np.array_equal(have, wanted)
    assert [kernel.kind for kernel in plan.chosen(CPU)] == ["rows"]
    assert len(plan.kernels) > 1


@pytest.mark.parametrize("function", CHAINS, ids=lambda f: f.__name__)
def test_a_chain_has_the_bits_of_its_steps(function: TensorFunction) -> None:
    require_same_bits(function, (9, 131))


@pytest.mark.parametrize("shape", [(3, 128), (2, 3, 257), (2, 1000), (517, 128)], ids=str)
def test_rows_of_any_length(shape: tuple[int, ...]) -> None:
    require_same_bits(softmax, shape)


@vt.function
def every_other(x: vt.Tensor) -> vt.Tensor:
    """Neighbours of a row are not neighbours in memory."""
    return centred_rows(x[:, ::2]) + 1


@vt.function
def turned(x: vt.Tensor) -> vt.Tensor:
    return centred_rows(vt.transpose(x))


def centred_rows(x: vt.Tensor) -> vt.Tensor:
    return nn.layer_norm(x) - vt.sum(x * x, axis=-1, keepdims=True)


def test_rows_that_lie_apart() -> None:
    require_same_bits(every_other, (5, 302))
    require_same_bits(turned, (131, 6))


def test_rows_of_every_rank_are_walked_without_checks() -> None:
    for shape in ((6, 257), (2, 3, 257)):
        plan = plan_graph(softmax.graph(np.zeros(shape, np.float32)))
        (kernel,) = plan.chosen(CPU)
        assert "@workgroups_in_range" in lower(kernel.variants[0].drafted.program, "llvm").text


def test_other_elements() -> None:
    require_same_bits(layer_norm, (4, 130), np.float16)
    require_same_bits(centred, (4, 130), np.float64)


def test_rows_whose_number_is_told_by_the_call() -> None:
    @vt.function(x=("n", 200))
    def norm(x: vt.Tensor) -> vt.Tensor:
        return nn.layer_norm(x)

    plan = plan_graph(norm.graph(np.zeros((2, 200), np.float32)))
    for rows in (1, 5):
        arrays = arrays_of(plan.graph, {"n": rows})
        for have, wanted in zip(results(plan, arrays, CPU), results(plan, arrays), strict=True):
            assert np.array_equal(have, wanted)


@vt.function
def highest(x: vt.Tensor) -> vt.Tensor:
    """The bits of the greatest element, in every place."""
    top = vt.max(x, axis=-1, keepdims=True)
    return vt.where(x < x, x, top)


@vt.function
def lowest(x: vt.Tensor) -> vt.Tensor:
    return vt.where(x < x, x, vt.min(x, axis=-1, keepdims=True))


ZEROS = (0x00000000, 0x80000000)
NANS = (0x7FC00001, 0xFFC00002, 0x7FC00003)


@pytest.mark.parametrize("length", [128, 131, 520, 1024])
@pytest.mark.parametrize("function", [highest, lowest], ids=lambda f: f.__name__)
def test_of_zeros_and_nans_the_first_one_stays(function: TensorFunction, length: int) -> None:
    rng = np.random.default_rng(length)
    plan = plan_graph(function.graph(np.zeros((40, length), np.float32)))
    assert [kernel.kind for kernel in plan.chosen(CPU)] == ["rows"]
    (name,) = plan.graph.inputs
    x = np.abs(rng.standard_normal((40, length), dtype=np.float32)) + np.float32(0.5)
    x = -x if function is highest else x
    firsts: list[int | None] = []
    for row, words in enumerate(x.view(np.uint32)):
        special = ZEROS if row < 20 else NANS
        places = rng.permutation(length)[: row % 7]
        words[places] = rng.choice(special, len(places))
        chosen = row < 20 or function is highest  # a NaN is the greatest, and never the least
        firsts.append(int(words[places.min()]) if chosen and len(places) else None)
    (have,), (wanted,) = results(plan, {name: x}, CPU), results(plan, {name: x})
    assert np.array_equal(have, wanted)
    for words, first in zip(have.view(np.uint32).reshape(x.shape), firsts, strict=True):
        assert first is None or (words == first).all()


@vt.function
def shares(x: vt.Tensor) -> vt.Tensor:
    """Of integers, whose sums are the same in any order."""
    return x ^ vt.sum(x, axis=-1, keepdims=True) ^ vt.max(x, axis=-1, keepdims=True)


@pytest.mark.parametrize("shape", [(3, 128), (2, 263), (520, 130)], ids=str)
def test_rows_of_integers(shape: tuple[int, ...]) -> None:
    require_same_bits(shares, shape, np.uint32)
    require_same_bits(shares, shape, np.int32)


def test_the_rest_of_a_network_is_fused_as_before() -> None:
    @vt.function
    def network(x: vt.Tensor, w: vt.Tensor) -> vt.Tensor:
        return nn.softmax(vt.matmul(nn.layer_norm(x), w))

    plan = plan_graph(network.graph(np.zeros((8, 128), np.float32), np.zeros((128, 256), np.float32)))
    assert [kernel.kind for kernel in plan.chosen(CPU)] == ["rows", "matmul", "rows"]
