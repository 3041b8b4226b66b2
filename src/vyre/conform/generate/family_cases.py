"""Families of networks that every backend is tried with: state spaces, blocks of keys, experts, caches.

Each is a composition of what tensors have; none has a node of its own.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# The parameters of a lambda that is traced are tensors, which a checker cannot know.

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre import nn
from vyre import tensor as vt
from vyre.conform.generate.tensor_cases import F32, TensorCase, case

if TYPE_CHECKING:
    from vyre.tensor import Tensor


def selective_scan(x: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor, skip: Tensor) -> Tensor:
    """A state-space layer: x and delta [time, channels], a [channels, states], b and c [time, states]."""
    wide = vt.expand_dims(delta, 2)
    factor = vt.exp(wide * a)
    term = vt.expand_dims(delta * x, 2) * vt.expand_dims(b, 1)
    states = vt.recurrence(factor, term, 0)
    return (states @ vt.expand_dims(c, 2))[..., 0] + skip * x


def flash_attention(q: Tensor, k: Tensor, v: Tensor, block: int, scale: float) -> Tensor:
    """Two passes over blocks of keys: the greatest score first, then sums that go on from block to block."""
    count = k.type.shape[0].static or 0
    ranges = [(first, min(first + block, count)) for first in range(0, count, block)]

    def scores(first: int, stop: int) -> Tensor:
        return (q @ k[first:stop].T) * scale

    greatest = scores(*ranges[0]).max(-1, keepdims=True)
    for part in ranges[1:]:
        later = scores(*part).max(-1, keepdims=True)
        greatest = vt.concat([greatest, later], -1).max(-1, keepdims=True)
    made = vt.zeros((q.type.shape[0], v.type.shape[1]))
    totals: list[Tensor] = []
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


def mixture(x: Tensor, route: Tensor, experts: Tensor, most: int) -> Tensor:
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


def grouped(x: Tensor, keys: Tensor, values: Tensor, mix: Tensor) -> tuple[Tensor, ...]:
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


def family_cases() -> list[TensorCase]:
    """One of each, small."""
    grid, rows = (F32, (6, 3)), (F32, (6, 4))
    cache = (F32, (2, "past", 2))
    return [
        case(
            "float state-space layer",
            selective_scan,
            x=grid,
            delta=grid,
            a=(F32, (3, 4)),
            b=rows,
            c=rows,
            skip=(F32, (3,)),
        ),
        case(
            "float flash attention",
            lambda q, k, v: flash_attention(q, k, v, 4, 0.5),
            q=(F32, (3, 4)),
            k=(F32, (6, 4)),
            v=(F32, (6, 2)),
        ),
        case(
            "float mixture of experts",
            lambda x, route, experts: mixture(x, route, experts, 2),
            x=(F32, (5, 3)),
            route=(F32, (3, 4)),
            experts=(F32, (4, 3, 2)),
        ),
        case(
            "float grouped queries with a cache",
            grouped,
            ({"new": 3, "past": 0}, {"new": 1, "past": 3}),
            x=(F32, ("new", 6)),
            keys=cache,
            values=cache,
            mix=(F32, (6, 16)),
        ),
    ]
