"""What a kernel is once it is translated, and what a call of it is once its arguments are bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.slotted import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.frontend.printing import Prints
    from vyre.frontend.signature import Parameter
    from vyre.ir.op import Op
    from vyre.ir.program import Program


@dataclass(frozen=True, slots=True)
class GridUse:
    """Which places of the grid a kernel asks for: the rank of `vyre.grid`, and whether ids along y or z."""

    grid: int
    beyond_x: bool
    plain: bool
    """Whether no shape, place or count of the grid needs the host: most calls have nothing to settle then."""
    inputs: tuple[str, ...]
    outs: tuple[str, ...]
    prints: bool
    """Whether one more buffer, which is not an output, must not stretch the default grid."""
    follows: tuple[str, ...]
    """Inputs that are read at the invocation's id, in a kernel that writes no output there."""


@dataclass(frozen=True, slots=True)
class Translation:
    """A kernel's program with calls, the ops it needs, and how its scalars are packed."""

    program: Program
    parameters: tuple[Parameter, ...]
    ops: tuple[Op, ...]
    scalars: Mapping[str, tuple[Parameter, ...]]
    """By uniform buffer: the scalars it holds, in order, and among them the numbers that the host settles."""
    asks: GridUse
    prints: Prints | None = None


@dataclass(frozen=True, slots=True)
class Takes:
    """What the calls of a kernel give it, by the names of the parameters that they give arguments for."""

    names: tuple[str, ...]
    inputs: tuple[str, ...]
    """In and InOut, whose longest says how long an Out is that has no length of its own."""
    outs: tuple[str, ...]
    counted: tuple[str, ...]
    """Of the outs, those with a length of their own."""
    scalars: tuple[str, ...]
    plain: bool
    """As in `GridUse`."""
    prints: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """Arrays by buffer name, and lengths of the outputs that were left out: numbers, or the inputs of which
    the longest says it."""

    buffers: Mapping[str, Any]
    lengths: Mapping[str, int | tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    """Of outputs that the call makes, where they have more than one dimension."""
    workgroups: Any
    extent: tuple[int, ...] = ()
    """As in `Settled`."""
