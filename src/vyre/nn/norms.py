"""Norms: tree means over the last axis, then a division by the root (decision 31)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import boundary
from vyre.nn.widened import narrowed, wide
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r

if TYPE_CHECKING:
    from vyre.tensor import Tensor


@boundary
def layer_norm(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, *, eps: float = 1e-5, axis: int = -1
) -> Tensor:
    """(x - mean) / sqrt(var + eps), times weight, plus bias; var is the mean of squared differences."""
    w = wide(x)
    shifted = w - r.mean(w, axis, keepdims=True)
    variance = r.mean(shifted * shifted, axis, keepdims=True)
    return narrowed(_scaled(shifted / e.sqrt(variance + eps), weight, bias), x)


@boundary
def rms_norm(x: Tensor, weight: Tensor | None = None, *, eps: float = 1e-5, axis: int = -1) -> Tensor:
    """x / sqrt(mean of squares + eps), then times weight."""
    w = wide(x)
    mean = r.mean(w * w, axis, keepdims=True)
    return narrowed(_scaled(w / e.sqrt(mean + eps), weight, None), x)


def _scaled(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is not None:
        x = x * wide(weight)
    return x if bias is None else x + wide(bias)
