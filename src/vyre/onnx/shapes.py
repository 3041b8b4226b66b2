"""Ops that change shapes, put tensors together or pick from them, and those that compute shapes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.graph.nodes import Iota
from vyre.graph.sizes import Size, product
from vyre.graph.types import ValueType
from vyre.ir.types import DataType
from vyre.onnx.values import HostArray, OnnxNode, counted, held, known
from vyre.tensor import comparing as c
from vyre.tensor import shaping as s
from vyre.tensor.create import full_like, of_size
from vyre.tensor.indexing import take, take_along_axis, take_index
from vyre.tensor.rearranging import tile, tril, triu
from vyre.tensor.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_T = DataType


def _sizes(value: Any) -> list[Any]:
    """The shape of a value, tensor or array."""
    return list(value.array.shape) if isinstance(value, HostArray) else list(value.type.shape)


def _axes(ctx: OnnxNode, index: int, name: str = "axes") -> list[int] | None:
    """Axes that older versions have as an attribute and newer ones as an input."""
    if ctx.given(index):
        return [int(a) for a in ctx.numbers(index)]
    found = ctx.attribute(name)
    return None if found is None else [int(a) for a in found]


def _shape(ctx: OnnxNode) -> Any:
    sizes = _sizes(ctx.inputs[0])
    start, end = ctx.attribute("start", 0), ctx.attribute("end", len(sizes))
    return known(np.array([*sizes[start:end]], object))


def _size(ctx: OnnxNode) -> Any:
    return known(np.array(product(Size(n) for n in _sizes(ctx.inputs[0])), object))


def _constant(ctx: OnnxNode) -> Any:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        if name in ctx.attributes:
            found = ctx.attributes[name]
            if name == "value":
                return HostArray(found)
            return HostArray(np.array(found, np.float32 if "float" in name else np.int64))
    raise ctx.refuse("the constant holds neither a tensor nor numbers")


def _constant_of_shape(ctx: OnnxNode) -> Any:
    value = ctx.attribute("value")
    fill = np.zeros(1, np.float32) if value is None else value
    shape = ctx.numbers(0)
    if not _dynamic(shape) and math.prod(shape) <= _FEW:
        return HostArray(np.full(shape, fill.reshape(-1)[0], fill.dtype))
    return s.broadcast_to(ctx.as_tensor(HostArray(fill.reshape(()))), tuple(shape))


def _range(ctx: OnnxNode) -> Any:
    start, stop, step = (ctx.numbers(i)[0] for i in range(3))
    if all(isinstance(n, (int, float)) for n in (start, stop, step)):
        dtype = ctx.inputs[0].array.dtype
        if dtype.kind not in "iu":
            count = ctx.allowed(max(math.ceil((stop - start) / step), 0))
            return HostArray(np.array([start + i * step for i in range(count)], dtype))
        steps = range(start, stop, step)
        ctx.allowed((steps[-1] - start) // step if steps else 0)  # len() of a long range fails
        return HostArray(np.array(steps, dtype))
    if step == 1:
        count = Size(stop) - start
        steps = Tensor(ctx.builder, ctx.builder.add(Iota(ValueType(_T.I32, (count,)), 0)))
        made = c.astype(steps, _T.I64)
        return made if start == 0 else made + counted(ctx.builder, HostArray(np.array(start, object)))
    raise ctx.refuse(
        f"a range of dynamic sizes by steps of {step} is not imported", "export with a static shape."
    )


def _dynamic(numbers: list[Any]) -> bool:
    return any(isinstance(n, Size) for n in numbers)


def _reshape(ctx: OnnxNode) -> Any:
    wanted = ctx.numbers(1) if ctx.given(1) else list(ctx.attribute("shape"))
    have = _sizes(ctx.inputs[0])
    if not ctx.attribute("allowzero", 0):
        wanted = [have[i] if isinstance(n, int) and n == 0 else n for i, n in enumerate(wanted)]
    if isinstance(ctx.inputs[0], HostArray) and not _dynamic(wanted):
        return HostArray(ctx.inputs[0].array.reshape([int(n) for n in wanted]))
    return s.reshape(ctx.tensor(0), tuple(wanted))


def _flatten(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    axis = ctx.attribute("axis", 1)
    at = x.ndim if axis == x.ndim else ctx.axes([axis], x.ndim)[0]
    return s.reshape(x, (product(x.type.shape[:at]), product(x.type.shape[at:])))


def _transpose(ctx: OnnxNode) -> Any:
    axes = ctx.attribute("perm")
    if isinstance(ctx.inputs[0], HostArray):
        return HostArray(ctx.inputs[0].array.transpose(axes))
    return s.transpose(ctx.tensor(0), axes)


def _squeeze(ctx: OnnxNode) -> Any:
    axes = _axes(ctx, 1)
    if isinstance(ctx.inputs[0], HostArray):
        return HostArray(ctx.inputs[0].array.squeeze(None if axes is None else tuple(axes)))
    x = ctx.tensor(0)
    chosen = (
        [i for i, n in enumerate(x.type.shape) if n.static == 1]
        if axes is None
        else [x.axis(a) for a in axes]
    )
    return s.reshape(x, tuple(n for i, n in enumerate(x.type.shape) if i not in chosen))


def _unsqueeze(ctx: OnnxNode) -> Any:
    axes = _axes(ctx, 1) or []
    rank = len(_sizes(ctx.inputs[0])) + len(axes)
    at = sorted(ctx.axes(axes, rank))
    if isinstance(ctx.inputs[0], HostArray):
        return HostArray(np.expand_dims(ctx.inputs[0].array, tuple(at)))
    x = ctx.tensor(0)
    sizes = iter(x.type.shape)
    return s.reshape(x, tuple(Size(1) if i in at else next(sizes) for i in range(rank)))


def joined(ctx: OnnxNode, values: Sequence[Any], axis: int) -> Any:
    """Values one after another along an axis."""
    if all(isinstance(v, HostArray) for v in values):
        return held(np.concatenate([v.array for v in values], axis))
    return s.concat([ctx.as_tensor(v) for v in values], axis)


def _concat(ctx: OnnxNode) -> Any:
    return joined(ctx, ctx.inputs, ctx.attribute("axis"))


def parted(ctx: OnnxNode, value: Any, sizes: Sequence[Any], axis: int) -> list[Any]:
    """A value cut into parts of these sizes."""
    if not isinstance(value, HostArray) or _dynamic([*sizes]) or sum(sizes) != value.array.shape[axis]:
        return s.split(ctx.as_tensor(value), [*sizes], axis)
    return [held(part) for part in np.split(value.array, np.cumsum(sizes)[:-1], axis)]


def _split(ctx: OnnxNode) -> Any:
    value = ctx.inputs[0]
    axis = ctx.axes([ctx.attribute("axis", 0)], len(_sizes(value)))[0]
    sizes = ctx.numbers(1) if ctx.given(1) else ctx.attribute("split")
    if sizes is None:
        total = Size(_sizes(value)[axis]).static
        if total is None:
            return s.split(ctx.tensor(0), ctx.outputs, axis)
        each = -(-total // ctx.outputs)
        if total % ctx.outputs and ctx.opset < 18:
            raise ctx.refuse(
                f"{total} elements are not {ctx.outputs} equal parts", "repair or export the model again."
            )
        sizes = [each] * (ctx.outputs - 1) + [total - each * (ctx.outputs - 1)]
    return parted(ctx, value, list(sizes), axis)


def _slice(ctx: OnnxNode) -> Any:
    if ctx.opset < 10:
        starts, stops = list(ctx.attribute("starts")), list(ctx.attribute("ends"))
        axes, steps = ctx.attribute("axes"), None
    else:
        starts, stops = ctx.numbers(1), ctx.numbers(2)
        axes = ctx.numbers(3) if ctx.given(3) else None
        steps = ctx.numbers(4) if ctx.given(4) else None
    rank = len(_sizes(ctx.inputs[0]))
    chosen = ctx.axes(range(len(starts)) if axes is None else axes, rank)
    strides = [1] * len(starts) if steps is None else [int(n) for n in steps]
    index: list[Any] = [slice(None)] * rank
    for axis, start, stop, step in zip(chosen, starts, stops, strides, strict=True):
        index[axis] = slice(start, stop, step)
    if isinstance(ctx.inputs[0], HostArray) and not _dynamic([*starts, *stops]):
        return held(ctx.inputs[0].array[tuple(index)])
    x = ctx.tensor(0)
    for axis, part in enumerate(index):
        if part != slice(None):
            index[axis] = _clipped(ctx, part, x.type.shape[axis])
    return take_index(x, tuple(index))


_FAR = 1 << 30
_FEW = 1 << 16
"""Elements of one value that are held on the host; more are broadcast in the graph."""


def _clipped(ctx: OnnxNode, part: slice, size: Size) -> slice:  # type: ignore[type-arg]
    """Numbers that mean "to the end" are far beyond any axis."""
    start, stop, step = part.start, part.stop, part.step
    if step < 0 and size.static is not None and isinstance(start, int) and isinstance(stop, int):
        whole = range(size.static)[slice(start, stop if stop >= -size.static else None, step)]
        return slice(whole.start, whole.stop if whole.stop >= 0 else None, step)
    if step < 0 and (size.static is None) and stop <= -_FAR and (start == -1 or start >= _FAR) and step == -1:
        return slice(None, None, -1)
    if step < 1:
        raise ctx.refuse(
            f"a step of {step} over the size {size} is not imported", "export with a static shape."
        )
    if isinstance(stop, int) and stop >= _FAR:
        stop = None
    if isinstance(start, int) and start <= -_FAR:
        start = 0
    if isinstance(start, int) and start < 0 and size.static is not None:
        start = max(start + size.static, 0)
    if isinstance(stop, int) and stop < 0 and size.static is not None:
        stop = max(stop + size.static, 0)
    return slice(start, stop, step)


def _gather(ctx: OnnxNode) -> Any:
    axis = ctx.attribute("axis", 0)
    data, indices = ctx.inputs[:2]
    if isinstance(data, HostArray) and isinstance(indices, HostArray):
        made = np.take(data.array, indices.array.astype(np.int64), axis)
        return held(made)
    x = ctx.tensor(0)
    if isinstance(indices, HostArray) and indices.array.ndim == 0:
        index: list[Any] = [slice(None)] * x.ndim
        index[x.axis(axis)] = int(indices.array)
        return take_index(x, tuple(index))
    return take(x, _counted(ctx, x, axis), axis)


def _counted(ctx: OnnxNode, x: Tensor, axis: int) -> Tensor:
    """Indices of ONNX count from the end where they are negative."""
    size = x.type.shape[x.axis(axis)]
    indices = ctx.inputs[1]
    if isinstance(indices, HostArray) and size.static is not None:
        outside = (indices.array < -size.static) | (indices.array >= size.static)
        if outside.any():
            first = indices.array[outside].reshape(-1)[0]
            raise ctx.refuse(f"the index {first} is outside of axis {axis}, whose size is {size}")
        return ctx.as_tensor(
            HostArray(np.where(indices.array < 0, indices.array + size.static, indices.array))
        )
    tensor = c.astype(ctx.tensor(1), _T.I32)
    return c.where(tensor < 0, tensor + of_size(tensor, size, _T.I32), tensor)


def _gather_elements(ctx: OnnxNode) -> Any:
    axis = ctx.attribute("axis", 0)
    x = ctx.tensor(0)
    return take_along_axis(x, _counted(ctx, x, axis), axis)


def _expand(ctx: OnnxNode) -> Any:
    value, numbers = ctx.inputs[0], ctx.numbers(1)
    if isinstance(value, HostArray) and not _dynamic(numbers):
        shape = np.broadcast_shapes(value.array.shape, tuple(numbers))
        if math.prod(shape) <= _FEW:
            return HostArray(np.broadcast_to(value.array, shape))
    x = ctx.tensor(0)
    wanted = s.sizes_of(tuple(numbers))
    return s.broadcast_to(x, s.common_shape([x.type.shape, wanted]))


def _tile(ctx: OnnxNode) -> Any:
    x, times = ctx.tensor(0), ctx.numbers(1)
    if len(times) != x.ndim:
        raise ctx.refuse(f"{len(times)} numbers repeat {x.ndim} axes", "give one for each axis.")
    return tile(x, times)


def _pad(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    mode = ctx.attribute("mode", "constant")
    pads = [int(n) for n in (ctx.numbers(1) if ctx.opset >= 11 else ctx.attribute("pads"))]
    value = ctx.attribute("value", 0.0) if ctx.opset < 11 else (ctx.numbers(2)[0] if ctx.given(2) else 0)
    axes = ctx.axes(_axes(ctx, 3) or range(x.ndim), x.ndim)
    widths = [(0, 0)] * x.ndim
    half = len(axes)
    if len(pads) != 2 * half:
        raise ctx.refuse(
            f"{len(pads)} numbers pad {half} axes", "give two for each axis: all before, then all after."
        )
    for i, axis in enumerate(axes):
        widths[axis] = (pads[i], pads[half + i])
    if mode != "constant":
        for axis, (before, after) in enumerate(widths):
            x = _mirrored(ctx, x, axis, before, after, mode)
        return x
    inside: list[Any] = [slice(max(-b, 0), n.static - max(-a, 0) if a < 0 and n.static is not None else None)
                         for (b, a), n in zip(widths, x.type.shape, strict=True)]  # fmt: skip
    cut = take_index(x, tuple(inside)) if any(min(w) < 0 for w in widths) else x
    return s.pad(cut, [(max(b, 0), max(a, 0)) for b, a in widths], value)


def _mirrored(ctx: OnnxNode, x: Tensor, axis: int, before: int, after: int, mode: str) -> Tensor:
    """An axis made longer by elements of its own."""
    size = x.type.shape[axis].static
    if (before, after) == (0, 0):
        return x
    if size is None:
        raise ctx.refuse(f"padding by {mode!r} of a dynamic axis is not imported", "pad by a constant.")
    places = np.arange(-before, size + after)
    match mode:
        case "edge":
            chosen = places.clip(0, size - 1)
        case "wrap":
            chosen = places % size
        case "reflect" if size > 1:
            turn = places % (2 * size - 2)
            chosen = np.minimum(turn, 2 * size - 2 - turn)
        case _:
            raise ctx.refuse(f"padding by {mode!r} of {size} elements is not possible", "pad by a constant.")
    return take(x, chosen, axis)


def _trilu(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    k = ctx.numbers(1)[0] if ctx.given(1) else 0
    return triu(x, k) if ctx.attribute("upper", 1) else tril(x, k)


def _identity(ctx: OnnxNode) -> Any:
    return ctx.inputs[0]


def _dropout(ctx: OnnxNode) -> Any:
    if ctx.given(2) and any(ctx.numbers(2)):
        raise ctx.refuse("training is not imported", "export the model for inference.")
    x = ctx.tensor(0)
    kept = full_like(x, x.type.shape, 1, _T.Bool if ctx.opset >= 10 else None)
    return [x, kept][: ctx.outputs]


def _blocks(ctx: OnnxNode, *, deeper: bool) -> Any:
    x = ctx.tensor(0)
    size = ctx.attribute("blocksize")
    n, c, h, w = x.type.shape
    crd = ctx.attribute("mode", "DCR") == "CRD"
    if deeper:
        parts = s.reshape(x, (n, c, _part(ctx, h, size), size, _part(ctx, w, size), size))
        order = (0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4)
        return s.reshape(s.transpose(parts, order), (n, c * size * size, *parts.type.shape[2:5:2]))
    each = _part(ctx, c, size * size)
    shape = (n, each, size, size, h, w) if crd else (n, size, size, each, h, w)
    order = (0, 1, 4, 2, 5, 3) if crd else (0, 3, 4, 1, 5, 2)
    return s.reshape(s.transpose(s.reshape(x, shape), order), (n, each, h * size, w * size))


def _part(ctx: OnnxNode, size: Size, by: int) -> Size:
    found = size.divided(by)
    if found is None:
        raise ctx.refuse(f"{size} cannot be split into parts of {by}")
    return found


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "Shape": _shape,
    "Size": _size,
    "Constant": _constant,
    "ConstantOfShape": _constant_of_shape,
    "Range": _range,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Expand": _expand,
    "Tile": _tile,
    "Pad": _pad,
    "Trilu": _trilu,
    "Identity": _identity,
    "Dropout": _dropout,
    "DepthToSpace": lambda ctx: _blocks(ctx, deeper=False),
    "SpaceToDepth": lambda ctx: _blocks(ctx, deeper=True),
}
