"""What a kernel is called with: scalars, lengths of outputs, and calls that are refused."""

import math
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import vyre
from vyre import (
    DispatchError,
    In,
    InOut,
    Out,
    bf16,
    boolean,
    f16,
    i32,
    u32,
    u64,
    vec2,
)


def u32s(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def f32s(*values: float) -> NDArray[np.float32]:
    return np.array(values, np.float32)


@vyre.kernel
def scalars(out: Out[u32], a: u32, b: i32, c: boolean, d: u64, e: vec2, f: f16, g: bf16, h: u32) -> None:
    out[0] = a
    out[1] = u32(b)
    out[2] = u32(c)
    out[3] = d[1]
    out[4] = e[0] + e[1]
    out[5] = vyre.bitcast(f, u32)
    out[6] = vyre.bitcast(g, u32)
    out[7] = h


def test_scalars_of_every_kind_travel_in_uniform_buffers() -> None:
    result = scalars(8, 7, -1, True, 5 << 32, (3, 4), 1.5, 1.5, 9)
    assert result.tolist() == [7, 0xFFFFFFFF, 1, 5, 7, 0x3E00, 0x3FC0, 9]
    names = {b.name: b.count for b in scalars.program.buffers if b.name.startswith("params_")}
    assert names["params_u32"] == 2
    assert names["params_vec2"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": -1}, "does not fit into U32"),
        ({"a": 1.5}, "1.5 is a float"),
        ({"b": 1 << 31}, "does not fit into I32"),
        ({"c": 2}, "2 is not a Bool"),
        ({"e": 3}, "does not have 2 lanes"),
        ({"f": "1"}, "is a str"),
        ({"f": 65520}, "65520 is beyond the largest F16.*math.inf"),
        ({"g": -1e39}, r"-1e\+39 is beyond the largest BF16.*math.inf"),
    ],
)
def test_a_scalar_that_does_not_fit_is_refused(arguments: dict[str, Any], message: str) -> None:
    good: dict[str, Any] = {"a": 1, "b": 1, "c": True, "d": 1, "e": (1, 2), "f": 1.0, "g": 1.0, "h": 1}
    with pytest.raises(DispatchError, match=message):
        scalars(**{**good, **arguments}, out=8)


@pytest.mark.parametrize(("value", "bits"), [(math.inf, 0x7C00), (65519.9, 0x7BFF), (-math.inf, 0xFC00)])
def test_an_infinite_scalar_is_what_was_asked_for(value: float, bits: int) -> None:
    assert scalars(8, 7, -1, True, 5, (3, 4), value, 1.5, 9)[5] == bits


def test_omitted_outputs_take_the_longest_input() -> None:
    @vyre.kernel
    def two(out: Out[u32], a: In[u32], b: In[u32], last: Out[u32, Literal[1]]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i] + b[i]
        last[0] = 1

    out, last = two(a=u32s(1), b=u32s(1, 2, 3))
    assert out.tolist() == [2, 2, 3]
    assert last.tolist() == [1]
    given, _ = two(u32s(9, 9), u32s(1), u32s(2), u32s(0))
    assert given.tolist() == [3, 0]
    empty, _ = two(None, u32s(), u32s())
    assert empty.tolist() == []


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, r"missing the arguments 'a', 'b'\. Fix: write add\(a, b\)\."),
        ((1, 2, 3, 4), {}, r"takes 3 arguments and got 4\. Fix: write add\(a, b, out\)\."),
        ((), {"aa": 1}, "no parameter 'aa'.*did you mean 'a'"),
        ((), {"a": u32s(1), "b": u32s(1), "out": -1}, "cannot have the length"),
        ((u32s(1), f32s(1)), {}, "buffer 'b' holds U32 and got float32"),
        ((u32s(1), [1]), {}, "got a list"),
    ],
)
def test_refused_calls(arguments: tuple[Any, ...], named: dict[str, Any], message: str) -> None:
    @vyre.kernel
    def add(a: In[u32], b: In[u32], out: Out[u32]) -> None:
        out[0] = a[0] + b[0]

    with pytest.raises(DispatchError, match=message):
        add(*arguments, **named)


def test_an_output_without_a_length_is_refused() -> None:
    @vyre.kernel
    def ones(out: Out[u32]) -> None:
        out[vyre.invocation_id(0)] = 1

    with pytest.raises(DispatchError, match=r"how long 'out' is.*out=1024"):
        ones()
    assert ones(out=3).tolist() == [1, 1, 1]


@vyre.kernel
def shifted(out: Out[u32], x: InOut[u32], by: u32, extra: Out[u32], last: In[u32]) -> None:
    i = vyre.invocation_id(0)
    out[i] = x[i] + by
    extra[i] = last[i]


@pytest.mark.parametrize(
    ("arguments", "named", "problem", "call"),
    [
        ((u32s(1), 7, u32s(2)), {}, "missing the argument 'last'", "shifted(x=x, by=7, last=last)"),
        ((u32s(1), u32s(2)), {"by": 7}, "two values for 'by'|missing", "shifted(x=x, by=7, last=last)"),
        ((u32s(1),), {"out": 3}, "two values for 'out'", "shifted(out=3, x=x, by=by, last=last)"),
        ((), {}, "missing the arguments 'x', 'by', 'last'", "shifted(x=x, by=by, last=last)"),
        ((1, 2, 3, 4, 5, 6), {}, "takes 5 arguments and got 6", "shifted(out, x, by, extra, last)"),
    ],
)
def test_arguments_bind_by_position_and_the_refusal_shows_the_call(
    arguments: tuple[Any, ...], named: dict[str, Any], problem: str, call: str
) -> None:
    with pytest.raises(DispatchError, match=problem) as caught:
        shifted(*arguments, **named)
    assert caught.value.fix == f"write {call}."


def test_the_call_that_a_refusal_shows_works() -> None:
    x, by, last = u32s(1, 2), 7, u32s(5)
    out, written, extra = shifted(x=x, by=by, last=last)
    assert (out.tolist(), extra.tolist()) == ([8, 9], [5, 0])
    assert written is x


def test_an_argument_never_moves_to_another_parameter() -> None:
    """However many there are, the first goes to the first parameter."""

    @vyre.kernel
    def add(out: Out[u32], a: In[u32], b: In[u32]) -> None:
        i = vyre.invocation_id(0)
        out[i] = a[i] + b[i]

    out = u32s(0, 0)
    with pytest.raises(DispatchError, match="missing the argument 'b'"):
        add(out, u32s(1, 2))
    assert add(out, u32s(1, 2), u32s(3, 4)) is out
    assert out.tolist() == [4, 6]
