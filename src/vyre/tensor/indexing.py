"""`x[...]`: numbers, slices, `None`, `...`, and tensors of integers; and what gathers and scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from vyre.errors import VyreError, boundary
from vyre.graph.nodes import Duplicates, Gather, Pick, Scatter, Slice
from vyre.graph.sizes import Size
from vyre.tensor.shaping import reshape
from vyre.tensor.value import V, Value

if TYPE_CHECKING:
    from types import EllipsisType

    Index = int | slice | None | EllipsisType | Value


@boundary
def take_index(x: V, index: Any) -> V:
    parts = _expanded(x, cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,))
    picked = [i for i, part in enumerate(parts) if isinstance(part, Value)]
    if picked:
        return _gathered(x, parts, picked)
    starts: list[Size] = []
    stops: list[Size] = []
    steps: list[int] = []
    shape: list[Size | None] = []
    axis = 0
    for part in parts:
        if part is None:
            shape.append(Size(1))
            continue
        size = x.type.shape[axis]
        start, stop, step = _range(part, size, axis)
        starts.append(start)
        stops.append(stop)
        steps.append(step)
        shape.append(None if isinstance(part, slice) else Size(-1))
        axis += 1
    whole = all(_is_whole(part) for part in parts)
    sliced = x if whole else x.made(Slice(x.name, tuple(starts), tuple(stops), tuple(steps)))
    sizes = iter(sliced.type.shape)
    kept: list[Size] = []
    for mark in shape:
        if mark is not None and mark.static == 1:
            kept.append(mark)
            continue
        size = next(sizes)
        if mark is None:
            kept.append(size)
    return reshape(sliced, tuple(kept))


def _is_whole(part: Any) -> bool:
    return part is None or (isinstance(part, slice) and part == slice(None))


def _expanded(x: Value, index: tuple[Any, ...]) -> list[Any]:
    """One part for every axis, and None for new ones."""
    used = sum(1 for part in index if part is not None and part is not ...)
    dots = sum(1 for part in index if part is ...)
    if dots > 1 or used > x.ndim:
        raise VyreError(
            f"{used} indices for the {x.ndim} axes of {x.type}.",
            fix="use one index for an axis, and ... once.",
        )
    rest = [slice(None)] * (x.ndim - used)
    parts: list[Any] = []
    for part in index:
        parts += rest if part is ... else [part]
    return parts if dots else parts + rest


def _range(part: Any, size: Size, axis: int) -> tuple[Size, Size, int]:
    if isinstance(part, slice):
        part = cast("slice[Any, Any, Any]", part)
        step = 1 if part.step is None else part.step
        if not isinstance(step, int) or step < 1:
            raise VyreError(f"the step {step!r} along axis {axis}.", fix="use a step of 1 or more.")
        start, stop = _bound(part.start, size, Size(0)), _bound(part.stop, size, size)
        backwards = ((stop - start).static or 0) < 0
        return start, start if backwards else stop, step
    if isinstance(part, (int, Size)) and not isinstance(part, bool):
        at = (
            size + part
            if isinstance(part, int) and part < 0
            else Size(part)
            if isinstance(part, int)
            else part
        )
        static, count = at.static, size.static
        if static is not None and (static < 0 or (count is not None and static >= count)):
            raise VyreError(
                f"index {part} along axis {axis} of size {size}.", fix=f"use an index below {size}."
            )
        return at, at + 1, 1
    raise VyreError(
        f"{part!r} does not index a tensor.",
        fix="use numbers, slices, None, ... or tensors of integers; choose by truth with vyre.tensor.where.",
    )


def _bound(part: Any, size: Size, default: Size) -> Size:
    """A bound of a slice, as Python clips it where the size is known."""
    if part is None:
        return default
    at = size + part if isinstance(part, int) and part < 0 else part if isinstance(part, Size) else Size(part)
    static, count = at.static, size.static
    if static is not None and count is not None:
        return Size(min(max(static, 0), count))
    return at


def _gathered(x: V, parts: list[Any], picked: list[int]) -> V:
    if len(picked) > 1 or any(part is None for part in parts):
        raise VyreError(
            f"{len(picked)} tensors of indices at once.",
            fix="index with one tensor, beside slices and numbers, or use vyre.tensor.take along one axis.",
        )
    at = picked[0]
    plain = tuple(slice(None) if i == at else part for i, part in enumerate(parts))
    axis = sum(1 for part in parts[:at] if isinstance(part, slice))
    return take(take_index(x, plain), parts[at], axis)


@boundary
def take(x: V, indices: V, axis: int = 0) -> V:
    """The elements at these places along an axis, in the shape of the indices; out of range gives zeros."""
    return x.made(Gather(x.name, indices.name, x.axis(axis)))


@boundary
def take_along_axis(x: V, indices: V, axis: int) -> V:
    """For every place of `indices` the element at that index along the axis; out of range gives zero."""
    return x.made(Pick(x.name, indices.name, x.axis(axis)))


@boundary
def scatter(x: V, indices: V, updates: V, axis: int = 0, *, duplicates: str = "last") -> V:
    """x with `updates` at these places along an axis: the last of equal indices stays, or they are folded.

    `duplicates` is last, add, mul, min or max; indices out of range are left out.
    """
    known = {member.value: member for member in Duplicates}
    if duplicates not in known:
        raise VyreError(f"duplicates={duplicates!r}.", fix=f"use {', '.join(known)}.")
    return x.made(Scatter(x.name, indices.name, updates.name, x.axis(axis), known[duplicates]))
