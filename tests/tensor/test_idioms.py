"""What people who know NumPy and torch write, beside NumPy, and the answer to what there is not."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know. Mistakes are on purpose.

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import vyre
from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

RNG = np.random.default_rng(11)
X = RNG.integers(-8, 8, (4, 6)).astype(np.float32)
CUBE = RNG.integers(-3, 4, (2, 3, 4)).astype(np.float32)
WHOLE = RNG.integers(-9, 9, (4, 6)).astype(np.int32)
ROWS = np.array([3, 0, 2])


def check(function: Any, expected: Any, *arrays: Any) -> None:
    found = vt.function(function).evaluate(*arrays)
    wanted = np.asarray(expected)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[::-1], X[::-1]),
        (lambda x: x[:, 4:1:-2], X[:, 4:1:-2]),
        (lambda x: x[::-1, None, 1], X[::-1, None, 1]),
        (lambda x: x[[0, -1]], X[[0, -1]]),
        (lambda x: x[:, np.array([5, 1])], X[:, [5, 1]]),
        (lambda x: x[np.array([True, False, False, True])], X[[0, 3]]),
        (lambda x: x[np.int64(1)], X[1]),
        (lambda x: x[np.int64(1) :], X[1:]),
        (lambda x: vt.take(x, [1, -1], 1), X[:, [1, -1]]),
        (lambda x: vt.flip(x), X[::-1, ::-1]),
        (lambda x: vt.roll(x, 2, 1), np.roll(X, 2, 1)),
        (lambda x: vt.roll(x, -1, 0), np.roll(X, -1, 0)),
        (lambda x: vt.roll(x, np.uint8(1), 1), np.roll(X, 1, 1)),
        (lambda x: vt.tile(x, (2, 1, 3)), np.tile(X, (2, 1, 3))),
        (lambda x: vt.repeat(x, 3, 0), np.repeat(X, 3, 0)),
        (lambda x: vt.repeat(x, np.int64(3), 0), np.repeat(X, 3, 0)),
        (lambda x: vt.moveaxis(x, 0, -1), X.T),
        (lambda x: vt.diff(x), np.diff(X)),
        (lambda x: vt.tril(x, 1), np.tril(X, 1)),
        (lambda x: vt.triu(x, -1), np.triu(X, -1)),
        (lambda x: vt.triu(x, (1 << 31) - 1), np.zeros_like(X)),
        (lambda x: vt.tril(x, 1 << 40), X),
        (lambda x: vt.triu(x, -(1 << 40)), X),
        (lambda x: vt.pad(x, 1), np.pad(X, 1)),
        (lambda x: vt.pad(x, (1, 2)), np.pad(X, (1, 2))),
        (lambda x: x.transpose((1, 0)), X.T),
        (lambda x: vt.eye(4) @ x, X),
        (lambda x: x + vt.arange(6, 0, -1, element="i32").astype("f32"), X + np.arange(6, 0, -1)),
        (lambda x: vt.full_like(x, 2) * vt.ones_like(x) + vt.zeros_like(x), np.full_like(X, 2)),
        (lambda x: x + len(x) + x.size, X + 28),
    ],
)
def test_views_and_orders(function: Any, expected: Any) -> None:
    check(function, np.asarray(expected, np.float32), X)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x, w: np.float32(0.5) * x + np.int64(1), X * np.float32(0.5) + 1),
        (lambda x, w: x**2, X**2),
        (lambda x, w: 2**x, np.float32(2) ** X),
        (lambda x, w: w**3, WHOLE**3),
        (lambda x, w: w**0, WHOLE**0),
        (lambda x, w: x.astype("f64") ** 2, X.astype(np.float64) ** 2),
        (lambda x, w: vt.maximum(x, 0), np.maximum(X, 0)),
        (lambda x, w: vt.minimum(w, 3), np.minimum(WHOLE, 3)),
        (lambda x, w: vt.sign(x), np.sign(X)),
        (lambda x, w: vt.sign(w), np.sign(WHOLE)),
        (lambda x, w: vt.square(x), X * X),
        (lambda x, w: x[:, :4].var(1), X[:, :4].var(1)),
        (lambda x, w: vt.var(x[:, :4], (0, 1), keepdims=True), X[:, :4].var(keepdims=True)),
        (lambda x, w: vt.var(x[:, :5], 1, correction=1), X[:, :5].astype(np.float64).var(1, ddof=1)),
        (lambda x, w: x[:1, :4].std(0), np.zeros(4)),
        (lambda x, w: vt.einsum("ij,kj->ik", x, x), X @ X.T),
        (lambda x, w: vt.einsum("ij->j", x), X.sum(0)),
        (lambda x, w: vt.einsum("ij,ij", x, x), (X * X).sum()),
        (lambda x, w: vt.einsum("i,j->ji", x[0], x[:, 1]), np.outer(X[:, 1], X[0])),
        (lambda x, w: vt.einsum("ij,kj,kl->il", x, x, x), X @ X.T @ X),
    ],
)
def test_elements_and_joins(function: Any, expected: Any) -> None:
    found = vt.function(function).evaluate(X, WHOLE)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.shape == np.asarray(expected).shape


def test_einsum_of_batches_and_dots() -> None:
    cube = CUBE.swapaxes(1, 2)
    for subscripts, operands in (
        ("bij,bjk->bik", (CUBE, cube)),
        ("...ij,...jk->...ik", (CUBE, cube)),
        ("bij,bji->b", (CUBE, cube)),
        ("bij,kj->bki", (CUBE, X[:, :4])),
        ("b...->...b", (CUBE,)),
    ):
        expected = np.einsum(subscripts, *operands).astype(np.float32)
        check(lambda *parts, s=subscripts: vt.einsum(s, *parts), expected, *operands)


def test_nan_and_infinities() -> None:
    x = np.array([np.nan, 1, -np.inf, 0], np.float32)
    y = np.array([2, np.nan, 3, -0.0], np.float32)
    check(lambda x, y: vt.maximum(x, y), np.maximum(x, y), x, y)
    check(lambda x, y: vt.minimum(x, y), np.minimum(x, y), x, y)
    check(lambda x, y: vt.isfinite(x), np.isfinite(x), x, y)
    check(lambda x, y: vt.sign(x), np.sign(x), x, y)


def test_several_tensors_of_indices() -> None:
    columns = np.array([5, 1, 9], np.int64)
    found = vt.function(lambda x, i, j: x[i, j]).evaluate(X, ROWS, columns)
    np.testing.assert_array_equal(found, [X[3, 5], X[0, 1], 0])
    beyond = vt.function(lambda x, i, j: x[0, i, j]).evaluate(
        CUBE, np.array([-1, 2]), np.array([0, 3], np.uint8)
    )
    np.testing.assert_array_equal(beyond, [0, CUBE[0, 2, 3]])


def test_orders_of_dynamic_axes() -> None:
    turned = vt.function(x=("n", 2))(lambda x: (x[::-1], vt.flip(x, 0), vt.tile(x, (2, 1)), vt.diff(x, 0)))
    for n in (1, 2, 5):
        x = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
        expected = (x[::-1], x[::-1], np.tile(x, (2, 1)), np.diff(x, axis=0))
        for found, wanted in zip(turned.evaluate(x), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_arguments_may_have_any_name() -> None:
    check(lambda v1, v2: (v1 + 1) * v2, (X + 1) * X, X, X)


def test_constants_of_a_trace_are_told_apart() -> None:
    signed = vt.function(lambda x, zero: x * 0.0 + zero)
    x = np.array([-1], np.float32)
    assert np.signbit(signed.evaluate(x, -0.0)[0])
    assert not np.signbit(signed.evaluate(x, 0.0)[0])
    chosen = vt.function(lambda x, table: x * (2 if 1 in table else 3))
    assert chosen.evaluate(x, {1: 0})[0] == -2
    assert chosen.evaluate(x, {"1": 0})[0] == -3


def test_arrays_of_the_other_byte_order() -> None:
    check(lambda x: x + 1, X + 1, X.astype(">f4"))


class Foreign:
    """An array of the host that another library holds."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


