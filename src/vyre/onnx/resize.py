"""`Resize` and `Upsample`: places and weights are computed on the host in F64, one axis after the other."""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.graph.sizes import Size
from vyre.nn.widened import narrowed, wide
from vyre.tensor import shaping as s
from vyre.tensor.create import constant
from vyre.tensor.indexing import take
from vyre.tensor.rearranging import repeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

    Taps = list[tuple[int, float]]

_NEAREST: dict[str, Callable[[float], int]] = {
    "round_prefer_floor": lambda x: ceil(x - 0.5),
    "round_prefer_ceil": lambda x: floor(x + 0.5),
    "floor": floor,
    "ceil": ceil,
}


def _resize(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    mode, way = ctx.attribute("mode", "nearest"), _way(ctx)
    if ctx.attribute("antialias", 0) or mode not in ("nearest", "linear", "cubic"):
        raise ctx.refuse(f"the mode {mode!r} or antialias is not imported", "export without antialias.")
    made = x if mode == "nearest" else wide(x)
    for axis, scale, wanted in _scales(ctx, x):
        size = x.shape[axis]
        if not isinstance(size, int):
            if scale == 1:
                continue
            if mode != "nearest" or not _repeats(ctx, way, scale):
                raise ctx.refuse(
                    f"the dynamic axis {axis} of {size} elements can only be repeated by a whole number",
                    "resize by nearest and a whole scale, or export with a static shape.",
                )
            made = repeat(made, int(scale), axis)
            continue
        places = [_original(way, i, size, scale, wanted) for i in range(ctx.allowed(wanted))]
        if (size, scale) == (wanted, 1.0):
            continue
        if mode == "nearest":
            nearest = _NEAREST[_rounding(ctx, scale)]
            made = take(made, [min(max(nearest(p), 0), size - 1) for p in places], axis)
        else:
            taps = [_taps(ctx, mode, place, size) for place in places]
            made = _weighted(made, axis, taps)
    return made if mode == "nearest" else narrowed(made, x)


def _repeats(ctx: OnnxNode, way: str, scale: float) -> bool:
    """Whether the nearest of each place is the element that a repetition puts there, for every length."""
    nearest = _rounding(ctx, scale)
    halves = way in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric")
    whole = scale >= 1 and scale == int(scale)
    floor_of = way == "asymmetric" and nearest == "floor"
    return whole and (floor_of or (halves and nearest.startswith("round")))


def _rounding(ctx: OnnxNode, scale: float) -> str:
    """Before opset 11 there was no attribute: a greater tensor repeats, and a smaller one takes the next."""
    if ctx.opset < 11:
        return "floor" if scale >= 1 else "ceil"
    found: str = ctx.attribute("nearest_mode", "round_prefer_floor")
    return found


def _way(ctx: OnnxNode) -> str:
    way: str = ctx.attribute("coordinate_transformation_mode", "half_pixel")
    if ctx.opset < 11:
        return "asymmetric"
    if way == "tf_crop_and_resize":
        raise ctx.refuse(
            f"coordinates by {way!r} are not imported", "crop the tensor before, and resize by half_pixel."
        )
    return way


def _scales(ctx: OnnxNode, x: Tensor) -> list[tuple[int, float, int]]:
    """Each axis that is resized, by how much, and to how many elements."""
    axes = [x.axis(a) for a in ctx.attribute("axes") or range(x.ndim)]
    at = 1 if ctx.opset < 11 else 2
    factors = ctx.numbers(at) if ctx.given(at) else ctx.attribute("scales")
    if factors:
        pairs = [(axis, float(scale)) for axis, scale in zip(axes, factors, strict=True)]
        return [(a, f, floor(n * f) if isinstance(n := x.shape[a], int) else 0) for a, f in pairs]
    found: list[tuple[int, float, int]] = []
    policy = ctx.attribute("keep_aspect_ratio_policy", "stretch")
    for axis, wanted in zip(axes, ctx.numbers(3), strict=True):
        size = x.shape[axis]
        if isinstance(size, int) and isinstance(wanted, int):
            found.append((axis, wanted / size, wanted))
        elif wanted != x.type.shape[axis]:
            times = Size(wanted).divided(x.type.shape[axis]) if policy == "stretch" else None
            if times is None or times.static is None:
                raise ctx.refuse(
                    f"the dynamic axis {axis} of {size} elements cannot be resized to {wanted}",
                    "export with a static shape.",
                )
            found.append((axis, float(times.static), 0))
    if policy == "stretch":
        return found
    scale = (min if policy == "not_larger" else max)(factor for _, factor, _ in found)
    return [(axis, scale, floor(scale * int(x.type.shape[axis].static or 0) + 0.5)) for axis, _, _ in found]


def _original(way: str, place: int, size: int, scale: float, wanted: int) -> float:
    """Where an element of the result lies in the original."""
    match way:
        case "asymmetric":
            return place / scale
        case "align_corners":
            width = scale * size  # a fraction where a scale was given, as the tests of ONNX have it
            return place * (size - 1) / (width - 1) if width != 1 else 0.0
        case "pytorch_half_pixel" if wanted == 1:
            return 0.0
        case "half_pixel_symmetric":
            offset = size / 2 * (1 - wanted / (scale * size))
            return offset + (place + 0.5) / scale - 0.5
        case _:
            return (place + 0.5) / scale - 0.5


def _taps(ctx: OnnxNode, mode: str, place: float, size: int) -> Taps:
    """Elements of the original and their weights."""
    low = floor(place)
    part = place - low
    if mode == "linear":
        taps = [(low, 1 - part), (low + 1, part)]
    else:
        a = float(ctx.attribute("cubic_coeff_a", -0.75))
        taps = [(low + i - 1, _cubic(a, abs(part + 1 - i))) for i in range(4)]
    if ctx.attribute("exclude_outside", 0):
        taps = [(i, w if 0 <= i < size else 0.0) for i, w in taps]
        total = sum(w for _, w in taps)
        taps = [(i, w / total) for i, w in taps]
    return [(min(max(i, 0), size - 1), w) for i, w in taps]


def _cubic(a: float, x: float) -> float:
    if x <= 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _weighted(x: Tensor, axis: int, taps: list[Taps]) -> Tensor:
    """The sum of the taken elements times their weights, from the left."""
    total: Tensor | None = None
    for number in range(len(taps[0]) if taps else 0):
        weights = constant(x, [float(np.float32(t[number][1])) for t in taps], x.element)
        shape = tuple(len(taps) if i == axis else 1 for i in range(x.ndim))
        part = take(x, [t[number][0] for t in taps], axis) * s.reshape(weights, shape)
        total = part if total is None else total + part
    return take(x, [], axis) if total is None else total


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {"Resize": _resize, "Upsample": _resize}
