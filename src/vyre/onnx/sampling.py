"""`GridSample`: a line, an image or a volume read at places that are computed."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any

from vyre.ir.types import DataType
from vyre.nn.widened import narrowed, wide
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import shaping as s
from vyre.tensor.create import iota, of_size
from vyre.tensor.indexing import take_together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

    Taps = Sequence[tuple[Tensor, Tensor | None]]

_T = DataType
_SHARP = -0.75
"""The parameter of cubic convolution that ONNX fixes."""
_READ = {"bilinear": "linear", "bicubic": "cubic"} | {name: name for name in ("linear", "nearest", "cubic")}
"""What the ways to read are called, in the words of opset 16 and of today."""
_WHOLE = ("zeros", "border", "reflection")
_PADDED = {"linear": _WHOLE, "nearest": _WHOLE, "cubic": ("zeros", "reflection")}
"""Runtimes do not agree on what a cubic one reads beyond a border that goes on."""


def _grid_sample(ctx: OnnxNode) -> Any:
    """Of each place the elements around it times their weights, row by row from the left."""
    x, grid = ctx.tensor(0), ctx.tensor(1)
    mode, padding = ctx.attribute("mode", "linear"), ctx.attribute("padding_mode", "zeros")
    axes, read = x.ndim - 2, _READ.get(mode)
    if axes < 1 or read is None or padding not in _PADDED[read]:
        raise ctx.refuse(
            f"{mode!r} with padding by {padding!r} over {axes} axes is not imported",
            "sample by 'linear' or 'nearest', padded by 'zeros', 'border' or 'reflection', or by 'cubic', "
            "padded by 'zeros' or 'reflection'.",
        )
    image = s.transpose(wide(x), (0, *range(2, x.ndim), 1))
    batch = iota(image, grid.type.shape[:-1], 0, _T.I32)
    places = wide(grid)
    taps = [_taps(ctx, places[..., axes - axis], image, axis, read, padding) for axis in range(1, axes + 1)]
    total: Tensor | None = None
    for chosen in product(*taps):
        at = [place for place, _ in chosen]
        inside = reduce(e.bitwise_and, [_within(place, image, axis) for axis, place in enumerate(at, 1)])
        found = take_together(image, [batch, *map(_index, at)], 0)
        found = c.where(s.expand_dims(inside, -1), found, 0.0)
        weights = [weight for _, weight in chosen if weight is not None]
        if weights:
            found = found * s.expand_dims(reduce(e.multiply, weights), -1)
        total = found if total is None else total + found
    assert total is not None
    return narrowed(s.transpose(total, (0, axes + 1, *range(1, axes + 1))), x)


def _taps(ctx: OnnxNode, place: Tensor, image: Tensor, axis: int, mode: str, padding: str) -> Taps:
    """The elements of an axis that are read for each place from -1 to 1, and their weights."""
    size = _size(image, axis)
    aligned = bool(ctx.attribute("align_corners", 0))
    found = (place + 1.0) / 2.0 * (size - 1.0) if aligned else ((place + 1.0) * size - 1.0) / 2.0
    if mode == "cubic":
        low = e.floor(found)
        steps = [(low + float(step), weight) for step, weight in enumerate(_cubic(found - low), -1)]
        if padding == "zeros":
            return steps
        return [(_reflected(tap, size, aligned=aligned), weight) for tap, weight in steps]
    if mode == "nearest":
        found = e.round(found)
    if padding == "border":
        found = c.minimum(c.maximum(found, 0.0), size - 1.0)
    elif padding == "reflection":
        found = _reflected(found, size, aligned=aligned)
    if mode == "nearest":
        return [(found, None)]
    low = e.floor(found)
    part = found - low
    return [(low, 1.0 - part), (low + 1.0, part)]


def _reflected(place: Tensor, size: Tensor, *, aligned: bool) -> Tensor:
    """Thrown back at the middle of the first and the last element, or at their outer edges."""
    low, span = (0.0, size - 1.0) if aligned else (-0.5, size)
    way = abs(place - low)
    times = e.floor(way / span)
    rest = way - times * span
    odd = c.not_equal(times, e.floor(times / 2.0) * 2.0)
    # Of one element that is aligned the span is 0 and the rest NaN: `clip` makes that the element.
    return e.clip(c.where(odd, span - rest, rest) + low, 0.0, size - 1.0)


def _cubic(part: Tensor) -> list[Tensor]:
    """The weights of the four elements around a place, which is so far behind the second of them."""

    def near(t: Tensor) -> Tensor:
        return (t * (_SHARP + 2.0) - (_SHARP + 3.0)) * t * t + 1.0

    def far(t: Tensor) -> Tensor:
        return ((t * _SHARP - 5.0 * _SHARP) * t + 8.0 * _SHARP) * t - 4.0 * _SHARP

    return [far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part)]


def _size(image: Tensor, axis: int) -> Tensor:
    return c.astype(of_size(image, image.type.shape[axis], _T.I32), _T.F32)


def _within(place: Tensor, image: Tensor, axis: int) -> Tensor:
    return (place >= 0.0) & (place < _size(image, axis))


def _index(place: Tensor) -> Tensor:
    return c.astype(place, _T.I32, mode="truncate")


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {"GridSample": _grid_sample}