def test_arrays_of_other_libraries_and_of_devices() -> None:
    layer = vt.function(lambda x, y: x * 2 + y)
    for given in (Foreign(X), vyre.to_device(X, backend="cpu")):
        np.testing.assert_array_equal(layer.evaluate(given, X), X * 3)
        np.testing.assert_array_equal(layer(given, X, backend="cpu"), X * 3)


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(VyreError, match="masked array"):
        vt.function(lambda x: x + 1).evaluate(np.ma.masked_array(X, X > 3))


def test_functions_call_one_another() -> None:
    @vt.function
    def inner(x: Any, scale: float, parts: list[Any]) -> Any:
        return x * scale + parts[0]

    check(lambda x, y: inner(inner(x, 2.0, [y]), 3.0, parts=[x]), (X * 2 + X) * 3 + X, X, X)
    check(lambda x, y: inner(1.0, 2.0, [y]), X + 2, X, X)


def test_extremes_of_whole_numbers() -> None:
    """The least integers are keys like any other."""
    for dtype in (np.int32, np.uint32, np.int8):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = np.array([low, low + 1, high, low, high], dtype)
        values, at = vt.function(lambda x: nn.top_k(x, 5)).evaluate(x)
        np.testing.assert_array_equal(at, [2, 4, 1, 0, 3])
        np.testing.assert_array_equal(values, x[at])
        _, at = vt.function(lambda x: nn.top_k(x, 5, largest=False)).evaluate(x)
        np.testing.assert_array_equal(at, [0, 3, 1, 2, 4])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[x > 0], "depend on data"),
        (lambda x: x[np.array([0.5])], "float64 [1] cannot index axis 0"),
        (lambda x: x[[0, 4]], "0 to 4 leave axis 0"),
        (lambda x: vt.roll(x, 0.5, 1), "the shift is 0.5"),
        (lambda x: vt.repeat(x, 1.5, 1), "the number of repeats is 1.5"),
        (lambda x: x[0.5:], "0.5 cannot bound a slice"),
        (lambda x: x.dtype, "use x.element"),
        (lambda x: x.nowhere, "a tensor has no 'nowhere'"),
        (lambda x: vt.argsort(x), "top_k"),
        (lambda x: np.exp(x), "vyre.tensor.exp"),
        (lambda x: np.sum(x), "vyre.tensor.sum"),
        (lambda x: np.ones(6, np.float32) + x, "ndarray beside"),
        (lambda x: x @ np.ones((6, 6), np.float32), "matmul() takes a tensor, not ndarray"),
        (lambda x: np.ones((6, 4), np.float32) @ x, "matmul() takes a tensor, not ndarray"),
        (lambda x: vt.sum(3), "sum() takes a tensor, not int"),
        (lambda x: vt.concat([x, 1]), "concat() takes a tensor, not int"),
        (lambda x: x.sum("rows"), "'rows' is not an axis"),
        (lambda x: x.reshape(2.0, 12), "2.0 is not a size"),
        (lambda x: vt.pad(x, [(1, 2, 3)]), "widths for 2 axes"),
        (lambda x: x.__setitem__(0, 1), "in place"),
        (lambda x: x.astype("i32") ** -1, "does not take I32"),
        (lambda x: vt.einsum("ii->i", x), "a diagonal"),
        (lambda x: vt.einsum("ij,jk", x, x), "the axis j is 6 and 4"),
        (lambda x: vt.einsum("ij->ik", x), "names an axis twice or none"),
        (lambda x: vt.einsum("ij", x, x), "for 1 operands"),
        (lambda x: vt.arange(-2, 3), "element=vyre.i32"),
    ],
)
def test_what_there_is_not_is_told_with_what_to_write(function: Any, message: str) -> None:
    with pytest.raises(VyreError, match="Fix:") as caught:
        vt.function(function).graph(X)
    assert message in str(caught.value)


