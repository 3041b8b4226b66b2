"""What the interpreter executes: a flat list of instructions over registers.

Registers hold bits as Python ints. Only `Read`, `Write`, `Update` and `Reduce` touch memory, so
these four are where a schedule may interleave invocations and where the detectors look. At `Meet` and
`Exchange` an invocation waits for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.ir.operators import AtomicOp


class Place:
    """The path of a statement, spelled out only when a report needs it.

    Paths of deeply nested statements are long; a parent link keeps the code linear in the program.
    """

    __slots__ = ("label", "parent")

    def __init__(self, label: str, parent: Place | None = None) -> None:
        self.label = label
        self.parent = parent

    def __str__(self) -> str:
        labels: list[str] = []
        place: Place | None = self
        while place is not None:
            labels.append(place.label)
            place = place.parent
        return ".".join(reversed(labels))


@dataclass(frozen=True, slots=True)
class Compute:
    dest: int
    function: Callable[..., int]
    operands: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Read:
    dest: int
    buffer: int
    index: int
    place: Place | None
    """None for a read that no statement makes, of which nobody is told."""
    chosen: tuple[tuple[int, bool], ...] = ()
    """Registers, each with whether it must be true for the value to matter."""


@dataclass(frozen=True, slots=True)
class Write:
    buffer: int
    index: int
    value: int
    place: Place


@dataclass(frozen=True, slots=True)
class Update:
    """An atomic read-modify-write; `dest` gets the value before."""

    dest: int
    op: AtomicOp
    buffer: int
    index: int
    value: int
    expected: int | None
    place: Place


@dataclass(frozen=True, slots=True)
class Reduce:
    """`fold` over the elements `start..stop`; each element costs one step."""

    dest: int
    fold: Callable[[list[int]], int]
    buffer: int
    start: int
    stop: int
    place: Place


@dataclass(frozen=True, slots=True)
class Note:
    """Tells a tracer, by invocation and values, what these registers hold; it changes nothing."""

    tell: Callable[..., None]
    registers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spent:
    """Says that a loop with a bound took all its turns; it changes nothing."""

    place: Place


@dataclass(frozen=True, slots=True)
class Jump:
    target: int


@dataclass(frozen=True, slots=True)
class JumpIfZero:
    condition: int
    target: int


@dataclass(frozen=True, slots=True)
class LoopEnter:
    """Jumps to `exit` unless `counter < stop`."""

    counter: int
    stop: int
    exit: int


@dataclass(frozen=True, slots=True)
class LoopNext:
    """Counts up, then jumps back to `body` while `counter < stop`."""

    counter: int
    stop: int
    body: int


@dataclass(frozen=True, slots=True)
class Meet:
    """A barrier. `loops` are the (counter, start) registers of the loops around it: together with
    the place they tell one execution of the statement from the next."""

    loops: tuple[tuple[int, int], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Exchange:
    """A subgroup instruction: `function` gives the results of all `lanes` from their operands. `loops`
    are those of `Meet`."""

    dest: int
    function: Callable[[list[tuple[int, ...]]], list[int]]
    operands: tuple[int, ...]
    lanes: int
    loops: tuple[tuple[int, int], ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Leave:
    """The end of an invocation: a `Return`, or the last statement when `place` is None."""

    place: Place | None


MemoryInstruction = Read | Write | Update | Reduce
StopInstruction = Meet | Exchange | Leave
StraightInstruction = Compute | Note | Spent | MemoryInstruction
JumpInstruction = Jump | JumpIfZero | LoopEnter | LoopNext
Instruction = StraightInstruction | JumpInstruction | StopInstruction


@dataclass(frozen=True, slots=True)
class IdRegister:
    """A register that starts out as an id of the invocation along `axis`."""

    register: int
    kind: str
    axis: int


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled program. `registers` are the initial values, constants in place."""

    instructions: tuple[Instruction, ...]
    registers: tuple[int, ...]
    ids: tuple[IdRegister, ...]
