"""Views and what puts tensors together: shapes change, elements do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.errors import VyreError, boundary
from vyre.graph.nodes import Broadcast, Concat, Pad, Reshape, Slice, Transpose, Windows
from vyre.graph.sizes import Size, product
from vyre.tensor.scalars import element_bits
from vyre.tensor.value import Value, operation, require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.graph.sizes import SizeLike
    from vyre.tensor.value import V

    Shape = Sequence[SizeLike]


def _whole(value: Any, what: str) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        raise VyreError(f"{value!r} in {what}() is not a whole number.", fix="pass a whole number.")
    return int(cast("int", value))


def sizes_of(shape: Any) -> tuple[Size, ...]:
    """A shape as a user writes it: numbers, sizes of other tensors, names."""
    parts = cast("tuple[Any, ...]", shape) if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)
    return tuple(_size(part) for part in parts)


def _size(part: Any) -> Size:
    if isinstance(part, Size):
        return part
    if not isinstance(part, (int, str, np.integer)):
        raise VyreError(
            f"{part!r} is not a size.", fix="use whole numbers, or sizes of other tensors: x.shape[0]."
        )
    return Size(part if isinstance(part, str) else int(cast("int", part)))


def common_shape(shapes: Sequence[tuple[Size, ...]]) -> tuple[Size, ...]:
    """The shape that all broadcast to. Raises `VyreError`, which names two that do not fit."""
    result: tuple[Size, ...] = ()
    for shape in shapes:
        rank = max(len(result), len(shape))
        left = (Size(1),) * (rank - len(result)) + result
        right = (Size(1),) * (rank - len(shape)) + shape
        joined: list[Size] = []
        for a, b in zip(left, right, strict=True):
            if a != b and a.static != 1 and b.static != 1:
                raise VyreError(
                    f"the shapes {list(result)} and {list(shape)} do not broadcast.",
                    fix="make each axis equal or 1, counted from the last; a dynamic one never grows.",
                )
            joined.append(b if a.static == 1 else a)
        result = tuple(joined)
    return result


@operation
def broadcast_to(x: V, shape: Any) -> V:
    wanted = sizes_of(shape)
    return x if wanted == x.type.shape else x.made(Broadcast(x.name, wanted))


@operation
def transpose(x: V, axes: Sequence[int] | None = None) -> V:
    """The axes in this order, or in reverse."""
    order = range(x.ndim)[::-1] if axes is None else tuple(axes)
    chosen = tuple(x.axis(axis) for axis in order)
    return x if chosen == tuple(range(x.ndim)) else x.made(Transpose(x.name, chosen))


@operation
def swapaxes(x: V, first: int, second: int) -> V:
    order = list(range(x.ndim))
    a, b = x.axis(first), x.axis(second)
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


@operation
def reshape(x: V, shape: Any) -> V:
    """The same elements under another shape; one axis may be -1, which takes what is left."""
    parts = list(shape) if isinstance(shape, (tuple, list)) else [shape]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    free = [i for i, part in enumerate(parts) if isinstance(part, int) and part == -1]  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    if len(free) > 1:
        raise VyreError(f"{shape} leaves two axes open.", fix="use -1 once.")
    if free:
        known = product(sizes_of([part for i, part in enumerate(parts) if i != free[0]]))  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
        rest = _quotient(x.type.count, known)
        if rest is None:
            raise VyreError(
                f"{x.type} cannot be reshaped to {list(parts)}.",  # pyright: ignore[reportUnknownArgumentType]
                fix="use axes whose product divides the number of elements for every length.",
            )
        parts[free[0]] = rest
    wanted = sizes_of(parts)  # pyright: ignore[reportUnknownArgumentType]
    return x if wanted == x.type.shape else x.made(Reshape(x.name, wanted))


def _quotient(count: Size, known: Size) -> Size | None:
    """Also where the divisor is a sum, by which axes that stay as they are cancel."""
    if known.static == 0:
        return None
    if count == known:
        return Size(1)
    return count.divided(known)


@operation
def expand_dims(x: V, axis: int) -> V:
    """A new axis of size 1 before `axis`."""
    whole = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not whole or not -x.ndim - 1 <= axis <= x.ndim:
        raise VyreError(
            f"there is no place {axis!r} for a new axis in {x.type}.",
            fix=f"use a place from {-x.ndim - 1} to {x.ndim}.",
        )
    at = int(axis) % (x.ndim + 1)
    shape = x.type.shape
    return reshape(x, (*shape[:at], Size(1), *shape[at:]))


@operation
def squeeze(x: V, axis: int | None = None) -> V:
    """Without one axis of size 1, or without all of them."""
    axes = [i for i, s in enumerate(x.type.shape) if s.static == 1] if axis is None else [x.axis(axis)]
    if any(x.type.shape[i].static != 1 for i in axes):
        raise VyreError(f"axis {axis} of {x.type} is not of size 1.", fix="name an axis of size 1.")
    return reshape(x, tuple(s for i, s in enumerate(x.type.shape) if i not in axes))


@boundary
def concat(tensors: Iterable[V], axis: int = 0) -> V:
    """One after another along an axis that they have."""
    parts = _listed(tensors, "concat")
    first, at = parts[0], parts[0].axis(axis)
    return first if len(parts) == 1 else first.made(Concat(tuple(t.name for t in parts), at))


def _listed(tensors: Iterable[V], what: str) -> list[V]:
    if isinstance(tensors, Value) or not isinstance(tensors, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise VyreError(
            f"{what}() takes tensors in a list, not a {type(tensors).__name__}.", fix=f"write {what}([a, b])."
        )
    parts = list(tensors)
    if not parts:
        raise VyreError("there is nothing to put together.", fix="pass at least one tensor.")
    for part in parts:
        require(part, what)
    return parts


@boundary
def stack(tensors: Iterable[V], axis: int = 0) -> V:
    """One after another along a new axis."""
    return concat([expand_dims(t, axis) for t in _listed(tensors, "stack")], axis)


@operation
def slice_axis(x: V, axis: int, start: SizeLike, stop: SizeLike, step: int = 1) -> V:
    """`x[start:stop:step]` along one axis; sizes may be dynamic."""
    at = x.axis(axis)
    zero, shape = (Size(0),) * x.ndim, x.type.shape
    starts = (*zero[:at], _size(start), *zero[at + 1 :])
    stops = (*shape[:at], _size(stop), *shape[at + 1 :])
    steps = (1,) * at + (_whole(step, "slice_axis"),) + (1,) * (x.ndim - at - 1)
    return x.made(Slice(x.name, starts, stops, steps))


@operation
def split(x: V, sections: int | Sequence[SizeLike], axis: int = 0) -> list[V]:
    """Equal parts, or parts of these sizes, which must add up to the axis."""
    size = x.type.shape[x.axis(axis)]
    if isinstance(sections, (int, np.integer)):
        sections = int(sections)
        each = size.divided(sections) if sections > 0 else None
        if each is None:
            raise VyreError(
                f"{size} elements cannot be split into {sections} equal parts.",
                fix="pass the sizes of the parts.",
            )
        lengths = [each] * sections
    else:
        if not isinstance(sections, (tuple, list, np.ndarray)):
            raise VyreError(
                f"{sections!r} is neither a number of parts nor their sizes.",
                fix="use a whole number, or a list of sizes that add up to the axis.",
            )
        lengths = [_size(s) for s in sections]
        total = sum(lengths, Size(0))
        if total != size:
            raise VyreError(
                f"the parts add up to {total}, and the axis has {size}.", fix="cover the whole axis."
            )
    parts: list[V] = []
    start = Size(0)
    for length in lengths:
        parts.append(slice_axis(x, axis, start, start + length))
        start = start + length
    return parts


@operation
def pad(
    x: V, widths: SizeLike | tuple[SizeLike, SizeLike] | Sequence[tuple[SizeLike, SizeLike]], value: float = 0
) -> V:
    """Elements of `value` around the axes: one number, (before, after), or such a pair for each axis."""
    pairs = _pairs(widths, x.ndim)
    if len(pairs) != x.ndim or any(len(pair) != 2 for pair in pairs):
        raise VyreError(
            f"got {len(pairs)} widths for {x.ndim} axes.",
            fix="give one number, one (before, after), or such a pair for every axis.",
        )
    before = tuple(_size(b) for b, _ in pairs)
    after = tuple(_size(a) for _, a in pairs)
    return x.made(Pad(x.name, before, after, element_bits(value, x.element)))


def _pairs(widths: Any, rank: int) -> list[tuple[Any, ...]]:
    if not isinstance(widths, (tuple, list)):
        return [(widths, widths)] * rank
    parts = cast("Sequence[Any]", widths)
    if len(parts) == 2 and not any(isinstance(part, (tuple, list)) for part in parts):
        return [tuple(parts)] * rank
    return [tuple(cast("Sequence[Any]", p)) if isinstance(p, (tuple, list)) else (p,) for p in parts]


@operation
def windows(x: V, axis: int, size: int, stride: int = 1, dilation: int = 1) -> V:
    """Windows along an axis: the axis becomes their number, and their elements a last axis."""
    each = [_whole(part, "windows") for part in (size, stride, dilation)]
    return x.made(Windows(x.name, x.axis(axis), *each))