def test_names_that_are_absent_do_not_confuse_python() -> None:
    assert not hasattr(vt, "argsort")
    assert not hasattr(vt, "__wrapped__")


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("avg_pool2d", r"use vyre\.nn\.average_pool"),
        ("concat", r"use vyre\.tensor\.concat"),
        ("nowhere", r"dir\(vyre\.nn\)"),
    ],
)
def test_a_layer_that_is_missing_names_what_there_is(name: str, fix: str) -> None:
    with pytest.raises(AttributeError, match=rf"vyre\.nn has no '{name}'\. Fix: {fix}"):
        getattr(nn, name)
    assert not hasattr(nn, name)
    assert not hasattr(nn, "__wrapped__")


def test_the_rest_of_python_s_operators() -> None:
    x = np.array([-7, 7, 5], np.int32)
    quotient, rest = vt.function(lambda x: divmod(x, 4))(x, backend="cpu")
    assert (quotient.tolist(), rest.tolist()) == ([-2, 1, 1], [1, 3, 1])
    halves = np.array([0.5, 1.5, -2.5], np.float32)
    assert vt.function(lambda x: round(x))(halves, backend="cpu").tolist() == [0, 2, -2]
    with pytest.raises(VyreError, match="rounded to 2 digits"):
        vt.function(lambda x: round(x, 2))(halves, backend="cpu")


