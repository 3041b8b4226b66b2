"""Ops that join elements: reductions, prefixes, products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.ir.types import DataType
from vyre.nn.choosing import top_k
from vyre.onnx.values import HostArray, OnnxNode, known
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


def _reduction(function: Callable[[Tensor, Any, bool], Tensor]) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        keep = bool(ctx.attribute("keepdims", 1))
        axes = [int(a) for a in ctx.numbers(1)] if ctx.given(1) else ctx.attribute("axes")
        if not axes and ctx.attribute("noop_with_empty_axes", 0):
            return function(ctx.tensor(0), (), keep) if function is not _plain_sum else ctx.inputs[0]
        x = ctx.tensor(0)
        chosen = tuple(range(x.ndim)) if not axes else tuple(int(a) for a in axes)
        return c.astype(function(x, chosen, keep), x.element)

    return handle


def _plain_sum(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return r.sum(x, axes, keepdims=keep)


def _product_of_sizes(ctx: OnnxNode) -> Any:
    if isinstance(ctx.inputs[0], HostArray):
        total: Any = 1
        for n in ctx.numbers(0):
            total = n * total
        return known([total] if ctx.attribute("keepdims", 1) else total)
    return _reduction(lambda x, a, k: r.prod(x, a, keepdims=k))(ctx)


def _log_sum_exp(x: Tensor, axes: Any, keep: bool) -> Tensor:
    most = r.max(x, axes, keepdims=True)
    total = e.log(r.sum(e.exp(x - most), axes, keepdims=keep))
    return total + (most if keep else r.max(x, axes))


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
    "ReduceSum": _reduction(_plain_sum),
    "ReduceMean": _reduction(lambda x, a, k: r.mean(x, a, keepdims=k)),
    "ReduceMax": _reduction(lambda x, a, k: r.max(x, a, keepdims=k)),
    "ReduceMin": _reduction(lambda x, a, k: r.min(x, a, keepdims=k)),
    "ReduceProd": _product_of_sizes,
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
