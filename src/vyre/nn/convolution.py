"""Convolutions as products of matrices, k = (channel, kernel) ascending, padding as +0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.errors import VyreError
from vyre.graph.sizes import Size, product
from vyre.nn.widened import narrowed, wide
from vyre.tensor.products import matmul
from vyre.tensor.rearranging import flip
from vyre.tensor.shaping import (
    broadcast_to,
    expand_dims,
    pad,
    reshape,
    slice_axis,
    swapaxes,
    transpose,
    windows,
)
from vyre.tensor.value import network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.tensor import Tensor


def each_axis(value: int | Sequence[int], axes: int, what: str, least: int = 1) -> tuple[int, ...]:
    made = _each(value, axes)
    if not all(_whole(part) and part >= least for part in made):
        raise VyreError(
            f"the {what} cannot be {value!r}.",
            fix=f"use whole numbers of {least} or more: one for each axis, or one for all.",
        )
    if len(made) != axes:
        raise VyreError(
            f"got {len(made)} numbers of {what} for {axes} axes.",
            fix="give one for each axis, or one for all.",
        )
    return tuple(int(part) for part in made)


def _each(value: Any, times: int) -> tuple[Any, ...]:
    """What a sequence holds, or one thing so many times."""
    return tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value,) * times  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]


def _whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def padded(
    x: Tensor, padding: int | Sequence[int] | Sequence[tuple[int, int]], axes: int, value: float
) -> Tensor:
    pairs = pairs_of(padding, axes)
    if all(pair == (0, 0) for pair in pairs):
        return x
    return pad(x, [(0, 0)] * (x.ndim - axes) + pairs, value)


def pairs_of(padding: int | Sequence[int] | Sequence[tuple[int, int]], axes: int) -> list[tuple[int, int]]:
    pairs = [_each(part, 2) for part in _each(padding, axes)]
    if not all(len(pair) == 2 and all(map(_sized, pair)) for pair in pairs):
        raise VyreError(
            f"the padding cannot be {padding!r}.",
            fix="use one number, one for each axis, or (before, after) for each axis.",
        )
    if len(pairs) != axes:
        raise VyreError(f"got {len(pairs)} sizes of padding for {axes} axes.", fix="give one for each axis.")
    return [(_plain(before), _plain(after)) for before, after in pairs]


def _sized(value: Any) -> bool:
    return _whole(value) or isinstance(value, Size)


def _plain(value: Any) -> Any:
    """A number of Python, or a size; unsigned ones of NumPy wrap where they are subtracted."""
    return value if isinstance(value, Size) else int(value)


def patches(x: Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> Tensor:
    """[batch, channels, *space] as [batch, channels, *places, *kernel], a view."""
    for i, (size, step, gap) in enumerate(zip(kernel, stride, dilation, strict=True)):
        x = windows(x, 2 + i, size, step, gap)
    return x


@network
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
    made = correlated(x, weight, stride, padding, dilation, groups, factor=wide)
    if bias is not None:
        made = made + reshape(wide(bias), (1, weight.type.shape[0], *(1,) * (x.ndim - 2)))
    return narrowed(made, x)


def correlated(
    x: Tensor,
    weight: Tensor,
    stride: int | Sequence[int],
    padding: int | Sequence[int] | Sequence[tuple[int, int]],
    dilation: int | Sequence[int],
    groups: int,
    *,
    factor: Callable[[Tensor], Tensor],
) -> Tensor:
    """`conv` without a bias and not rounded; `factor` makes the operands what is multiplied, F32 or I32."""
    axes = x.ndim - 2
    if axes < 1 or weight.ndim != x.ndim:
        raise VyreError(
            f"{x.type} cannot be convolved with {weight.type}.",
            fix="use [batch, channels, *space] and [outputs, channels / groups, *kernel].",
        )
    kernel = _static(weight, range(2, weight.ndim))
    batch, channels = x.type.shape[:2]
    outputs = weight.type.shape[0]
    each, made = channels.divided(groups), outputs.divided(groups)
    if each is None or made is None or each != weight.type.shape[1]:
        raise VyreError(
            f"{channels} channels and weights {weight.type} do not fit {groups} groups.",
            fix="make weights [outputs, channels / groups, *kernel], with groups dividing both.",
        )
    around = padded(factor(x), padding, axes, 0.0)
    seen = patches(around, kernel, each_axis(stride, axes, "stride"), each_axis(dilation, axes, "dilation"))
    places = seen.type.shape[2 : 2 + axes]
    parts = () if groups == 1 else (groups,)
    split = reshape(seen, (batch, *parts, each, *places, *kernel))
    at = 2 + len(parts)
    order = (*range(at - 1), *range(at, at + axes), at - 1, *range(at + axes, at + 2 * axes))
    depth = each * product(Size(k) for k in kernel)
    rows = reshape(transpose(split, order), (batch, groups, product(places), depth))
    columns = transpose(reshape(factor(weight), (groups, made, depth)), (0, 2, 1))
    sums = matmul(rows, broadcast_to(columns, (batch, *columns.type.shape)))
    return reshape(transpose(sums, (0, 1, 3, 2)), (batch, outputs, *places))


def _static(x: Tensor, axes: range) -> tuple[int, ...]:
    sizes = [x.shape[a] for a in axes]
    if any(not isinstance(s, int) for s in sizes):
        raise VyreError(f"the kernel over {x.type} has a dynamic size.", fix="give kernels a static size.")
    return tuple(s for s in sizes if isinstance(s, int))


@network
def conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Sequence[tuple[int, int]] = 0,
    output_padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor:
    """[batch, channels, *space] with weights [channels, outputs / groups, *kernel]: space grows by `stride`.

    It is `conv` of the elements with zeros between them, by the weights turned around, `padding` taken away.
    """
    axes = x.ndim - 2
    if axes < 1 or weight.ndim != x.ndim:
        raise VyreError(
            f"a transposed convolution of {x.type} with {weight.type}.",
            fix="use [batch, channels, *space] and [channels, outputs / groups, *kernel].",
        )
    kernel = _static(weight, range(2, weight.ndim))
    channels, made = weight.type.shape[:2]
    each = channels.divided(groups)
    if each is None:
        raise VyreError(
            f"{channels} channels cannot be split into {groups} groups.",
            fix="use groups that divide the channels.",
        )
    steps, gaps = each_axis(stride, axes, "stride"), each_axis(dilation, axes, "dilation")
    more = each_axis(output_padding, axes, "output padding", 0)
    taken = pairs_of(padding, axes)
    spaced = x
    for i, step in enumerate(steps):
        spaced = _spaced(spaced, 2 + i, step)
    reach = [(size - 1) * gap for size, gap in zip(kernel, gaps, strict=True)]
    widths = [(r - b, r - a + m) for r, (b, a), m in zip(reach, taken, more, strict=True)]
    for i, (before, after) in enumerate(widths):
        at = 2 + i
        cut = slice_axis(spaced, at, max(-before, 0), spaced.type.shape[at] - max(-after, 0))
        spaced = cut if min(before, after) < 0 else spaced
    around = [(max(b, 0), max(a, 0)) for b, a in widths]
    turned = flip(reshape(weight, (groups, each, made, *kernel)), tuple(range(3, 3 + axes)))
    swapped = reshape(swapaxes(turned, 1, 2), (made * groups, each, *kernel))
    return conv(spaced, swapped, bias, padding=around, dilation=gaps, groups=groups)


def _spaced(x: Tensor, axis: int, step: int) -> Tensor:
    """Zeros between the elements of an axis, so that they are `step` apart."""
    if step == 1:
        return x
    shape = x.type.shape
    apart = pad(expand_dims(x, axis + 1), [(0, step - 1 if i == axis + 1 else 0) for i in range(x.ndim + 1)])
    joined = reshape(apart, (*shape[:axis], shape[axis] * step, *shape[axis + 1 :]))
    return slice_axis(joined, axis, 0, shape[axis] * step - (step - 1))
