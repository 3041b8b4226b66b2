"""`kernel.trace`: what each statement of one invocation made, line by line.

print(kernel.trace(a, b, invocation=5))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.errors import DispatchError, counted
from vyre.reference import InvocationRef, Tracer
from vyre.validate.paths import locate
from vyre.watch.values import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.errors import SourceLocation
    from vyre.ir.program import Program
    from vyre.reference import TraceStep
    from vyre.watch.watcher import Watcher

DEFAULT_STEPS = 1000


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A statement that ran, its line where that is known, and its value as a person writes it."""

    step: TraceStep
    location: SourceLocation | None
    value: str

    def __str__(self) -> str:
        where = f"{self.location.line:>5}  {self.location.text.strip()}" if self.location else self.step.place
        match self.step.kind:
            case "store":
                made = f"{self.step.name}[{self.step.index}] = {self.value}"
            case "if":
                made = "true" if self.value not in ("0", "False") else "false"
            case _:
                made = f"{self.step.name} = {self.value}"
        return f"{where:<60}  {made}"


@dataclass(frozen=True, slots=True)
class KernelTrace:
    """The statements of one invocation in the order in which they ran; `left_out` ran after the last one."""

    subject: str
    invocation: tuple[int, int, int]
    lines: tuple[TraceLine, ...]
    left_out: int

    def __str__(self) -> str:
        head = f"{self.subject}, invocation {self.invocation}: {counted(len(self.lines), 'statement')}"
        more = [f"… and {self.left_out:,} more (steps=… shows them)"] if self.left_out else []
        return "\n".join([head, *(str(line) for line in self.lines), *more])


def invocation_of(given: int | Sequence[int]) -> tuple[int, int, int]:
    """An invocation id of three numbers from what a caller writes."""
    parts = (given,) if isinstance(given, int) else tuple(given)
    if not 1 <= len(parts) <= 3 or not all(type(n) is int and n >= 0 for n in parts):
        raise DispatchError(
            f"Invalid invocation {given!r}.", fix="write an id such as invocation=5 or invocation=(5, 2)."
        )
    x, y, z = (*parts, 0, 0)[:3]
    return x, y, z


def tracer_of(invocation: tuple[int, int, int], steps: int) -> Callable[[Program], Tracer]:
    """Makes the tracer of a program, whose workgroup size says where the invocation stands."""

    def made(program: Program) -> Tracer:
        pairs = tuple(divmod(n, size) for n, size in zip(invocation, program.workgroup_size, strict=True))
        (a, x), (b, y), (c, z) = pairs
        return Tracer(InvocationRef((a, b, c), (x, y, z)), steps)

    return made


def trace_of(subject: str, invocation: tuple[int, int, int], watcher: Watcher) -> KernelTrace:
    """The trace of a watched run."""
    if watcher.seen is None or watcher.tracer is None:
        return KernelTrace(subject, invocation, (), 0)
    locations = watcher.seen.program.locations
    longest = max(map(len, locations), default=-1)
    lines = tuple(
        TraceLine(step, locate(step.place, locations, longest), shown(step.type, step.bits))
        for step in watcher.tracer.steps
    )
    return KernelTrace(subject, invocation, lines, watcher.tracer.left_out)
