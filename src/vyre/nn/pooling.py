"""Pools over windows: the greatest, or the average, with padding that counts or does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError
from vyre.ir.types import DataType
from vyre.nn.convolution import each_axis, padded, pairs_of, patches
from vyre.nn.widened import narrowed, wide
from vyre.tensor import reductions as r
from vyre.tensor.create import full_like
from vyre.tensor.shaping import broadcast_to
from vyre.tensor.value import network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.tensor import Tensor

    Padding = int | Sequence[int] | Sequence[tuple[int, int]]


def _axes(x: Tensor) -> int:
    if x.ndim < 3:
        raise VyreError(
            f"{x.type} has no axes to pool.", fix="use [batch, channels, *space], as x[None, None] makes it."
        )
    return x.ndim - 2


def _more(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: list[tuple[int, int]],
    dilation: Sequence[int],
) -> list[tuple[int, int]]:
    """What a last window that is not whole needs after each axis; it starts before the padding at the end."""
    found: list[tuple[int, int]] = []
    for size, k, step, (before, after), gap in zip(
        x.shape[2:], kernel, stride, padding, dilation, strict=True
    ):
        if not isinstance(size, int):
            raise VyreError(
                "ceil_mode does not work over a dynamic axis.", fix="use ceil_mode=False, or a static size."
            )
        reach = (k - 1) * gap + 1
        count = -(-(size + before + after - reach) // step) + 1
        if (count - 1) * step >= size + before:
            count -= 1
        found.append((0, max((count - 1) * step + reach - size - before - after, 0)))
    return found


@network
def max_pool(
    x: Tensor,
    kernel: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """The greatest of each window, as `max` has it; padding is the least number.

    `ceil_mode` keeps a last window that is not whole.
    """
    around = windowed(
        x,
        kernel,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
        outside=_least(x.element),
    )
    return r.max(around, tuple(range(x.ndim, around.ndim)))


def windowed(
    x: Tensor,
    kernel: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None,
    padding: Padding,
    dilation: int | Sequence[int],
    ceil_mode: bool,
    outside: float,
) -> Tensor:
    """[batch, channels, *places, *kernel], a view: what each window sees, padding as `outside`."""
    axes = _axes(x)
    sizes, gaps = each_axis(kernel, axes, "kernel"), each_axis(dilation, axes, "dilation")
    steps = sizes if stride is None else each_axis(stride, axes, "stride")
    around = pairs_of(padding, axes)
    if ceil_mode:
        more = _more(x, sizes, steps, around, gaps)
        around = [(b, a + extra) for (b, a), (_, extra) in zip(around, more, strict=True)]
    return patches(padded(x, around, axes, outside), sizes, steps, gaps)


def _least(element: DataType) -> float:
    if element.is_float:
        return float("-inf")
    return -(1 << (element.bits - 1)) if element.value[0] == "I" else 0


@network
def average_pool(
    x: Tensor,
    kernel: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    count_padding: bool = True,
    ceil_mode: bool = False,
) -> Tensor:
    """The row-major chain sum of each window, divided by its count, with or without the padding.

    What `ceil_mode` adds to keep a last part is never counted.
    """
    axes = _axes(x)
    sizes, gaps = each_axis(kernel, axes, "kernel"), each_axis(dilation, axes, "dilation")
    steps = sizes if stride is None else each_axis(stride, axes, "stride")
    around = pairs_of(padding, axes)
    more = _more(x, sizes, steps, around, gaps) if ceil_mode else [(0, 0)] * axes
    joined = tuple(range(2 + axes, 2 + 2 * axes))

    def summed(values: Tensor, outside: float) -> Tensor:
        whole = padded(padded(values, around, axes, outside), more, axes, 0.0)
        return r.sum(patches(whole, sizes, steps, gaps), joined, order="strict")

    w = wide(x)
    ones = broadcast_to(full_like(w, (), 1, DataType.F32), (1, 1, *x.type.shape[2:]))
    return narrowed(summed(w, 0.0) / summed(ones, 1.0 if count_padding else 0.0), x)
