"""Arrays of other libraries on an NVIDIA GPU (torch, CuPy, Numba, JAX), read without a copy.

Two protocols carry them: `__cuda_array_interface__`, and DLPack with memory of CUDA. An interface that names
its stream is preferred, since then work can be ordered both ways; DLPack orders the producer's work before
ours by itself. Nothing here calls the driver.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from vyre.backends import dlpack
from vyre.backends.storage import STORAGE
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEGACY = 1
"""The stream that all our work is on: the default one, as both protocols count it."""

_STORED = frozenset(STORAGE.values())


@dataclass(frozen=True, slots=True)
class CudaArray:
    """Contiguous memory that belongs to someone else. `release` must be called once, at the end."""

    address: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    readonly: bool
    device: int | None
    """The number of the GPU, where the protocol says it."""
    stream: int | None
    """The stream that the owner works on; None where it cannot be known."""
    release: Callable[[], None]

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


def read_array(value: Any) -> CudaArray:
    """The memory of an array on a GPU. Raises `DispatchError` for what cannot be bound as it is."""
    interface = _interface(value)
    if interface is not None and interface.get("stream") is not None:
        return from_interface(interface, value)
    if hasattr(value, "__dlpack__"):
        return from_dlpack(value)
    if interface is None:
        _refuse(f"a {type(value).__name__} is not a CUDA array", "pass an array of torch, CuPy or Numba.")
    return from_interface(interface, value)


def _interface(value: Any) -> dict[str, Any] | None:
    # torch raises all kinds of errors here, for example for bfloat16; DLPack is the better way then.
    with suppress(Exception):
        found = getattr(value, "__cuda_array_interface__", None)
        return cast("dict[str, Any]", found) if isinstance(found, dict) else None
    return None


def from_plain(address: int, dtype: np.dtype[Any], owner: Any, ordinal: int) -> CudaArray:
    """An array that was read without a protocol; the default stream orders the owner's work and ours."""
    keep = [owner]
    return CudaArray(address, _storable(dtype), tuple(owner.shape), False, ordinal, LEGACY, keep.clear)


def from_interface(interface: dict[str, Any], owner: object) -> CudaArray:
    """Reads `__cuda_array_interface__`, of any version so far."""
    try:
        shape = tuple(int(n) for n in interface["shape"])
        dtype = np.dtype(interface["typestr"])
        address, readonly = interface["data"]
        strides = interface.get("strides")
        stream = interface.get("stream")
        steps = None if strides is None else [int(n) for n in strides]
        address = int(address or 0)
    except (KeyError, TypeError, ValueError) as error:
        _refuse(f"its __cuda_array_interface__ is not understood: {error!r}", "pass it through DLPack.")
    if interface.get("mask") is not None:
        _refuse("it is a masked array", "pass the data without the mask.")
    if stream == 0:
        _refuse("its __cuda_array_interface__ names stream 0, which is ambiguous", "use stream 1 or 2.")
    _require_contiguous(shape, steps, dtype.itemsize)
    keep = [owner]
    # Before version 3 an interface names no stream, and since then None means that nothing is pending.
    order = LEGACY if stream is None else int(stream)
    return CudaArray(address, _storable(dtype), shape, bool(readonly), None, order, keep.clear)


def from_dlpack(value: Any) -> CudaArray:
    """Takes a capsule of memory on a GPU; the producer orders its work before ours."""
    try:
        try:
            capsule = value.__dlpack__(stream=LEGACY, max_version=(1, 0))
        except TypeError:  # from before versions
            capsule = value.__dlpack__(stream=LEGACY)
        taken = dlpack.take(capsule)
    except Exception as error:  # every producer has errors of its own
        fix = "pass x.detach()." if "grad" in str(error) else "pass a plain, contiguous array."
        _refuse(f"it cannot be taken through DLPack: {error}", fix)
    try:
        if taken.device[0] not in (dlpack.CUDA, dlpack.CUDA_MANAGED):
            _refuse(f"it is on a device of DLPack kind {taken.device[0]}, not CUDA", "copy it there first.")
        dtype = _named(taken.dtype)
        _require_contiguous(taken.shape, taken.strides, 1)
        stored = _storable(dtype)
    except BaseException:
        taken.release()
        raise
    return CudaArray(
        taken.address,
        stored,
        taken.shape,
        taken.readonly,
        taken.device[1],
        _torch_stream(value),
        taken.release,
    )


def _named(dtype: np.dtype[Any] | str) -> np.dtype[Any]:
    if not isinstance(dtype, str):
        return dtype
    if dtype != "bfloat16":
        _refuse(f"it holds {dtype}", "pass an array of a type that vyre has.")
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype("<u2")
    return np.dtype(ml_dtypes.bfloat16)


def _storable(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype not in _STORED and dtype.name != "bfloat16":
        _refuse(
            f"it holds {dtype.name}, which no buffer on a GPU does",
            "convert it to u32, one for each truth value."
            if dtype.kind == "b"
            else "copy it to the host and pass vyre.array(x, vyre.u32), or the type that the buffer holds; "
            "it refuses values that do not fit.",
        )
    return dtype


def _require_contiguous(shape: Sequence[int], strides: Sequence[int] | None, unit: int) -> None:
    """`strides` count in `unit` bytes or elements; those of axes of one element mean nothing."""
    if strides is None or 0 in shape:
        return
    step = unit
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != step:
            _refuse("it is not contiguous", "pass x.contiguous() or cupy.ascontiguousarray(x).")
        step *= size


def _torch_stream(value: Any) -> int | None:
    """The stream that torch works on, which DLPack does not say; 0 is its name for the default one."""
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    return int(torch.cuda.current_stream(value.device).cuda_stream) or LEGACY


def _refuse(problem: str, fix: str) -> NoReturn:
    raise DispatchError(f"the array on the GPU cannot be used: {problem}.", fix=fix)
