"""Data races by happens-before (decision 13), whatever order the invocations happened to run in.

Two accesses are ordered when one invocation makes both, or when a barrier of their workgroup lies
between them. Nothing orders two workgroups. An invocation that returned took part in no later
barrier, so what it did after its last one stays unordered with the others.

Time inside a workgroup is its epoch: the number of barriers it has passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.reference.report import Access, AccessKind, Ids, InvocationRef, Race

if TYPE_CHECKING:
    from vyre.reference.code import Place

MAX_RACES = 100
"""Findings kept; by then the program needs fixing, not counting."""

MAX_RACES_PER_ELEMENT = 8


class Location(NamedTuple):
    """One element; `workgroup` is None for storage, which all workgroups share."""

    buffer: str
    workgroup: Ids | None
    element: int


class _Now(NamedTuple):
    location: Location
    kind: AccessKind
    invocation: InvocationRef
    epoch: int
    place: Place


_Latest = dict[InvocationRef, tuple["Place", int]]


class _Cell:
    """The accesses to one element that a later one may still race with: place and epoch of the last
    of each kind by each invocation."""

    __slots__ = ("atomics", "races", "reads", "writes")

    def __init__(self) -> None:
        self.reads: _Latest = {}
        self.writes: _Latest = {}
        self.atomics: _Latest = {}
        self.races = 0


class RaceDetector:
    def __init__(self) -> None:
        self._cells: dict[Location, _Cell] = {}
        self._ended: dict[InvocationRef, int] = {}
        self._told: set[tuple[str, Place, Place, AccessKind, AccessKind]] = set()
        self.races: list[Race] = []

    def ended(self, invocation: InvocationRef, epoch: int) -> None:
        """`invocation` is over; it will meet no barrier after `epoch`."""
        self._ended[invocation] = epoch

    def read(self, location: Location, invocation: InvocationRef, epoch: int, place: Place) -> None:
        cell = self._cell(location)
        by = _Now(location, AccessKind.Read, invocation, epoch, place)
        self._compare(cell, cell.writes, AccessKind.Write, by)
        self._compare(cell, cell.atomics, AccessKind.Atomic, by)
        cell.reads[invocation] = (place, epoch)

    def write(self, location: Location, invocation: InvocationRef, epoch: int, place: Place) -> None:
        cell = self._cell(location)
        by = _Now(location, AccessKind.Write, invocation, epoch, place)
        # What is ordered before this write can be forgotten: whoever races with it later also races
        # with this write.
        cell.reads = self._compare(cell, cell.reads, AccessKind.Read, by)
        cell.writes = self._compare(cell, cell.writes, AccessKind.Write, by)
        cell.atomics = self._compare(cell, cell.atomics, AccessKind.Atomic, by)
        cell.writes[invocation] = (place, epoch)

    def atomic(self, location: Location, invocation: InvocationRef, epoch: int, place: Place) -> None:
        cell = self._cell(location)
        by = _Now(location, AccessKind.Atomic, invocation, epoch, place)
        self._compare(cell, cell.reads, AccessKind.Read, by)
        self._compare(cell, cell.writes, AccessKind.Write, by)
        cell.atomics[invocation] = (place, epoch)

    def _cell(self, location: Location) -> _Cell:
        cell = self._cells.get(location)
        if cell is None:
            cell = self._cells[location] = _Cell()
        return cell

    def _compare(self, cell: _Cell, earlier: _Latest, kind: AccessKind, now: _Now) -> _Latest:
        """Tells of every race with `earlier` accesses, and gives back those that are unordered."""
        unordered: _Latest = {}
        if cell.races >= MAX_RACES_PER_ELEMENT:
            return unordered
        for invocation, (place, epoch) in earlier.items():
            if not self._ordered(invocation, epoch, now):
                unordered[invocation] = (place, epoch)
                cell.races += 1
                self._tell(now, kind, invocation, place)
        return unordered

    def _ordered(self, invocation: InvocationRef, epoch: int, now: _Now) -> bool:
        if invocation == now.invocation:
            return True
        if invocation.workgroup != now.invocation.workgroup:
            return False
        return epoch < now.epoch and self._ended.get(invocation) != epoch

    def _tell(self, now: _Now, kind: AccessKind, invocation: InvocationRef, place: Place) -> None:
        key = (now.location.buffer, place, now.place, kind, now.kind)
        if key not in self._told and len(self.races) < MAX_RACES:
            self._told.add(key)
            first = Access(kind, str(place), invocation)
            second = Access(now.kind, str(now.place), now.invocation)
            self.races.append(Race(now.location.buffer, now.location.element, first, second))
