"""The observer of a run with `detect=True`: it sees every access to memory and writes the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.ir.buffers import BufferAccess
from vyre.ir.operators import AtomicOp
from vyre.reference.atomics import AtomicEvent, History
from vyre.reference.findings import (
    Access,
    AccessKind,
    DivergentBarrier,
    OutOfBounds,
    Report,
    SpentLoop,
    UninitialisedRead,
)
from vyre.reference.races import Location, RaceDetector

if TYPE_CHECKING:
    from vyre.ir.program import Program
    from vyre.reference.code import Place
    from vyre.reference.invocations import Invocation
    from vyre.reference.memory import Buffer


class _OpenHistory:
    __slots__ = ("buffer", "events", "initial")

    def __init__(self, buffer: Buffer, initial: int) -> None:
        self.buffer = buffer
        self.initial = initial
        self.events: list[AtomicEvent] = []


class Observer:
    def __init__(self, program: Program, extent: tuple[int, ...] | None = None) -> None:
        self._decls = program.buffers
        self._size = program.workgroup_size
        self._extent = extent
        self._detector = RaceDetector()
        self._places: dict[Place, str] = {}
        self._written: set[Location] = set()
        self._uninitialised: dict[tuple[str, Place], UninitialisedRead] = {}
        self._out_of_bounds: dict[tuple[str, Place, AccessKind], OutOfBounds] = {}
        self._spent: dict[str, SpentLoop] = {}
        self._divergent: dict[tuple[str, str], DivergentBarrier] = {}
        self._open: dict[Location, _OpenHistory] = {}
        self._histories: list[History] = []

    def read(self, invocation: Invocation, slot: int, index: int, place: Place) -> None:
        location = self._locate(AccessKind.Read, invocation, slot, index, place)
        if location is not None:
            self._need_written(AccessKind.Read, location, invocation, place)
            if self._decls[slot].access.writable:
                self._race(AccessKind.Read, location, invocation, place)

    def write(self, invocation: Invocation, slot: int, index: int, place: Place) -> None:
        """Called before the store, so that the value left by earlier atomics can still be seen."""
        location = self._locate(AccessKind.Write, invocation, slot, index, place)
        if location is not None:
            self._race(AccessKind.Write, location, invocation, place)
            if location.workgroup is not None:
                self._written.add(location)
            if location in self._open:
                self._close(location)

    def update(self, invocation: Invocation, slot: int, index: int, place: Place, event: AtomicEvent) -> None:
        location = self._locate(AccessKind.Atomic, invocation, slot, index, place)
        if location is not None:
            if event.op is not AtomicOp.Exchange:  # which is a store to whoever drops what was there
                self._need_written(AccessKind.Atomic, location, invocation, place)
            if location.workgroup is not None:
                self._written.add(location)
            self._race(AccessKind.Atomic, location, invocation, place)
            if location not in self._open:
                self._open[location] = _OpenHistory(invocation.buffers[slot], event.before)
            self._open[location].events.append(event)

    def spent(self, invocation: Invocation, place: Place) -> None:
        path = self.path(place)
        self._spent.setdefault(path, SpentLoop(path, invocation.ref))

    def ended(self, invocation: Invocation) -> None:
        self._detector.ended(invocation.ref, invocation.group.epoch)

    def met(self, waiting: Invocation, barrier: Place, returned: Invocation, place: Place) -> None:
        key = (self.path(barrier), self.path(place))
        self._divergent.setdefault(key, DivergentBarrier(key[0], waiting.ref, key[1], returned.ref))

    def report(self) -> Report:
        for location in list(self._open):
            self._close(location)
        return Report(
            tuple(self._detector.races),
            tuple(self._uninitialised.values()),
            tuple(self._out_of_bounds.values()),
            tuple(self._divergent.values()),
            tuple(self._histories),
            tuple(self._spent.values()),
        )

    def path(self, place: Place) -> str:
        if place not in self._places:
            self._places[place] = str(place)
        return self._places[place]

    def _locate(
        self, kind: AccessKind, invocation: Invocation, slot: int, index: int, place: Place
    ) -> Location | None:
        """The element, or None where there is nothing more to find out about it."""
        decl = self._decls[slot]
        length = invocation.buffers[slot].length
        if index >= length:
            if not self._fills_up(invocation) and (decl.name, place, kind) not in self._out_of_bounds:
                access = Access(kind, self.path(place), invocation.ref)
                self._out_of_bounds[decl.name, place, kind] = OutOfBounds(decl.name, index, length, access)
            return None
        if decl.access is BufferAccess.Private:
            return None  # nobody else sees it, and it is zero when the invocation starts
        return Location(decl.name, invocation.ref.workgroup if decl.access.shared else None, index)

    def _fills_up(self, invocation: Invocation) -> bool:
        """Whether it is there because workgroups are whole, and not for an element."""
        if self._extent is None:
            return False
        group, local = invocation.ref
        ids = (g * s + i for g, s, i in zip(group, self._size, local, strict=True))
        return any(i >= n for i, n in zip(ids, self._extent, strict=False))

    def _race(self, kind: AccessKind, location: Location, invocation: Invocation, place: Place) -> None:
        self._detector.access(kind, location, invocation.ref, invocation.group.epoch, place)

    def _need_written(
        self, kind: AccessKind, location: Location, invocation: Invocation, place: Place
    ) -> None:
        if location.workgroup is None or location in self._written:
            return
        if (location.buffer, place) not in self._uninitialised:
            access = Access(kind, self.path(place), invocation.ref)
            self._uninitialised[location.buffer, place] = UninitialisedRead(
                location.buffer, location.element, access
            )

    def _close(self, location: Location) -> None:
        kept = self._open.pop(location)
        final = kept.buffer.load(location.element)
        self._histories.append(
            History(
                kept.initial,
                final,
                tuple(kept.events),
                location.buffer,
                location.element,
                location.workgroup,
            )
        )
