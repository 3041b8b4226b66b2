"""Ops that are whole layers: activations, norms, convolutions, pools."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from vyre import nn
from vyre.graph.sizes import product
from vyre.ir.types import DataType
from vyre.nn.pooling import windowed
from vyre.nn.widened import narrowed, wide
from vyre.tensor import comparing as c
from vyre.tensor import elementwise as e
from vyre.tensor import reductions as r
from vyre.tensor import shaping as s
from vyre.tensor.create import iota
from vyre.tensor.indexing import joined_index, take_along_axis

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.onnx.values import OnnxNode
    from vyre.tensor.tensor import Tensor

_T = DataType
REPAIR = "repair or export the model again."


def _activation(function: Callable[..., Tensor]) -> Callable[[OnnxNode], Any]:
    return lambda ctx: function(ctx.tensor(0))


def _softmax(function: Callable[..., Tensor]) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        x = ctx.tensor(0)
        if ctx.opset >= 13:
            return function(x, ctx.attribute("axis", -1))
        at = x.axis(ctx.attribute("axis", 1))
        flat = s.reshape(x, (product(x.type.shape[:at]), product(x.type.shape[at:])))
        return s.reshape(function(flat, -1), x.type.shape)

    return handle


def leaky_relu(x: Tensor, alpha: float) -> Tensor:
    return c.where(x < 0, x * alpha, x)


def _elu(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    return c.where(x < 0, (e.exp(x) - 1.0) * ctx.attribute("alpha", 1.0), x)


def _selu(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    alpha, gamma = (
        ctx.attribute("alpha", 1.67326319217681884765625),
        ctx.attribute("gamma", 1.05070102214813232421875),
    )
    return c.where(x > 0, x, (e.exp(x) * alpha) - alpha) * gamma


def hard_sigmoid(x: Tensor, alpha: float, beta: float) -> Tensor:
    return e.clip(x * alpha + beta, 0.0, 1.0)


def _hard_swish(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    return x * e.clip(x / 6.0 + 0.5, 0.0, 1.0)


def _prelu(ctx: OnnxNode) -> Any:
    x, slope = ctx.tensor(0), ctx.tensor(1)
    return c.where(x < 0, x * slope, x)


def _swish(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    return x * nn.sigmoid(x * ctx.attribute("alpha", 1.0))


def _gelu(ctx: OnnxNode) -> Any:
    return nn.gelu(ctx.tensor(0), approximate=ctx.attribute("approximate", "none"))


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)) without overflow: the greater of x and 0, plus log1p(exp(-|x|))."""
    return c.maximum(x, 0.0) + e.log1p(e.exp(-abs(x)))


def _celu(ctx: OnnxNode) -> Any:
    w = wide(ctx.tensor(0))
    alpha = ctx.attribute("alpha", 1.0)
    made = c.maximum(w, 0.0) + c.minimum((e.exp(w / alpha) - 1.0) * alpha, 0.0)
    return narrowed(made, ctx.tensor(0))


def _mish(x: Tensor) -> Tensor:
    w = wide(x)
    return narrowed(w * e.tanh(softplus(w)), x)


