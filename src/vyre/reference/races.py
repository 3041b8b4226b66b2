"""Data races by happens-before (decision 13), whatever order the invocations happened to run in.

Two accesses are ordered when one invocation makes both, or when a barrier of their workgroup lies
between them. Nothing orders two workgroups. An invocation that returned took part in no later
barrier, so what it did after its last one stays unordered with the others.

Time inside a workgroup is its epoch: the number of barriers it has passed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vyre.reference.findings import Access, AccessKind, Race

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.reference.code import Place
    from vyre.reference.invocations import Ids, InvocationRef

MAX_RACES = 100
"""Findings kept; by then the program needs fixing, not counting."""

MAX_RACES_PER_ELEMENT = 8


_CONFLICTS: Mapping[AccessKind, tuple[AccessKind, ...]] = {
    AccessKind.Read: (AccessKind.Write, AccessKind.Atomic),
    AccessKind.Write: (AccessKind.Read, AccessKind.Write, AccessKind.Atomic),
    AccessKind.Atomic: (AccessKind.Read, AccessKind.Write),
}


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


class _Latest:
    """The last accesses of one kind to one element: of each workgroup those of its latest epoch.

    Whoever races with an earlier epoch also races with the latest, unless the earlier access was made
    by an invocation that returned: these are kept apart.
    """

    __slots__ = ("groups", "orphans")

    def __init__(self) -> None:
        self.groups: dict[Ids, tuple[int, dict[InvocationRef, Place]]] = {}
        self.orphans: dict[InvocationRef, Place] = {}


class _Cell:
    """What a later access to one element may still race with."""

    __slots__ = ("latest", "races")

    def __init__(self) -> None:
        self.latest = {kind: _Latest() for kind in AccessKind}
        self.races = 0


class RaceDetector:
    def __init__(self) -> None:
        self._cells: dict[Location, _Cell] = {}
        self._ended: dict[tuple[Ids, int], set[InvocationRef]] = {}
        self._told: set[tuple[str, Place, Place, AccessKind, AccessKind]] = set()
        self.races: list[Race] = []

    def ended(self, invocation: InvocationRef, epoch: int) -> None:
        """`invocation` is over; it will meet no barrier after `epoch`."""
        self._ended.setdefault((invocation.workgroup, epoch), set()).add(invocation)

    def access(
        self, kind: AccessKind, location: Location, invocation: InvocationRef, epoch: int, place: Place
    ) -> None:
        cell = self._cells.get(location)
        if cell is None:
            cell = self._cells[location] = _Cell()
        if cell.races < MAX_RACES_PER_ELEMENT:
            now = _Now(location, kind, invocation, epoch, place)
            for other in _CONFLICTS[kind]:
                self._compare(cell, other, now)
            if kind is AccessKind.Write:
                # What came before is ordered, so that this write covers it, or the race is told.
                cell.latest = {kind: _Latest() for kind in AccessKind}
            self._note(cell.latest[kind], now)

    def _note(self, latest: _Latest, now: _Now) -> None:
        workgroup = now.invocation.workgroup
        epoch, known = latest.groups.get(workgroup, (now.epoch, {}))
        if epoch < now.epoch:
            latest.orphans |= self._orphans(workgroup, epoch, known)
            known = {}
        known[now.invocation] = now.place
        latest.groups[workgroup] = (now.epoch, known)

    def _compare(self, cell: _Cell, kind: AccessKind, now: _Now) -> None:
        latest = cell.latest[kind]
        suspects = [latest.orphans] if latest.orphans else []
        for workgroup, (epoch, known) in latest.groups.items():
            if workgroup == now.invocation.workgroup and epoch < now.epoch:
                suspects.append(self._orphans(workgroup, epoch, known))
            else:
                suspects.append(known)
        for accesses in suspects:
            for invocation, place in accesses.items():
                if invocation != now.invocation:
                    cell.races += 1
                    self._tell(now, kind, invocation, place)
                    if cell.races >= MAX_RACES_PER_ELEMENT:
                        return

    def _orphans(
        self, workgroup: Ids, epoch: int, known: dict[InvocationRef, Place]
    ) -> dict[InvocationRef, Place]:
        """Those of an earlier epoch that no barrier ordered, because their invocation was over."""
        ended = self._ended.get((workgroup, epoch))
        return {i: place for i, place in known.items() if i in ended} if ended else {}

    def _tell(self, now: _Now, kind: AccessKind, invocation: InvocationRef, place: Place) -> None:
        key = (now.location.buffer, place, now.place, kind, now.kind)
        if key not in self._told and len(self.races) < MAX_RACES:
            self._told.add(key)
            first = Access(kind, str(place), invocation)
            second = Access(now.kind, str(now.place), now.invocation)
            self.races.append(Race(now.location.buffer, now.location.element, first, second))
