"""Quantization: floats as integers with a scale and a zero point, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.graph.sizes import Size
from vyre.ir.types import DataType
from vyre.onnx.elements import kind_of
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import shaping as s
from vyre.tensor.defaults import element_of
from vyre.tensor.rearranging import repeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

_T = DataType
_NARROW = (_T.U8, _T.I8, _T.U16, _T.I16)


def _spread(ctx: OnnxNode, x: Tensor, scale: Tensor) -> Tensor:
    """A scale or a zero point beside `x`: of the whole tensor, of an axis, or of blocks along it."""
    if scale.ndim == 0 or scale.shape == (1,):
        return s.reshape(scale, ())
    axis = x.axis(ctx.attribute("axis", 1))
    if scale.ndim == 1:
        return s.reshape(scale, tuple(scale.type.shape[0] if i == axis else Size(1) for i in range(x.ndim)))
    block = ctx.attribute("block_size", 0)
    if not block:
        raise ctx.refuse(f"a scale of {scale.type} without a block size")
    return s.slice_axis(repeat(scale, block, axis), axis, 0, x.type.shape[axis])


def _quantize(ctx: OnnxNode) -> Any:
    """The quotient is rounded to the scale's type, then to even; the sum with the zero point saturates."""
    x, scale = ctx.tensor(0), ctx.tensor(1)
    number = ctx.attribute("output_dtype", 0)
    target = ctx.tensor(2).element if ctx.given(2) else element_of(kind_of(ctx, number)) if number else _T.U8
    if target not in _NARROW or not x.element.is_float or ctx.attribute("precision", 0):
        raise ctx.refuse(
            f"{x.element.value} as {target.value}", "quantize floats to int8, uint8, int16 or uint16."
        )
    quotient = e.divide(c.astype(x, scale.element), _spread(ctx, x, scale))
    steps = c.astype(e.round(quotient), _T.F32)
    if ctx.given(2):
        steps = steps + c.astype(_spread(ctx, x, ctx.tensor(2)), _T.F32)
    low = -(1 << (target.bits - 1)) if target.value[0] == "I" else 0
    return c.astype(e.clip(steps, low, low + (1 << target.bits) - 1), target)


def _dequantize(ctx: OnnxNode) -> Any:
    """(x - zero point), a whole number, times the scale."""
    x, scale = ctx.tensor(0), ctx.tensor(1)
    words = c.astype(x, _T.I32)
    if ctx.given(2):
        words = words - c.astype(_spread(ctx, x, ctx.tensor(2)), _T.I32)
    wide = c.astype(words, _T.F32) * c.astype(_spread(ctx, x, scale), _T.F32)
    number = ctx.attribute("output_dtype", 0)
    return c.astype(wide, kind_of(ctx, number) if number else scale.element)


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
}
