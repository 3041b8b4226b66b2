"""Names of NumPy and torch that tensors do not have: what to write instead, or why there is nothing."""

from __future__ import annotations

import sys

from vyre.errors import VyreError


class AbsentName(VyreError, AttributeError):
    """A name that `vyre.tensor` or a tensor does not have; `hasattr` is False for it."""


_DATA = "its shape or its order would depend on data: compute it on the arrays outside of the function."
_ELEMENTS = "take it from the arrays that the function returns; a tensor has no elements while it is traced."
_SORT = "vyre.nn.top_k(x, k) gives the k greatest in order and where they are."
_NETWORKS = "activations and layers are in vyre.nn."
_NUMBERS = "take it from Python's math."
_INSTEAD = {
    "abs": "use abs(x).",
    "argsort": _SORT,
    "sort": _SORT,
    "topk": _SORT,
    "unique": _DATA,
    "nonzero": _DATA,
    "argwhere": _DATA,
    "masked_select": _DATA,
    "item": _ELEMENTS,
    "tolist": _ELEMENTS,
    "numpy": _ELEMENTS,
    "cpu": "pass backend= to the call instead.",
    "cuda": "pass backend= to the call instead.",
    "to": "use x.astype(vyre.f32) for the element type, and backend= at the call for the device.",
    "array": "use vyre.tensor.constant(array).",
    "asarray": "use vyre.tensor.constant(array).",
    "tensor": "use vyre.tensor.constant(array).",
    "cat": "use vyre.tensor.concat.",
    "concatenate": "use vyre.tensor.concat.",
    "hstack": "use vyre.tensor.concat.",
    "vstack": "use vyre.tensor.concat.",
    "dot": "use a @ b.",
    "mm": "use a @ b.",
    "bmm": "use a @ b.",
    "linalg": "write it with @, sums and loops of Python.",
    "fft": "multiply by the matrix of the transform, with @.",
    "random": "draw numbers outside, and pass them as an argument.",
    "logical_and": "use a & b.",
    "logical_or": "use a | b.",
    "logical_xor": "use a ^ b.",
    "logical_not": "use ~a.",
    "dtype": "use x.element.",
    "float": "use x.astype(vyre.f32).",
    "half": "use x.astype(vyre.f16).",
    "double": "use x.astype(vyre.f64).",
    "int": "use x.astype(vyre.i32).",
    "long": "use x.astype(vyre.i64).",
    "bool": "use x.astype(bool).",
    "dim": "use x.ndim.",
    "view": "use x.reshape.",
    "flatten": "use x.reshape(-1), or name the sizes.",
    "ravel": "use x.reshape(-1).",
    "permute": "use x.transpose(axes).",
    "mT": "use x.swapaxes(-1, -2).",
    "t": "use x.T.",
    "unsqueeze": "use vyre.tensor.expand_dims(x, axis).",
    "expand": "use x.broadcast_to(shape).",
    "contiguous": "leave it out: where elements lie is not part of a tensor.",
    "detach": "leave it out: there are no gradients.",
    "backward": "there are no gradients; vyre runs networks and does not train them.",
    "masked_fill": "use vyre.tensor.where(mask, value, x).",
    "gather": "use vyre.tensor.take_along_axis(x, indices, axis).",
    "index_select": "use vyre.tensor.take(x, indices, axis).",
    "clamp": "use vyre.tensor.clip(x, low, high).",
    "copy": "leave it out: a tensor is never written in place.",
    "clone": "leave it out: a tensor is never written in place.",
    "pow": "use x ** y.",
    "mod": "use vyre.tensor.remainder of integers.",
    "rsqrt": "use 1.0 / vyre.tensor.sqrt(x).",
    "reciprocal": "use 1.0 / x.",
    "inf": _NUMBERS,
    "nan": _NUMBERS,
    "pi": _NUMBERS,
    "e": _NUMBERS,
    "float32": "use vyre.f32.",
    "float16": "use vyre.f16.",
    "int32": "use vyre.i32.",
    "relu": _NETWORKS,
    "sigmoid": _NETWORKS,
    "softmax": _NETWORKS,
    "gelu": _NETWORKS,
    "silu": _NETWORKS,
}


def absent(name: str, *, of_tensor: bool = False) -> AttributeError:
    """The error for a name; Python itself asks for names with underscores and wants a plain one."""
    where = "a tensor" if of_tensor else "vyre.tensor"
    if name.startswith("_"):
        return AttributeError(f"{where} has no attribute {name!r}")
    fix = _INSTEAD.get(name) or "dir(vyre.tensor) and dir(vyre.nn) list what there is."
    if of_tensor and name not in _INSTEAD and hasattr(sys.modules["vyre.tensor"], name):
        fix = f"use vyre.tensor.{name}(x, …)."
    return AbsentName(f"{where} has no {name!r}.", fix=fix)
