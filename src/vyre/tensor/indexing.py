"""`x[...]`: numbers, slices, `None`, `...`, and tensors of integers; and what gathers and scatters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from vyre.errors import VyreError
from vyre.graph.nodes import Constant, Duplicates, Gather, Pick, Scatter, Slice
from vyre.graph.sizes import Size, product
from vyre.graph.types import ValueType
from vyre.ir.types import DataType
from vyre.tensor import comparing, elementwise
from vyre.tensor.create import iota, of_size
from vyre.tensor.scalars import known_array
from vyre.tensor.shaping import reshape
from vyre.tensor.value import V, Value, operation, require

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    from numpy.typing import NDArray

    Index = int | slice | None | EllipsisType | Value


@operation
def take_index(x: V, index: Any) -> V:
    """What `x[index]` is."""
    given = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
    x, parts = _plain(x, _expanded(x, given))
    picked = [i for i, part in enumerate(parts) if isinstance(part, Value)]
    if picked:
        return _gathered(x, parts, picked)
    starts: list[Size] = []
    stops: list[Size] = []
    steps: list[int] = []
    kept: list[bool | None] = []
    for part in parts:
        if part is None:
            kept.append(None)
            continue
        axis = len(starts)
        start, stop, step = _range(part, x.type.shape[axis], axis)
        starts.append(start)
        stops.append(stop)
        steps.append(step)
        kept.append(isinstance(part, slice))
    whole = all(_is_whole(part) for part in parts)
    sliced = x if whole else x.made(Slice(x.name, tuple(starts), tuple(stops), tuple(steps)))
    sizes = iter(sliced.type.shape)
    shape = [(Size(1) if mark is None else next(sizes), mark) for mark in kept]
    return reshape(sliced, tuple(size for size, mark in shape if mark is not False))


def _plain(x: V, parts: list[Any]) -> tuple[V, list[Any]]:
    """Numbers of NumPy as Python's, lists and arrays as constants, and slices that go backwards done."""
    made: list[Any] = []
    axis = 0
    for part in parts:
        if part is None:
            made.append(None)
            continue
        if isinstance(part, slice):
            part = _stepped(cast("slice[Any, Any, Any]", part))
        if isinstance(part, np.integer):
            made.append(int(cast("Any", part)))
        elif isinstance(part, (list, tuple, np.ndarray)):
            made.append(_known(x, known_array(part), axis))
        elif isinstance(part, slice) and _goes_back(cast("slice[Any, Any, Any]", part)):
            x = _reversed(x, cast("slice[Any, Any, int]", part), axis)
            made.append(slice(None))
        else:
            made.append(part)
        axis += 1
    return x, made


def _stepped(part: slice[Any, Any, Any]) -> slice[Any, Any, Any]:
    """With a step of NumPy as one of Python."""
    if not isinstance(part.step, np.integer):
        return part
    return slice(part.start, part.stop, int(part.step))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _goes_back(part: slice[Any, Any, Any]) -> bool:
    return isinstance(part.step, int) and part.step < 0


def _known(x: V, indices: NDArray[Any], axis: int) -> V:
    """Indices that are known while the function is traced: they count from the end where negative."""
    size = x.type.shape[axis].static
    if indices.dtype == np.bool_ and indices.ndim == 1 and len(indices) == size:
        indices = np.flatnonzero(indices)
    if indices.dtype.kind not in "iu" and indices.size:
        raise VyreError(
            f"{indices.dtype} {list(indices.shape)} cannot index axis {axis} of {x.type}.",
            fix="use whole numbers, or one truth for each place of the axis.",
        )
    low, high = (int(indices.min()), int(indices.max())) if indices.size else (0, -1)
    first, end = (0, 1 << 31) if size is None else (-size, size)
    if low < first or high >= end:
        raise VyreError(
            f"the indices {low} to {high} leave axis {axis}, whose size is {x.type.shape[axis]}.",
            fix="use indices within the axis; those of a dynamic one count from its start.",
        )
    wide = indices.astype(np.int64)  # a narrow type may not hold the size
    counted = np.where(wide < 0, wide + (size or 0), wide).astype("<i4")
    return x.made(Constant(ValueType(DataType.I32, counted.shape), counted.tobytes()))


def _reversed(x: V, part: slice[Any, Any, int], axis: int) -> V:
    """`x[start:stop:-step]` along one axis."""
    size = x.type.shape[axis].static
    if size is not None:
        taken = range(size)[part]
        return take(x, elementwise.add(_counter(x, Size(len(taken))) * part.step, taken.start), axis)
    if part != slice(None, None, -1):
        raise VyreError(
            f"the dynamic axis {axis} of {x.type} cannot be sliced with the step {part.step}.",
            fix="reverse the whole axis with [::-1], then slice with a step of 1 or more.",
        )
    return backwards(x, axis)


def backwards(x: V, axis: int) -> V:
    """One axis, which may be dynamic, in reverse."""
    size = x.type.shape[axis]
    last = of_size(x, size, DataType.I32)
    return take(x, elementwise.subtract(elementwise.subtract(last, 1), _counter(x, size)), axis)


