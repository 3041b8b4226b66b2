"""What a kernel is once it is translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Whether one more buffer, which is no output, must not stretch the default grid."""


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
