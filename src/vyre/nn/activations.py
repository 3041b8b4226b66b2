"""Activations: each formula fixed once and for all (decision 31), so their bits are too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.nn.widened import narrowed, wide
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor.value import network

if TYPE_CHECKING:
    from vyre.tensor import Tensor


@network
def relu(x: Tensor) -> Tensor:
    """x where it is above 0, else +0; NaN stays NaN."""
    return c.where(c.less_equal(x, 0), 0.0, x)


@network
def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    w = wide(x)
    return narrowed(1.0 / (e.exp(-w) + 1.0), x)


@network
def silu(x: Tensor) -> Tensor:
    """x * sigmoid(x)."""
    w = wide(x)
    return narrowed(w * (1.0 / (e.exp(-w) + 1.0)), x)


@network
def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent, correctly rounded."""
    return e.tanh(x)


_HALF_ROOT = 0.7071067811865476
"""1 / sqrt(2); in F32 0x3F3504F3."""
_ROOT = 0.7978845608028654
"""sqrt(2 / pi); in F32 0x3F4C422A."""
_CUBE = 0.044715
"""Of the form with tanh; in F32 0x3D372713."""


@network
def gelu(x: Tensor, *, approximate: str = "none") -> Tensor:
    """x / 2 * (1 + erf(x / sqrt(2))), or with `approximate="tanh"` the form with tanh.

    That is x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x))), each operation rounded.
    """
    if approximate not in ("none", "tanh"):
        raise VyreError(f"gelu() does not take approximate={approximate!r}.", fix='use "none" or "tanh".')
    w = wide(x)
    half = w * 0.5
    if approximate == "none":
        return narrowed(half * (e.erf(w * _HALF_ROOT) + 1.0), x)
    inner = (w + w * w * w * _CUBE) * _ROOT
    return narrowed(half * (e.tanh(inner) + 1.0), x)


@network
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x - m) divided by its tree sum, m the greatest along the axis."""
    w = wide(x)
    powers = e.exp(w - r.max(w, axis, keepdims=True))
    return narrowed(powers / r.sum(powers, axis, keepdims=True), x)


@network
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """(x - m) - log of the tree sum of exp(x - m)."""
    w = wide(x)
    shifted = w - r.max(w, axis, keepdims=True)
    return narrowed(shifted - e.log(r.sum(e.exp(shifted), axis, keepdims=True)), x)
