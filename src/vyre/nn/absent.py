"""Names of torch.nn that `vyre.nn` does not have: what to write instead."""

from __future__ import annotations

from vyre import tensor
from vyre.tensor.absent import AbsentName

_CONV = "use vyre.nn.conv, for any number of axes."
_TRANSPOSED = "use vyre.nn.conv_transpose, for any number of axes."
_GREATEST = "use vyre.nn.max_pool, for any number of axes."
_AVERAGE = "use vyre.nn.average_pool, for any number of axes."
_MODULES = "write a plain function, and pass the weights as arguments."
_INSTEAD = {
    "conv1d": _CONV,
    "conv2d": _CONV,
    "conv3d": _CONV,
    "conv_transpose1d": _TRANSPOSED,
    "conv_transpose2d": _TRANSPOSED,
    "conv_transpose3d": _TRANSPOSED,
    "max_pool1d": _GREATEST,
    "max_pool2d": _GREATEST,
    "max_pool3d": _GREATEST,
    "avg_pool": _AVERAGE,
    "avg_pool1d": _AVERAGE,
    "avg_pool2d": _AVERAGE,
    "avg_pool3d": _AVERAGE,
    "group_norm": "use vyre.nn.layer_norm of x.reshape(rows, groups, -1), then the weights.",
    "instance_norm": "use vyre.nn.layer_norm of x.reshape(rows, channels, -1), then the weights.",
    "scaled_dot_product_attention": "use vyre.nn.attention.",
    "dropout": "leave it out: networks are run and not trained.",
    "leaky_relu": "use vyre.tensor.where(x > 0, x, 0.01 * x).",
    "relu6": "use vyre.tensor.clip(x, 0, 6).",
    "hardtanh": "use vyre.tensor.clip(x, -1, 1).",
    "swish": "use vyre.nn.silu.",
    "interpolate": "repeat elements with vyre.tensor.repeat, or multiply by the matrix of the weights.",
    "functional": "what it has is in vyre.nn itself.",
    "Module": _MODULES,
    "Linear": _MODULES,
    "Sequential": _MODULES,
}


def absent(name: str) -> AttributeError:
    """The error for a name; Python itself asks for names with underscores and wants a plain one."""
    if name.startswith("_"):
        return AttributeError(f"vyre.nn has no attribute {name!r}")
    there = f"use vyre.tensor.{name}." if hasattr(tensor, name) else None
    fix = _INSTEAD.get(name) or there or "dir(vyre.nn) and dir(vyre.tensor) list what there is."
    return AbsentName(f"vyre.nn has no {name!r}.", fix=fix)
