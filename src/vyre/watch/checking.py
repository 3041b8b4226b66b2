"""`kernel.check` and `vyre check`: the findings of one run, each with the source lines that it is about.

    report = kernel.check(a, b)
    report.ok            whether the bytes of this run are promised to be the same everywhere
    print(report)        every finding, with its lines and what to do

A run is watched in the reference interpreter, so it must be small. A program whose run has a race is promised
nothing: each backend, and each run on it, may give other bytes. An access beyond the end of a buffer is
defined (a load gives zero, a store does nothing) and is told because it is seldom meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import counted
from vyre.ir.limits import U32_MAX
from vyre.reference.findings import AccessKind
from vyre.validate.paths import locate

if TYPE_CHECKING:
    from vyre.errors import SourceLocation
    from vyre.ir.program import Program
    from vyre.reference import Access, DivergentBarrier, OutOfBounds, Race, SpentLoop, UninitialisedRead
    from vyre.reference.invocations import InvocationRef
    from vyre.watch.watcher import Watched

RACE, UNINITIALISED, BARRIER, BOUNDS = "race", "uninitialised read", "divergent barrier", "out of bounds"
SPENT = "bounded loop"


@dataclass(frozen=True, slots=True)
class CheckPlace:
    """A statement that takes part in a finding: what it did, its path, and its line where that is known."""

    what: str
    path: str
    location: SourceLocation | None

    def __str__(self) -> str:
        if self.location is None:
            return f"  {self.what} at {self.path}"
        line = f"\n      {self.location.text.strip()}" if self.location.text else ""
        return f"  {self.what} at {self.location}{line}"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One thing that was seen. `harmless` findings are defined everywhere; the others void the result."""

    kind: str
    message: str
    places: tuple[CheckPlace, ...]
    fix: str
    harmless: bool = False

    def __str__(self) -> str:
        places = "".join(f"\n{place}" for place in self.places)
        return f"{self.kind}: {self.message}{places}\n  Fix: {self.fix}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a watched run showed; `steps` is how long it was."""

    subject: str
    findings: tuple[CheckFinding, ...]
    steps: int

    @property
    def ok(self) -> bool:
        """True where nothing that was seen lets the result depend on the machine."""
        return all(finding.harmless for finding in self.findings)

    def __str__(self) -> str:
        if not self.findings:
            return f"{self.subject}: no findings in {counted(self.steps, 'step')}."
        found = counted(len(self.findings), "finding")
        head = f"{self.subject}: {found} in {counted(self.steps, 'step')}."
        return "\n".join([head, *(str(finding) for finding in self.findings)])


def report_of(subject: str, seen: Watched | None) -> CheckReport:
    """The report of a watched run; None is one whose grid was empty."""
    if seen is None:
        return CheckReport(subject, (), 0)
    told = _Told(seen.program)
    found = seen.report
    findings = (
        *map(told.race, _once_for_a_pair(found.races)),
        *map(told.uninitialised, found.uninitialised_reads),
        *map(told.barrier, found.divergent_barriers),
        *told.all_bounds(found.out_of_bounds),
        *map(told.spent, found.spent_loops),
    )
    return CheckReport(subject, findings, seen.steps)


def _once_for_a_pair(races: tuple[Race, ...]) -> list[Race]:
    """One race for two statements: `out[0] += x` both reads and writes, which is one mistake."""
    first: dict[tuple[str, frozenset[str]], Race] = {}
    for race in races:
        first.setdefault((race.buffer, frozenset((race.first.place, race.second.place))), race)
    return list(first.values())


_DONE = {
    AccessKind.Read: "read",
    AccessKind.Write: "written",
    AccessKind.Atomic: "changed by an atomic",
}


class _Told:
    """Findings of the reference in a user's words."""

    def __init__(self, program: Program) -> None:
        self._locations = program.locations
        self._longest = max(map(len, program.locations), default=-1)
        self._size = program.workgroup_size

    def race(self, found: Race) -> CheckFinding:
        return CheckFinding(
            RACE,
            f"two invocations use {found.buffer}[{found.element}] with nothing between them, "
            "so which comes first depends on the machine.",
            (self._access(found.first), self._access(found.second)),
            "give each invocation an element of its own, use an atomic such as vyre.atomic_add, "
            "or, within one workgroup, put vyre.barrier() between the two.",
        )

    def uninitialised(self, found: UninitialisedRead) -> CheckFinding:
        return CheckFinding(
            UNINITIALISED,
            f"{found.buffer}[{found.element}] is workgroup memory that nothing had written.",
            (self._access(found.access),),
            f"store to {found.buffer} first, and put vyre.barrier() between the store and this statement.",
        )

    def barrier(self, found: DivergentBarrier) -> CheckFinding:
        return CheckFinding(
            BARRIER,
            "some invocations of a workgroup met at a barrier when another had returned.",
            (
                self._place(f"met by {self._who(found.waiting)}", found.barrier),
                self._place(f"{self._who(found.returned)} returned", found.returned_at),
            ),
            "let every invocation reach the barrier: guard the work instead of returning early.",
        )

    def all_bounds(self, found: tuple[OutOfBounds, ...]) -> list[CheckFinding]:
        """One for each buffer and kind of access in a line: `out[i, 0], out[i, 1] = a, b` is one mistake."""
        first: dict[object, CheckFinding] = {}
        for one in found:
            finding = self.bounds(one)
            place = finding.places[0]
            first.setdefault((one.buffer, one.access.kind, place.location or place.path), finding)
        return list(first.values())

    def bounds(self, found: OutOfBounds) -> CheckFinding:
        hint = " (-1, or a coordinate outside of its shape)" if found.index == U32_MAX else ""
        gave = "gave 0" if found.access.kind is AccessKind.Read else "did nothing"
        return CheckFinding(
            BOUNDS,
            f"{found.buffer} has {found.length} elements, and the access to element {found.index}{hint} "
            f"{gave}.",
            (self._access(found.access),),
            f"guard it with `if index < len({found.buffer}):`, unless that is what you meant.",
            harmless=True,
        )

    def spent(self, found: SpentLoop) -> CheckFinding:
        return CheckFinding(
            SPENT,
            "a loop took all the turns that vyre.bounded gives it, and its condition may still hold.",
            (self._place(f"ended for {self._who(found.invocation)}", found.loop),),
            "give it more turns, unless that is what you meant.",
            harmless=True,
        )

    def _access(self, access: Access) -> CheckPlace:
        return self._place(f"{_DONE[access.kind]} by {self._who(access.invocation)}", access.place)

    def _place(self, what: str, path: str) -> CheckPlace:
        return CheckPlace(what, path, locate(path, self._locations, self._longest))

    def _who(self, ref: InvocationRef) -> str:
        ids = tuple(g * s + i for g, s, i in zip(ref.workgroup, self._size, ref.local, strict=True))
        return f"invocation {ids}"
