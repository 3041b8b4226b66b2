"""Functions of networks that get what they do not take: the answer says what to pass."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportCallIssue=false, reportUnknownArgumentType=false, reportArgumentType=false
# The mistakes are on purpose.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

X = np.ones((2, 4, 8), np.float32)
IMAGE = np.arange(100, dtype=np.float32).reshape(1, 4, 5, 5)
ARRAY = np.ones((4, 4), np.float32)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: nn.layer_norm(x, ARRAY, ARRAY),
        lambda x: nn.rms_norm(x, weight=ARRAY),
        lambda x: nn.batch_norm(x, ARRAY, ARRAY, ARRAY, ARRAY),
        lambda x: nn.conv(x, ARRAY),
        lambda x: nn.conv(x, x, ARRAY),
        lambda x: nn.conv_transpose(x, ARRAY),
        lambda x: nn.attention(x, x, None),
        lambda x: nn.attention(x, x, x, mask=ARRAY > 0),
        lambda x: nn.attention(x, x, x, bias=ARRAY),
        lambda x: nn.linear(x, x, ARRAY),
        lambda x: nn.sample(x, 0.5),
        lambda x: nn.top_k(ARRAY, 2),
        lambda x: nn.max_pool(ARRAY, 2),
        lambda x: nn.average_pool(None, 2),
        lambda x: nn.rotary(x, ARRAY, ARRAY),
        lambda x: nn.split_heads(ARRAY, 2),
        lambda x: nn.gelu(ARRAY),
        lambda x: nn.softmax(ARRAY),
        lambda x: nn.log_softmax([1.0, 2.0]),
        lambda x: nn.fp8_encode(ARRAY),
        lambda x: vt.recurrence(x, 0.5),
    ],
)
def test_an_array_where_a_tensor_belongs_is_answered_with_how_to_pass_it(function: Any) -> None:
    with pytest.raises(
        VyreError, match=r"takes a tensor, not (ndarray|NoneType|float|list).*constant\(array"
    ):
        vt.function(function)(X)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x: nn.conv(x, x, stride=1.5), "the stride cannot be 1.5"),
        (lambda x: nn.attention(x, x, x, causal=True, past=-1), "keys before cannot be -1"),
        (lambda x: nn.split_heads(x[0, 0, 0], 2), r"F32\[5\] has no heads"),
        (lambda x: nn.merge_heads(x[0, 0]), r"F32\[5, 5\] has no heads"),
        (lambda x: nn.repeat_heads(x[0, 0], 2), r"F32\[5, 5\] has no heads"),
        (lambda x: nn.sample(x, x[..., 0], temperature="1"), "a temperature of '1' does not choose"),
        (lambda x: vt.recurrence(x, x, initial=0), r"recurrence\(\) takes a tensor, not int"),
        (lambda x: nn.conv(x, x, stride=0), "the stride cannot be 0"),
        (lambda x: nn.conv_transpose(x, x, stride=0), "the stride cannot be 0"),
        (lambda x: nn.conv(x, x, padding="same"), "the padding cannot be 'same'"),
        (lambda x: nn.conv(x, x, padding=[(1, 2, 3), (1, 2, 3)]), r"the padding cannot be \[\(1, 2, 3\)"),
        (lambda x: nn.max_pool(x, 2, stride=0, ceil_mode=True), "the stride cannot be 0"),
        (lambda x: nn.max_pool(x[0, 0], 2), "has no axes to pool"),
        (lambda x: nn.average_pool(x[0, 0, 0], 2), "has no axes to pool"),
        (lambda x: nn.top_k(x, 2.0), "2.0 elements cannot be chosen"),
        (lambda x: nn.sample(x[0, 0], x[0, 0, 0], temperature=0), "a temperature of 0"),
        (lambda x: nn.sample(x[0, 0], x[0, 0, 0], temperature="1"), "a temperature of '1'"),
        (lambda x: nn.attention(x[..., :0], x[..., :0], x), "the width of attention cannot be 0"),
    ],
)
def test_numbers_that_do_not_fit_are_named(function: Any, said: str) -> None:
    with pytest.raises(VyreError, match=said):
        vt.function(function)(IMAGE)


def test_numbers_of_numpy_and_pairs_in_lists_are_those_of_python() -> None:
    def both(x: Any) -> Any:
        one = np.int64(1)
        return (
            nn.conv(x, x, padding=[[1, 2], [0, 1]]),
            nn.conv(x, x, padding=[(1, 2), (0, 1)]),
            nn.conv(x, x, stride=one, padding=one, dilation=np.int32(1)),
            nn.conv(x, x, padding=1),
        )

    lists, tuples, numpys, plain = vt.function(both).evaluate(IMAGE)
    assert lists.shape == (1, 1, 4, 2)
    assert np.array_equal(lists, tuples)
    assert np.array_equal(numpys, plain)


@pytest.mark.parametrize("shape", [{}, {"k": ("keys", 8), "v": ("keys", 8)}])
def test_attention_over_no_keys_is_zero_as_over_masked_ones(shape: dict[str, Any]) -> None:
    def attend(q: Any, k: Any, v: Any) -> Any:
        return nn.attention(q, k, v)

    function = vt.function(attend, **shape)
    q, none = np.ones((3, 8), np.float32), np.zeros((0, 8), np.float32)
    for found in (function.evaluate(q, none, none), function(q, none, none, backend="cpu")):
        assert np.array_equal(found, np.zeros((3, 8), np.float32))


def test_a_temperature_may_be_a_tensor() -> None:
    """So that another one takes no other trace."""
    logits, uniform = np.array([[0.5, 2.0, 1.0]] * 3, np.float32), np.array([0.05, 0.4, 0.9], np.float32)
    drawn = vt.function(lambda x, u, t: nn.sample(x, u, temperature=t))
    for t in (np.float32(0.25), np.float32(4.0)):
        wanted = vt.function(lambda x, u, t=float(t): nn.sample(x, u, temperature=t))(logits, uniform)
        assert drawn(logits, uniform, np.asarray(t)).tolist() == wanted.tolist()
