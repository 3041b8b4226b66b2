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
from vyre.conform.generate.family_cases import flash_attention, grouped, mixture, selective_scan

RNG = np.random.default_rng(11)


def normal(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


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


@pytest.mark.parametrize(("keys", "block"), [(8, 4), (8, 8), (11, 4), (11, 2), (5, 1)])
def test_flash_attention_has_the_bits_of_attention(keys: int, block: int) -> None:
    q, k, v = normal(3, 4), normal(keys, 4), normal(keys, 2)
    whole = both(lambda q, k, v: nn.attention(q, k, v, scale=0.5), q, k, v)
    same(both(lambda q, k, v: flash_attention(q, k, v, block, 0.5), q, k, v), whole)
    same(whole, strict.attention(q, k, v, 0.5))


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