def _counter(x: Value, size: Size) -> Any:
    return iota(x, (size,), 0, DataType.I32)


def _is_whole(part: Any) -> bool:
    return part is None or (isinstance(part, slice) and part == slice(None))


def _expanded(x: Value, index: tuple[Any, ...]) -> list[Any]:
    """One part for every axis, and None for new ones."""
    used = sum(1 for part in index if part is not None and part is not ...)
    dots = sum(1 for part in index if part is ...)
    if dots > 1 or used > x.ndim:
        raise VyreError(
            f"got {used} indices for the {x.ndim} axes of {x.type}.",
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
            raise VyreError(
                f"the step {step!r} along axis {axis} is not possible.",
                fix="use a whole number that is not 0.",
            )
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
                f"index {part} is outside of axis {axis}, whose size is {size}.",
                fix=f"use an index below {size}.",
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
    if isinstance(part, np.integer):
        part = int(cast("Any", part))
    if not isinstance(part, (int, Size)):
        raise VyreError(
            f"{part!r} cannot bound a slice.", fix="use whole numbers, or sizes of other tensors."
        )
    at = size + part if isinstance(part, int) and part < 0 else part if isinstance(part, Size) else Size(part)
    static, count = at.static, size.static
    if static is not None and count is not None:
        return Size(min(max(static, 0), count))
    return at


def _gathered(x: V, parts: list[Any], picked: list[int]) -> V:
    for i in picked:
        if parts[i].element is DataType.Bool:
            raise VyreError(
                f"a mask of {parts[i].type} as an index: the shape would depend on data.",
                fix="keep the shape: vyre.tensor.where(mask, x, 0.0), and sum or count what is left.",
            )
    if any(part is None for part in parts) or picked[-1] - picked[0] + 1 != len(picked):
        raise VyreError(
            "tensors of indices beside None, or with something between them.",
            fix="index neighbouring axes with tensors, and add axes with vyre.tensor.expand_dims.",
        )
    plain = tuple(slice(None) if i in picked else part for i, part in enumerate(parts))
    axis = sum(1 for part in parts[: picked[0]] if isinstance(part, slice))
    return take_together(take_index(x, plain), [parts[i] for i in picked], axis)


def take_together(x: V, indices: Sequence[V], axis: int) -> V:
    """Neighbouring axes from `axis` replaced by tensors of indices that broadcast together.

    The axes become one, and an index out of range in any of them gives zeros.
    """
    if len(indices) == 1:
        return take(x, indices[0], axis)
    shape = x.type.shape
    sizes = shape[axis : axis + len(indices)]
    whole = reshape(x, (*shape[:axis], product(sizes), *shape[axis + len(indices) :]))
    return take(whole, joined_index(x, sizes, indices), axis)


def joined_index(x: V, sizes: Sequence[Size], indices: Sequence[V]) -> V:
    """One index, of U32, into axes of these sizes that became one; beyond every axis where one is."""
    flat: Any = None
    valid: Any = None
    for size, index in zip(sizes, indices, strict=True):
        limit = of_size(x, size, index.element if index.element is DataType.I64 else index.element.loaded)
        inside: Any = comparing.less(index, limit)
        if index.element.loaded is not DataType.U32:
            inside &= comparing.greater_equal(index, 0)
        word: Any = comparing.astype(index, DataType.U32)
        valid = inside if valid is None else valid & inside
        flat = word if flat is None else flat * of_size(x, size, DataType.U32) + word
    return comparing.where(valid, flat, 0xFFFF_FFFF)


@operation
def take(x: V, indices: V | Sequence[int] | NDArray[Any], axis: int = 0) -> V:
    """The elements at these places along an axis, in the shape of the indices; out of range gives zeros.

    A list or an array is known while the function is traced: it counts from the end where negative, and an
    index out of range is refused.
    """
    if not isinstance(indices, Value):
        indices = _known(x, known_array(indices), x.axis(axis))
    return x.made(Gather(x.name, indices.name, x.axis(axis)))


@operation
def take_along_axis(x: V, indices: V, axis: int) -> V:
    """For every place of `indices` the element at that index along the axis; out of range gives zero."""
    require(indices, "take_along_axis")
    return x.made(Pick(x.name, indices.name, x.axis(axis)))


@operation
def scatter(x: V, indices: V, updates: V, axis: int = 0, *, duplicates: str = "last") -> V:
    """x with `updates` at these places along an axis: the last of equal indices stays, or they are folded.

    `duplicates` is last, add, mul, min or max; indices out of range are left out.
    """
    require(indices, "scatter")
    require(updates, "scatter")
    known = {member.value: member for member in Duplicates}
    if duplicates not in known:
        raise VyreError(f"duplicates={duplicates!r}.", fix=f"use {', '.join(known)}.")
    return x.made(Scatter(x.name, indices.name, updates.name, x.axis(axis), known[duplicates]))
