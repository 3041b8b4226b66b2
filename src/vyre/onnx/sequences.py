"""Sequences of tensors, which exporters write where a number of parts was not known to them.

A sequence is a tuple while a model is imported: its length is known, and none is left in the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.onnx.shapes import joined, parted
from vyre.onnx.values import HostArray, OnnxNode, known
from vyre.tensor import shaping as s

if TYPE_CHECKING:
    from collections.abc import Callable


def _sequence(ctx: OnnxNode) -> tuple[Any, ...]:
    value = ctx.inputs[0]
    if not isinstance(value, tuple):
        raise ctx.refuse("input 0 is not a sequence", "repair or export the model again.")
    return value  # pyright: ignore[reportUnknownVariableType]


def _place(ctx: OnnxNode, index: int, count: int) -> int:
    """A position in `count`, counted from the end where it is negative."""
    place = int(ctx.numbers(index)[0])
    if not -count <= place < count:
        what = f"position {place} is outside a sequence of {count} values"
        raise ctx.refuse(what, "repair or export the model again.")
    return place % count


def _split_to_sequence(ctx: OnnxNode) -> Any:
    value = ctx.inputs[0]
    shape = value.array.shape if isinstance(value, HostArray) else value.type.shape
    axis = ctx.axes([ctx.attribute("axis", 0)], len(shape))[0]
    size = shape[axis] if isinstance(value, HostArray) else shape[axis].static
    given = ctx.numbers(1) if ctx.given(1) else [1]
    if ctx.given(1) and ctx.inputs[1].array.ndim == 1:
        return tuple(parted(ctx, value, given, axis))
    if size is None or not isinstance(given[0], int):
        what = f"axis {axis} of {shape[axis]} elements is split into parts of {given[0]}"
        raise ctx.refuse(f"{what}, whose number is not known", "export with a static shape.")
    if given[0] < 1:
        raise ctx.refuse(f"parts of {given[0]} elements are not possible", "repair the model.")
    starts = range(0, ctx.allowed(size), given[0])
    parts = parted(ctx, value, [min(given[0], size - start) for start in starts], axis)
    if ctx.given(1) or ctx.attribute("keepdims", 1):
        return tuple(parts)
    shorter = (*shape[:axis], *shape[axis + 1 :])
    return tuple(
        HostArray(part.array.reshape(shorter)) if isinstance(part, HostArray) else s.reshape(part, shorter)
        for part in parts
    )


def _at(ctx: OnnxNode) -> Any:
    values = _sequence(ctx)
    return values[_place(ctx, 1, len(values))]


def _insert(ctx: OnnxNode) -> Any:
    values, new = _sequence(ctx), ctx.inputs[1]
    if not ctx.given(2):
        return (*values, new)
    place = int(ctx.numbers(2)[0])
    if not -len(values) <= place <= len(values):
        raise ctx.refuse(
            f"position {place} is outside a sequence of {len(values)} values",
            "repair or export the model again.",
        )
    return (*values[:place], new, *values[place:])


def _erase(ctx: OnnxNode) -> Any:
    values = _sequence(ctx)
    place = _place(ctx, 1, len(values)) if ctx.given(1) else len(values) - 1
    return (*values[:place], *values[place + 1 :])


def _concat(ctx: OnnxNode) -> Any:
    values, axis = _sequence(ctx), ctx.attribute("axis")
    if not values:
        raise ctx.refuse("the sequence is empty", "repair or export the model again.")
    if not ctx.attribute("new_axis", 0):
        return joined(ctx, values, axis)
    if all(isinstance(value, HostArray) for value in values):
        return joined(ctx, [HostArray(np.expand_dims(value.array, axis)) for value in values], axis)
    return s.stack([ctx.as_tensor(value) for value in values], axis)


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "SequenceEmpty": lambda _: (),
    "SequenceConstruct": lambda ctx: tuple(ctx.inputs),
    "SequenceAt": _at,
    "SequenceInsert": _insert,
    "SequenceErase": _erase,
    "SequenceLength": lambda ctx: known(np.array(len(_sequence(ctx)), object)),
    "SplitToSequence": _split_to_sequence,
    "ConcatFromSequence": _concat,
}
