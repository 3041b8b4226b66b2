"""Ops on single elements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.storage import BOOL, STORAGE
from vyre.graph.sizes import Size
from vyre.ir.types import DataType
from vyre.onnx.folding import comparison, extreme, folded, remainder
from vyre.onnx.types import KINDS
from vyre.onnx.values import I32, I64, HostArray, OnnxNode, computed, element_name, held, known
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor.create import full_like
from vyre.tensor.shaping import common_shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from vyre.tensor.tensor import Tensor

_T = DataType


def kind_of(ctx: OnnxNode, number: int) -> str:
    if number not in KINDS:
        what = f"there are no tensors of the element type {element_name(number)} of ONNX"
        raise ctx.refuse(what, "use f32, f16, bf16, f64, integers or bool.")
    return KINDS[number]


def _unary(
    function: Callable[[Tensor], Tensor], host: Callable[[Any], Any] | None = None
) -> Callable[[OnnxNode], Any]:
    """`host` is the same on arrays that are known, exactly."""

    def handle(ctx: OnnxNode) -> Any:
        value = ctx.inputs[0]
        made = computed(host(value.array)) if host is not None and isinstance(value, HostArray) else None
        return function(ctx.tensor(0)) if made is None else made

    return handle


def _binary(function: Callable[[Any, Any], Tensor], host: Callable[[Any, Any], Any] | None = None) -> Any:
    def handle(ctx: OnnxNode) -> Any:
        a, b = ctx.inputs[:2]
        if host is not None and isinstance(a, HostArray) and isinstance(b, HostArray):
            made = computed(host(a.array, b.array))
            if made is not None:
                return made
        return function(ctx.tensor(0), ctx.tensor(1))

    return handle


def _difference(a: NDArray[Any], b: NDArray[Any]) -> Any:
    """A dynamic size can be taken away from a number too."""
    return a + b * -1 if object in (a.dtype, b.dtype) else a - b


def _divide(ctx: OnnxNode) -> Any:
    a, b = ctx.inputs[:2]
    if isinstance(a, HostArray) and isinstance(b, HostArray):
        made = _host_quotients(ctx, a, b)
        if made is not None:
            return made
    x, y = ctx.tensor(0), ctx.tensor(1)
    return e.divide(x, y) if x.element.is_float else c.astype(e.trunc_divide(x, y), x.element)


def _host_quotients(ctx: OnnxNode, a: HostArray, b: HostArray) -> HostArray | None:
    left, right = np.broadcast_arrays(a.array, b.array)
    if not a.is_symbolic and a.array.dtype.kind not in "iu":
        return computed(left / right)
    made = [_quotient(ctx, x, y) for x, y in zip(left.reshape(-1), right.reshape(-1), strict=True)]
    found = known(np.array(made, object).reshape(left.shape))
    return found if a.is_symbolic or b.is_symbolic else HostArray(found.array.astype(a.array.dtype))


def _quotient(ctx: OnnxNode, x: Any, y: Any) -> Any:
    if isinstance(x, Size) or isinstance(y, Size):
        found = Size(x if isinstance(x, Size) else int(x)).divided(y if isinstance(y, Size) else int(y))
        if found is None:
            raise ctx.refuse(
                f"the dynamic size {x} is not divisible by {y}",
                "fix the size with sizes= of vyre.onnx.load, or export with a static shape.",
            )
        return found
    return int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1)


def _cast(ctx: OnnxNode) -> Any:
    name = kind_of(ctx, ctx.attribute("to"))
    value = ctx.inputs[0]
    if isinstance(value, HostArray) and name != "bfloat16":
        made = _host_cast(value, np.dtype(name))
        if made is not None:
            return made
    return c.astype(ctx.tensor(0), name, mode=_mode(ctx.tensor(0), name))


def _host_cast(value: HostArray, target: np.dtype[Any]) -> HostArray | None:
    """None where NumPy does not say what becomes of a number, or a size becomes a float."""
    if value.is_symbolic:
        return replace(value, kind=target) if target in (I32, I64) else None
    array = value.array
    if target.kind in "iu" and array.dtype.kind not in "iub":
        limits, whole = np.iinfo(target), np.trunc(array.astype(np.float64))
        # Above the limits of 64 bits the nearest double is outside of them already.
        if not bool(((whole >= float(limits.min)) & (whole < float(limits.max) + 1)).all()):
            return None
    return computed(array.astype(target))


def _mode(x: Tensor, name: str) -> str:
    return "truncate" if x.element.is_float and "int" in name else "nearest"


def _cast_like(ctx: OnnxNode) -> Any:
    target = ctx.tensor(1).element
    value = ctx.inputs[0]
    if isinstance(value, HostArray) and target is not _T.BF16:
        made = _host_cast(value, BOOL if target is _T.Bool else STORAGE[target])
        if made is not None:
            return made
    return c.astype(ctx.tensor(0), target, mode=_mode(ctx.tensor(0), "float" if target.is_float else "int"))


def _many(function: Callable[[Any, Any], Tensor]) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        made = ctx.tensor(0)
        for index in range(1, len(ctx.inputs)):
            made = function(made, ctx.tensor(index))
        return made

    return handle


def _mean(ctx: OnnxNode) -> Any:
    return _many(e.add)(ctx) / len(ctx.inputs)


def _extreme(*, greater: bool) -> Callable[[Any, Any], Tensor]:
    """NaN goes through, as ONNX wants it."""
    function = c.maximum if greater else c.minimum
    return lambda a, b: c.astype(function(a, b), a.element)


def _extremes(*, greater: bool) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        if len(ctx.inputs) == 2 and _whole_numbers(ctx.inputs[0]):
            host = np.maximum if greater else np.minimum
            made = folded(ctx, extreme(ctx, host, greater=greater))
            if made is not None:
                return made
        return _many(_extreme(greater=greater))(ctx)

    return handle


def _whole_numbers(value: Any) -> bool:
    """Of floats, NumPy does not say which of two zeros is the greater."""
    return isinstance(value, HostArray) and value.array.dtype.kind in "iuO"


def _comparison(function: Callable[[Any, Any], Tensor]) -> Callable[[OnnxNode], Any]:
    name = function.__name__

    def handle(ctx: OnnxNode) -> Any:
        made = folded(ctx, comparison(ctx, getattr(np, name), name))
        return function(ctx.tensor(0), ctx.tensor(1)) if made is None else made

    return handle


def _clip(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    low = ctx.attribute("min") if ctx.opset < 11 else (ctx.tensor(1) if ctx.given(1) else None)
    high = ctx.attribute("max") if ctx.opset < 11 else (ctx.tensor(2) if ctx.given(2) else None)
    made = x if low is None else _extreme(greater=True)(x, _same(x, low))
    return made if high is None else _extreme(greater=False)(made, _same(x, high))


def _same(x: Tensor, bound: Any) -> Tensor:
    return full_like(x, (), bound) if isinstance(bound, float) else bound


def _where(ctx: OnnxNode) -> Any:
    if all(isinstance(v, HostArray) for v in ctx.inputs):
        condition, yes, no = (v.array for v in ctx.inputs)
        return held(np.where(condition, yes, no))
    return c.where(ctx.tensor(0), ctx.tensor(1), ctx.tensor(2))


def _pow(ctx: OnnxNode) -> Any:
    a = ctx.tensor(0)
    if not a.element.is_float:
        return _whole_power(ctx, a)
    b = ctx.tensor(1)
    if b.element is _T.I64 and _fits(ctx.inputs[1]):
        b = c.astype(b, _T.I32)  # which becomes a float in fewer steps
    return e.power(a, c.astype(b, a.element))


def _fits(value: Any) -> bool:
    """Whether numbers of 64 bits are known to be within 32."""
    if not _whole_numbers(value) or value.is_symbolic:
        return False
    limits = np.iinfo(np.int32)
    return bool(((value.array >= limits.min) & (value.array <= limits.max)).all())


def _whole_power(ctx: OnnxNode, a: Tensor) -> Tensor:
    """By squares, of which each bit of the exponents says whether it is a factor; products wrap."""
    given = ctx.inputs[1] if ctx.given(1) else None
    if not isinstance(given, HostArray) or given.is_symbolic:
        what = f"the exponent of a power of {a.element.value} is computed from data"
        raise ctx.refuse(what, "make it a constant of the model, or cast the base to a float type.")
    numbers = ctx.numbers(1)
    wrong = next((n for n in numbers if n < 0 or not float(n).is_integer()), None)
    if wrong is not None:
        what = f"a power of {a.element.value} with the exponent {wrong}"
        raise ctx.refuse(what, "use whole exponents of 0 or more, or cast the base to a float type.")
    times = _arithmetic(e.multiply)
    made = full_like(a, common_shape([a.type.shape, tuple(map(Size, given.array.shape))]), 1)
    square = a
    for place in range(max(map(int, numbers), default=0).bit_length()):
        square = times(square, square) if place else a
        bits = np.array([int(n) >> place & 1 for n in numbers], np.bool_).reshape(given.array.shape)
        if bits.all():
            made = times(made, square)
        elif bits.any():
            made = c.where(ctx.as_tensor(HostArray(bits)), times(made, square), made)
    return made


def _mod(ctx: OnnxNode) -> Any:
    as_divisor = not ctx.attribute("fmod", 0)
    made = folded(ctx, remainder(ctx, signed_as_divisor=as_divisor))
    if made is not None:
        return made
    a, b = ctx.tensor(0), ctx.tensor(1)
    if a.element.is_float:
        raise ctx.refuse("the remainder of floats is not imported")
    return c.astype((e.remainder if as_divisor else e.fmod)(a, b), a.element)


def _sign(x: Tensor) -> Tensor:
    return c.astype(e.sign(x), x.element)


def _negative(x: Tensor) -> Tensor:
    return c.astype(-x, x.element)


def _absolute(x: Tensor) -> Tensor:
    return c.astype(abs(x), x.element)


def _arithmetic(function: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Tensor]:
    """Narrow integers are computed in words and keep their low bits."""
    return lambda a, b: c.astype(function(a, b), a.element)


def _is_infinite(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    made = e.isinf(x)
    if not ctx.attribute("detect_negative", 1):
        made = made & (x > 0)
    if not ctx.attribute("detect_positive", 1):
        made = made & (x < 0)
    return made


def _shift(ctx: OnnxNode) -> Any:
    """By a number outside of the bits the sign alone is left: -1 to the right of a negative one, else 0."""
    a, b = ctx.tensor(0), ctx.tensor(1)
    left = ctx.attribute("direction") == "LEFT"
    made = e.left_shift(a, b) if left else e.right_shift(a, b)
    inside = c.less(b, a.element.bits)
    if a.element.loaded is _T.U32:
        return c.astype(c.where(inside, made, 0), a.element)
    inside = inside & c.greater_equal(b, 0)
    beyond = full_like(made, (), 0) if left else e.right_shift(a, 63 if a.element is _T.I64 else 31)
    return c.astype(c.where(inside, made, beyond), a.element)


def _inverse_hyperbolic(name: str) -> Callable[[Tensor], Tensor]:
    """By logarithms, each operation rounded."""

    def sine(x: Tensor) -> Tensor:
        size = abs(x)
        return c.where(x < 0, -1.0, c.where(x > 0, full_like(x, (), 1), x)) * e.log(
            size + e.sqrt(size * size + 1.0)
        )

    def cosine(x: Tensor) -> Tensor:
        return e.log(x + e.sqrt(x * x - 1.0))

    def tangent(x: Tensor) -> Tensor:
        return (e.log1p(x) - e.log1p(-x)) * 0.5

    return {"sine": sine, "cosine": cosine, "tangent": tangent}[name]


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "Add": _binary(_arithmetic(e.add), lambda a, b: a + b),
    "Sub": _binary(_arithmetic(e.subtract), _difference),
    "Mul": _binary(_arithmetic(e.multiply), lambda a, b: a * b),
    "Div": _divide,
    "Pow": _pow,
    "Mod": _mod,
    "And": _binary(e.bitwise_and, np.logical_and),
    "Or": _binary(e.bitwise_or, np.logical_or),
    "Xor": _binary(e.bitwise_xor),
    "Not": _unary(e.invert, np.logical_not),
    "BitwiseAnd": _binary(_arithmetic(e.bitwise_and)),
    "BitwiseOr": _binary(_arithmetic(e.bitwise_or)),
    "BitwiseXor": _binary(_arithmetic(e.bitwise_xor)),
    "BitwiseNot": lambda ctx: c.astype(e.invert(ctx.tensor(0)), ctx.tensor(0).element),
    "BitShift": _shift,
    "Equal": _comparison(c.equal),
    "Less": _comparison(c.less),
    "LessOrEqual": _comparison(c.less_equal),
    "Greater": _comparison(c.greater),
    "GreaterOrEqual": _comparison(c.greater_equal),
    "Where": _where,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Clip": _clip,
    "Min": _extremes(greater=False),
    "Max": _extremes(greater=True),
    "Sum": _many(e.add),
    "Mean": _mean,
    "Neg": _unary(_negative, lambda a: a * -1),
    "Abs": _unary(_absolute, np.abs),
    "Sign": _unary(_sign),
    "Sqrt": _unary(e.sqrt, np.sqrt),
    "Reciprocal": _unary(lambda x: 1.0 / x),
    "Exp": _unary(e.exp),
    "Log": _unary(e.log),
    "Sin": _unary(e.sin),
    "Cos": _unary(e.cos),
    "Tan": _unary(e.tan),
    "Asin": _unary(e.arcsin),
    "Acos": _unary(e.arccos),
    "Atan": _unary(e.arctan),
    "Sinh": _unary(e.sinh),
    "Cosh": _unary(e.cosh),
    "Tanh": _unary(e.tanh),
    "Asinh": _unary(_inverse_hyperbolic("sine")),
    "Acosh": _unary(_inverse_hyperbolic("cosine")),
    "Atanh": _unary(_inverse_hyperbolic("tangent")),
    "Erf": _unary(e.erf),
    "Floor": _unary(e.floor, np.floor),
    "Ceil": _unary(e.ceil, np.ceil),
    "Round": _unary(e.round, np.rint),
    "IsNaN": _unary(e.isnan),
    "IsInf": _is_infinite,
}
