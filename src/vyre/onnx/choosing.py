"""Ops that pick and write elements by indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import STORAGE
from vyre.graph.nodes import Broadcast, Constant
from vyre.graph.sizes import Size, product
from vyre.ir.types import DataType
from vyre.nn.activations import log_softmax
from vyre.onnx.elements import kind_of
from vyre.onnx.values import HostArray, held
from vyre.tensor import comparing as c
from vyre.tensor import reductions as r
from vyre.tensor import shaping as s
from vyre.tensor.create import full_like, iota, of_size
from vyre.tensor.indexing import joined_index, scatter, take, take_together
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.onnx.values import OnnxNode

_T = DataType


def _counted(indices: Tensor, size: Size) -> Tensor:
    """Indices that count from the end where they are negative, as I32."""
    words = c.astype(indices, _T.I32)
    return c.where(words < 0, words + of_size(words, size, _T.I32), words)


def _columns(ctx: OnnxNode, indices: Tensor, sizes: Sequence[Size]) -> list[Tensor]:
    """The last axis of indices taken apart, one tensor for each axis that they index."""
    count = indices.shape[-1]
    if not isinstance(count, int):
        raise ctx.refuse("the number of axes that are indexed is dynamic", "export with a static shape.")
    return [_counted(indices[..., i], sizes[i]) for i in range(count)]


def _gather_nd(ctx: OnnxNode) -> Any:
    x, indices = ctx.tensor(0), ctx.tensor(1)
    batch = ctx.attribute("batch_dims", 0)
    front = indices.type.shape[:-1]
    own = [iota(x, front, axis, _T.I32) for axis in range(batch)]
    return take_together(x, [*own, *_columns(ctx, indices, x.type.shape[batch:])], 0)


def _duplicates(ctx: OnnxNode) -> str:
    found: str = ctx.attribute("reduction", "none")
    return "last" if found == "none" else found


def _scatter_nd(ctx: OnnxNode) -> Any:
    x, indices, updates = (ctx.tensor(i) for i in range(3))
    columns = _columns(ctx, indices, x.type.shape)
    kept = x.type.shape[len(columns) :]
    sizes = x.type.shape[: len(columns)]
    places = s.reshape(joined_index(x, sizes, columns), (product(indices.type.shape[:-1]),))
    flat = s.reshape(x, (product(sizes), *kept))
    rows = s.reshape(updates, (*places.type.shape, *kept))
    return s.reshape(scatter(flat, places, rows, 0, duplicates=_duplicates(ctx)), x.type.shape)


def _scatter_elements(ctx: OnnxNode) -> Any:
    if isinstance(ctx.inputs[0], HostArray) and ctx.inputs[0].is_symbolic:
        return _placed(ctx, *ctx.inputs)
    x, indices, updates = (ctx.tensor(i) for i in range(3))
    axis = x.axis(ctx.attribute("axis", 0))
    shape = indices.type.shape
    columns = [
        _counted(indices, x.type.shape[axis]) if i == axis else iota(x, shape, i, _T.I32)
        for i in range(x.ndim)
    ]
    places = s.reshape(joined_index(x, x.type.shape, columns), (product(shape),))
    flat, values = s.reshape(x, (x.type.count,)), s.reshape(updates, (product(shape),))
    return s.reshape(scatter(flat, places, values, 0, duplicates=_duplicates(ctx)), x.type.shape)


def _placed(ctx: OnnxNode, x: Any, indices: Any, updates: Any) -> HostArray:
    """Elements of a shape that has dynamic sizes, some of them replaced."""
    known_ones = isinstance(indices, HostArray) and isinstance(updates, HostArray)
    if not known_ones or _duplicates(ctx) != "last":
        raise ctx.refuse("dynamic sizes are put together with data", "export with a static shape.")
    made = x.array.copy()
    np.put_along_axis(made, indices.array, updates.array, ctx.attribute("axis", 0))
    return held(made)


def _one_hot(ctx: OnnxNode) -> Any:
    depth = ctx.numbers(1)[0]
    size = depth if isinstance(depth, Size) else Size(int(depth))
    indices, values = ctx.tensor(0), ctx.tensor(2)
    axis = ctx.attribute("axis", -1) % (indices.ndim + 1)
    whole = c.astype(indices, _T.I32, mode="truncate") if indices.element.is_float else indices
    found = s.expand_dims(_counted(whole, size), axis)
    shape = (*found.type.shape[:axis], size, *found.type.shape[axis + 1 :])
    return c.where(iota(found, shape, axis, _T.I32) == found, values[1], values[0])


def _eye_like(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    number = ctx.attribute("dtype")
    row = iota(x, x.type.shape, 0, _T.I32) + int(ctx.attribute("k", 0))
    equal = row == iota(x, x.type.shape, 1, _T.I32)
    return c.astype(equal, x.element if number is None else kind_of(ctx, number))


def _hardmax(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    at = x.axis(ctx.attribute("axis", -1 if ctx.opset >= 13 else 1))
    shape = x.type.shape
    flat = x if ctx.opset >= 13 else s.reshape(x, (product(shape[:at]), product(shape[at:])))
    axis = at if ctx.opset >= 13 else 1
    most = r.argmax(flat, axis, keepdims=True)
    return s.reshape(c.astype(iota(flat, flat.type.shape, axis) == most, x.element), shape)


def _reverse_sequence(ctx: OnnxNode) -> Any:
    """The first elements along the axis of time in reverse, as many as each row of the batch says."""
    x = ctx.tensor(0)
    batch, time = x.axis(ctx.attribute("batch_axis", 1)), x.axis(ctx.attribute("time_axis", 0))
    lengths = c.astype(ctx.tensor(1), _T.I32)
    shape = tuple(n if i == batch else Size(1) for i, n in enumerate(x.type.shape))
    count = s.reshape(lengths, shape)
    place = iota(x, x.type.shape, time, _T.I32)
    turned = c.where(place < count, count - place - 1, place)
    columns = [turned if i == time else iota(x, x.type.shape, i, _T.I32) for i in range(x.ndim)]
    return take_together(x, columns, 0)


def _nll(ctx: OnnxNode, scores: Tensor, index: int) -> Tensor:
    """-scores at the target, weighted, without those that are ignored; summed up as `reduction` says."""
    targets = c.astype(ctx.tensor(1), _T.I32)
    picked = -_at_target(scores, targets)
    weight = full_like(picked, picked.type.shape, 1)
    if ctx.given(index):
        weight = take_together(ctx.tensor(index), [targets], 0)
    ignored = ctx.attribute("ignore_index")
    if ignored is not None:
        weight = c.where(targets == int(ignored), 0.0, weight)
        picked = c.where(targets == int(ignored), 0.0, picked)
    loss = picked * weight
    match ctx.attribute("reduction", "mean"):
        case "none":
            return loss
        case "sum":
            return r.sum(loss)
        case _:
            return r.sum(loss) / r.sum(weight)


def _at_target(scores: Tensor, targets: Tensor) -> Tensor:
    shape = targets.type.shape
    own = [iota(scores, shape, axis, _T.I32) for axis in range(len(shape))]
    return take_together(scores, [own[0], targets, *own[1:]], 0)


def _softmax_loss(ctx: OnnxNode) -> Any:
    logs = log_softmax(ctx.tensor(0), 1)
    return [_nll(ctx, logs, 2), logs][: max(ctx.outputs, 1)]


def _compressed(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    axis = ctx.attribute("axis")
    flat = s.reshape(x, (x.type.count,)) if axis is None else x
    return take(flat, [i for i, chosen in enumerate(ctx.numbers(1)) if chosen], axis or 0)


def _non_zero(ctx: OnnxNode) -> Any:
    """Of what is known. Older exporters write a range, of a dynamic length too, as the places of ones."""
    value = ctx.inputs[0]
    if isinstance(value, HostArray) and not value.is_symbolic:
        return HostArray(np.array(np.nonzero(value.array), np.int64))
    if isinstance(value, Tensor) and value.ndim == 1 and _filled(value):
        return s.expand_dims(c.astype(iota(value, value.type.shape, 0, _T.I32), _T.I64), 0)
    raise ctx.refuse(
        "the op NonZero is imported of known numbers alone; how many elements are not 0 depends on data",
        "export the model without it; Where and products with a mask keep the shape.",
    )


def _filled(x: Tensor) -> bool:
    """Whether all elements are one constant that is not 0."""
    nodes = x.builder.graph([x.name]).nodes
    node = nodes[x.name]
    source = nodes[node.source] if isinstance(node, Broadcast) else None
    return isinstance(source, Constant) and bool(
        np.frombuffer(source.data, STORAGE[source.type.element]).all()
    )


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "GatherND": _gather_nd,
    "ScatterND": _scatter_nd,
    "ScatterElements": _scatter_elements,
    "Scatter": _scatter_elements,
    "OneHot": _one_hot,
    "EyeLike": _eye_like,
    "Hardmax": _hardmax,
    "ReverseSequence": _reverse_sequence,
    "Compress": _compressed,
    "NonZero": _non_zero,
    "NegativeLogLikelihoodLoss": lambda ctx: _nll(ctx, ctx.tensor(0), 2),
    "SoftmaxCrossEntropyLoss": _softmax_loss,
}
