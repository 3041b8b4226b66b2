"""Calls on arrays of torch and CuPy, and on our own buffers with outputs that the backend makes.

The short way of `vyre.backends.host_plan` for memory of a GPU: what the program asks of an array is written
down once, and a call reads each array as `vyre.backends.cuda.plain` does. Everything else is left to
`vyre.backends.resident`: other streams, strided arrays, other libraries, and calls on nothing but our own
buffers, which it binds once. Calls on nothing but arrays of NumPy have `vyre.backends.cuda.hosted`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy import ndarray

from vyre.backends.claim import Claim
from vyre.backends.cuda.hosted import HostedPlan
from vyre.backends.cuda.plain import PlainReader
from vyre.backends.cuda.short import CudaCall, PlanningBackend
from vyre.backends.device_buffer import DeviceBuffer
from vyre.backends.foreign import note_written
from vyre.backends.host_plan import CallPlan, fresh_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np

    from vyre.backends.host import Lengths
    from vyre.backends.host_plan import Prepare
    from vyre.ir.grid import Grid
    from vyre.ir.outline import Outline

_MOST_CONSTANTS = 64


class CudaPlan(CallPlan):
    """The calls of one program on one GPU."""

    __slots__ = ("_backend", "_constants", "_on_host", "_read")

    def __init__(self, program: Outline, backend: PlanningBackend, prepare: Prepare) -> None:
        super().__init__(program, prepare)
        self._on_host = HostedPlan(program, backend, prepare)
        self._backend = backend
        self._read = PlainReader(backend.ordinal)
        self._constants: dict[bytes, tuple[int, Claim]] = {}

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
        counts: list[int] = []
        places: list[int] = []
        held: list[Any] = []
        """What keeps memory until the launch is queued; what is freed later is freed behind it."""
        results: dict[str, Any] = {}
        constants: list[tuple[int, bytes]] = []
        seen: type | None = None  # the class of the arrays whose library was asked for its stream
        for name, dtype, lanes, stride, fixed, most, misaligned, written in self.wanted:
            value: Any = buffers.get(name)
            place = 0
            if type(value) is bytes and not written:
                constants.append((len(places), value))
                size = len(value)
            elif value is None:
                if not written:
                    return None
                counts.append(-1)
                places.append(0)
                continue
            elif type(value) is ndarray:
                return self._on_host(buffers, lengths, workgroups, copy=copy, zeroed=zeroed)
            else:
                found = self._array(value, held, written=written)
                if found is None or found[2] is not dtype or (lanes and _last_axis(value) != lanes):
                    return None
                place, size, _ = found
                if not isinstance(value, DeviceBuffer) and seen is not value.__class__:
                    seen = value.__class__
                    if not self._read.ordered(value.__class__):
                        return None
                if written:
                    results[name] = value
            count = size // stride
            if count * stride != size or count > most or (fixed and count != fixed) or place & misaligned:
                return None
            counts.append(count)
            places.append(place)
        missing = len(self.written) - len(results)
        if len(buffers) != len(self.wanted) - missing or (results and copy):
            return None
        if not (seen or (missing and len(places) - missing > len(constants))):
            return None
        return self._launched(results, counts, places, held, constants, lengths, workgroups, zeroed)

    def _launched(
        self,
        results: dict[str, Any],
        counts: list[int],
        places: list[int],
        held: list[Any],
        constants: list[tuple[int, bytes]],
        lengths: Lengths,
        workgroups: int | Grid | None,
        zeroed: tuple[str, ...],
    ) -> dict[str, Any] | None:
        shapes: dict[int, tuple[int, ...]] = {}
        for k, name in self.written:
            if name in results:
                if self.overlaps(k, places, counts):
                    return None
                continue
            shape = fresh_shape(self.wanted[k], self.length(k, lengths, counts))
            if shape is None:
                return None
            shapes[k] = shape
        launch = self.launch(workgroups, counts)
        stale = launch.uncovered
        backend = self._backend
        made: dict[str, Any] = {}
        for k, name in self.written:
            size = counts[k] * self.wanted[k].stride
            if name in results:
                made[name] = results[name]
                if name in zeroed and name in stale:
                    backend.clear(places[k], size)
                continue
            memory = backend.allocate(size) if name in stale else backend.reserve(size)
            made[name] = DeviceBuffer(backend, memory, self.wanted[k].dtype, shapes[k])
            places[k] = memory.span[1]
        for k, value in constants:
            constant = self._constant(value)
            held.append(constant)
            places[k] = constant[0]
        launch.run(places)
        for value in results.values():
            note_written(value)
        return made

    def _short(
        self, given: int, lengths: Lengths, zeroed: tuple[str, ...]
    ) -> Callable[[tuple[Any, ...]], Any] | None:
        hosted = self._on_host._short(given, lengths, zeroed)
        return CudaCall(self, self._backend, given, lengths, zeroed, hosted)

    def _array(self, value: Any, held: list[Any], *, written: bool) -> tuple[int, int, np.dtype[Any]] | None:
        """Address, bytes and dtype of an array on this GPU."""
        if not isinstance(value, DeviceBuffer):
            return self._read(value)
        if value._owner is not self._backend or value.closed or (written and value.readonly):
            return None
        claim, memory = value.held()
        held.append(claim)
        return memory.span[1], memory.nbytes, value.dtype

    def _constant(self, value: bytes) -> tuple[int, Claim]:
        """Memory that holds these bytes, such as a kernel's scalars; the last few are kept."""
        found = self._constants.get(value)
        if found is None:
            memory = self._backend.borrow(memoryview(value))
            if len(self._constants) >= _MOST_CONSTANTS:
                self._constants = {}
            self._constants[value] = found = memory.span[1], Claim(memory)
        return found


def _last_axis(array: Any) -> int:
    return array.shape[-1]
