"""Convolutions as products of matrices, k = (channel, kernel) ascending, padding as +0; and pooling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.errors import VyreError, boundary
from vyre.graph.sizes import Size, product
from vyre.ir.types import DataType
from vyre.nn.widened import narrowed, wide
from vyre.tensor import reductions as r
from vyre.tensor.create import of_size
from vyre.tensor.products import matmul
from vyre.tensor.shaping import broadcast_to, expand_dims, pad, reshape, transpose, windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.tensor import Tensor


def _each(value: int | Sequence[int], axes: int, what: str) -> tuple[int, ...]:
    made = (value,) * axes if isinstance(value, int) else tuple(value)
    if len(made) != axes:
        raise VyreError(
            f"{len(made)} numbers of {what} for {axes} axes.", fix="give one for each axis, or one for all."
        )
    return made


def _padded(
    x: Tensor, padding: int | Sequence[int] | Sequence[tuple[int, int]], axes: int, value: float
) -> Tensor:
    if isinstance(padding, int):
        pairs = [(padding, padding)] * axes
    else:
        pairs = [p if isinstance(p, tuple) else (p, p) for p in padding]
    if len(pairs) != axes:
        raise VyreError(f"{len(pairs)} sizes of padding for {axes} axes.", fix="give one for each axis.")
    if all(pair == (0, 0) for pair in pairs):
        return x
    return pad(x, [(0, 0)] * (x.ndim - axes) + pairs, value)


def _patches(x: Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Tensor:
    """[batch, channels, *space] as [batch, channels, *places, *kernel], a view."""
    for i, (size, step, gap) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = windows(x, 2 + i, size, step, gap)
    return x


@boundary
def conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """[batch, channels, *space] with weights [outputs, channels / groups, *kernel], space of any rank."""
    axes = x.ndim - 2
    if axes < 1 or weight.ndim != x.ndim:
        raise VyreError(
            f"a convolution of {x.type} with {weight.type}.",
            fix="use [batch, channels, *space] and [outputs, channels / groups, *kernel].",
        )
    kernel = _static(weight, range(2, weight.ndim))
    batch, channels = x.type.shape[:2]
    outputs = weight.type.shape[0]
    each, made = channels.divided(groups), outputs.divided(groups)
    if each is None or made is None or each != weight.type.shape[1]:
        raise VyreError(
            f"{channels} channels and weights {weight.type} in {groups} groups.",
            fix="make weights [outputs, channels / groups, *kernel], with groups dividing both.",
        )
    w = _padded(wide(x), padding, axes, 0.0)
    patches = _patches(w, kernel, _each(stride, axes, "stride"), _each(dilation, axes, "dilation"))
    places = patches.type.shape[2 : 2 + axes]
    split = reshape(patches, (batch, groups, each, *places, *kernel))
    order = (0, 1, *range(3, 3 + axes), 2, *range(3 + axes, 3 + 2 * axes))
    depth = each * product(Size(k) for k in kernel)
    rows = reshape(transpose(split, order), (batch, groups, product(places), depth))
    columns = transpose(reshape(wide(weight), (groups, made, depth)), (0, 2, 1))
    sums = matmul(rows, broadcast_to(columns, (batch, *columns.type.shape)))
    shaped = reshape(transpose(sums, (0, 1, 3, 2)), (batch, outputs, *places))
    if bias is not None:
        shaped = shaped + reshape(wide(bias), (1, outputs, *(1,) * axes))
    return narrowed(shaped, x)


def _static(x: Tensor, axes: range) -> tuple[int, ...]:
    sizes = [x.shape[a] for a in axes]
    if any(not isinstance(s, int) for s in sizes):
        raise VyreError(f"a kernel of dynamic size in {x.type}.", fix="give kernels a static size.")
    return tuple(s for s in sizes if isinstance(s, int))


@boundary
def max_pool(
    x: Tensor,
    kernel: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
    dilation: int | Sequence[int] = 1,
) -> Tensor:
    """The greatest of each window, as `max` has it; padding is -Inf."""
    axes = x.ndim - 2
    sizes = _each(kernel, axes, "kernel")
    steps = sizes if stride is None else _each(stride, axes, "stride")
    w = _padded(x, padding, axes, float("-inf") if x.element.is_float else 0)
    patches = _patches(w, sizes, steps, _each(dilation, axes, "dilation"))
    return r.max(patches, tuple(range(2 + axes, 2 + 2 * axes)))


@boundary
def average_pool(
    x: Tensor,
    kernel: int | Sequence[int],
    *,
    stride: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
    count_padding: bool = True,
) -> Tensor:
    """The row-major chain sum of each window, divided by its count, with or without the padding."""
    axes = x.ndim - 2
    sizes = _each(kernel, axes, "kernel")
    steps = sizes if stride is None else _each(stride, axes, "stride")
    w = wide(x)
    ones = (1,) * axes
    joined = tuple(range(2 + axes, 2 + 2 * axes))
    sums = r.sum(_patches(_padded(w, padding, axes, 0.0), sizes, steps, ones), joined, order="strict")
    if count_padding:
        count = of_size(w, product(Size(k) for k in sizes), DataType.F32)
    else:
        inside = broadcast_to(expand_dims(expand_dims(of_size(w, Size(1), DataType.F32), 0), 0), (1, 1))
        marks = _padded(
            broadcast_to(reshape(inside, (1, 1, *ones)), (1, 1, *x.type.shape[2:])), padding, axes, 0.0
        )
        count = r.sum(_patches(marks, sizes, steps, ones), joined, order="strict")
    return narrowed(sums / count, x)
