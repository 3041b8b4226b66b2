"""A call like one before it binds its arguments as the first one did."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import vyre
from vyre.errors import DispatchError
from vyre.frontend.arguments import bind_arguments


@vyre.kernel
def scaled(
    a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32], factor: vyre.u32, both: vyre.InOut[vyre.u32]
) -> None:
    i = vyre.invocation_id(0)
    out[i] = a[i] * factor
    both[i] = both[i] + 1


A, B, OUT = (np.arange(4, dtype=np.uint32) for _ in range(3))
CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((A, OUT, 3, B), {}),
    ((A, OUT, 4, B), {}),
    ((A, 9, 3, B), {}),
    ((A, None, 3, B), {}),
    ((A, np.int64(2), 3, B), {}),
    ((A,), {"factor": 3, "both": B}),
    ((A,), {"both": B, "factor": 3}),
    ((A, OUT), {"both": B, "factor": 3}),
    ((), {"a": A, "both": B, "factor": 3, "out": 5}),
    ((A, (2, 2), 3, B), {}),
    ((A.reshape(2, 2),), {"factor": 3, "both": B}),
]


@pytest.mark.parametrize(("arrays", "named"), CALLS)
def test_every_call_is_bound_as_by_itself(arrays: tuple[Any, ...], named: dict[str, Any]) -> None:
    for others, by_name in [*CALLS, *CALLS]:
        scaled._bind(others, by_name, None)
    expected = bind_arguments("scaled", scaled._translation, arrays, named, None)
    found = scaled._bind(arrays, named, None)
    assert (found.lengths, found.shapes) == (expected.lengths, expected.shapes)
    assert found.buffers.keys() == expected.buffers.keys()
    for name, value in expected.buffers.items():
        assert found.buffers[name] is value or found.buffers[name] == value


@vyre.kernel
def raised(a: vyre.In[vyre.u32], out: vyre.Out[vyre.u32], by: vyre.u32 = 5) -> None:  # pyright: ignore[reportArgumentType]
    i = vyre.invocation_id(0)
    out[i] = a[i] + by


def test_a_default_is_taken_in_every_call() -> None:
    for _ in range(3):
        assert raised(A).tolist() == [5, 6, 7, 8]
        assert raised(A, by=1).tolist() == [1, 2, 3, 4]
        assert raised(A, OUT.copy(), 2).tolist() == [2, 3, 4, 5]


@vyre.kernel
def transposed(a: vyre.In[vyre.u32, Literal["m", "n"]], out: vyre.Out[vyre.u32, Literal["n", "m"]]) -> None:
    i, j = vyre.grid(2)
    out[i, j] = a[j, i]


def test_shapes_are_settled_in_every_call() -> None:
    for shape in ((2, 3), (3, 2), (2, 3)):
        a = np.arange(6, dtype=np.uint32).reshape(shape)
        assert transposed(a).tolist() == a.T.tolist()


def test_a_mistake_in_a_call_like_one_before_is_refused() -> None:
    scaled._bind((A, OUT, 3, B), {}, None)
    with pytest.raises(DispatchError, match="missing the argument 'a'"):
        scaled._bind((None, OUT, 3, B), {}, None)
    with pytest.raises(DispatchError, match="length"):
        scaled._bind((A, -1, 3, B), {}, None)
    with pytest.raises(DispatchError, match="factor"):
        scaled._bind((A, OUT, "three", B), {}, None)
