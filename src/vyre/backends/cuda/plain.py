"""Arrays of torch and CuPy that need no protocol: contiguous, on one GPU, on the default stream.

The attributes of their own library say all of it in a microsecond, where a capsule of DLPack takes twenty.
Our work is on the default stream too, which then orders theirs and ours: no events, and no waiting. What is
unusual in any way is not read here.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

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
    """Reads the arrays of one GPU. Whoever takes them also asks `ordered`, once for those of a class."""

    __slots__ = ("_cupy", "_layout", "_library", "_ordinal", "_streams", "_tensor", "_types")

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._types: dict[Any, np.dtype[Any]] = {}
        self._streams: dict[type, Callable[[], int]] = {}
        self._library: dict[type | None, Any] = {}
        self._tensor: type | None = None
        self._layout: Any = None
        self._cupy: type | None = None

    def __call__(self, value: Any) -> tuple[int, int, np.dtype[Any]] | None:
        """Address, bytes and dtype; None for anything that is not an array as above."""
        kind = value.__class__
        if kind is self._tensor:
            dtype = self._types.get(value.dtype)
            if dtype is None:
                dtype = self._half(value.dtype)
            if (
                dtype is None
                or not value.is_cuda
                or value.get_device() != self._ordinal
                or value.layout is not self._layout
                or value.requires_grad
                or not value.is_contiguous()
                or value.is_neg()
                or not value.dim()
            ):
                return None
            return value.data_ptr(), value.numel() * dtype.itemsize, dtype
        if kind is self._cupy:
            data = value.data
            if data.device_id != self._ordinal or not value.flags.c_contiguous or not value.ndim:
                return None
            return data.ptr, value.nbytes, value.dtype
        return self(value) if self._learns(kind) else None

    def ordered(self, kind: type) -> bool:
        """Whether the library of arrays that were read works on the default stream now."""
        return not self._streams[kind]()

    def fresh(
        self, kind: type, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Callable[[], tuple[Any, int] | None] | None:
        """What makes an array of a class that was read, from the memory of its own library, and says where it
        lies; None where that library has no such type."""
        if kind is self._tensor:
            named = next((theirs for theirs, ours in self._types.items() if ours == dtype), None)
            return None if named is None else _torch_maker(self._library[kind], self._ordinal, shape, named)
        if kind is self._cupy and dtype.isbuiltin == 1:
            return _cupy_maker(self._library[kind], self._ordinal, shape, dtype)
        return None

    def _half(self, named: Any) -> np.dtype[Any] | None:
        """The bfloat16 of torch, where NumPy has one too; it takes a while to load."""
        if named is not getattr(self._library[self._tensor], "bfloat16", None):
            return None
        try:
            import ml_dtypes
        except ImportError:
            return None
        self._types[named] = found = np.dtype(ml_dtypes.bfloat16)
        return found

    def _learns(self, kind: type) -> bool:
        """Whether this is the class of arrays of a library that is loaded; what it takes to read them."""
        library: Any = sys.modules.get(kind.__module__.partition(".")[0])
        match getattr(library, "__name__", ""):
            case "torch" if kind is library.Tensor:
                self._streams[kind] = _torch_stream(library, self._ordinal)
                self._types = {getattr(library, name, None): dtype for name, dtype in _TORCH_TYPES.items()}
                self._tensor, self._layout = kind, library.strided
            case "cupy" if kind is library.ndarray:
                self._streams[kind] = lambda: library.cuda.get_current_stream().ptr
                self._cupy = kind
            case _:
                return False
        self._library[kind] = library
        return True


def _torch_stream(torch: Any, number: int) -> Callable[[], int]:
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # what its own compiled code asks
    return partial(quick, number) if quick else lambda: torch.cuda.current_stream(number).cuda_stream


def _torch_maker(
    torch: Any, number: int, shape: tuple[int, ...], dtype: Any
) -> Callable[[], tuple[Any, int] | None]:
    make = partial(torch.empty, shape, dtype=dtype, device=torch.device("cuda", number))

    def made() -> tuple[Any, int] | None:
        try:
            array = make()
        except torch.cuda.OutOfMemoryError:
            return None
        return array, array.data_ptr()

    return made


def _cupy_maker(
    cupy: Any, number: int, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Callable[[], tuple[Any, int] | None]:
    device = cupy.cuda.Device(number)

    def made() -> tuple[Any, int] | None:
        try:
            with device:
                array = cupy.empty(shape, dtype)
        except MemoryError:
            return None
        return array, array.data.ptr

    return made
