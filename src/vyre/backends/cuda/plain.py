"""Arrays of torch and CuPy that need no protocol: contiguous, on one GPU, on the default stream.

The attributes of their own library say all of it in a microsecond, where a capsule of DLPack takes twenty.
Our work is on the default stream too, which then orders theirs and ours: no events, and no waiting. What is
unusual in any way is not read here.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

_TORCH_TYPES = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
    "float64": np.dtype("<f8"),
    "int32": np.dtype("<i4"),
    "uint32": np.dtype("<u4"),
    "uint64": np.dtype("<u8"),
    "int64": np.dtype("<i8"),
    "uint16": np.dtype("<u2"),
    "int16": np.dtype("<i2"),
    "uint8": np.dtype("u1"),
    "int8": np.dtype("i1"),
}


class PlainReader:
    """Reads the arrays of one GPU."""

    __slots__ = ("_ordinal", "_types")

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._types: dict[Any, np.dtype[Any] | None] = {}

    def __call__(self, value: Any) -> tuple[int, int, np.dtype[Any]] | None:
        """Address, bytes and dtype; None for anything that is not an array as above."""
        kind: type = value.__class__
        module = kind.__module__
        if module == "torch":
            return self._torch(value, kind)
        return self._cupy(value, kind) if module.startswith("cupy") else None

    def _torch(self, value: Any, kind: type) -> tuple[int, int, np.dtype[Any]] | None:
        torch: Any = sys.modules["torch"]
        if kind is not torch.Tensor or not value.is_cuda or value.layout is not torch.strided:
            return None
        dtype = self._torch_type(value.dtype)
        number = self._ordinal
        if (
            dtype is None
            or value.requires_grad
            or not value.is_contiguous()
            or value.is_neg()
            or value.get_device() != number
            or not value.dim()
            or _torch_stream(torch, number)
        ):
            return None
        return value.data_ptr(), value.numel() * dtype.itemsize, dtype

    def _torch_type(self, found: Any) -> np.dtype[Any] | None:
        try:
            return self._types[found]
        except KeyError:
            self._types[found] = named = _TORCH_TYPES.get(str(found).rpartition(".")[2])
            return named

    def _cupy(self, value: Any, kind: type) -> tuple[int, int, np.dtype[Any]] | None:
        cupy: Any = sys.modules.get("cupy")
        if cupy is None or kind is not cupy.ndarray or not value.flags.c_contiguous or not value.ndim:
            return None
        if value.device.id != self._ordinal or cupy.cuda.get_current_stream().ptr:
            return None
        return value.data.ptr, value.nbytes, value.dtype


def _torch_stream(torch: Any, number: int) -> int:
    """The stream that torch works on, 0 for the default one."""
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # what its own compiled code asks
    return quick(number) if quick is not None else torch.cuda.current_stream(number).cuda_stream
