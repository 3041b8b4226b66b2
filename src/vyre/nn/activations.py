"""Activations: each formula fixed once and for all (decision 31), so their bits are too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import boundary
from vyre.nn.widened import narrowed, wide
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r

if TYPE_CHECKING:
    from vyre.tensor import Tensor


@boundary
def relu(x: Tensor) -> Tensor:
    """x where it is above 0, else +0; NaN stays NaN."""
    return c.where(c.less_equal(x, 0), 0.0, x)


@boundary
def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    w = wide(x)
    return narrowed(1.0 / (e.exp(-w) + 1.0), x)


@boundary
def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    w = wide(x)
    return narrowed(w * (1.0 / (e.exp(-w) + 1.0)), x)


@boundary
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x - m) divided by its tree sum, m the greatest along the axis."""
    w = wide(x)
    powers = e.exp(w - r.max(w, axis, keepdims=True))
    return narrowed(powers / r.sum(powers, axis, keepdims=True), x)


@boundary
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """(x - m) - log of the tree sum of exp(x - m)."""
    w = wide(x)
    shifted = w - r.max(w, axis, keepdims=True)
    return narrowed(shifted - e.log(r.sum(e.exp(shifted), axis, keepdims=True)), x)
