"""Calls in which at least one buffer is on the device: the rules of `host`, for device memory.

What is ReadWrite is written where it lies and comes back as the same object; with `copy` it is left alone,
and the result is a new device buffer. Arrays of the host may stand beside buffers of the device: they are
copied there for the run, and what was written comes back into them. A ReadWrite buffer that is not supplied
is a new device buffer of zeros.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vyre.backends.claim import Claim
from vyre.backends.device_buffer import DeviceBuffer, ImportingBackend, device_zeros
from vyre.backends.foreign import is_on_device, note_written
from vyre.backends.host import (
    array_of,
    count_of,
    length_of,
    refuse_aliases,
    refuse_length,
    refuse_unfit,
    refuse_unknown,
    zeros_shape,
)
from vyre.backends.host_memory import HostMemory
from vyre.backends.protocol import ClearedMemory, ResidentBackend, able
from vyre.backends.slots import Slot, slot_of
from vyre.backends.storage import STORAGE, refuse
from vyre.errors import DispatchError
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vyre.backends.host import Lengths
    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.ir.buffers import BufferDecl
    from vyre.ir.program import Program

_MOST_CONSTANT_BYTES = 4096


@dataclass(slots=True)
class ResidentCall:
    """What a call binds. `end` must be called, also after a failure."""

    memories: list[DeviceMemory] = field(default_factory=list["DeviceMemory"])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    lengths: dict[str, int] = field(default_factory=dict[str, int])
    access: dict[str, bool] = field(default_factory=dict[str, bool])
    """Whether each buffer is writable."""
    supplied: dict[str, DeviceMemory] = field(default_factory=dict[str, "DeviceMemory"])
    """What is written where it lies, or is copied back to where it lies."""
    repeatable: bool = True
    """Whether the caller's own buffers are all there is, so that the same call needs no new binding."""
    _results: dict[str, Any] = field(default_factory=dict[str, Any])
    constants: list[Claim] = field(default_factory=list[Claim])
    """Copies of `bytes`, such as a kernel's scalars: they never change, so a repeated call reuses them."""
    held: list[Claim] = field(default_factory=list[Claim])
    """Of the caller's buffers, which another thread may close during the run."""
    _copies: list[tuple[Slot, DeviceMemory]] = field(default_factory=list[tuple[Slot, "DeviceMemory"]])
    _imported: list[DeviceBuffer] = field(default_factory=list[DeviceBuffer])

    def results(self) -> dict[str, Any]:
        """The ReadWrite buffers after the run, in the program's order."""
        return {name: self._result(value) for name, value in self._results.items()}

    def _result(self, value: Any) -> Any:
        if not isinstance(value, Slot):
            note_written(value)
            return value
        memory = next(m for s, m in self._copies if s is value)
        if memory.nbytes:
            memory.read(value.memory.data)
        return value.result()

    def views(self) -> dict[str, memoryview]:
        """The bytes of every buffer, on a backend whose device is the host."""
        found: dict[str, memoryview] = {}
        for (name, writable), memory in zip(self.access.items(), self.memories, strict=True):
            assert isinstance(memory, HostMemory)
            found[name] = memory.array.data if writable else memory.array.data.toreadonly()
        return found

    def end(self) -> None:
        self.held = []
        for _, memory in self._copies:
            memory.free()
        for buffer in self._imported:
            buffer.close()
        self.constants = []


def is_constant(value: object) -> bool:
    return type(value) is bytes and len(value) <= _MOST_CONSTANT_BYTES


def any_resident(buffers: Mapping[str, Any]) -> bool:
    return any(is_on_device(value) for value in buffers.values())


def bind_resident(
    program: Program,
    backend: Backend,
    buffers: Mapping[str, Any],
    *,
    lengths: Lengths,
    copy: bool,
    zeroed: Collection[str] = (),
) -> ResidentCall:
    """Checks everything the caller supplies; copies what is on the host. `zeroed` is as in `host.bind`."""
    if not able(backend, ResidentBackend):
        raise DispatchError(
            f"the backend {backend.name!r} keeps no buffers on its device, and a device buffer was passed.",
            fix="pass arrays, such as x.numpy(), or choose the backend that the buffer is on.",
        )
    declared = {b.name: b for b in program.buffers if b.access.bound}
    refuse_unknown(program, declared, buffers)
    call = ResidentCall()
    try:
        held, arrays = _sort(declared, backend, buffers, call, copy=copy, zeroed=zeroed)
        _refuse_aliases(declared, held, arrays)
        found = {name: count_of(declared[name], array) for name, array in arrays.items()}
        found |= {name: _count(declared[name], buffer) for name, buffer in held.items()}
        for name, decl in declared.items():
            written = decl.access is BufferAccess.ReadWrite
            if name in held and written and copy:
                result = _copied(held[name], backend, zeroed=name in zeroed)
                memory = result.memory
            elif name in held:
                memory, result = held[name].memory, buffers[name]
            elif name in arrays:
                slot = slot_of(decl, buffers[name], arrays[name], copy=copy, zeroed=name in zeroed)
                refuse_length(decl, slot.memory.nbytes)
                view = slot.memory.data if decl.access.writable else slot.memory.data.toreadonly()
                memory, result = backend.borrow(view), slot
                if is_constant(buffers[name]) and not decl.access.writable:
                    call.constants.append(Claim(memory))
                else:
                    call._copies.append((slot, memory))
            else:
                made = _zeros(decl, length_of(name, lengths, found), backend)
                memory, result = made.memory, made
            if written and not copy and (name in held or name in arrays):
                call.supplied[name] = memory
            call.memories.append(memory)
            call.access[name] = decl.access.writable
            call.sizes[name] = memory.nbytes
            call.lengths[name] = memory.nbytes // decl.element.stride
            if written:
                call._results[name] = result
    except BaseException:
        call.end()
        raise
    own = all(type(buffers.get(name)) is DeviceBuffer for name in held)
    call.repeatable = own and not copy and len(held) + len(call.constants) == len(declared)
    return call


