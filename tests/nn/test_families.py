"""Families of networks as compositions: loops over single numbers, the evaluator and `cpu` agree."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.nn import strict
from tests.nn.strict import add, both, div, exp, fma, mul, same, sub
from vyre import nn
from vyre import tensor as vt

RNG = np.random.default_rng(11)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


def selective_scan(
    x: vt.Tensor, delta: vt.Tensor, a: vt.Tensor, b: vt.Tensor, c: vt.Tensor, skip: vt.Tensor
) -> vt.Tensor:
    """A state-space layer: x and delta [time, channels], a [channels, states], b and c [time, states]."""
    wide = vt.expand_dims(delta, 2)
    factor = vt.exp(wide * a)
    term = vt.expand_dims(delta * x, 2) * vt.expand_dims(b, 1)
    states = vt.recurrence(factor, term, 0)
    return (states @ vt.expand_dims(c, 2))[..., 0] + skip * x


def test_a_selective_scan() -> None:
    time, channels, width = 5, 3, 4
    x, delta = normal(time, channels), np.abs(normal(time, channels))
    a, b, c, skip = (
        -np.abs(normal(channels, width)),
        normal(time, width),
        normal(time, width),
        normal(channels),
    )
    expected = np.zeros((time, channels), np.float32)
    for i in range(channels):
        state = [np.float32(0)] * width
        for t in range(time):
            scaled = mul(delta[t, i], x[t, i])
            state = [
                fma(exp(mul(delta[t, i], a[i, n])), state[n], mul(scaled, b[t, n])) for n in range(width)
            ]
            expected[t, i] = add(strict.dot(state, c[t]), mul(skip[i], x[t, i]))
    same(both(selective_scan, x, delta, a, b, c, skip), expected)


def flash_attention(q: vt.Tensor, k: vt.Tensor, v: vt.Tensor, block: int, scale: float) -> vt.Tensor:
    """Two passes over blocks of keys: the greatest score first, then sums that go on from block to block."""
    count = k.type.shape[0].static or 0
    ranges = [(first, min(first + block, count)) for first in range(0, count, block)]

    def scores(first: int, stop: int) -> vt.Tensor:
        return (q @ k[first:stop].T) * scale

    greatest = scores(*ranges[0]).max(-1, keepdims=True)
    for part in ranges[1:]:
        later = scores(*part).max(-1, keepdims=True)
        greatest = vt.concat([greatest, later], -1).max(-1, keepdims=True)
    made = vt.zeros((q.type.shape[0], v.type.shape[1]))
    totals: list[vt.Tensor] = []
    for first, stop in ranges:
        powers = vt.exp(scores(first, stop) - greatest)
        totals.append(powers.sum(-1, keepdims=True))
        for key in range(first, stop):
            made = vt.fma(powers[:, key - first : key - first + 1], v[key : key + 1], made)
    # Blocks of a power of two are whole branches of the tree, so their sums are joined as it joins them.
    while len(totals) > 1:
        pairs = [totals[i] + totals[i + 1] for i in range(0, len(totals) - 1, 2)]
        totals = pairs + totals[len(totals) & ~1 :]
    return made / totals[0]


@pytest.mark.parametrize(("keys", "block"), [(8, 4), (8, 8), (11, 4), (11, 2), (5, 1)])
def test_flash_attention_has_the_bits_of_attention(keys: int, block: int) -> None:
    q, k, v = normal(3, 4), normal(keys, 4), normal(keys, 2)
    whole = both(lambda q, k, v: nn.attention(q, k, v, scale=0.5), q, k, v)
    same(both(lambda q, k, v: flash_attention(q, k, v, block, 0.5), q, k, v), whole)
    same(whole, strict.attention(q, k, v, 0.5))


def mixture(x: vt.Tensor, route: vt.Tensor, experts: vt.Tensor, most: int) -> vt.Tensor:
    """Each row of x goes to the experts of its greatest logits; what they give is added in their order."""
    rows, width = x.type.shape
    logits, chosen = nn.top_k(x @ route, most)
    gates = nn.softmax(logits)
    weights = vt.take(experts, chosen, 0)
    inputs = vt.broadcast_to(vt.reshape(x, (rows, 1, 1, width)), (rows, most, 1, width))
    given = vt.squeeze(inputs @ weights, 2) * vt.expand_dims(gates, 2)
    owners = vt.broadcast_to(vt.expand_dims(vt.arange(rows), 1), (rows, most))
    updates = vt.reshape(given, (rows * most, given.type.shape[2]))
    empty = vt.zeros((rows, given.type.shape[2]))
    return vt.scatter(empty, vt.reshape(owners, (rows * most,)), updates, duplicates="add")


def test_a_mixture_of_experts() -> None:
    x, route, experts = normal(5, 3), normal(3, 4), normal(4, 3, 2)
    expected = np.zeros((5, 2), np.float32)
    for i, row in enumerate(x):
        logits = [strict.dot(row, column) for column in route.T]
        chosen = sorted(range(4), key=lambda e: (-logits[e], e))[:2]
        gates = strict.softmax([logits[e] for e in chosen])
        for expert, gate in zip(chosen, gates, strict=True):
            for c in range(2):
                given = mul(strict.dot(row, experts[expert, :, c]), gate)
                expected[i, c] = add(expected[i, c], given)
    same(both(lambda x, r, e: mixture(x, r, e, 2), x, route, experts), expected)


def grouped(x: Any, keys: Any, values: Any, mix: Any) -> Any:
    """Four heads of queries over two of keys and values, with those of earlier calls: [heads, past, 2]."""
    query, key, value = vt.split(x @ mix, [8, 4, 4], -1)
    past = keys.type.shape[1]
    keys = vt.concat([keys, nn.split_heads(key, 2)], 1)
    values = vt.concat([values, nn.split_heads(value, 2)], 1)
    seen = nn.attention(
        nn.split_heads(query, 4),
        nn.repeat_heads(keys, 2),
        nn.repeat_heads(values, 2),
        causal=True,
        past=past,
        scale=0.75,
    )
    return nn.merge_heads(seen), keys, values


def test_grouped_queries_with_a_cache() -> None:
    x, mix = normal(5, 6), normal(6, 16)
    step = vt.function(x=("new", 6), keys=(2, "past", 2), values=(2, "past", 2))(grouped)
    empty = np.zeros((2, 0, 2), np.float32)
    whole, keys, values = both(step, x, empty, empty, mix)
    rows: list[Any] = []
    kept: list[Any] = [empty, empty]
    for i in range(5):
        row, *kept = both(step, x[i : i + 1], *kept, mix)
        rows.append(row)
    same(np.concatenate(rows), whole)
    same(kept[0], keys)
    same(kept[1], values)
    mixed = strict.matmul(x, mix)
    seen = np.tril(np.ones((5, 5), bool))
    heads: list[Any] = []
    for head in range(4):
        q = mixed[:, 2 * head : 2 * head + 2]
        k, v = (mixed[:, first + 2 * (head // 2) :][:, :2] for first in (8, 12))
        heads.append(strict.attention(q, k, v, 0.75, seen))
    same(whole, np.concatenate(heads, 1))


def test_the_loops_tell_a_rounding_more_from_one() -> None:
    """The control: sums of rounded products differ from those of one rounding a step."""
    a, b = normal(16), normal(16)
    total = np.float32(0)
    for x, y in zip(a, b, strict=True):
        total = add(total, mul(x, y))
    assert total.tobytes() != strict.dot(a, b).tobytes()
    assert div(sub(np.float32(3), np.float32(2)), np.float32(3)) == np.float32(1 / 3)
