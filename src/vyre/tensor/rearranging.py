"""Elements in another order or several times: `flip`, `roll`, `tile`, `repeat`, `tril`; no bits change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.errors import VyreError, whole
from vyre.graph.sizes import Size
from vyre.ir.types import DataType
from vyre.tensor import comparing, elementwise
from vyre.tensor.create import full_like, iota, of_size
from vyre.tensor.indexing import backwards
from vyre.tensor.shaping import broadcast_to, concat, expand_dims, reshape, sizes_of, slice_axis, transpose
from vyre.tensor.value import operation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.graph.sizes import SizeLike
    from vyre.tensor.value import V, Value


_FARTHEST = (1 << 31) - 1
"""How far a diagonal may lie from the main one; an axis has no more places."""


def _chosen(x: Value, axis: Any) -> list[int]:
    if axis is None:
        return list(range(x.ndim))
    return [x.axis(a) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]


@operation
def flip(x: V, axis: int | Sequence[int] | None = None) -> V:
    """The elements in reverse along the axes, all of them if None; an axis may be dynamic."""
    for at in _chosen(x, axis):
        x = backwards(x, at)
    return x


@operation
def roll(x: V, shift: int, axis: int) -> V:
    """Elements moved by `shift` places along a static axis; those that leave it come in at its start."""
    at = x.axis(axis)
    size = x.type.shape[at].static
    if size is None:
        raise VyreError(
            f"roll() does not take the dynamic axis {axis} of {x.type}.",
            fix="put two slices together: concat([x[-1:], x[:-1]]).",
        )
    cut = -whole("the shift", shift) % size if size else 0
    if not cut:
        return x
    return concat([slice_axis(x, at, cut, size), slice_axis(x, at, 0, cut)], at)


@operation
def tile(x: V, times: SizeLike | Sequence[SizeLike]) -> V:
    """The whole tensor so many times along each axis, counted from the last as NumPy does."""
    counts = sizes_of(times)
    for _ in range(len(counts) - x.ndim):
        x = expand_dims(x, 0)
    for axis, count in zip(range(x.ndim - len(counts), x.ndim), counts, strict=True):
        if count.static != 1:
            shape = x.type.shape
            several = broadcast_to(expand_dims(x, axis), (*shape[:axis], count, *shape[axis:]))
            x = reshape(several, (*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))
    return x


@operation
def repeat(x: V, times: int, axis: int) -> V:
    """Each element `times` times along an axis, one beside the other."""
    at, count = x.axis(axis), whole("the number of repeats", times)
    shape = x.type.shape
    several = broadcast_to(expand_dims(x, at + 1), (*shape[: at + 1], count, *shape[at + 1 :]))
    return reshape(several, (*shape[:at], shape[at] * count, *shape[at + 1 :]))


@operation
def moveaxis(x: V, source: int, target: int) -> V:
    """One axis at another place, the others in their order."""
    moved, to = x.axis(source), x.axis(target)
    order = [axis for axis in range(x.ndim) if axis != moved]
    order.insert(to, moved)
    return transpose(x, order)


@operation
def diff(x: V, axis: int = -1) -> V:
    """Each element less the one before it along an axis, which gets shorter by one."""
    size = x.type.shape[x.axis(axis)]
    return elementwise.subtract(slice_axis(x, axis, 1, size), slice_axis(x, axis, 0, size - 1))


@operation
def tril(x: V, diagonal: SizeLike = 0) -> V:
    """The last two axes with 0 above the diagonal, which lies `diagonal` places to the right."""
    return _triangle(x, diagonal, upper=False)


@operation
def triu(x: V, diagonal: SizeLike = 0) -> V:
    """The last two axes with 0 below the diagonal."""
    return _triangle(x, diagonal, upper=True)


def _triangle(x: V, diagonal: SizeLike, *, upper: bool) -> V:
    if x.ndim < 2:
        raise VyreError(f"{x.type} has no triangle.", fix="use a tensor of two axes or more.")
    shape = x.type.shape[-2:]
    if isinstance(diagonal, int):
        diagonal = min(max(diagonal, -_FARTHEST), _FARTHEST)
    # The difference of two places fits an I32; a place and a diagonal far away, added, would wrap.
    right = elementwise.subtract(iota(x, shape, 1, DataType.I32), iota(x, shape, 0, DataType.I32))
    at = of_size(x, Size(diagonal), DataType.I32)
    kept = comparing.greater_equal(right, at) if upper else comparing.less_equal(right, at)
    return comparing.where(kept, x, full_like(x, (), 0))
