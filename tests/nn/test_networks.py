"""Networks beside the same formulas in doubles, and what must hold to the last bit."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

RNG = np.random.default_rng(3)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def near(found: Any, expected: Any, tolerance: float = 3e-6) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() < tolerance


def softmax(x: Any) -> Any:
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_activations() -> None:
    x = normal(3, 7)
    w = x.astype(np.float64)

    def run(function: Callable[[vt.Tensor], vt.Tensor]) -> Any:
        return vt.function(function).evaluate(x)

    near(run(nn.softmax), softmax(x))
    near(run(nn.log_softmax), np.log(softmax(x)))
    near(run(nn.sigmoid), 1 / (1 + np.exp(-w)))
    near(run(nn.silu), w / (1 + np.exp(-w)))
    near(run(nn.relu), np.maximum(w, 0))
    near(run(nn.gelu), w / 2 * (1 + np.vectorize(math.erf)(w / math.sqrt(2))))
    cubed = math.sqrt(2 / math.pi) * (w + 0.044715 * w**3)
    near(run(lambda x: nn.gelu(x, approximate="tanh")), w / 2 * (1 + np.tanh(cubed)))


def test_norms() -> None:
    x, weight, bias = normal(3, 9), normal(9), normal(9)
    w = x.astype(np.float64)
    shifted = w - w.mean(-1, keepdims=True)
    expected = shifted / np.sqrt((shifted**2).mean(-1, keepdims=True) + 1e-5) * weight + bias
    near(vt.function(nn.layer_norm).evaluate(x, weight, bias), expected)
    near(
        vt.function(nn.rms_norm).evaluate(x, weight),
        w / np.sqrt((w**2).mean(-1, keepdims=True) + 1e-5) * weight,
    )


def test_halves_are_computed_in_f32_and_rounded_once() -> None:
    x = normal(2, 8).astype(np.float16)
    wide = vt.function(nn.softmax).evaluate(x.astype(np.float32))
    assert vt.function(nn.softmax).evaluate(x).tobytes() == wide.astype(np.float16).tobytes()


def test_attention() -> None:
    q, k, v = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 6)
    p = softmax(q.astype(np.float64) @ k.swapaxes(1, 2) / 2)
    near(vt.function(nn.attention).evaluate(q, k, v), p @ v)


def test_masked_keys_do_not_show_and_a_masked_row_is_zero() -> None:
    q, k, v = normal(3, 4), normal(5, 4), normal(5, 4)
    mask = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 0, 1, 1]], bool)
    attend = vt.function(lambda q, k, v, m: nn.attention(q, k, v, mask=m))
    found = attend.evaluate(q, k, v, mask)
    k[2], v[2] = np.nan, np.inf
    assert attend.evaluate(q, k, v, mask).tobytes() == found.tobytes()
    assert found[1].tobytes() == bytes(16)


def test_causal_rows_are_those_of_shorter_prompts() -> None:
    q, k, v = normal(6, 4), normal(6, 4), normal(6, 4)
    causal = vt.function(q=("n", 4), k=("m", 4), v=("m", 4))(
        lambda q, k, v: nn.attention(q, k, v, causal=True, past=k.type.shape[0] - q.type.shape[0])
    )
    whole = causal.evaluate(q, k, v)
    for i in range(6):
        alone = causal.evaluate(q[i : i + 1], k[: i + 1], v[: i + 1])
        assert alone.tobytes() == whole[i : i + 1].tobytes()


def test_heads() -> None:
    x = normal(2, 3, 8)
    check = vt.function(lambda x: nn.merge_heads(nn.split_heads(x, 4))).evaluate(x)
    np.testing.assert_array_equal(check, x)
    repeated = vt.function(lambda x: nn.repeat_heads(x, 2)).evaluate(x[:, :, None, :])
    np.testing.assert_array_equal(repeated, np.repeat(x[:, :, None, :], 2, axis=1))
    with pytest.raises(VyreError, match="3 heads"):
        vt.function(lambda x: nn.split_heads(x, 3)).graph(x)


@pytest.mark.parametrize("pairing", ["halves", "neighbours"])
def test_rotary(pairing: str) -> None:
    x, angle = normal(3, 8), normal(3, 4)
    c, s = np.cos(angle), np.sin(angle)
    found = vt.function(lambda x, c, s: nn.rotary(x, c, s, pairing=pairing)).evaluate(x, c, s)
    a, b = (x[:, :4], x[:, 4:]) if pairing == "halves" else (x[:, ::2], x[:, 1::2])
    first, second = a * c - b * s, a * s + b * c
    joined = (
        np.concatenate([first, second], 1)
        if pairing == "halves"
        else np.stack([first, second], -1).reshape(3, 8)
    )
    near(found, joined)


def convolved(x: Any, w: Any, stride: int, padding: int, dilation: int, groups: int) -> Any:
    """Loops over every place, in doubles."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    outputs, each, kh, kw = w.shape
    high = (x.shape[2] - (kh - 1) * dilation - 1) // stride + 1
    wide = (x.shape[3] - (kw - 1) * dilation - 1) // stride + 1
    out = np.zeros((len(x), outputs, high, wide))
    for o in range(outputs):
        first = o // (outputs // groups) * each
        for i in range(high):
            for j in range(wide):
                rows = slice(i * stride, i * stride + (kh - 1) * dilation + 1, dilation)
                columns = slice(j * stride, j * stride + (kw - 1) * dilation + 1, dilation)
                out[:, o, i, j] = (x[:, first : first + each, rows, columns] * w[o]).sum((1, 2, 3))
    return out


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 2), (1, 2, 2, 1)]
)
def test_convolutions(stride: int, padding: int, dilation: int, groups: int) -> None:
    x, w, b = normal(2, 4, 6, 5), normal(6, 4 // groups, 3, 2), normal(6)
    run = vt.function(
        lambda x, w, b: nn.conv(x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
    )
    near(run.evaluate(x, w, b), convolved(x, w, stride, padding, dilation, groups) + b[:, None, None], 1e-5)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_numbers_of_numpy_mean_what_those_of_python_do(kind: Any) -> None:
    """Sizes are beyond what a narrow one holds, and an unsigned one has no negative."""
    x = np.random.default_rng(5).standard_normal((1, 4, 9, 16)).astype(np.float32)

    def several(number: Any) -> Any:
        def made(x: Any) -> Any:
            return (
                nn.conv_transpose(x, x[0, :, None, :3, :3], stride=number(2), padding=number(1)),
                nn.max_pool(x, number(3), stride=number(2), padding=number(1), ceil_mode=True),
                nn.split_heads(x, number(2)),
                nn.repeat_heads(x, number(2)),
                vt.repeat(x, number(2), number(1)),
                vt.roll(x, number(2), number(2)),
            )

        return vt.function(made)(x)

    for found, wanted in zip(several(kind), several(int), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_pools() -> None:
    x = normal(1, 2, 5, 6)
    found = vt.function(lambda x: nn.max_pool(x, 2)).evaluate(x)
    np.testing.assert_array_equal(found, x[:, :, :4].reshape(1, 2, 2, 2, 3, 2).max((3, 5)))
    average = vt.function(lambda x: nn.average_pool(x, 3, stride=1, padding=1, count_padding=False)).evaluate(
        x
    )
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=np.nan)
    views = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    near(average, np.nanmean(views, (4, 5)))


def test_choices() -> None:
    x = normal(3, 9)
    x[1, 4] = np.nan
    x[2, 3] = x[2, 7] = 9
    values, indices = vt.function(lambda x: nn.top_k(x, 3)).evaluate(x)
    keys = np.where(np.isnan(x), np.inf, x)
    expected = np.argsort(-keys, axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))
    logits = normal(4, 5)
    targets = np.array([0, 4, 2, 1], np.int64)
    loss = vt.function(nn.cross_entropy).evaluate(logits, targets)
    near(loss, -np.log(softmax(logits))[np.arange(4), targets])
    chosen = vt.function(nn.sample).evaluate(logits, np.array([0, 0.3, 0.7, 0.9999999], np.float32))
    sums = np.cumsum(softmax(logits), 1)
    np.testing.assert_array_equal(
        chosen, (sums <= np.array([[0], [0.3], [0.7], [0.9999999]])).sum(1).clip(0, 4)
    )