def test_a_tuple_picks_as_a_list_does() -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = vt.function(lambda x: x[(0, -1), 1:])(x, backend="cpu")
    np.testing.assert_array_equal(found, x[(0, -1), 1:])


@pytest.mark.parametrize(
    ("name", "fix"), [("squeeze", r"use vyre\.tensor\.squeeze\(x, …\)"), ("copy", "leave it out")]
)
def test_a_method_that_is_missing_names_what_there_is(name: str, fix: str) -> None:
    with pytest.raises(AttributeError, match=fix):
        vt.function(lambda x: getattr(x, name)())(np.ones(2, np.float32), backend="cpu")


def test_the_other_order_of_bytes_is_named() -> None:
    with pytest.raises(VyreError, match="got big-endian float32"):
        vt.function(lambda x: x + 1)(np.ones(2, ">f4"), backend="cpu")


kept: list[Any] = []


def keeping(a: Any) -> Any:
    kept[:] = [a, a * 2]
    return a


@pytest.mark.parametrize(
    "run",
    [
        lambda a: kept[0],
        lambda a: (a * 3, kept[1]),
        lambda a: a @ kept[0],
        lambda a: vt.concat([a, kept[0]]),
        lambda a: vt.take_along_axis(a, kept[0], 0),
        lambda a: kept[0].sum(0),
        lambda a: kept[0] + kept[1],
    ],
)
def test_a_tensor_of_another_trace_is_refused_whatever_its_name(run: Any) -> None:
    x = np.eye(3, dtype=np.float32)
    vt.function(keeping)(x, backend="cpu")
    with pytest.raises(VyreError, match="two functions that are traced apart"):
        vt.function(run)(x + 1, backend="cpu")


class Pair(NamedTuple):
    first: Any
    second: Any


def test_a_named_tuple_keeps_the_names_of_its_places() -> None:
    swapped = vt.function(lambda p: Pair(p.second, [Pair(p.first, 3)]))
    one, two = np.ones(2, np.float32), np.zeros(3, np.float32)
    for _ in range(2):
        found = swapped(Pair(one, two), backend="cpu")
        assert np.array_equal(found.first, two)
        assert np.array_equal(found.second[0].first, one)
        assert found.second[0].second == 3


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint64])
def test_indices_of_any_type_reach_past_what_it_holds(dtype: Any) -> None:
    x, last = np.arange(300, dtype=np.float32), 1 if np.issubdtype(dtype, np.unsignedinteger) else -1
    found = vt.function(lambda x: x[np.array([0, last], dtype)])(x)
    assert found.tolist() == [0, x[last]]
