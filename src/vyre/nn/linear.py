"""A layer of weights as torch keeps them, [outputs, inputs]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.tensor.products import matmul
from vyre.tensor.shaping import swapaxes
from vyre.tensor.value import network

if TYPE_CHECKING:
    from vyre.tensor import Tensor


@network
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """[..., inputs] @ weight.T + bias; each step rounds to the element of `x`."""
    made = matmul(x, swapaxes(weight, -1, -2))
    return made if bias is None else made + bias
