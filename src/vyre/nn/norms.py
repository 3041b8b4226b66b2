"""Norms: tree means over the last axis, or means that are given, and a division by the root (decision 31)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.nn.widened import narrowed, wide
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor.shaping import reshape
from vyre.tensor.value import network

if TYPE_CHECKING:
    from vyre.tensor import Tensor


@network
def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, eps: float = 1e-5, axis: int = -1
) -> Tensor:
    """(x - mean) / sqrt(var + eps), times weight, plus bias; var is the mean of squared differences."""
    w = wide(x)
    shifted = w - r.mean(w, axis, keepdims=True)
    variance = r.mean(shifted * shifted, axis, keepdims=True)
    return narrowed(_scaled(shifted / e.sqrt(variance + eps), weight, bias), x)


@network
def rms_norm(x: Tensor, weight: Tensor | None = None, *, eps: float = 1e-5, axis: int = -1) -> Tensor:
    """x / sqrt(mean of squares + eps), then times weight."""
    w = wide(x)
    mean = r.mean(w * w, axis, keepdims=True)
    return narrowed(_scaled(w / e.sqrt(mean + eps), weight, None), x)


@network
def batch_norm(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    eps: float = 1e-5,
) -> Tensor:
    """[batch, channels, ...] with the statistics of training, [channels]: (x - mean) / sqrt(var + eps)."""
    if x.ndim < 2:
        raise VyreError(f"batch norm does not take {x.type}.", fix="use [batch, channels, ...].")
    each = [None if t is None else _channels(t, x) for t in (mean, variance, weight, bias)]
    centre, spread, scale, shift = each
    assert centre is not None
    assert spread is not None
    return narrowed(_scaled((wide(x) - centre) / e.sqrt(spread + eps), scale, shift), x)


def _channels(x: Tensor, like: Tensor) -> Tensor:
    """[c] beside [n, c, ...]."""
    return reshape(wide(x), (*x.type.shape, *(1,) * (like.ndim - 2)))


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is not None:
        x = x * wide(weight)
    return x if bias is None else x + wide(bias)
