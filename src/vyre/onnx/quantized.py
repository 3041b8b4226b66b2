"""Quantization: floats as integers with a scale and a zero point, and back; products of such integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.graph.sizes import Size
from vyre.ir.types import DataType
from vyre.nn.convolution import correlated
from vyre.onnx.elements import kind_of
from vyre.onnx.layers import reach
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor import shaping as s
from vyre.tensor.defaults import element_of
from vyre.tensor.products import matmul
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
    return _saturated(steps, target)


def _saturated(steps: Tensor, target: DataType) -> Tensor:
    """Whole numbers in F32 as the nearest of a narrow type."""
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


def _dynamic(ctx: OnnxNode) -> Any:
    """Bytes that span the numbers and 0, their scale, and the byte of 0."""
    x = ctx.tensor(0)
    low = c.minimum(r.min(x, tuple(range(x.ndim))), 0.0)
    high = c.maximum(r.max(x, tuple(range(x.ndim))), 0.0)
    scale = (high - low) / 255.0
    zero = _saturated(e.round((0.0 - low) / scale), _T.U8)
    return [_saturated(e.round(x / scale) + c.astype(zero, _T.F32), _T.U8), scale, zero]


def _less_zero(ctx: OnnxNode, x: Tensor, index: int, axis: int) -> Tensor:
    """Codes less their zero point, as I32."""
    words = c.astype(x, _T.I32)
    return words - c.astype(_along(x, ctx.tensor(index), axis), _T.I32) if ctx.given(index) else words


def _along(x: Tensor, part: Tensor, axis: int) -> Tensor:
    """A scale or a zero point of the whole tensor, or one for each place of an axis."""
    if part.ndim != 1 or part.shape == (1,):
        return s.reshape(part, ()) if part.ndim == 1 else part
    return s.reshape(
        part, tuple(part.type.shape[0] if i == axis % x.ndim else Size(1) for i in range(x.ndim))
    )


def _scale(ctx: OnnxNode, x: Tensor, index: int, axis: int) -> Tensor:
    return _along(x, c.astype(ctx.tensor(index), _T.F32), axis)


def _rescaled(ctx: OnnxNode, sums: Tensor, factor: Tensor) -> Tensor:
    """Sums of I32 times a factor, rounded to even, as codes with the zero point of the output."""
    zero = ctx.tensor(7)
    steps = e.round(c.astype(sums, _T.F32) * factor) + c.astype(_along(sums, zero, -1), _T.F32)
    return _saturated(steps, zero.element)


def _matmul(ctx: OnnxNode) -> Any:
    a, b = ctx.tensor(0), ctx.tensor(3)
    if min(a.ndim, b.ndim) < 2:
        raise ctx.refuse(f"{a.type} times {b.type} is not a product of matrices")
    sums = matmul(_less_zero(ctx, a, 2, -2), _less_zero(ctx, b, 5, -1))
    factor = _scale(ctx, a, 1, -2) * _scale(ctx, b, 4, -1) / _scale(ctx, sums, 6, -1)
    return _rescaled(ctx, sums, factor)


def _sums(ctx: OnnxNode, weight: int, x_zero: int, weight_zero: int) -> Tensor:
    """The convolution of codes less their zero points, in I32; padding is 0 after that."""
    x, w = ctx.tensor(0), ctx.tensor(weight)
    codes, weights = _less_zero(ctx, x, x_zero, 1), _less_zero(ctx, w, weight_zero, 0)
    return correlated(codes, weights, **reach(ctx, x, w), factor=lambda words: words)


def _conv(ctx: OnnxNode) -> Any:
    sums = _sums(ctx, 3, 2, 5)
    if ctx.given(8):
        sums = sums + _along(sums, ctx.tensor(8), 1)
    factor = _scale(ctx, sums, 1, 1) * _scale(ctx, sums, 4, 1) / _scale(ctx, sums, 6, 1)
    return _rescaled(ctx, sums, factor)


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "QuantizeLinear": _quantize,
    "DynamicQuantizeLinear": _dynamic,
    "QLinearMatMul": _matmul,
    "QLinearConv": _conv,
    "ConvInteger": lambda ctx: _sums(ctx, 1, 2, 3),
    "DequantizeLinear": _dequantize,
}
