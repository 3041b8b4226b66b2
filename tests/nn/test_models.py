"""Models as people write them: by the evaluator near NumPy, and on a backend with the evaluator's bytes."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a function that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vyre import nn
from vyre import tensor as vt
from vyre.errors import VyreError

RNG = np.random.default_rng(5)


def normal(*shape: int) -> Any:
    return (RNG.standard_normal(shape) * 0.5).astype(np.float32)


def softmax(x: Any) -> Any:
    powers = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def check(function: Any, expected: Any, *arrays: Any) -> None:
    traced = vt.function(function)
    found = traced.evaluate(*arrays)
    ran = traced(*arrays, backend="cpu")
    pairs = (
        zip(found, ran, expected, strict=True) if isinstance(expected, tuple) else [(found, ran, expected)]
    )
    for value, other, wanted in pairs:
        assert value.tobytes() == other.tobytes()
        np.testing.assert_allclose(value.astype(np.float64), wanted, rtol=2e-4, atol=2e-5)


def test_a_recurrent_cell_unrolled() -> None:
    def lstm(x: Any, h: Any, c: Any, wx: Any, wh: Any) -> Any:
        for t in range(x.shape[1]):
            i, f, o, n = vt.split(x[:, t] @ wx + h @ wh, 4, 1)
            c = nn.sigmoid(f) * c + nn.sigmoid(i) * vt.tanh(n)
            h = nn.sigmoid(o) * vt.tanh(c)
        return h

    x, h, c, wx, wh = normal(2, 3, 4), normal(2, 5), normal(2, 5), normal(4, 20), normal(5, 20)
    wanted, cell = h, c
    for t in range(3):
        i, f, o, n = np.split(x[:, t] @ wx + wanted @ wh, 4, 1)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(n)
        wanted = sigmoid(o) * np.tanh(cell)
    check(lstm, wanted, x, h, c, wx, wh)


def test_a_state_space_model() -> None:
    def mamba(u: Any, step: Any, a: Any, b: Any, c: Any) -> Any:
        factor = vt.exp(step[..., None] * a)
        term = step[..., None] * b[:, :, None, :] * u[..., None]
        return vt.einsum("bldn,bln->bld", vt.recurrence(factor, term, 1), c)

    u, step, a, b, c = (
        normal(2, 6, 3),
        abs(normal(2, 6, 3)),
        -abs(normal(3, 4)),
        normal(2, 6, 4),
        normal(2, 6, 4),
    )
    state = np.zeros((2, 3, 4))
    wanted: list[Any] = []
    for t in range(6):
        state = np.exp(step[:, t, :, None] * a) * state
        state = state + step[:, t, :, None] * b[:, t, None, :] * u[:, t, :, None]
        wanted.append((state * c[:, t, None, :]).sum(-1))
    check(mamba, np.stack(wanted, 1), u, step, a, b, c)


def test_a_step_of_k_means() -> None:
    def step(x: Any, centres: Any) -> Any:
        nearest = ((x[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
        chosen = (nearest[:, None] == vt.arange(centres.shape[0])[None]).astype("f32")
        return (chosen.T @ x) / vt.maximum(chosen.sum(0)[:, None], 1.0), nearest

    x, centres = normal(20, 3), normal(4, 3)
    nearest = ((x[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
    chosen = np.eye(4)[nearest]
    check(step, (chosen.T @ x / np.maximum(chosen.sum(0)[:, None], 1), nearest), x, centres)


def test_a_step_of_beam_search() -> None:
    def step(scores: Any, logs: Any) -> Any:
        values, at = nn.top_k((scores[:, None] + logs).reshape(-1), 3)
        return values, at // logs.shape[1], at % logs.shape[1]

    scores, logs = normal(3), normal(3, 7)
    flat = (scores[:, None] + logs).reshape(-1)
    best = np.argsort(-flat, kind="stable")[:3]
    check(step, (flat[best], best // 7, best % 7), scores, logs)


def test_losses_by_masks_and_by_indices() -> None:
    logits, targets = normal(4, 6, 9), RNG.integers(0, 9, (4, 6))
    mask = RNG.random((4, 6)) > 0.4
    loss = -np.log(np.take_along_axis(softmax(logits), targets[..., None], -1))[..., 0]

    def masked(x: Any, t: Any, m: Any) -> Any:
        return vt.where(m, nn.cross_entropy(x, t), 0.0).sum() / m.sum().astype("f32")

    check(masked, np.where(mask, loss, 0).sum() / mask.sum(), logits, targets, mask)
    rows = logits[:, 0], targets[:, 0]
    check(lambda x, t: -nn.log_softmax(x)[vt.arange(4), t].mean(), loss[:, 0].mean(), *rows)


def test_a_residual_block_with_statistics() -> None:
    def block(x: Any, w: Any, mean: Any, variance: Any) -> Any:
        return nn.relu(nn.batch_norm(nn.conv(x, w), mean, variance) + x)

    x, w, mean, variance = normal(2, 4, 3, 3), normal(4, 4, 1, 1), normal(4), abs(normal(4)) + 1
    made = np.einsum("nchw,oc->nohw", x, w[:, :, 0, 0])
    made = (made - mean[:, None, None]) / np.sqrt(variance + 1e-5)[:, None, None]
    check(block, np.maximum(made + x, 0), x, w, mean, variance)


def test_weights_as_torch_keeps_them() -> None:
    x, w, b = normal(2, 3, 4), normal(5, 4), normal(5)
    check(nn.linear, x @ w.T + b, x, w, b)


def test_attention_with_a_bias_and_a_cap() -> None:
    q, k, v, bias = normal(2, 3, 4), normal(2, 5, 4), normal(2, 5, 4), normal(3, 5)
    scores = np.tanh(q @ k.swapaxes(1, 2) / 2 / 0.5) * 0.5 + bias
    check(lambda *a: nn.attention(*a[:3], bias=a[3], softcap=0.5), softmax(scores) @ v, q, k, v, bias)


@pytest.mark.parametrize(
    ("stride", "padding", "more", "dilation"), [(1, 0, 0, 1), (2, 1, 1, 1), (3, 0, 0, 2)]
)
def test_convolutions_turned_around(stride: int, padding: int, more: int, dilation: int) -> None:
    x, w = normal(1, 4, 3, 4), normal(4, 2, 2, 3)
    full = np.zeros((1, 4, *((n - 1) * stride + (k - 1) * dilation + 1 + more for n, k in ((3, 2), (4, 3)))))
    for g in range(2):
        for i, j, a, b in np.ndindex(3, 4, 2, 3):
            part = x[:, 2 * g : 2 * g + 2, i, j] @ w[2 * g : 2 * g + 2, :, a, b]
            full[:, 2 * g : 2 * g + 2, i * stride + a * dilation, j * stride + b * dilation] += part
    high, wide = full.shape[2:]
    wanted = full[:, :, padding : high - padding, padding : wide - padding]

    def turned(x: Any, w: Any) -> Any:
        return nn.conv_transpose(
            x, w, stride=stride, padding=padding, output_padding=more, dilation=dilation, groups=2
        )

    check(turned, wanted, x, w)


def test_a_last_window_that_is_not_whole() -> None:
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5) - 9
    check(lambda x: nn.max_pool(x, 2, ceil_mode=True), [[[-8, -6, -5]]], x)
    check(lambda x: nn.average_pool(x, 2, ceil_mode=True), [[[-8.5, -6.5, -5]]], x)
    check(lambda x: nn.max_pool(x.astype("i8"), 3, padding=1, stride=4), [[[-8, -5]]], x)
    with pytest.raises(VyreError, match="over a dynamic axis"):
        vt.function(x=(1, 1, "n"))(lambda x: nn.max_pool(x, 2, ceil_mode=True)).graph(x)