def _sort(
    declared: Mapping[str, BufferDecl],
    backend: ResidentBackend,
    buffers: Mapping[str, Any],
    call: ResidentCall,
    *,
    copy: bool,
    zeroed: Collection[str],
) -> tuple[dict[str, DeviceBuffer], dict[str, Any]]:
    """What is on the device, checked, and what is on the host."""
    held: dict[str, DeviceBuffer] = {}
    arrays: dict[str, Any] = {}
    for name, decl in declared.items():
        value = buffers.get(name)
        if value is None:
            continue
        if not is_on_device(value):
            arrays[name] = array_of(decl, value, zeroed=name in zeroed)
            continue
        if not isinstance(value, DeviceBuffer):
            value = _import(decl, backend, value)
            call._imported.append(value)
        if not value.closed:
            call.held.append(value.held()[0])
        _refuse_unfit(decl, backend, value, copy=copy)
        held[name] = value
    return held, arrays


def _import(decl: BufferDecl, backend: ResidentBackend, value: Any) -> DeviceBuffer:
    if not able(backend, ImportingBackend):
        refuse(
            decl,
            f"is memory of a GPU, which the backend {backend.name!r} does not take",
            "copy it to the host, or choose the backend that it is on.",
        )
    try:
        return backend.import_array(value)
    except DispatchError as error:
        fix = error.fix
        if decl.access is BufferAccess.ReadWrite and "contiguous" in error.message:
            fix = f"{fix} Either is a new array, and that one will be written."
        raise DispatchError(f"buffer {decl.name!r}: {error.message}", fix=fix) from None


def _refuse_unfit(decl: BufferDecl, backend: ResidentBackend, buffer: DeviceBuffer, *, copy: bool) -> None:
    if buffer.closed:
        refuse(decl, "is a closed device buffer", "make a new one with vyre.to_device.")
    if buffer._owner is not backend:
        same = "another device of " if buffer.backend == backend.name else ""
        refuse(
            decl,
            f"is on {same}the backend {buffer.backend!r}, and the program runs on {backend.name!r}",
            f"copy it: vyre.to_device(x.numpy(), backend={backend.name!r}), or run the program where it is.",
        )
    refuse_unfit(decl, buffer.dtype, buffer.shape)
    refuse_length(decl, buffer.nbytes)
    if buffer.nbytes % decl.element.stride:
        refuse(
            decl,
            f"has {buffer.nbytes} bytes, not a whole number of {decl.element.value} elements",
            f"append zeros up to a multiple of {decl.element.stride} bytes.",
        )
    if buffer.readonly and decl.access is BufferAccess.ReadWrite and not copy:
        refuse(
            decl,
            "is read-only memory, and the program writes it",
            "pass copy=True, which leaves it alone and gives a new buffer.",
        )


def _count(decl: BufferDecl, buffer: DeviceBuffer) -> int:
    return math.prod(buffer.shape) * STORAGE[decl.element].itemsize // decl.element.stride


def _refuse_aliases(
    declared: Mapping[str, BufferDecl], held: Mapping[str, DeviceBuffer], arrays: Mapping[str, Any]
) -> None:
    refuse_aliases(declared, {name: b.memory.span for name, b in held.items()}, overlap=_spans_overlap)
    on_host = {name: b.memory.array for name, b in held.items() if isinstance(b.memory, HostMemory)}
    refuse_aliases(declared, {**on_host, **arrays})


def _spans_overlap(a: tuple[object, int, int], b: tuple[object, int, int]) -> bool:
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


def clear_all(memories: list[DeviceMemory], backend: Backend) -> None:
    """Makes memory of this backend zeros."""
    for memory in memories:
        if isinstance(memory, ClearedMemory):
            memory.clear()
        elif memory.nbytes:
            assert isinstance(backend, ResidentBackend)
            zeros = backend.allocate(memory.nbytes)
            try:
                memory.copy(zeros)
            finally:
                zeros.free()


def _copied(buffer: DeviceBuffer, backend: ResidentBackend, *, zeroed: bool) -> DeviceBuffer:
    made = device_zeros(buffer.shape, buffer.dtype, backend=backend)
    if made.nbytes and not zeroed:
        made.memory.copy(buffer.memory)
    return made


def _zeros(decl: BufferDecl, length: int | None, backend: ResidentBackend) -> DeviceBuffer:
    _, shape = zeros_shape(decl, length)
    made = device_zeros(shape, STORAGE[decl.element], backend=backend)
    refuse_length(decl, made.nbytes)
    return made
