"""Functions of tensors that are called as torch's are: the answer names the call to write."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportCallIssue=false, reportUnknownArgumentType=false, reportArgumentType=false
# The mistakes are on purpose.

from __future__ import annotations

import functools
import pickle
import traceback
from typing import Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("function", "fix"),
    [
        (lambda x: x.sum(dim=1), "write dim as axis=: sum(axis"),
        (lambda x: x.mean(axis=0, keepdim=True), "write keepdim as keepdims=: mean(axis"),
        (lambda x: nn.softmax(x, dim=-1), "softmax(x, axis)"),
        (lambda x: vt.pad(x, ((1, 1), (0, 0)), mode="edge"), "it is called as pad(x, widths"),
        (lambda x: vt.where(x > 0, x), "where(condition, a, b)"),
    ],
)
def test_a_call_that_does_not_fit_is_answered_with_one_that_does(
    function: Any, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VYRE_TRACEBACK", raising=False)
    with pytest.raises(VyreError) as caught:
        vt.function(function)(X)
    assert fix in str(caught.value)
    assert not [f for f in traceback.extract_tb(caught.value.__traceback__) if "/src/vyre/" in f.filename]


def test_functions_of_the_user_keep_the_error_of_python() -> None:
    def pad(x: Any) -> Any:
        return x

    with pytest.raises(TypeError, match="unexpected keyword argument 'mode'") as caught:
        vt.function(lambda x: pad(x, mode="edge"))(X)
    assert not isinstance(caught.value, VyreError)


def test_an_error_inside_of_a_function_of_the_user_is_left_alone() -> None:
    with pytest.raises(TypeError) as caught:
        vt.function(lambda x: x + len(5))(X)  # pyright: ignore[reportArgumentType]
    assert not isinstance(caught.value, VyreError)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: vt.expand_dims(x, 5), "there is no place 5 for a new axis"),
        (lambda x: vt.expand_dims(x, -4), "there is no place -4 for a new axis"),
        (lambda x: vt.stack([x, x], 3), "there is no place 3 for a new axis"),
        (lambda x: vt.expand_dims(x, 1.0), "there is no place 1.0 for a new axis"),
        (lambda x: vt.split(x, 1.5), "1.5 is neither a number of parts"),
        (lambda x: vt.windows(x, 1, 2.0), r"2\.0 in windows\(\) is not a whole number"),
        (lambda x: vt.slice_axis(x, 0, 0, 2, 1.5), r"1\.5 in slice_axis\(\) is not a whole number"),
        (lambda x: vt.concat(x), r"concat\(\) takes tensors in a list, not a Tensor.*concat\(\[a, b\]\)"),
        (lambda x: vt.stack(3), r"stack\(\) takes tensors in a list, not a int"),
        (lambda x: vt.concat([x], 2), "there is no axis 2"),
        (lambda x: x[:, :1, None, None] * vt.ones((1 << 20, 1 << 20)), "elements, and an index is a u32"),
        (lambda x: vt.split(x, [[1], [1]]), r"\[1\] is not a size"),
        (lambda x: vt.tile(x, 1.5), "1.5 is not a size"),
        (lambda x: vt.pad(x, 1, "a"), "'a' is not a number"),
        (lambda x: vt.full((2,), None), "None is not a number"),
        (lambda x: vt.full((2,), float("nan"), "i32"), "nan is not a value of I32"),
        (lambda x: vt.full((2,), 10**400, "u32"), "0000 is not a value of U32"),
        (lambda x: vt.pad(x.astype("i32"), 1, float("inf")), "inf is not a value of I32"),
        (lambda x: vt.arange(0, 5, 0.5), "0.5 is not a whole number"),
        (lambda x: x[[[1], [1, 0]]], "rows of different lengths"),
        (lambda x: vt.take(x, [[1], [1, 0]]), "rows of different lengths"),
        (lambda x: vt.constant([[1], [1, 0]]), "rows of different lengths"),
        (lambda x: range(x.sum()), "a whole number needs the elements"),
        (lambda x: [1, 2][x.sum()], "a whole number needs the elements"),
        (lambda x: f"{x:.2f}", "a format such as '.2f' needs the elements"),
    ],
)
def test_what_is_no_number_or_place_is_named(function: Any, said: str) -> None:
    with pytest.raises(VyreError, match=said):
        vt.function(function)(X)


def test_numbers_of_numpy_and_numbers_to_be_shifted_are_taken() -> None:
    words = np.array([0, 1, 5], np.int32)

    def some(x: Any) -> Any:
        return x[:: np.int64(-1)], x[:: np.int64(2)], *vt.split(x, np.int64(3)), 3 << x, 40 >> x

    found = vt.function(some).evaluate(words)
    for got, wanted in zip(
        found, [words[::-1], words[::2], *np.split(words, 3), 3 << words, 40 >> words], strict=True
    ):
        assert np.array_equal(got, wanted)


def test_shapes_beside_the_function_are_those_of_the_decorator() -> None:
    doubled = vt.function(lambda x: x * 2, x=("rows", 3))
    assert np.array_equal(doubled.evaluate(X), X * 2)
    with pytest.raises(VyreError, match="declares"):
        doubled.evaluate(X[:, :2])


def test_a_callable_without_a_name_is_traced_and_what_cannot_be_called_refused() -> None:
    scaled = vt.function(functools.partial(lambda x, k: x * k, k=2))
    assert np.array_equal(scaled.evaluate(X), X * 2)
    number: Any = 3
    with pytest.raises(VyreError, match="3 cannot be called"):
        vt.function(number)


@pytest.mark.parametrize("shape", [3, None, "n", ([1], 3), (1.5, 3)])
def test_a_shape_that_is_none_is_named_where_it_is_declared(shape: Any) -> None:
    with pytest.raises(VyreError, match="is not a shape of x"):
        vt.function(x=shape)(lambda x: x)


def test_a_declared_size_of_numpy_is_a_number() -> None:
    more = vt.function(x=(np.int64(2), 3))(lambda x: x + 1)
    assert np.array_equal(more(X, backend="cpu"), X + 1)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: x.astype("i32") ** float("inf"), "a power with this exponent does not take I32"),
        (lambda x: x.astype("i32") ** float("nan"), "a power with this exponent does not take I32"),
        (lambda x: x.astype("i32") ** "2", "a power with this exponent does not take I32"),
        (lambda x: x.astype("i64") + 1.5, "1.5 beside a tensor of I64"),
    ],
)
def test_numbers_that_do_not_fit_an_integer_are_named(function: Any, said: str) -> None:
    with pytest.raises(VyreError, match=said):
        vt.function(function)(X)


def test_a_whole_number_of_any_length_is_rounded_once() -> None:
    found = vt.function(lambda x: (x * 10**400, x - (2**60 + 2**36 + 1)))
    endless, near = found.evaluate(np.ones(1, np.float32))
    assert endless == np.inf
    assert near == -np.float32(2**60 + 2**37)


@pytest.mark.parametrize(
    ("left", "right", "fix"),
    [
        ("f32", "f64", r"cast the F32 tensor: x\.astype\(vyre\.f64\) keeps every value"),
        ("f64", "f32", r"cast the F32 tensor: x\.astype\(vyre\.f64\) keeps every value"),
        ("i32", "f64", r"cast the I32 tensor: x\.astype\(vyre\.f64\) keeps every value"),
        ("u8", "f16", r"cast the U8 tensor: x\.astype\(vyre\.f16\) keeps every value"),
        ("i32", "bool", r"cast the Bool tensor: x\.astype\(vyre\.i32\) keeps every value"),
        ("u32", "i64", r"cast the U32 tensor: x\.astype\(vyre\.i64\) keeps every value"),
        ("i32", "f32", "each changes the values that its type does not hold"),
        ("u32", "i32", "each changes the values that its type does not hold"),
        ("f16", "bf16", "each changes the values that its type does not hold"),
    ],
)
def test_a_cast_that_is_named_keeps_every_value_or_says_that_it_does_not(
    left: str, right: str, fix: str
) -> None:
    for mix in (lambda a, b: a + b, lambda a, b: vt.where(a > 0, a, b)):
        with pytest.raises(VyreError, match=fix):
            vt.function(lambda x, mix=mix: mix(x.astype(left), x.astype(right)))(X)


def test_a_product_of_integers_and_floats_names_the_cast() -> None:
    with pytest.raises(VyreError, match=r"I8 beside F32 in .*cast the I8 tensor: x\.astype\(vyre\.f32\)"):
        vt.function(lambda x: x.astype("i8") @ x.T)(X)


@pytest.mark.parametrize("shape", [("n", -1), (True, 3), ("1n", 3), ("", 3), ("n m", 3)])
def test_a_size_that_is_none_is_named_where_it_is_declared(shape: Any) -> None:
    with pytest.raises(VyreError, match=r"is not (a shape of x|an identifier)"):
        vt.function(x=shape)(lambda x: x)


def test_a_function_that_hides_its_arguments_is_refused_where_it_is_made() -> None:
    with pytest.raises(VyreError, match=r"max does not say what arguments it takes.*lambda x: max\(x\)"):
        vt.function(max)


@vt.function(x=("n", 3))
def decorated(x: Any) -> Any:
    return x + 1


def plain(x: Any) -> Any:
    return x + 1


beside = vt.function(plain, x=("n", 3))


class Room:
    held = vt.function(plain)


def test_a_function_is_pickled_by_its_name_or_with_what_it_is_of() -> None:
    for function in (decorated, beside, Room.held, vt.function(functools.partial(plain))):
        function(X, backend="cpu")
        again = pickle.loads(pickle.dumps(function))
        assert np.array_equal(again(X, backend="cpu"), X + 1)
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    with pytest.raises(VyreError, match="declares"):
        pickle.loads(pickle.dumps(beside))(X[:, :2])


class OfTorch:
    """What functions of torch do with arguments of other classes: they ask the class."""

    @staticmethod
    def exp(x: Any) -> Any:
        return type(x).__torch_function__(OfTorch.exp, (type(x),), (x,), {})


def test_functions_of_torch_are_answered() -> None:
    with pytest.raises(VyreError, match=r"torch\.exp does not take a tensor of vyre.*use vyre\.tensor\.exp"):
        vt.function(lambda x: OfTorch.exp(x))(X)


def test_windows_take_numbers_of_numpy_and_concat_what_gives_tensors() -> None:
    def some(x: Any) -> Any:
        return vt.windows(x, np.int64(1), np.int64(2), np.int32(1)), vt.concat(part for part in (x, x))

    seen, both = vt.function(some)(X, backend="cpu")
    assert np.array_equal(seen, np.lib.stride_tricks.sliding_window_view(X, 2, 1))
    assert np.array_equal(both, np.concatenate([X, X]))


def test_a_decorated_method_is_answered_with_the_way_to_bind_it() -> None:
    class Decorated:
        @vt.function
        def forward(self, x: Any) -> Any:
            return x * 2

    class Bound:
        def __init__(self) -> None:
            self.forward = vt.function(self.forward)  # pyright: ignore[reportAttributeAccessIssue]

        def forward(self, x: Any) -> Any:
            return x * 2

    with pytest.raises(VyreError, match=r"write self\.forward = vyre\.tensor\.function\(self\.forward\)"):
        Decorated().forward(X)
    assert np.array_equal(Bound().forward(X), X * 2)
