"""Where the buffers of an engine live between its dispatches.

    memory.give(name, type, array)     an input; gives its length
    memory.make(name, space, …)        a buffer of the engine's own
    memory.accept(name, space, array)  the same where the caller has it
    memory.bound(what)                 what a dispatch is handed: a buffer, or a part of one
    memory.whole                       whether that is the whole buffer of a window
    memory.take(name)                  an output as a NumPy array
    memory.result(name)                the same where it lies: on a device a `DeviceBuffer`
    memory.word(buffer, word)          the number that a step left in a buffer
    memory.is_empty(name)              whether a buffer has no elements
    memory.drop(name)                  forgets what the caller owns: an input, or on the host an output

`HostMemory` keeps NumPy arrays, `EngineMemory` buffers on a device, `StagedMemory` those of arrays that come
from the host and go back there. An engine never notices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

import numpy as np

from vyre.backends.conversion import conversion
from vyre.backends.device_buffer import DeviceBuffer, imported, require_owner, resident, to_device
from vyre.backends.foreign import plain_array
from vyre.backends.protocol import ReservingBackend, ResidentBackend, able
from vyre.backends.recording import refuse_in_capture
from vyre.backends.storage import BOOL, LANES, STORAGE, public_name
from vyre.engines.padding import filled_up
from vyre.engines.plan import SlotPart, Window
from vyre.errors import DispatchError
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from vyre.backends.claim import Claim
    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.engines.plan import Bound, Space


_WIDEST = 16
"""Bytes of the widest element, which lies at multiples of them."""

_HOSTS = frozenset({"cpu", "reference"})
"""Backends whose device is the host: arrays of NumPy are in its memory already."""


def keeps_on_device(backend: Backend) -> bool:
    """Whether buffers are worth keeping on the device between dispatches."""
    return backend.name not in _HOSTS and able(backend, ResidentBackend)


class Memory(Protocol):
    """Holds the buffers of one run of an engine."""

    @property
    def whole(self) -> bool: ...

    def give(self, name: str, element: DataType, value: Any) -> int: ...

    def make(self, name: str, space: Space, *, output: bool) -> None: ...

    def accept(self, name: str, space: Space, value: Any) -> None: ...

    def bound(self, what: Bound) -> Any: ...

    def take(self, name: str) -> NDArray[Any]: ...

    def result(self, name: str) -> Any: ...

    def word(self, buffer: str, word: int) -> int: ...

    def is_empty(self, name: str) -> bool: ...

    def drop(self, name: str) -> None: ...


class HostMemory:
    """NumPy arrays; every dispatch sees them in place, and of a window only its own part."""

    whole = False

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def give(self, name: str, element: DataType, value: Any) -> int:
        array = as_array(name, element, value)
        self._arrays[name] = self.placed(name, padded(array) if element is DataType.Bytes else array)
        return array.size

    def make(self, name: str, space: Space, *, output: bool) -> None:
        array = self.placed(name, self.fresh(space, output=output))
        array[: len(space.initial)] = space.initial
        self._arrays[name] = array

    def accept(self, name: str, space: Space, value: Any) -> None:
        self._arrays[name] = host_output(name, space, value, self._arrays.values())

    def fresh(self, space: Space, *, output: bool) -> NDArray[Any]:
        """The contents of a buffer before the first step."""
        del output
        return np.zeros(fixed(space), STORAGE[space.element])

    def placed(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The array that is bound for a buffer: this one, or a copy of it somewhere else."""
        del name
        return array

    def bound(self, what: Bound) -> NDArray[Any]:
        if isinstance(what, Window):
            return self._arrays[what.buffer][what.start : what.stop]
        if isinstance(what, SlotPart):
            whole = self._arrays[what.buffer].view(np.uint8)
            part = whole[: what.length * what.element.stride].view(STORAGE[what.element])
            return part.reshape(-1, LANES[what.element]) if what.element in LANES else part
        return self._arrays[what]

    def take(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def result(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def word(self, buffer: str, word: int) -> int:
        return int(self._arrays[buffer][word])

    def is_empty(self, name: str) -> bool:
        return not self._arrays[name].size

    def drop(self, name: str) -> None:
        del self._arrays[name]


class EngineMemory:
    """Buffers on the device of a backend. Inputs that are there already are used where they are."""

    whole = True

    def __init__(self, backend: str | Backend | None) -> None:
        refuse_in_capture("an engine")
        self._backend = resident(backend)
        self._buffers: dict[str, Any] = {}
        self._claims: dict[str, Claim] = {}
        """On the inputs, which another thread may close during the run."""
        self._own: set[str] = set()
        """Inputs of which the device has a copy."""

    def give(self, name: str, element: DataType, value: Any) -> int:
        held = value if isinstance(value, DeviceBuffer) else imported(self._backend, value)
        if held is None:
            array = as_array(name, element, value)
            whole = padded(array) if element is DataType.Bytes else array
            kept = self._buffers.get(name)
            same = kept is not None and kept.shape == whole.shape and kept.dtype == whole.dtype
            if kept is not None and same and name in self._own:
                kept.copy_from(whole)  # of an earlier run
            else:
                self._buffers[name] = to_device(whole, backend=self._backend)
                self._own.add(name)
            return array.size
        require_owner(held, self._backend)
        if held.dtype != STORAGE[element] and not (
            element is DataType.BF16 and held.dtype.name == "bfloat16"
        ):
            _refuse_dtype(name, element, held.dtype, None)
        if element is DataType.Bytes and held.size % 4:
            self._buffers[name] = filled_up(held, self._backend)
            self._own.discard(name)
            return held.size
        if held.memory.span[1] % _WIDEST:  # a part of an array, where no load of four words may begin
            self._buffers[name] = to_device(held.numpy(), backend=self._backend)
            self._own.add(name)
            return held.size
        self._claims[name] = held.held()[0]
        self._buffers[name] = held
        self._own.discard(name)
        return held.size

    def make(self, name: str, space: Space, *, output: bool) -> None:
        del output
        backend, dtype, length = self._backend, STORAGE[space.element], fixed(space)
        size = length * dtype.itemsize
        if space.written and able(backend, ReservingBackend):
            memory = backend.reserve(size)
        else:
            memory = backend.allocate(size)
        made = DeviceBuffer(backend, memory, dtype, (length,))
        if space.initial:
            start = np.zeros(length, dtype)
            start[: len(space.initial)] = space.initial
            made.copy_from(start)
        self._buffers[name] = made

    def accept(self, name: str, space: Space, value: Any) -> None:
        if not isinstance(value, DeviceBuffer) or value.readonly:
            _refuse_output(name, space)
        if value.dtype != STORAGE[space.element] or value.size != space.length:
            _refuse_output(name, space)
        if any(_overlap(value, held) for held in self._buffers.values() if held.size):
            _refuse_alias(name)
        require_owner(value, self._backend)
        self._claims[name] = value.held()[0]
        self._buffers[name] = value

    def bound(self, what: Bound) -> Any:
        if isinstance(what, SlotPart):
            lanes = LANES.get(what.element, 0)
            return self._buffers[what.buffer].seen_as(STORAGE[what.element], lanes=lanes)
        return self._buffers[what.buffer if isinstance(what, Window) else what]

    def place(self, what: Bound) -> DeviceMemory:
        """All the memory of the buffer behind a binding, however much of it is bound."""
        return self._buffers[what if isinstance(what, str) else what.buffer].memory

    def take(self, name: str) -> NDArray[Any]:
        return self._buffers[name].numpy()

    def result(self, name: str) -> Any:
        return self._buffers[name]

    def word(self, buffer: str, word: int) -> int:
        return int(self.take(buffer)[word])

    def is_empty(self, name: str) -> bool:
        return not self._buffers[name].size

    def hand_over(self, name: str) -> DeviceBuffer:
        """A buffer of the engine's own, which is the caller's from now on."""
        return self._buffers.pop(name)

    def copied(self, name: str) -> DeviceBuffer:
        """A copy of an input, on the device."""
        return to_device(self._buffers[name], backend=self._backend)

    def drop(self, name: str) -> None:
        if self._claims.pop(name, None) is not None:
            del self._buffers[name]


class StagedMemory(EngineMemory):
    """Buffers on a device for arrays of the host: these are copied there once, and the results back."""

    def __init__(self, backend: str | Backend | None) -> None:
        super().__init__(backend)
        self._given: list[NDArray[Any]] = []
        self._outputs: dict[str, NDArray[Any]] = {}
        """Where the caller wants them."""

    def give(self, name: str, element: DataType, value: Any) -> int:
        if isinstance(value, np.ndarray):
            self._given.append(cast("NDArray[Any]", value))
        return super().give(name, element, value)

    def accept(self, name: str, space: Space, value: Any) -> None:
        array = host_output(name, space, value, (*self._given, *self._outputs.values()))
        self.make(name, space, output=True)
        self._outputs[name] = array

    def result(self, name: str) -> NDArray[Any]:
        found, given = self.take(name), self._outputs.get(name)
        if given is None:
            return found
        given[:] = found
        return given


def host_output(name: str, space: Space, value: Any, held: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """An array of the host that is written in place. Raises `DispatchError` for one that does not fit, and
    for one that shares memory with what is `held`."""
    if not isinstance(value, np.ndarray):
        _refuse_output(name, space)
    array = cast("NDArray[Any]", value)
    fits = array.dtype == STORAGE[space.element] and array.shape == (space.length,)
    if not fits or not array.flags.c_contiguous or not array.flags.writeable:
        _refuse_output(name, space)
    if any(np.may_share_memory(array, other) for other in held):
        _refuse_alias(name)
    return array


def _refuse_output(name: str, space: Space) -> NoReturn:
    length = space.length if isinstance(space.length, int) else "as many as will be counted"
    raise DispatchError(
        f"the output {name!r} cannot be written into the array that was given for it.",
        fix=f"pass a writable, contiguous array of {STORAGE[space.element].name} with one dimension and "
        f"{length} elements, on the device if the input is; or leave it out.",
    )


def _overlap(one: DeviceBuffer, other: DeviceBuffer) -> bool:
    (space, first, last), (another, start, end) = one.memory.span, other.memory.span
    return space == another and first < end and start < last


def _refuse_alias(name: str) -> NoReturn:
    raise DispatchError(
        f"the array that was given for the output {name!r} shares memory with an input or another output "
        "and may not be written.",
        fix="pass another array, or leave it out.",
    )


def fixed(space: Space) -> int:
    """The length of a space that is about to be made."""
    assert isinstance(space.length, int)  # the runner has asked the device for a count
    return space.length


def as_array(name: str, element: DataType, value: Any) -> NDArray[Any]:
    """The caller's memory as a flat array of the element type. Raises `DispatchError` for another one."""
    if isinstance(value, np.ndarray):
        array = plain_array(f"the input {name!r}", value)
    else:
        array = np.frombuffer(value, np.uint8) if isinstance(value, (bytes, bytearray)) else np.asarray(value)
    wanted = STORAGE[element]
    if array.dtype.name == "bfloat16" and element is DataType.BF16:
        array = array.view(np.uint16)
    if array.dtype == BOOL and element is DataType.Bool:
        array = array.astype(wanted)
    if array.dtype != wanted:
        _refuse_dtype(name, element, array.dtype, array)
    return np.ascontiguousarray(array).reshape(-1)


def _refuse_dtype(name: str, element: DataType, dtype: np.dtype[Any], array: NDArray[Any] | None) -> NoReturn:
    call = f"vyre.array({name}, {public_name(element)})"
    order = "big-endian " if dtype.byteorder == ">" else ""
    raise DispatchError(
        f"the input {name!r} holds {element.value} and got {order}{dtype.name}.",
        fix=f"convert it on the host with {call}, which refuses values that do not fit."
        if array is None
        else conversion(name, array, element),
    )


def padded(array: NDArray[Any]) -> NDArray[Any]:
    """Bytes, filled up with zeros to whole words; their number is a parameter of the step."""
    missing = -array.size % 4
    return np.concatenate([array, np.zeros(missing, array.dtype)]) if missing else array
