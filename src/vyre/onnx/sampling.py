"""`GridSample`: an image read at places that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.types import DataType
from vyre.nn.widened import narrowed, wide
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import shaping as s
from vyre.tensor.create import iota, of_size
from vyre.tensor.indexing import take_together

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

    Taps = list[tuple[Tensor, Tensor | None]]

_T = DataType


def _grid_sample(ctx: OnnxNode) -> Any:
    """Of each place the elements around it times their weights, row by row from the left."""
    x, grid = ctx.tensor(0), ctx.tensor(1)
    mode, padding = ctx.attribute("mode", "linear"), ctx.attribute("padding_mode", "zeros")
    if x.ndim != 4 or mode not in ("linear", "bilinear", "nearest") or padding not in ("zeros", "border"):
        raise ctx.refuse(
            f"{mode!r} with padding by {padding!r} over {x.ndim - 2} axes is not imported",
            "sample images by 'bilinear' or 'nearest', padded by 'zeros' or 'border'.",
        )
    image = s.transpose(wide(x), (0, 2, 3, 1))
    batch = iota(image, grid.type.shape[:3], 0, _T.I32)
    places = wide(grid)
    lines, columns = (_taps(ctx, places[..., 2 - axis], image, axis, mode, padding) for axis in (1, 2))
    total: Tensor | None = None
    for line, above in lines:
        for column, before in columns:
            inside = _within(line, image, 1) & _within(column, image, 2)
            read = take_together(image, [batch, _index(line), _index(column)], 0)
            read = c.where(s.expand_dims(inside, -1), read, 0.0)
            if above is not None and before is not None:
                read = read * s.expand_dims(above * before, -1)
            total = read if total is None else total + read
    assert total is not None
    return narrowed(s.transpose(total, (0, 3, 1, 2)), x)


def _taps(ctx: OnnxNode, place: Tensor, image: Tensor, axis: int, mode: str, padding: str) -> Taps:
    """The elements of an axis that are read for each place from -1 to 1, and their weights."""
    size = _size(image, axis)
    aligned = bool(ctx.attribute("align_corners", 0))
    found = (place + 1.0) / 2.0 * (size - 1.0) if aligned else ((place + 1.0) * size - 1.0) / 2.0
    if padding == "border":
        found = c.minimum(c.maximum(found, 0.0), size - 1.0)
    if mode == "nearest":
        return [(e.round(found), None)]
    low = e.floor(found)
    part = found - low
    return [(low, 1.0 - part), (low + 1.0, part)]


def _size(image: Tensor, axis: int) -> Tensor:
    return c.astype(of_size(image, image.type.shape[axis], _T.I32), _T.F32)


def _within(place: Tensor, image: Tensor, axis: int) -> Tensor:
    return (place >= 0.0) & (place < _size(image, axis))


def _index(place: Tensor) -> Tensor:
    return c.astype(place, _T.I32, mode="truncate")


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {"GridSample": _grid_sample}
