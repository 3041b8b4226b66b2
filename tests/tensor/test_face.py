"""What a traced function computes, by the evaluator, beside NumPy."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
from vyre import tensor as vt
from vyre.errors import ValidationError, VyreError

RNG = np.random.default_rng(7)
X = RNG.integers(-8, 8, (4, 6)).astype(np.float32)
WORDS = RNG.integers(0, 1 << 32, (3, 5), dtype=np.uint32)
SIGNED = RNG.integers(-(1 << 31), 1 << 31, (3, 5)).astype(np.int32)


def check(function: Any, expected: Any, *arrays: Any) -> None:
    """Equal values, shapes and types."""
    found = vt.function(function).evaluate(*arrays)
    wanted = np.asarray(expected)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[1:3, ::2], X[1:3, ::2]),
        (lambda x: x[-1], X[-1]),
        (lambda x: x[..., 2], X[..., 2]),
        (lambda x: x[:, None, 1:], X[:, None, 1:]),
        (lambda x: x[:100], X),
        (lambda x: x[5:2], X[5:2]),
        (lambda x: x.T, X.T),
        (lambda x: x.reshape(2, -1), X.reshape(2, -1)),
        (lambda x: x.T.reshape(-1), X.T.reshape(-1)),
        (lambda x: x.swapaxes(0, 1)[1], X.T[1]),
        (lambda x: x[0].broadcast_to((2, 6)), np.broadcast_to(X[0], (2, 6))),
        (lambda x: vt.concat([x, x + 1], 1), np.concatenate([X, X + 1], 1)),
        (lambda x: vt.stack([x, x], -1), np.stack([X, X], -1)),
        (lambda x: vt.split(x, 3, 1)[2], np.split(X, 3, 1)[2]),
        (lambda x: vt.split(x, [1, 3], 0)[1], X[1:]),
        (lambda x: vt.pad(x, [(1, 0), (0, 2)], 7), np.pad(X, ((1, 0), (0, 2)), constant_values=7)),
        (lambda x: vt.windows(x, 1, 3, 2)[0], np.lib.stride_tricks.sliding_window_view(X, 3, 1)[0, ::2]),
        (lambda x: vt.squeeze(vt.expand_dims(x, 1)), X),
    ],
)
def test_shapes(function: Any, expected: Any) -> None:
    check(function, expected, X)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x + 1, X + 1),
        (lambda x: 2 - x, 2 - X),
        (lambda x: x * x / 4, X * X / 4),
        (lambda x: -x, -X),
        (lambda x: abs(x), np.abs(X)),
        (lambda x: x > 0, X > 0),
        (lambda x: (x > 0) & ~(x == 3), (X > 0) & ~(X == 3)),
        (lambda x: vt.where(x > 0, x, 0.0), np.where(X > 0, X, np.float32(0))),
        (lambda x: vt.clip(x, -2, 3), np.clip(X, -2, 3)),
        (lambda x: x.astype(vyre.i32) // 3, X.astype(np.int32) // 3),
        (lambda x: x.astype("i32") % 5, X.astype(np.int32) % 5),
        (lambda x: x.astype(np.float16), X.astype(np.float16)),
        (lambda x: x.astype("i8"), X.astype(np.int8)),
        (lambda x: x.astype(bool), X.astype(bool)),
        (lambda x: (x > 0).astype("f32"), (X > 0).astype(np.float32)),
        (lambda x: vt.sqrt(x * x), np.abs(X)),
        (lambda x: vt.fma(x, x, 1.0), X * X + 1),
    ],
)
def test_elements(function: Any, expected: Any) -> None:
    check(function, expected, X)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x.sum(), X.sum()),
        (lambda x: x.sum(0), X.sum(0)),
        (lambda x: x.sum((0, 1), keepdims=True), X.sum((0, 1), keepdims=True)),
        (lambda x: x.sum(-1, order="strict"), X.sum(-1)),
        (lambda x: x.sum(-1, accumulator="f64"), X.sum(-1)),
        (lambda x: x[:, :4].mean(1), X[:, :4].mean(1)),
        (lambda x: x.max(0), X.max(0)),
        (lambda x: x.min(), X.min()),
        (lambda x: x.argmax(1), X.argmax(1).astype(np.uint32)),
        (lambda x: x.argmin(), np.uint32(X.argmin())),
        (lambda x: (x > 6).any(1), (X > 6).any(1)),
        (lambda x: (x < 9).all(), (X < 9).all()),
        (lambda x: (x > 0).sum(), np.uint32((X > 0).sum())),
        (lambda x: vt.cumsum(x, 0), np.cumsum(X, 0, dtype=np.float32)),
        (lambda x: x @ x.T, X @ X.T),
        (lambda x: x @ x[0], X @ X[0]),
        (lambda x: x[0] @ x.T, X[0] @ X.T),
        (lambda x: x[0] @ x[1], X[0] @ X[1]),
        (lambda x: vt.matmul(x, x.T, accumulator="exact"), X @ X.T),
        (lambda x: vt.matmul(x, x.T, accumulator="f64", element="f64"), (X @ X.T).astype(np.float64)),
        (lambda x: x.astype("i8") @ x.astype("i8").T, (X @ X.T).astype(np.int32)),
    ],
)
def test_joins(function: Any, expected: Any) -> None:
    """Small whole numbers, of which every order gives the same sum."""
    check(function, expected, X)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda w, s: w + 3, WORDS + np.uint32(3)),
        (lambda w, s: w >> 7, WORDS >> np.uint32(7)),
        (lambda w, s: (w << 3) ^ w, (WORDS << np.uint32(3)) ^ WORDS),
        (lambda w, s: s >> 7, SIGNED >> 7),
        (lambda w, s: s < 0, SIGNED < 0),
        (lambda w, s: w > 9, WORDS > 9),
        (lambda w, s: s.max(1), SIGNED.max(1)),
        (lambda w, s: w.min(), WORDS.min()),
        (lambda w, s: w.sum(), WORDS.sum(dtype=np.uint32)),
        (lambda w, s: w[:, :2] @ w[:2], WORDS[:, :2] @ WORDS[:2]),
        (lambda w, s: vt.bitcast(s, "u32"), SIGNED.view(np.uint32)),
        (lambda w, s: w // 0, WORDS * np.uint32(0)),
        (lambda w, s: s // -7, SIGNED // -7),
        (lambda w, s: s % -7, SIGNED % -7),
        (lambda w, s: vt.trunc_divide(s, -7), np.trunc(SIGNED / -7).astype(np.int32)),
        (lambda w, s: vt.fmod(s, -7), np.fmod(SIGNED, -7)),
    ],
)
def test_integers(function: Any, expected: Any) -> None:
    check(function, expected, WORDS, SIGNED)


def test_quotients_and_rests_are_those_of_numpy() -> None:
    least = np.iinfo(np.int32).min
    ends = np.array([least, least + 1, -7, -1, 0, 1, 7, least - 1 & 0x7FFFFFFF], np.int32)
    a, b = (m.reshape(-1) for m in np.meshgrid(ends, ends))
    with np.errstate(divide="ignore", over="ignore"):
        check(lambda a, b: a // b, a // b, a, b)
        check(lambda a, b: a % b, a % b, a, b)
        check(vt.fmod, np.fmod(a, b), a, b)


def test_indices_gather_and_scatter() -> None:
    at = np.array([3, 0, 9], np.int64)
    check(lambda x, i: x[i], np.stack([X[3], X[0], np.zeros(6, np.float32)]), X, at)
    check(lambda x, i: x[:, i], np.stack([X[:, 3], X[:, 0], np.zeros(4, np.float32)], 1), X, at)
    places = np.array([[1], [0], [5], [2]], np.uint32)
    check(lambda x, i: vt.take_along_axis(x, i, 1), np.take_along_axis(X, places.astype(int), 1), X, places)
    twice = np.array([1, 1, 7], np.uint32)
    rows = np.arange(18, dtype=np.float32).reshape(3, 6)
    last, added = X.copy(), X.copy()
    last[1] = rows[1]
    added[1] += rows[0] + rows[1]
    check(lambda x, i, u: vt.scatter(x, i, u), last, X, twice, rows)
    check(lambda x, i, u: vt.scatter(x, i, u, duplicates="add"), added, X, twice, rows)


def test_one_trace_serves_every_length() -> None:
    traces: list[Any] = []

    @vt.function(x=("n", 3))
    def mean(x: vt.Tensor) -> vt.Tensor:
        traces.append(x.shape)
        return x.mean(0)

    for n in (1, 2, 4):
        array = np.full((n, 3), 5, np.float32)
        np.testing.assert_array_equal(mean.evaluate(array), array[0])
    assert len(traces) == 1


def test_arguments_may_be_structures_and_constants() -> None:
    @vt.function
    def layer(x: vt.Tensor, params: dict[str, Any], times: int = 2) -> dict[str, Any]:
        for part in params["layers"]:
            x = x * part["scale"]
        return {"out": [x * times], "name": "layer"}

    params = {"layers": [{"scale": np.array([2], np.float32)}, {"scale": np.array([3], np.float32)}]}
    found = layer.evaluate(np.array([1, 2], np.float32), params, times=5)
    np.testing.assert_array_equal(found["out"][0], [30, 60])
    assert found["name"] == "layer"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x @ x, "4, 6"),
        (lambda x: x + x[:, :5], "do not broadcast"),
        (lambda x: x + x.astype("f16"), "F32 beside F16"),
        (lambda x: x.reshape(5, 5), "24 elements"),
        (lambda x: x[7], "index 7"),
        (lambda x: x[0, 0, 0], "3 indices"),
        (lambda x: x.sum(2), "axis 2"),
        (lambda x: x if x else -x, "needs the elements"),
        (lambda x: x + np.ones(6, np.float32), "beside a tensor"),
        (lambda x: x // 2, "// does not take F32"),
        (lambda x: x.astype("f8"), "does not name"),
        (lambda x: x.astype("i32") + 0.5, "0.5 beside"),
        (lambda x: x.astype("i32") / 2, "/ does not take I32"),
        (lambda x: vt.split(x, 5, 1), "into 5 equal parts"),
        (lambda x: vt.where(x, x, 0.0), "where() does not take F32"),
        (lambda x: None, "returns no tensor"),
    ],
)
def test_mistakes_are_told_where_they_are_made(
    function: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VYRE_TRACEBACK", raising=False)
    with pytest.raises(VyreError, match="Fix:") as caught:
        vt.function(function).graph(X)
    assert message in str(caught.value).replace("V057: ", "")
    trace = caught.value.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    assert trace.tb_frame.f_code.co_filename == __file__


def test_a_dynamic_dimension_never_broadcasts() -> None:
    @vt.function(x=("n",), y=(5,))
    def joined(x: vt.Tensor, y: vt.Tensor) -> vt.Tensor:
        return x + y

    with pytest.raises(VyreError, match="do not broadcast"):
        joined.evaluate(np.zeros(1, np.float32), np.zeros(5, np.float32))


def test_a_shape_that_was_declared_otherwise() -> None:
    function = vt.function(x=("n", 3))(lambda x: x + 1)
    with pytest.raises(VyreError, match=r"\[2, 4\]"):
        function.evaluate(np.zeros((2, 4), np.float32))
    with pytest.raises(VyreError, match="no parameter 'z'"):
        vt.function(z=("n",))(lambda x: x)


def test_rules_of_graphs_have_their_code() -> None:
    with pytest.raises(ValidationError, match="V055"):
        vt.function(lambda x: x.reshape(5, 5)).graph(X)


def test_doubles_become_halves_in_one_rounding() -> None:
    tie, step = 1 + 2.0**-11, 2.0**-40
    edges = [tie, tie + step, tie - step, 65519.9999999, 65520.0, 2.0**-25, 2.0**-25 + 2.0**-60, 1e300]
    special = [0.0, np.inf, np.nan, 2.0**-149, 1e-300, 3.0e-8]
    random = RNG.standard_normal(64) * 2.0 ** RNG.integers(-28, 18, 64)
    x = np.array([*edges, *special, *random])
    x = np.concatenate([x, -x])
    with np.errstate(over="ignore", under="ignore"):
        wanted = x.astype(np.float16)
    for found in (
        vt.function(lambda x: x.astype(vyre.f16)).evaluate(x),
        vt.function(lambda x: x.astype(vyre.f16))(x, backend="cpu"),
    ):
        np.testing.assert_array_equal(found, wanted)
        assert np.array_equal(np.signbit(found[wanted == 0]), np.signbit(wanted[wanted == 0]))
    brain = np.array([1 + 2.0**-8 + step, 1 + 3 * 2.0**-8 - step, 2.0**-134 + 2.0**-170])
    bits = vt.function(lambda x: x.astype(vyre.bf16))(brain, backend="cpu")
    assert bits.tolist() == [0x3F81, 0x3F81, 0x0001]
