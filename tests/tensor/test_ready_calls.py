"""A call like one before it: nothing is traced, bound or planned again, and the bits are the same."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import vyre
from vyre import nn
from vyre import tensor as vt
from vyre.backends.device_buffer import DeviceBuffer
from vyre.errors import VyreError
from vyre.planning.plan import GraphPlan
from vyre.planning.run import run_graph

rng = np.random.default_rng(7)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.fixture
def only_short(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Refuses the ordinary way from when it is called."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the ordinary way was taken")

    def now() -> None:
        monkeypatch.setattr(GraphPlan, "session", refuse)
        monkeypatch.setattr(GraphPlan, "fitted", refuse)

    return now


def same(found: Any, wanted: Any) -> bool:
    return np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


def attention(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor) -> vt.Tensor:
    return nn.attention(q, k, v)


def doubled(a: vt.Tensor) -> vt.Tensor:
    return a + a


def less(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return a < b


def product(x: vt.Tensor, t: vt.Tensor) -> vt.Tensor:
    return x @ t


def difference(a: vt.Tensor, b: vt.Tensor) -> vt.Tensor:
    return a - b


@pytest.mark.parametrize("place", ["host", "device"])
def test_a_second_call_goes_the_short_way_with_the_same_bits(place: str, only_short: Any) -> None:
    function = vt.function(attention)
    arrays = [floats(2, 8, 16) for _ in range(3)]
    wanted = function.evaluate(*arrays)
    given = arrays if place == "host" else [vyre.to_device(x, backend="cpu") for x in arrays]
    first = function(*given, backend="cpu")
    only_short()
    second = function(*given, backend="cpu")
    assert type(second) is type(first) is (np.ndarray if place == "host" else DeviceBuffer)
    assert second is not first
    assert same(first, wanted)
    assert same(second, wanted)


def test_run_graph_goes_it_too(only_short: Any) -> None:
    function = vt.function(attention)
    arrays = [floats(2, 8, 16) for _ in range(3)]
    plan = function.plan(*arrays)
    inputs = dict(zip(plan.graph.inputs, arrays, strict=True))
    first = run_graph(plan, inputs, backend="cpu")
    only_short()
    assert same(*run_graph(plan, inputs, backend="cpu").values(), *first.values())


def test_arrays_keep_their_places(only_short: Any) -> None:
    def apart(a: vt.Tensor, rest: Any, *, scale: float, last: vt.Tensor) -> Any:
        return {"difference": a - rest["x"][0], "scaled": (last * scale, rest["x"][1] - a)}

    function = vt.function(apart)
    a, b, c, d = (floats(5) for _ in range(4))
    function(a, {"x": [a, a]}, scale=2.0, last=a, backend="cpu")
    only_short()
    made = function(a, {"x": [b, c]}, scale=2.0, last=d, backend="cpu")
    assert same(made["difference"], a - b)
    assert isinstance(made["scaled"], tuple)
    assert same(made["scaled"][0], d * np.float32(2))
    assert same(made["scaled"][1], c - a)


def test_what_else_a_call_depends_on_is_told_apart() -> None:
    def scaled(x: vt.Tensor, by: Any = 1) -> vt.Tensor:
        return x * by

    function = vt.function(scaled)
    x = floats(4)
    for _ in range(2):
        assert same(function(x, 0.0, backend="cpu"), x * np.float32(0.0))
        assert same(function(x, -0.0, backend="cpu"), x * np.float32(-0.0))
        assert same(function(x, by=3.0, backend="cpu"), x * np.float32(3))
        assert same(function(x, backend="cpu"), x)
        assert same(function(x, True, backend="cpu"), function.evaluate(x, True))
        assert same(function(x[:2], 3.0, backend="cpu"), x[:2] * np.float32(3))
        ints = np.arange(4, dtype=np.int32)
        assert same(function(ints, 3, backend="cpu"), ints * 3)
        with vyre.use("reference"):
            assert same(function(x, 3.0), x * np.float32(3))


def test_an_array_for_a_default_keeps_its_place() -> None:
    kept = floats(3)

    def added(x: vt.Tensor, y: Any = kept) -> Any:
        return x + y

    function = vt.function(added)
    x, y = floats(3), floats(3)
    for _ in range(2):
        assert same(function(x, backend="cpu"), x + kept)
        assert same(function(x, y, backend="cpu"), x + y)
        assert same(function(y=x, x=y, backend="cpu"), x + y)


def test_arrays_that_lie_otherwise_are_taken_all_the_same() -> None:
    function = vt.function(difference)
    a, b = floats(6, 6), floats(6, 6)
    function(a, b, backend="cpu")
    shifted = np.frombuffer(bytes(4) + a.tobytes(), np.float32)[1:].reshape(6, 6)
    for x in (a.T, a[::-1], shifted, np.asfortranarray(a), a.view(np.matrix)):
        assert same(function(x, b, backend="cpu"), np.asarray(x) - b)
    with pytest.raises(VyreError, match="masked"):
        function(np.ma.array(a), b, backend="cpu")


def test_truth_values_empty_arrays_and_inputs_that_come_back() -> None:
    def several(a: vt.Tensor, b: vt.Tensor) -> Any:
        return a < b, a, a + b

    function = vt.function(several)
    for n in (5, 0):
        a, b = floats(n), floats(n)
        for _ in range(2):
            smaller, again, total = function(a, b, backend="cpu")
            assert smaller.dtype == np.bool_
            assert same(smaller, a < b)
            assert same(again, a)
            assert again is not a
            assert same(total, a + b)
    compared = vt.function(less)
    a, b = floats(9), floats(9)
    for _ in range(3):
        assert compared(a, b, backend="cpu").dtype == np.bool_
        assert same(compared(a, b, backend="cpu"), a < b)


def test_a_constant_is_read_where_it_is(only_short: Any) -> None:
    table = floats(64, 64)

    def projected(x: vt.Tensor) -> vt.Tensor:
        return x @ vt.constant(table)

    function = vt.function(projected)
    x = floats(64, 64)
    wanted = vt.function(product)(x, table, backend="cpu")
    assert same(function(x, backend="cpu"), wanted)
    only_short()
    assert same(function(x, backend="cpu"), wanted)


def test_results_are_the_callers_own(only_short: Any) -> None:
    function = vt.function(doubled)
    x = floats(1000)
    function(x, backend="cpu")
    only_short()
    made = [function(x, backend="cpu") for _ in range(3)]
    made[0][:] = 0
    assert same(made[1], x + x)
    assert not np.shares_memory(made[1], made[2])


def test_a_closed_buffer_and_one_of_another_backend_are_refused() -> None:
    function = vt.function(doubled)
    x = vyre.to_device(floats(8), backend="cpu")
    function(x, backend="cpu")
    other = vyre.to_device(floats(8), backend="reference")
    with pytest.raises(VyreError, match="reference"):
        function(other, backend="cpu")
    x.close()
    with pytest.raises(VyreError, match="closed"):
        function(x, backend="cpu")


def test_a_call_in_a_captured_block_is_refused() -> None:
    function = vt.function(doubled)
    x = vyre.to_device(floats(8), backend="cpu")
    function(x, backend="cpu")
    with vyre.capture("cpu"), pytest.raises(VyreError, match="cannot be part of a plan"):
        function(x, backend="cpu")


def test_threads_do_not_meet() -> None:
    function = vt.function(attention)
    sets = [[floats(2, 16, 16) for _ in range(3)] for _ in range(4)]
    wanted = [function(*arrays, backend="cpu").tobytes() for arrays in sets]
    wrong: list[int] = []

    def work(k: int) -> None:
        made = (function(*sets[k], backend="cpu").tobytes() for _ in range(20))
        wrong.extend(k for found in made if found != wanted[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_one_graph_serves_lengths_that_have_a_name(only_short: Any) -> None:
    def softmax(x: vt.Tensor) -> vt.Tensor:
        return nn.softmax(x)

    function = vt.function(x=("n", 4))(softmax)
    arrays = [floats(n, 4) for n in (3, 5, 9)]
    wanted = [function(x, backend="cpu").tobytes() for x in arrays]
    assert len(function._traced) == 1
    only_short()
    assert [function(x, backend="cpu").tobytes() for x in arrays] == wanted


def test_little_is_kept() -> None:
    function = vt.function(doubled)
    for n in range(1, 150):
        x = np.full(n, 2.0, np.float32)
        assert same(function(x, backend="cpu"), x + x)
    assert len(function._ready) <= 64
