"""Runs of an engine that gives a few elements, with all but the launches made before.

What such a run takes follows from the sizes of its inputs: the launches, the scratch memory, and an output in
memory that the device writes and the host reads where it lies. A run puts the addresses of the inputs into
the arguments, launches, waits once and copies the output. What a run needs is its own while it lasts, in
whatever thread, and is there for the next one then. Everything else goes the way of `vyre.engines.run`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from vyre.backends.claim import Claim
from vyre.backends.device_buffer import DeviceBuffer, resident
from vyre.backends.protocol import ReservingBackend, able
from vyre.backends.recording import current
from vyre.backends.storage import STORAGE
from vyre.engines.placed import placed_steps
from vyre.errors import DispatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from vyre.backends.protocol import Backend, DeviceMemory
    from vyre.engines.placed import Placed, PlacedSteps
    from vyre.engines.plan import Plan
    from vyre.ir.types import DataType

    Schedule = Callable[[Mapping[str, int]], tuple[Plan, Sequence[Placed]] | None]

MOST_BYTES = 1 << 14
"""Of scratch memory, which stays with the engine."""

_MOST_VISIBLE = 256
_MOST_SIZES = 64


@runtime_checkable
class LocatingBackend(ReservingBackend, Protocol):
    """Optional: a backend that says where arrays lie which it can use as they are."""

    def located(self, value: Any) -> tuple[int, int, np.dtype[Any], object] | None:
        """Address, bytes and dtype of an array of another library that a launch may read, and what keeps it
        there; None for any other."""
        ...

    def fresh(
        self, kind: type, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> Callable[[], tuple[Any, int] | None] | None:
        """What makes arrays that hold anything, of a class of arrays that are located, and says where each
        lies, or gives None for want of memory; None where it cannot make such arrays."""
        ...

    def visible(self, nbytes: int) -> tuple[DeviceMemory, NDArray[np.uint8]]:
        """Memory that the device can write, and the same bytes on the host, which lie there after `wait`."""
        ...

    def wait(self) -> None:
        """Returns when everything that was launched is done."""
        ...


@dataclass(slots=True)
class _Workspace:
    """All that one run at a time needs: its launches, and where its own buffers lie."""

    output: NDArray[Any]
    places: list[int]
    kept: list[Claim]
    steps: PlacedSteps


class ShortRun:
    """The runs of one engine. `schedule` gives the plan for inputs of so many elements, and its launches, or
    None where it has more than those."""

    __slots__ = ("_asked", "_backend", "_idle", "_schedule")

    def __init__(self, backend: LocatingBackend, inputs: Mapping[str, DataType], schedule: Schedule) -> None:
        self._backend = backend
        self._asked = tuple((name, STORAGE[element]) for name, element in inputs.items())
        self._schedule = schedule
        self._idle: dict[tuple[int, ...], list[_Workspace] | None] = {}
        """By the bytes of the inputs; None where they are not for this."""

    def __call__(self, inputs: Mapping[str, Any]) -> NDArray[Any] | None:
        """The output; None, with nothing done, for a run that is not for this."""
        if current.get() is not None:
            return None
        backend = self._backend
        places: list[int] = []
        sizes: list[int] = []
        held: list[object] = []
        for name, wanted in self._asked:
            value = inputs[name]
            if type(value) is DeviceBuffer:
                if value._owner is not backend or value.closed:
                    return None
                claim, memory = value.held()
                place, size, dtype, keeper = memory.span[1], memory.nbytes, value.dtype, claim
            else:
                found = backend.located(value)
                if found is None:
                    return None
                place, size, dtype, keeper = found
            if dtype is not wanted or place & (min(4, dtype.itemsize) - 1):
                return None
            places.append(place)
            sizes.append(size)
            held.append(keeper)
        key = tuple(sizes)
        idle = self._idle.get(key)
        if idle is None:
            if key not in self._idle:
                self._note(key)
            return None
        try:
            workspace = idle.pop()
        except IndexError:
            made = self._workspace(sizes)
            if made is None:
                self._idle[key] = None
                return None
            workspace = made
        workspace.steps.run(places + workspace.places)
        backend.wait()
        result = workspace.output.copy()
        idle.append(workspace)
        return result

    def _note(self, key: tuple[int, ...]) -> None:
        """Sizes that do not come again have nothing made for them."""
        if len(self._idle) >= _MOST_SIZES:
            self._idle = {}
        self._idle[key] = []

    def _workspace(self, sizes: Sequence[int]) -> _Workspace | None:
        """None where the plan is not one of launches alone, or takes more memory than may stay here."""
        asked = zip(sizes, self._asked, strict=True)
        found = self._schedule({name: size // dtype.itemsize for size, (name, dtype) in asked})
        if found is None:
            return None
        plan, steps = found
        spaces = {**plan.scratch, **plan.outputs}
        if [*plan.outputs] != ["output"] or not all(s.written and not s.initial for s in spaces.values()):
            return None
        room: dict[str, int] = {}
        for name, space in spaces.items():
            if not isinstance(space.length, int):
                return None
            room[name] = space.length * STORAGE[space.element].itemsize
        if room["output"] > _MOST_VISIBLE or sum(room.values()) > MOST_BYTES:
            return None
        given = {name: size for size, (name, _) in zip(sizes, self._asked, strict=True)}
        launched = placed_steps(steps, given | room, self._backend)
        if launched is None:
            return None
        visible, seen = self._backend.visible(room["output"])
        own = [visible if name == "output" else self._backend.allocate(room[name]) for name in room]
        output = seen.view(STORAGE[spaces["output"].element])
        return _Workspace(output, [m.span[1] for m in own], [Claim(m) for m in own], launched)


def short_run(
    backend: str | Backend | None, inputs: Mapping[str, DataType], schedule: Schedule
) -> ShortRun | None:
    """The short way of an engine on a backend; None where it has none."""
    try:
        found = resident(backend)
    except DispatchError:  # it keeps no memory
        return None
    return ShortRun(found, inputs, schedule) if able(found, LocatingBackend) else None