def _shrink(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    edge, bias = ctx.attribute("lambd", 0.5), ctx.attribute("bias", 0.0)
    return c.where(x < -edge, x + bias, c.where(x > edge, x - bias, x * 0.0))


def _local_norm(ctx: OnnxNode) -> Any:
    """Divided by a power of the sum of squares over neighbouring channels."""
    x = ctx.tensor(0)
    size = int(ctx.attribute("size"))
    w = wide(x)
    widths = [(0, 0)] * x.ndim
    widths[1] = ((size - 1) // 2, size // 2)
    total = r.sum(s.windows(s.pad(w * w, widths), 1, size), -1)
    factor = total * (ctx.attribute("alpha", 1e-4) / size) + ctx.attribute("bias", 1.0)
    return narrowed(w / e.power(factor, ctx.attribute("beta", 0.75)), x)


def _lp_norm(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    axis = ctx.attribute("axis", -1)
    if ctx.attribute("p", 2) == 1:
        size = r.sum(abs(x), axis, keepdims=True)
    else:
        size = e.sqrt(r.sum(x * x, axis, keepdims=True))
    return c.where(size == 0.0, 0.0, x / size)


def softsign(x: Tensor) -> Tensor:
    return x / (abs(x) + 1.0)


def _thresholded(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    return c.where(x > ctx.attribute("alpha", 1.0), x, 0.0)


def _layer_norm(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    at = x.axis(ctx.attribute("axis", -1))
    axes = tuple(range(at, x.ndim))
    w = wide(x)
    mean = r.mean(w, axes, keepdims=True)
    shifted = w - mean
    root = e.sqrt(r.mean(shifted * shifted, axes, keepdims=True) + ctx.attribute("epsilon", 1e-5))
    made = shifted / root * wide(ctx.tensor(1))
    if ctx.given(2):
        made = made + wide(ctx.tensor(2))
    return [narrowed(made, x), mean, 1.0 / root][: max(ctx.outputs, 1)]


def _rms_norm(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    at = x.axis(ctx.attribute("axis", -1))
    w = wide(x)
    mean = r.mean(w * w, tuple(range(at, x.ndim)), keepdims=True)
    return narrowed(w / e.sqrt(mean + ctx.attribute("epsilon", 1e-5)) * wide(ctx.tensor(1)), x)


def _channels(x: Tensor, like: Tensor) -> Tensor:
    """[c] beside [n, c, ...]."""
    return s.reshape(x, (*x.type.shape, *(1,) * (like.ndim - 2)))


def _batch_norm(ctx: OnnxNode) -> Any:
    if ctx.attribute("training_mode", 0):
        raise ctx.refuse("training is not imported", "export the model for inference.")
    scale, bias, mean, variance = (ctx.tensor(i) for i in range(1, 5))
    return nn.batch_norm(ctx.tensor(0), mean, variance, scale, bias, eps=ctx.attribute("epsilon", 1e-5))


def _instance_norm(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    w = wide(x)
    axes = tuple(range(2, x.ndim))
    shifted = w - r.mean(w, axes, keepdims=True)
    root = e.sqrt(r.mean(shifted * shifted, axes, keepdims=True) + ctx.attribute("epsilon", 1e-5))
    scale, bias = (_channels(wide(ctx.tensor(i)), x) for i in (1, 2))
    return narrowed(shifted / root * scale + bias, x)


def _group_norm(ctx: OnnxNode) -> Any:
    x = ctx.tensor(0)
    w = wide(x)
    n = x.type.shape[0]
    flat = s.reshape(w, (n, ctx.attribute("num_groups"), -1))
    made = nn.layer_norm(flat, eps=ctx.attribute("epsilon", 1e-5))
    scale, bias = (wide(ctx.tensor(i)) for i in (1, 2))
    if ctx.opset < 21:  # of groups, not of channels
        return narrowed(s.reshape(made * _channels(scale, flat) + _channels(bias, flat), x.type.shape), x)
    return narrowed(s.reshape(made, x.type.shape) * _channels(scale, x) + _channels(bias, x), x)


def _padding(
    ctx: OnnxNode, x: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> Any:
    axes = x.ndim - 2
    way = ctx.attribute("auto_pad", "NOTSET") or "NOTSET"
    if way in ("NOTSET", "VALID"):
        pads = ctx.attribute("pads") if way == "NOTSET" else None
        chosen = [0] * (2 * axes) if pads is None else [int(p) for p in pads]
        return [(chosen[i], chosen[axes + i]) for i in range(axes)]
    if way not in ("SAME_UPPER", "SAME_LOWER"):
        raise ctx.refuse(f"auto_pad is {way!r}", REPAIR)
    pairs: list[tuple[int, int]] = []
    for i in range(axes):
        size = x.shape[2 + i]
        if not isinstance(size, int):
            raise ctx.refuse("automatic padding of a dynamic size is not imported", "write the pads out.")
        reach = (kernel[i] - 1) * dilation[i] + 1
        total = max((-(-size // stride[i]) - 1) * stride[i] + reach - size, 0)
        small = total // 2
        pairs.append((small, total - small) if way == "SAME_UPPER" else (total - small, small))
    return pairs


def _geometry(ctx: OnnxNode, axes: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    stride = tuple(int(n) for n in ctx.attribute("strides") or (1,) * axes)
    dilation = tuple(int(n) for n in ctx.attribute("dilations") or (1,) * axes)
    return stride, dilation


def _conv(ctx: OnnxNode) -> Any:
    x, weight = ctx.tensor(0), ctx.tensor(1)
    return nn.conv(x, weight, ctx.tensor(2) if ctx.given(2) else None, **reach(ctx, x, weight))


def reach(ctx: OnnxNode, x: Tensor, weight: Tensor) -> dict[str, Any]:
    """What a convolution is told of its windows."""
    stride, dilation = _geometry(ctx, x.ndim - 2)
    kernel = tuple(n for n in weight.shape[2:] if isinstance(n, int))
    said = tuple(int(n) for n in ctx.attribute("kernel_shape") or kernel)
    if said != kernel:
        raise ctx.refuse(f"the kernel_shape is {list(said)}, and the weights are {weight.type}", REPAIR)
    padding = _padding(ctx, x, kernel, stride, dilation)
    return {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": ctx.attribute("group", 1),
    }


def _pool(ctx: OnnxNode, *, greatest: bool) -> Any:
    x = ctx.tensor(0)
    kernel = tuple(int(n) for n in ctx.attribute("kernel_shape"))
    stride, dilation = _geometry(ctx, x.ndim - 2)
    padding = _padding(ctx, x, kernel, stride, dilation)
    ceil = bool(ctx.attribute("ceil_mode", 0))
    if greatest:
        options: dict[str, Any] = {"stride": stride, "padding": padding, "dilation": dilation}
        options["ceil_mode"] = ceil
        most = nn.max_pool(x, kernel, **options)
        return most if ctx.outputs < 2 else [most, _places(ctx, x, most, kernel, options)]
    counted = bool(ctx.attribute("count_include_pad", 0))
    return nn.average_pool(
        x,
        kernel,
        stride=stride,
        padding=padding,
        dilation=dilation,
        count_padding=counted,
        ceil_mode=ceil,
    )


def _places(
    ctx: OnnxNode, x: Tensor, most: Tensor, kernel: tuple[int, ...], options: dict[str, Any]
) -> Tensor:
    """The place in x of the first of the greatest of each window; of a window of padding alone, -1."""
    space = range(2, x.ndim)
    order = [0, 1, *(reversed(space) if ctx.attribute("storage_order", 0) else space)]
    columns = [iota(x, x.type.shape, axis, _T.I32) for axis in order]
    place = c.astype(joined_index(x, [x.type.shape[axis] for axis in order], columns), _T.I64)

    def seen(values: Tensor, outside: int) -> Tensor:
        around = windowed(values, kernel, outside=outside, **options)
        return s.reshape(around, (*most.type.shape, prod(kernel)))

    place, values = seen(place, -1), seen(x, 0)
    wanted = s.expand_dims(most, -1)
    equal = c.equal(values, wanted)
    if x.element.is_float:
        equal = equal | (e.isnan(values) & e.isnan(wanted))
    first = r.argmax(c.astype(equal & (place >= 0), _T.U32), -1, keepdims=True)
    return s.squeeze(take_along_axis(place, first, -1), -1)


def _conv_transpose(ctx: OnnxNode) -> Any:
    x, weight = ctx.tensor(0), ctx.tensor(1)
    axes = x.ndim - 2
    stride, dilation = _geometry(ctx, axes)
    kernel = tuple(n for n in weight.shape[2:] if isinstance(n, int))
    more = tuple(int(n) for n in ctx.attribute("output_padding") or (0,) * axes)
    wanted = ctx.attribute("output_shape")
    way = ctx.attribute("auto_pad", "NOTSET") or "NOTSET"
    pads = ctx.attribute("pads") or (0,) * (2 * axes)
    pairs: list[tuple[int, int]] = [(int(pads[i]), int(pads[axes + i])) for i in range(axes)]
    if wanted is not None or way.startswith("SAME"):
        pairs = []
        for i in range(axes):
            size = x.shape[2 + i]
            if not isinstance(size, int):
                raise ctx.refuse(
                    "padding that follows from a dynamic size is not imported", "write the pads out."
                )
            full = (size - 1) * stride[i] + more[i] + (kernel[i] - 1) * dilation[i] + 1
            total = full - (size * stride[i] if wanted is None else int(wanted[-axes + i]))
            if total < 0:
                more = (*more[:i], more[i] - total, *more[i + 1 :])
                total = 0
            small = total // 2
            pairs.append((small, total - small) if way == "SAME_UPPER" else (total - small, small))
    return nn.conv_transpose(
        x,
        weight,
        ctx.tensor(2) if ctx.given(2) else None,
        stride=stride,
        dilation=dilation,
        padding=pairs,
        output_padding=more,
        groups=ctx.attribute("group", 1),
    )


def _global(function: Callable[..., Any]) -> Callable[[OnnxNode], Any]:
    def handle(ctx: OnnxNode) -> Any:
        x = ctx.tensor(0)
        return function(x, tuple(range(2, x.ndim)), keepdims=True)

    return handle


HANDLERS: dict[str, Callable[[OnnxNode], Any]] = {
    "Relu": _activation(nn.relu),
    "Gelu": _gelu,
    "Sigmoid": _activation(nn.sigmoid),
    "Softplus": _activation(softplus),
    "Celu": _celu,
    "Mish": _activation(_mish),
    "Shrink": _shrink,
    "LRN": _local_norm,
    "LpNormalization": _lp_norm,
    "Softsign": _activation(softsign),
    "Softmax": _softmax(nn.softmax),
    "LogSoftmax": _softmax(nn.log_softmax),
    "LeakyRelu": lambda ctx: leaky_relu(ctx.tensor(0), ctx.attribute("alpha", 0.01)),
    "Elu": _elu,
    "Selu": _selu,
    "HardSigmoid": lambda ctx: hard_sigmoid(
        ctx.tensor(0), ctx.attribute("alpha", 0.2), ctx.attribute("beta", 0.5)
    ),
    "HardSwish": _hard_swish,
    "PRelu": _prelu,
    "Swish": _swish,
    "ThresholdedRelu": _thresholded,
    "LayerNormalization": _layer_norm,
    "RMSNormalization": _rms_norm,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "GroupNormalization": _group_norm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "MaxPool": lambda ctx: _pool(ctx, greatest=True),
    "AveragePool": lambda ctx: _pool(ctx, greatest=False),
    "GlobalAveragePool": _global(r.mean),
    "GlobalMaxPool": _global(r.max),
}
