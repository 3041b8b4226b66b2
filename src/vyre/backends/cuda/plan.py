"""Calls on arrays of torch and CuPy, and on our own buffers, whose outputs the backend makes.

The short way of `vyre.backends.host_plan` for memory of a GPU: what the program asks of an array is written
down once, and a call reads each array by the attributes of its own library, which takes a microsecond where a
capsule of DLPack takes twenty. All work goes on the default stream. So it does for whoever has not chosen
another one, and then the stream alone orders their work and ours: no events, and no waiting. Everything else
is left to `vyre.backends.resident`: other streams, strided arrays, arrays that are to be written, other
libraries.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from vyre.backends.device_buffer import Claim, DeviceBuffer
from vyre.backends.host_plan import CallPlan, fresh_shape
from vyre.backends.protocol import ResidentBackend

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.host import Lengths
    from vyre.backends.host_plan import Prepare
    from vyre.backends.protocol import DeviceMemory
    from vyre.ir.grid import Grid
    from vyre.ir.program import Program

_MOST_CONSTANTS = 64
_TORCH_TYPES = {
    "float32": np.dtype("<f4"),
    "float16": np.dtype("<f2"),
    "float64": np.dtype("<f8"),
    "int32": np.dtype("<i4"),
    "uint32": np.dtype("<u4"),
    "uint64": np.dtype("<u8"),
    "uint8": np.dtype("u1"),
}


class ReservingBackend(ResidentBackend, Protocol):
    """Makes memory that holds anything, for a run that writes all of it."""

    def reserve(self, nbytes: int) -> DeviceMemory: ...


class CudaPlan(CallPlan):
    """The calls of one program on one GPU."""

    __slots__ = ("_backend", "_constants", "_ordinal", "_outputs", "_torch_types")

    def __init__(
        self,
        program: Program,
        backend: ReservingBackend,
        ordinal: int,
        prepare: Prepare,
    ) -> None:
        super().__init__(program, prepare)
        self._outputs = tuple(name for _, name in self.written)
        self._backend = backend
        self._ordinal = ordinal
        self._constants: dict[bytes, tuple[Claim, int]] = {}
        self._torch_types: dict[Any, np.dtype[Any]] = {}

    def __call__(
        self,
        buffers: Mapping[str, Any],
        lengths: Lengths,
        workgroups: int | Grid | None,
        *,
        copy: bool,
        zeroed: tuple[str, ...],
    ) -> dict[str, Any] | None:
        """Like `Compiled`; None, with nothing done, for a call that is not for this."""
        del copy, zeroed  # nothing that is supplied is written
        counts: list[int] = []
        places: list[int] = []
        held: list[Any] = []
        foreign = False
        for name, dtype, lanes, stride, fixed, most, misaligned, written in self.wanted:
            value = buffers.get(name)
            if written:
                if value is not None:
                    return None
                counts.append(-1)
                places.append(0)
                continue
            if type(value) is bytes:
                place, size = self._constant(value)
            else:
                found = self._read(value)
                if found is None or found[2] is not dtype or (lanes and found[3] != lanes):
                    return None
                place, size, _, _, claim = found
                foreign = foreign or claim is None
                held.append(claim)
            count = size // stride
            if count * stride != size or count > most or (fixed and count != fixed) or place & misaligned:
                return None
            counts.append(count)
            places.append(place)
        if not foreign or len(buffers) != len(self.wanted) - len(self.written):
            return None
        shapes: list[tuple[int, ...]] = []
        for k, _ in self.written:
            shape = fresh_shape(self.wanted[k], self.length(k, lengths, counts))
            if shape is None:
                return None
            shapes.append(shape)
        launch = self.launch(workgroups, counts)
        stale = launch.uncovered
        made: dict[str, DeviceBuffer] = {}
        for (k, name), shape in zip(self.written, shapes, strict=True):
            size = counts[k] * self.wanted[k].stride
            memory = self._backend.allocate(size) if name in stale else self._backend.reserve(size)
            made[name] = DeviceBuffer(self._backend, memory, self.wanted[k].dtype, shape)
            places[k] = memory.span[1]
        launch.run(places)
        del held
        return made

    def _read(self, value: Any) -> tuple[int, int, np.dtype[Any], int, Claim | None] | None:
        """Address, bytes, dtype and last axis of an array on this GPU; a claim where it is our own."""
        kind = cast("type[Any]", type(value))
        if isinstance(value, DeviceBuffer):
            if value._owner is not self._backend or value.closed:
                return None
            claim, memory = value.held()
            return memory.span[1], memory.nbytes, value.dtype, value.shape[-1], claim
        module = kind.__module__
        if module == "torch":
            return self._read_torch(value, kind)
        return self._read_cupy(value, kind) if module.startswith("cupy") else None

    def _read_torch(self, value: Any, kind: type) -> tuple[int, int, np.dtype[Any], int, None] | None:
        torch: Any = sys.modules["torch"]
        if kind is not torch.Tensor or not value.is_cuda or value.layout is not torch.strided:
            return None
        dtype = self._torch_types.get(value.dtype)
        if dtype is None:
            named = _TORCH_TYPES.get(str(value.dtype).rpartition(".")[2])
            if named is None:
                return None
            self._torch_types[value.dtype] = dtype = named
        number = self._ordinal
        if (
            value.requires_grad
            or not value.is_contiguous()
            or value.is_neg()
            or value.get_device() != number
            or not value.dim()
            or _torch_stream(torch, number)
        ):
            return None
        return value.data_ptr(), value.numel() * dtype.itemsize, dtype, value.shape[-1], None

    def _read_cupy(self, value: Any, kind: type) -> tuple[int, int, np.dtype[Any], int, None] | None:
        cupy: Any = sys.modules.get("cupy")
        if cupy is None or kind is not cupy.ndarray or not value.flags.c_contiguous or not value.ndim:
            return None
        if value.device.id != self._ordinal or cupy.cuda.get_current_stream().ptr:
            return None
        return value.data.ptr, value.nbytes, value.dtype, value.shape[-1], None

    def _constant(self, value: bytes) -> tuple[int, int]:
        """Memory that holds these bytes, such as a kernel's scalars; the last few are kept."""
        found = self._constants.get(value)
        if found is None:
            memory = self._backend.borrow(memoryview(value))
            if len(self._constants) >= _MOST_CONSTANTS:
                self._constants = {}
            self._constants[value] = found = Claim(memory), memory.span[1]
        return found[1], len(value)


def _torch_stream(torch: Any, number: int) -> int:
    """The stream that torch works on, 0 for the default one."""
    quick = getattr(torch._C, "_cuda_getCurrentRawStream", None)  # what its own compiled code asks
    return quick(number) if quick is not None else torch.cuda.current_stream(number).cuda_stream
