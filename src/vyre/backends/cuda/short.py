"""Calls of a kernel by position on memory of a GPU: the shortest way from the arrays to the launch.

A call reads each array, sees that its type, place and owner are right and that nothing which is written is
bound twice, takes memory for the outputs and launches. Whatever is not as it should be is left to the
ordinary way, which binds it or says what is wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from numpy import ndarray

from vyre.backends.cuda.memory import CudaMemory
from vyre.backends.cuda.plain import PlainReader
from vyre.backends.cuda.pool import CudaOwner, take
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.foreign import note_written
from vyre.backends.host_plan import CallPlan, PositionalCall
from vyre.backends.protocol import ReservingBackend
from vyre.backends.recording import current

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.host import Lengths


class PlanningBackend(ReservingBackend, CudaOwner, Protocol):
    """What calls need of the backend; `clear` makes zeros of memory that may be somebody else's."""

    def clear(self, address: int, nbytes: int) -> None: ...


class CudaCall(PositionalCall):
    """The calls of one kernel. Those on arrays of NumPy are left to `hosted`, where there is such a way."""

    __slots__ = ("_backend", "_hosted", "_read")

    def __init__(
        self,
        plan: CallPlan,
        backend: PlanningBackend,
        given: int,
        lengths: Lengths,
        zeroed: tuple[str, ...],
        hosted: Callable[[tuple[Any, ...]], Any] | None,
    ) -> None:
        super().__init__(plan, given, lengths, zeroed)
        self._backend = backend
        self._hosted = hosted
        self._read = PlainReader(backend.ordinal)

    def __call__(self, arrays: tuple[Any, ...]) -> Any:
        """The output, or a tuple of several; None, with nothing done, for a call that is not for this."""
        if current.get() is not None:
            return None
        backend, read, flat = self._backend, self._read, self.flat
        places: list[int] = []
        sizes: list[int] = []
        held: list[Any] = []
        """What keeps memory until the launch is queued; what is freed later is freed behind it."""
        seen: type | None = None
        for value, (dtype, misaligned, written) in zip(arrays, self.asked, strict=True):
            if type(value) is DeviceBuffer:
                claim, memory = value._claim, value._memory
                if claim is None or type(memory) is not CudaMemory or value._owner is not backend:
                    return None
                if value.dtype is not dtype or (written and value.readonly):
                    return None
                held.append(claim)
                place, size = memory.address, memory.nbytes
            elif type(value) is ndarray:
                return None if self._hosted is None else self._hosted(arrays)
            else:
                found = read(value)
                if found is None or found[2] is not dtype:
                    return None
                if value.__class__ is not seen:
                    seen = value.__class__
                    if not read.ordered(value.__class__):
                        return None
                place, size, _ = found
            if place & misaligned or (flat and value.ndim != 1):
                return None
            places.append(place)
            sizes.append(size)
        key = tuple(sizes)
        ready = self.ready.get(key) or self.prepare(key)
        if ready is None or (self.written and self.overlap(places, sizes)):
            return None
        for k in ready.cleared:
            backend.clear(places[k], sizes[k])
        results: list[Any] = [arrays[k] for k in self.written]
        for nbytes, dtype, shape, cleared in ready.made:
            address = take(backend, nbytes)
            results.append(DeviceBuffer(backend, CudaMemory(backend, address, nbytes), dtype, shape))
            places.append(address)
            if cleared:
                backend.clear(address, nbytes)
        ready.run(places)
        if seen is not None:
            for k in self.written:
                note_written(arrays[k])
        return results[0] if len(results) == 1 else tuple(results)
