"""Ops that join elements: reductions, prefixes, products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.ir.types import DataType
from vyre.nn.choosing import top_k
from vyre.onnx.values import HostArray, OnnxNode, held
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor import shaping as s
from vyre.tensor.create import of_size
from vyre.tensor.einsum import einsum
from vyre.tensor.products import matmul
from vyre.tensor.rearranging import flip

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.tensor.tensor import Tensor

_T = DataType


def _reduction(
    function: Callable[[Tensor, Any, bool], Tensor], host: Callable[..., Any] | None = None
) -> Callable[[OnnxNode], Any]:
    """`host` is the same of whole numbers that are known, and then no axes at all change nothing."""

    def handle(ctx: OnnxNode) -> Any:
        keep = bool(ctx.attribute("keepdims", 1))
        axes = [int(a) for a in ctx.numbers(1)] if ctx.given(1) else ctx.attribute("axes")
        if not axes and ctx.attribute("noop_with_empty_axes", 0):
            return ctx.inputs[0] if host is not None else function(ctx.tensor(0), (), keep)
        value = ctx.inputs[0]
        if host is not None and isinstance(value, HostArray) and value.array.dtype.kind in "iuO":
            return _host_reduction(value, host, tuple(axes) if axes else None, keep)
        x = ctx.tensor(0)
        chosen = tuple(range(x.ndim)) if not axes else tuple(int(a) for a in axes)
        return c.astype(function(x, chosen, keep), x.element)

    return handle


def _host_reduction(value: HostArray, host: Callable[..., Any], axes: Any, keep: bool) -> HostArray:
    if value.is_symbolic:
        return held(host(value.array, axis=axes, keepdims=keep))
    made = host(value.array.astype(object), axis=axes, keepdims=keep)
    bits = 8 * value.array.itemsize
    wrapped = np.asarray(np.asarray(made, object) & ((1 << bits) - 1))
    return HostArray(wrapped.astype(f"u{bits // 8}").view(value.array.dtype))


def _log_sum_exp(x: Tensor, axes: Any, keep: bool) -> Tensor:
    """Less the greatest where that is a number: infinities are what exp and log make of them."""
    most = r.max(x, axes, keepdims=True)
    shift = c.where(e.isinf(most), 0.0, most)
    total = e.log(r.sum(e.exp(x - shift), axes, keepdims=keep))
    return total + (shift if keep else s.reshape(shift, total.type.shape))


def _argument(function: Callable[..., Any]) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        x = ctx.tensor(0)
        axis = x.axis(ctx.attribute("axis", 0))
        last = bool(ctx.attribute("select_last_index", 0))
        keep = bool(ctx.attribute("keepdims", 1))
        found = function(flip(x, axis) if last else x, axis, keepdims=keep)
        if last:
            found = of_size(found, x.type.shape[axis] - 1, _T.U32) - found
        return c.astype(found, _T.I64)

    return handle


def _cumulative(function: Callable[..., Any]) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        x = ctx.tensor(0)
        axis = int(ctx.numbers(1)[0])
        back = bool(ctx.attribute("reverse", 0))
        made = function(flip(x, axis) if back else x, axis, exclusive=bool(ctx.attribute("exclusive", 0)))
        return c.astype(flip(made, axis) if back else made, x.element)

    return handle


def _matmul(ctx: OnnxNode) -> Any:
    return matmul(ctx.tensor(0), ctx.tensor(1))


def _gemm(ctx: OnnxNode) -> Any:
    a, b = ctx.tensor(0), ctx.tensor(1)
    if (a.ndim, b.ndim) != (2, 2):
        raise ctx.refuse(
            f"{a.type} times {b.type} is not a product of matrices", "use two matrices, or MatMul."
        )
    left = s.transpose(a) if ctx.attribute("transA", 0) else a
    right = s.transpose(b) if ctx.attribute("transB", 0) else b
    made = matmul(left, right)
    alpha, beta = ctx.attribute("alpha", 1.0), ctx.attribute("beta", 1.0)
    if alpha != 1.0:
        made = made * alpha
    if ctx.given(2) and beta != 0.0:
        c = ctx.tensor(2)
        made = made + (c if beta == 1.0 else c * beta)
    return made


def _integers(ctx: OnnxNode) -> Any:
    a, b = c.astype(ctx.tensor(0), _T.I32), c.astype(ctx.tensor(1), _T.I32)
    if ctx.given(2):
        zero = c.astype(ctx.tensor(2), _T.I32)
        a = a - (s.expand_dims(zero, -1) if zero.ndim == 1 and zero.shape != (1,) else zero)
    if ctx.given(3):
        b = b - c.astype(ctx.tensor(3), _T.I32)
    return matmul(a, b)


def _top_k(ctx: OnnxNode) -> Any:
    k = int(ctx.numbers(1)[0]) if ctx.given(1) else ctx.attribute("k")
    largest = bool(ctx.attribute("largest", 1))
    values, indices = top_k(ctx.tensor(0), k, ctx.attribute("axis", -1), largest=largest)
    return [values, c.astype(indices, _T.I64)]


def _einsum(ctx: OnnxNode) -> Any:
    operands = [ctx.tensor(i) for i in range(len(ctx.inputs))]
    return einsum(ctx.attribute("equation"), *operands)


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "ReduceSum": _reduction(lambda x, a, k: r.sum(x, a, keepdims=k), np.sum),
    "ReduceMean": _reduction(lambda x, a, k: r.mean(x, a, keepdims=k)),
    "ReduceMax": _reduction(lambda x, a, k: r.max(x, a, keepdims=k), np.max),
    "ReduceMin": _reduction(lambda x, a, k: r.min(x, a, keepdims=k), np.min),
    "ReduceProd": _reduction(lambda x, a, k: r.prod(x, a, keepdims=k), np.prod),
    "ReduceSumSquare": _reduction(lambda x, a, k: r.sum(x * x, a, keepdims=k)),
    "ReduceL1": _reduction(lambda x, a, k: r.sum(abs(x), a, keepdims=k)),
    "ReduceL2": _reduction(lambda x, a, k: e.sqrt(r.sum(x * x, a, keepdims=k))),
    "ReduceLogSum": _reduction(lambda x, a, k: e.log(r.sum(x, a, keepdims=k))),
    "ReduceLogSumExp": _reduction(_log_sum_exp),
    "ArgMax": _argument(r.argmax),
    "ArgMin": _argument(r.argmin),
    "CumSum": _cumulative(r.cumsum),
    "CumProd": _cumulative(r.cumprod),
    "Einsum": _einsum,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "MatMulInteger": _integers,
    "TopK": _top_k,
}
