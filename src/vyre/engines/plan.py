"""What an engine is made of: dispatches over named buffers, all of it known from the lengths of the inputs.

A plan never looks at data. Where a size does, the plan says which word of which buffer will hold it, and how
large it may become (`Count`): the device counts, then it fills. Where a number of turns does, the plan says
which word asks for another one, and how many there may be (`Repeated`). So an engine ends within a bound that
follows from lengths alone whenever its programs do, and one plan serves all contents.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vyre.ir.program import Program
    from vyre.ir.signature import Convention
    from vyre.ir.types import DataType

LARGEST_GROUP = 1024


@dataclass(frozen=True, slots=True)
class Shape:
    """How the work is cut into workgroups; no result depends on it.

    `lanes` invocations make a workgroup, each takes `items` elements at a time, `turns` times (0: as
    many as suit the length); the grid is folded onto y after `row` workgroups; `reverse` hands the
    last part of the work to the first workgroup; `banks` leaves gaps in workgroup memory, so that
    neighbours in a column lie in different banks.
    """

    lanes: int = 256
    items: int = 8
    turns: int = 0
    row: int = 4096
    reverse: bool = False
    banks: bool = True

    def __post_init__(self) -> None:
        powers = (self.lanes, self.items, self.turns or 1)
        sound = all(isinstance(n, int) for n in (*powers, self.row)) and all(map(_is_power, powers))  # pyright: ignore[reportUnnecessaryIsInstance]
        if not sound or self.lanes > LARGEST_GROUP or not 1 <= self.row <= 0xFFFF:
            raise VyreError(
                f"{self} does not cut work into workgroups.",
                fix="use powers of two for lanes (up to 1024), items and turns, and a row of 1 to 65535.",
            )


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


@dataclass(frozen=True, slots=True)
class Count:
    """A number that steps leave in word `word` of a buffer of U32, and that is at most `most`."""

    buffer: str
    most: int
    word: int = 0


@dataclass(frozen=True, slots=True)
class Covering:
    """As many workgroups of `each` elements as cover a count."""

    count: Count
    each: int


@dataclass(frozen=True, slots=True)
class Space:
    """A buffer that the engine makes; `initial` words are in it before the first step, else zeros.

    Where `written` is set the steps write all of it before they read any, so that it may hold anything.
    A buffer whose length is a `Count` is made when the first step that binds it is due; a step that binds one
    of no elements is not run.
    """

    element: DataType
    length: int | Count
    initial: tuple[int, ...] = ()
    written: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """Elements `start` to `stop - 1` of an engine's buffer: all that a step may read of it.

    A step has one at most. Its program is told where they start and end in what is bound, which is
    the whole buffer or those elements alone: words 6 and 7 of its parameters.
    """

    buffer: str
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class SlotPart:
    """The first `length` elements of an engine's buffer, seen as elements of another type."""

    buffer: str
    element: DataType
    length: int


Bound = str | Window | SlotPart
"""What a buffer of a program is bound to: a buffer of the engine, or a part of one."""


@dataclass(frozen=True, slots=True)
class Step:
    """A dispatch of `groups` workgroups: which engine buffer each program buffer is, and its parameters.

    `params` fill the uniform buffer `params`, where the program has one; the runner puts the number of
    groups in front.
    """

    program: Program
    groups: int | Covering
    bindings: Mapping[str, Bound]
    params: tuple[int, ...] = ()
    convention: Convention | None = None
    """What the step asks of the backend; None takes what its program keeps."""
    grid: tuple[int, int, int] | None = None
    """The grid of a program that does not fold one itself."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Steps that are run while word 0 of the buffer `flag` is set, which is asked before each turn.

    A run in which it is still set after `most` turns has failed.
    """

    steps: tuple[Step, ...]
    flag: str
    most: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is run for inputs of certain lengths."""

    outputs: Mapping[str, Space]
    steps: tuple[Step | Repeated, ...]
    scratch: Mapping[str, Space] = field(default_factory=dict[str, Space])

    @property
    def dispatches(self) -> tuple[tuple[Step, int], ...]:
        """Every step with the most turns that it may take."""
        found: list[tuple[Step, int]] = []
        for step in self.steps:
            inner, turns = (step.steps, step.most) if isinstance(step, Repeated) else ((step,), 1)
            found += [(one, turns) for one in inner]
        return tuple(found)

    @property
    def invocations(self) -> int:
        """The most that all dispatches together may have."""
        return sum(
            turns * most_groups(step) * step.program.workgroup_size[0] for step, turns in self.dispatches
        )


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """A host-side program of dispatches. `plan(lengths)` takes elements per input; of Bytes, bytes.

    One object is one engine: what runs it remembers the plans that it made.
    """

    name: str
    inputs: Mapping[str, DataType]
    plan: Callable[[Mapping[str, int]], Plan]
    shape: Shape


def most_groups(step: Step) -> int:
    """The largest number of workgroups that a step may have."""
    match step.groups:
        case Covering(count=count, each=each):
            return groups_for(count.most, each)
        case groups:
            return groups


def groups_for(count: int, each: int) -> int:
    """Workgroups that cover `count` elements."""
    return -(-count // each)
