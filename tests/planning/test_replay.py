"""Plans on buffers that stay: every replay gives what a call on what they hold would give."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
import vyre.tensor as vt
from vyre import nn
from vyre.errors import DispatchError, VyreError
from vyre.planning.replay import replayed


@vt.function
def layer(x: vt.Tensor, w: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    made = nn.softmax(x @ w)
    return made, made + vt.constant(np.arange(12, dtype=np.float32))


@vt.function
def same(x: vt.Tensor) -> vt.Tensor:
    return x


@vt.function
def twice(x: vt.Tensor) -> tuple[vt.Tensor, vt.Tensor]:
    made = x + x
    return made, made


def arrays(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape).astype(np.float32) for shape in ((2, 40), (40, 12))]


def placed(backend: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    x, w = arrays(1)
    plan = layer.plan(x, w)
    given = {name: vyre.to_device(array, backend=backend) for name, array in (("x", x), ("w", w))}
    left = {name: vyre.device_zeros(24, np.float32, backend=backend) for name in plan.graph.outputs}
    return plan, given, left


@pytest.mark.parametrize("backend", ["cpu", "opencl"])
def test_a_replay_is_a_call_on_what_the_buffers_hold(backend: str) -> None:
    plan, given, left = placed(backend)
    made = replayed(plan, given, left, backend=backend)
    for seed in (1, 2, 3):
        if seed != 1:
            for name, array in zip(("x", "w"), arrays(seed), strict=True):
                given[name].copy_from(array)
            made.replay()
        wanted = layer(*arrays(seed), backend=backend)
        for have, want in zip(left.values(), wanted, strict=True):
            assert have.numpy().tobytes() == want.tobytes()


def test_what_is_no_buffer_is_refused() -> None:
    plan, given, left = placed("cpu")
    with pytest.raises(DispatchError, match=r"the input 'x' is not a device buffer: ndarray\."):
        replayed(plan, {**given, "x": arrays(1)[0]}, left, backend="cpu")
    first = plan.graph.outputs[0]
    with pytest.raises(DispatchError, match=rf"the output '{first}' is not a device buffer: NoneType\."):
        replayed(plan, given, {}, backend="cpu")


def test_an_output_has_a_buffer_of_its_own_and_of_its_length() -> None:
    plan, given, left = placed("cpu")
    first = plan.graph.outputs[0]
    short = vyre.device_zeros(23, np.float32, backend="cpu")
    with pytest.raises(DispatchError, match="cannot be written into the array that was given"):
        replayed(plan, given, {**left, first: short}, backend="cpu")
    passed = same.plan(arrays(1)[0])
    with pytest.raises(DispatchError, match="no kernel writes"):
        replayed(passed, {"x": given["x"]}, {passed.graph.outputs[0]: left[first]}, backend="cpu")


def test_a_function_is_replayed_into_what_it_returns() -> None:
    _, given, left = placed("cpu")
    made = layer.replayed(given["x"], w=given["w"], into=tuple(left.values()), backend="cpu")
    given["x"].copy_from(arrays(2)[0])
    made.replay()
    wanted = layer(arrays(2)[0], arrays(1)[1], backend="cpu")
    assert [have.numpy().tobytes() for have in left.values()] == [want.tobytes() for want in wanted]


def test_there_is_one_buffer_for_each_result() -> None:
    _, given, left = placed("cpu")
    with pytest.raises(VyreError, match=r"returns 2 arrays, and there are buffers for 1\."):
        layer.replayed(given["x"], given["w"], into=next(iter(left.values())), backend="cpu")
    with pytest.raises(VyreError, match="returns a value twice"):
        twice.replayed(given["x"], into=tuple(left.values()), backend="cpu")


def test_buffers_in_a_dict_are_found_by_their_keys() -> None:
    named = vt.function(lambda x: {"more": x + 1, "both": (x * 2, 7)})
    x = vyre.to_device(np.ones(3, np.float32), backend="cpu")
    more, doubled = (vyre.device_zeros(3, np.float32, backend="cpu") for _ in range(2))
    named.replayed(x, into={"both": (doubled, 7), "more": more}, backend="cpu").replay()
    assert more.numpy().tolist() == doubled.numpy().tolist() == [2, 2, 2]
    x.copy_from(np.full(3, 5, np.float32))
    named.replayed(x, into={"both": (doubled, 7), "more": more}, backend="cpu").replay()
    assert (more.numpy().tolist(), doubled.numpy().tolist()) == ([6, 6, 6], [10, 10, 10])
    with pytest.raises(VyreError, match="a buffer for 'less', which the function does not return"):
        named.replayed(x, into={"less": more, "both": (doubled, 7)}, backend="cpu")


def test_outputs_that_share_memory_are_refused() -> None:
    both = vt.function(lambda x: (vt.cumsum(x) + 1, x * 2))
    x = vyre.to_device(np.ones(8, np.float32), backend="cpu")
    memory = np.zeros(32, np.float32)
    one, two, apart = (vyre.to_device(memory[at : at + 8], backend="cpu", copy=False) for at in (0, 4, 8))
    with pytest.raises(DispatchError, match="shares memory with an input or another output"):
        both.replayed(x, into=(one, two), backend="cpu")
    both.replayed(x, into=(one, apart), backend="cpu")
    assert apart.numpy().tolist() == [2] * 8
