"""I64 along axes and bit by bit: what NumPy gives, modulo 2^64, on words of 32 bits."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

RNG = np.random.default_rng(3)
LOW, HIGH = -(1 << 63), (1 << 63) - 1


def drawn(*shape: int) -> Any:
    """Numbers of all sizes, with equal ones and the ends among them."""
    made = RNG.integers(LOW, HIGH, shape) >> RNG.integers(0, 64, shape)
    flat = made.reshape(-1)
    flat[:: max(len(flat) // 5, 1)] = LOW
    flat[1 :: max(len(flat) // 4, 1)] = HIGH
    return made


def check(function: Any, expected: Any, *arrays: Any, **shapes: Any) -> None:
    made = vt.function(**shapes)(function) if shapes else vt.function(function)
    found = made(*arrays, backend="cpu")
    assert found.tobytes() == made.evaluate(*arrays).tobytes()
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


X = drawn(3, 5, 4)
WAYS: list[tuple[Any, Any]] = [
    (lambda x: x.sum(), lambda x: np.asarray(x.sum())),
    (lambda x: x.sum((0, -1), keepdims=True), lambda x: x.sum((0, -1), keepdims=True)),
    (lambda x: x.max(1), lambda x: x.max(1)),
    (lambda x: x.min((0, 2)), lambda x: x.min((0, 2))),
    (lambda x: vt.max(x, 0, keepdims=True), lambda x: x.max(0, keepdims=True)),
    (lambda x: vt.argmax(x, 1), lambda x: x.argmax(1).astype(np.uint32)),
    (lambda x: vt.argmin(x), lambda x: np.asarray(x.argmin(), np.uint32)),
    (lambda x: vt.cumsum(x, 1), lambda x: x.cumsum(1)),
    (lambda x: vt.cumsum(x, 1, exclusive=True), lambda x: x.cumsum(1) - x),
]


@pytest.mark.parametrize(("function", "expected"), WAYS)
def test_long_numbers_are_joined_as_numpy_joins_them(function: Any, expected: Any) -> None:
    check(function, expected(X), X)


@pytest.mark.parametrize("length", [1, 7])
def test_long_numbers_of_a_dynamic_length(length: int) -> None:
    x = drawn(2, length)
    check(lambda x: vt.sum(x, 1), x.sum(1), x, x=(2, "n"))
    check(lambda x: vt.sum(x), np.asarray(x.sum()), x, x=("m", "n"))
    check(lambda x: vt.cumsum(x, 1), x.cumsum(1), x, x=(2, "n"))


def test_every_place_may_carry() -> None:
    x = np.full(100_003, -1)
    x[0] = HIGH
    assert vt.function(lambda x: x.sum())(x, backend="cpu") == HIGH - 100_002


def test_nothing_has_the_sum_0_and_the_least_as_its_greatest() -> None:
    x = np.zeros((0, 2), np.int64)
    check(lambda x: x.sum(0), x.sum(0), x)
    check(lambda x: x.max(0), np.full(2, LOW), x)
    check(lambda x: x.min(0), np.full(2, HIGH), x)


@pytest.mark.parametrize("axis", [1, 2])
@pytest.mark.parametrize("largest", [True, False])
def test_the_greatest_and_the_least_long_numbers(axis: int, largest: bool) -> None:
    """All of an axis, so that the ends of the range and equal numbers are chosen too."""
    at = np.argsort(~X if largest else X, axis, kind="stable")
    count = X.shape[axis]
    check(lambda x: nn.top_k(x, count, axis, largest=largest)[0], np.take_along_axis(X, at, axis), X)
    check(lambda x: nn.top_k(x, count, axis, largest=largest)[1], at.astype(np.uint32), X)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x & y,
        lambda x, y: x | 7,
        lambda x, y: x ^ -5,
        lambda x, y: ~x,
        lambda x, y: x << 33,
        lambda x, y: x >> 3,
        lambda x, y: x >> (y & 63),
    ],
)
def test_bits_of_long_numbers(function: Any) -> None:
    y = drawn(3, 5, 4)
    check(function, function(X, y), X, y)


def truncated(a: int, b: int) -> tuple[int, int]:
    """As in C, modulo 2^64; 0 for a divisor of 0."""
    quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1) if b else 0
    wrapped = (quotient + (1 << 63)) % (1 << 64) - (1 << 63)
    return wrapped, a - quotient * b if b else 0


def test_long_numbers_are_divided() -> None:
    y = drawn(3, 5, 4)
    y[0, 0] = [0, -1, 1, 3]
    pairs = list(zip(X.reshape(-1).tolist(), y.reshape(-1).tolist(), strict=True))
    quotients = [truncated(a // b if b else 0, 1)[0] for a, b in pairs]
    ways: list[tuple[Any, list[int]]] = [
        (lambda x, y: x // y, quotients),
        (lambda x, y: x % y, [a % b if b else 0 for a, b in pairs]),
        (lambda x, y: vt.trunc_divide(x, y), [truncated(a, b)[0] for a, b in pairs]),
        (lambda x, y: vt.fmod(x, y), [truncated(a, b)[1] for a, b in pairs]),
    ]
    for function, expected in ways:
        check(function, np.array(expected).reshape(X.shape), X, y)
    check(lambda x: x // -7, X // -7, X)
    check(lambda x: 1000 % x, np.where(X == 0, 0, 1000 % np.where(X == 0, 1, X)), X)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: vt.prod(x), "a product of all elements does not take I64"),
        (lambda x: vt.cumprod(x), r"cumprod\(\) does not take I64"),
        (lambda x: vt.cummax(x), r"cummax\(\) does not take I64"),
        (lambda x: x[0] @ x[0].T, r"matmul\(\) does not take I64"),
    ],
)
def test_what_long_numbers_do_not_have_is_said_by_their_name(function: Any, said: str) -> None:
    with pytest.raises(VyreError, match=rf"{said}\. Fix: cast the tensor to i32 first, where"):
        vt.function(function).graph(X)


@pytest.mark.parametrize("number", [1 << 63, -(1 << 63) - 1, 1e300])
def test_a_number_that_is_not_a_long_one_is_refused(number: float) -> None:
    with pytest.raises(VyreError, match="is not a value of I64"):
        vt.function(lambda x: x + number).graph(X)
