"""Tables, losses and choices: embedding, cross entropy, top-k, seeded sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vyre.errors import VyreError
from vyre.ir.types import DataType
from vyre.nn.activations import log_softmax, softmax
from vyre.nn.widened import wide
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor.create import iota
from vyre.tensor.indexing import take, take_along_axis
from vyre.tensor.shaping import concat, expand_dims
from vyre.tensor.value import Value, network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.tensor import Tensor

_T = DataType


@network
def embedding(table: Tensor, indices: Tensor | Sequence[int]) -> Tensor:
    """The rows of the table at these indices; an index out of range gives zeros."""
    return take(table, indices, 0)


@network
def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """-log softmax at the target, for each row [..., classes]; a target out of range gives -0."""
    chosen = take_along_axis(log_softmax(logits), expand_dims(targets, -1), -1)
    return -chosen[..., 0]


@network
def top_k(x: Tensor, k: int, axis: int = -1, *, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The k greatest along an axis and where they are (U32), greatest first, ordered as `max` does.

    With `largest=False` the k least, least first. Among equals the first comes first.
    """
    at = x.axis(axis)
    size = x.shape[at]
    whole = isinstance(k, (int, np.integer))  # pyright: ignore[reportUnnecessaryIsInstance]
    if not whole or k < 1 or (isinstance(size, int) and k > size):
        raise VyreError(
            f"{k} elements cannot be chosen from {size}.", fix="use a k from 1 to the size of the axis."
        )
    places = iota(x, x.type.shape, at)
    key = _key(x, largest=largest)
    found: list[Tensor] = []
    left: Tensor | None = None
    for _ in range(k):
        where = r.argmax(key if left is None else _candidates(key, left, at), at, keepdims=True)
        found.append(where)
        other = c.not_equal(places, where)
        left = other if left is None else left & other
    indices = concat(found, at)
    return take_along_axis(x, indices, at), indices


def _candidates(key: Tensor, left: Tensor, axis: int) -> Tensor:
    """1 where an element that is left has the greatest key of those: the least key is one like any other."""
    least = -(1 << 63) if key.element is _T.I64 else 0
    most = r.max(c.where(left, key, least), axis, keepdims=True)
    return (left & c.equal(key, most)).astype(_T.U32)


def _key(x: Tensor, *, largest: bool) -> Tensor:
    """What orders as the elements do: NaN highest, both zeros equal; in reverse for the least.

    It is U32, or I64 for I64.
    """
    if x.element is _T.I64:
        key = x
    elif x.element.loaded is _T.U32:
        key = x.astype(_T.U32)
    elif x.element.loaded is _T.I32:
        key = c.bitcast(x.astype(_T.I32), _T.U32) ^ 0x8000_0000
    else:
        w = e.add(wide(x), 0.0)
        bits = c.bitcast(w, _T.U32)
        ordered = c.where(c.greater_equal(bits, 0x8000_0000), ~bits, bits | 0x8000_0000)
        key = c.where(e.isnan(w), 0xFFFF_FFFF, ordered)
    return key if largest else ~key


@network
def sample(logits: Tensor, uniform: Tensor, *, temperature: float | Tensor = 1.0) -> Tensor:
    """An index for each row [..., classes]: the first whose tree prefix of softmax exceeds `uniform`, [...].

    `uniform` holds numbers from 0 to below 1; the last index where none exceeds it.
    """
    number = isinstance(temperature, (int, float, np.number))
    if not isinstance(temperature, Value) and not (number and temperature > 0):
        raise VyreError(
            f"a temperature of {temperature!r} does not choose.",
            fix="use one above 0; vyre.tensor.argmax(logits, -1) is the likeliest.",
        )
    chances = softmax(wide(logits) / temperature)
    passed = c.less_equal(r.cumsum(chances, -1), expand_dims(wide(uniform), -1))
    count = r.sum(passed.astype(_T.U32), -1)
    last = iota(logits, logits.type.shape, logits.ndim - 1).max(-1)
    return e.fmin(count, last)
