"""The rules of views: the shapes of transposed, sliced, broadcast, reshaped and windowed values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.graph.faults import fault, require_axis, require_rank, shown
from vyre.graph.sizes import Size
from vyre.graph.types import ValueType

if TYPE_CHECKING:
    from vyre.graph.nodes import Broadcast, Reshape, Slice, Transpose, Windows


def transpose_type(node: Transpose, of: ValueType) -> ValueType:
    if sorted(node.axes) != list(range(of.rank)):
        raise fault(
            "V054",
            f"{list(node.axes)} does not order the {of.rank} axes of {of}.",
            f"name each axis from 0 to {of.rank - 1} once." if of.rank else "leave a scalar as it is.",
        )
    return ValueType(of.element, (of.shape[axis] for axis in node.axes))


def slice_type(node: Slice, of: ValueType) -> ValueType:
    lengths = {len(node.starts), len(node.stops), len(node.steps)}
    if lengths != {of.rank}:
        raise fault(
            "V054",
            f"got {max(lengths)} ranges for the {of.rank} axes of {of}.",
            "give a start, a stop and a step for every axis.",
        )
    shape: list[Size] = []
    for axis, (start, stop, step) in enumerate(zip(node.starts, node.stops, node.steps, strict=True)):
        size = of.shape[axis]
        if step < 1:
            raise fault(
                "V056", f"the step {step} along axis {axis} is not possible.", "use a step of 1 or more."
            )
        _require_inside(axis, start, stop, of)
        extent = stop - start
        whole = extent.static
        if whole is not None:
            shape.append(Size(-(-whole // step)))
        elif step == 1:
            shape.append(extent)
        else:
            raise fault(
                "V056",
                f"the step {step} along axis {axis} of the dynamic size {size} is not possible.",
                "use a step of 1, or a static size.",
            )
    return ValueType(of.element, shape)


def _require_inside(axis: int, start: Size, stop: Size, of: ValueType) -> None:
    """Refuses what can be known now; what depends on lengths is looked at when they are known."""
    for low, high in ((Size(0), start), (start, stop), (stop, of.shape[axis])):
        gap = (high - low).static
        if gap is not None and gap < 0:
            raise fault(
                "V056",
                f"the range {start} to {stop} does not lie in axis {axis} of {of}.",
                f"use 0 <= start <= stop <= {of.shape[axis]}.",
            )


def broadcast_type(node: Broadcast, of: ValueType) -> ValueType:
    wrong = len(node.shape) < of.rank
    new = len(node.shape) - of.rank
    if not wrong:
        for have, want in zip(of.shape, node.shape[new:], strict=True):
            wrong = wrong or not (have == want or have.static == 1)
    if wrong:
        dynamic = any(size.static is None for size in of.shape)
        raise fault(
            "V052",
            f"{shown(of.shape)} does not broadcast to {shown(node.shape)}.",
            "only axes of static size 1 grow, and a dynamic one never does." if dynamic
            else "make each axis equal or 1, counted from the last.",
        )  # fmt: skip
    return ValueType(of.element, node.shape)


def reshape_type(node: Reshape, of: ValueType) -> ValueType:
    require_rank(node.shape)
    made = ValueType(of.element, node.shape)
    if made.count != of.count:
        raise fault(
            "V055",
            f"{shown(of.shape)} has {of.count} elements and {shown(node.shape)} has {made.count}.",
            "use a shape of as many elements.",
        )
    return made


def windows_type(node: Windows, of: ValueType) -> ValueType:
    require_axis(node.axis, of)
    if min(node.size, node.stride, node.dilation) < 1:
        raise fault(
            "V056",
            f"windows of {node.size} elements, stride {node.stride}, dilation {node.dilation} cannot be.",
            "use at least 1 for each of the three.",
        )
    length, reach = of.shape[node.axis], (node.size - 1) * node.dilation + 1
    static = length.static
    if static is not None:
        if static < reach:
            raise fault(
                "V056",
                f"a window reaches over {reach} elements and axis {node.axis} of {of} has {static}.",
                "pad the axis, or use a smaller window.",
            )
        number = Size((static - reach) // node.stride + 1)
    elif node.stride == 1:
        number = length - (reach - 1)
    else:
        raise fault(
            "V056",
            f"windows of stride {node.stride} along the dynamic size {length} are not possible.",
            "use a stride of 1, or a static size.",
        )
    shape = (*of.shape[: node.axis], number, *of.shape[node.axis + 1 :], Size(node.size))
    return ValueType(of.element, shape)
