"""Dynamic sizes in functions of tensors: numbers beside tensors, where they hold for every length."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vyre
from vyre import tensor as vt
from vyre.errors import VyreError
from vyre.graph.sizes import Size


class Numbers(np.ndarray[Any, Any]):
    """Arrays whose element types can be named as vyre's."""

    def astype(self, dtype: Any, *_: Any, **__: Any) -> Any:
        return np.asarray(self).astype(np.int32 if dtype is vyre.i32 else dtype)


@pytest.mark.parametrize(
    "run",
    [
        lambda x: x.sum(0) / x.shape[0],
        lambda x: x.shape[0] * x - x.shape[0],
        lambda x: x.astype(vyre.i32) + x.shape[0],
        lambda x: (x > x.shape[0] + 1).sum(0),
        lambda x: x.shape[0] - x,
    ],
)
def test_a_dynamic_size_is_a_number_beside_a_tensor(run: Any) -> None:
    function = vt.function(x=("n", 3))(run)
    for count in (1, 4):
        x = np.arange(3 * count, dtype=np.float32).reshape(count, 3)
        expected = run(x.view(Numbers))
        np.testing.assert_array_equal(function(x, backend="cpu"), np.asarray(expected))


@pytest.mark.parametrize(
    "run", [lambda x: x if x.shape[0] > 2 else -x, lambda x: sum(x[i] for i in range(x.shape[0]))]
)
def test_a_dynamic_size_is_not_known_while_tracing(run: Any) -> None:
    with pytest.raises(VyreError, match="the dynamic size n is not known"):
        vt.function(x=("n", 3))(run)(np.ones((2, 3), np.float32), backend="cpu")


def test_known_indices_of_a_dynamic_axis_do_not_wrap() -> None:
    with pytest.raises(VyreError, match="1 to 4294967296 leave axis 0, whose size is n"):
        vt.function(lambda x: vt.take(x, [1 << 32, 1]), x=("n",))(np.ones(6, np.float32))


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda x: x[: x.shape[0] // 2], r"\(n\) // 2 is not a size"),
        (lambda x: x[: x.shape[0] % 2], r"\(n\) % 2 is not a size"),
        (lambda x: x / (x.shape[0] + 1) ** 0.5, r"\(n \+ 1\) \*\* 0.5 is not a size"),
        (lambda x: x * (1 / x.shape[0]), r"1 / \(n\) is not a size"),
        (lambda x: x * (x.shape[0] / 2), r"\(n\) / 2 is not a size"),
        (lambda x: x[: 9 // x.shape[0]], r"9 // \(n\) is not a size"),
        (lambda x: x * (0.5 * x.shape[0]), r"0\.5 is not a u32.*x \* 0\.5 \* x"),
        (lambda x: x if x.shape[0] else -x, "the dynamic size n is not known"),
        (lambda x: x if x.shape[0] <= 2 * x.shape[0] else -x, "the dynamic size n is not known"),
    ],
)
def test_what_is_no_size_for_every_length_is_refused(run: Any, said: str) -> None:
    with pytest.raises(VyreError, match=said):
        vt.function(x=("n", 3))(run)(np.ones((2, 3), np.float32), backend="cpu")


def test_sizes_that_follow_for_every_length_are_computed() -> None:
    def halves(x: Any) -> Any:
        rows, more = x.shape[0], x.shape[0] + 3
        assert rows < more
        assert rows * 2 % 2 == Size(0)
        assert range(more - rows) == range(3)
        counted = vt.arange(rows)
        return x[: 2 * rows // 2] * (more - rows), x[: -rows + 2 * rows], rows > counted, (5 - rows) + x

    function = vt.function(x=("n", 2))(halves)
    for count in (1, 4):
        x = np.arange(2 * count, dtype=np.float32).reshape(count, 2)
        first, second, below, less = function(x, backend="cpu")
        assert np.array_equal(first, x * 3)
        assert np.array_equal(second, x)
        assert below.all()
        assert np.array_equal(less, 5 - count + x)
