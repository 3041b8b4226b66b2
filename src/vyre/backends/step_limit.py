"""`step_limit=`: an end for loops that would run for days.

A step is one turn of a loop: each time an invocation begins the body of a `Loop`, whichever loop it is, it
has taken one step more. An invocation may take `step_limit` of them; the first that begins another ends the
run in `StepLimitExceeded`. Steps are counted for every invocation by itself, in the program as it was
validated and inlined, so the verdict depends neither on threads nor on what an optimiser makes of a loop:
the reference interpreter and `cpu` give the same one, unless the program itself has a race.

What was written to buffers in place until then stays written. Backends whose work cannot be stopped refuse
the argument by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vyre.backends.protocol import LimitedExecutable
from vyre.errors import DispatchError, UnsupportedByBackend
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.backends.protocol import Executable
    from vyre.ir.grid import Grid


class Limited:
    """An executable whose runs are counted. Raises before anything runs where that cannot be had."""

    __slots__ = ("_executable", "_limit")

    def __init__(self, executable: Executable, backend: str, step_limit: Any) -> None:
        self._limit = step_limit_of(step_limit)
        if not isinstance(executable, LimitedExecutable):
            raise UnsupportedByBackend(
                "step_limit=",
                backend,
                why="it cannot count the turns of its loops",
                fix="run the program on 'cpu' or 'reference', or leave step_limit out.",
            )
        self._executable = executable

    def run(self, buffers: Mapping[str, memoryview], workgroups: Grid) -> None:
        self._executable.run_limited(buffers, workgroups, self._limit)


def step_limit_of(value: Any) -> int:
    """Raises `DispatchError` for what is not a limit."""
    index = None if isinstance(value, bool) else getattr(value, "__index__", None)
    limit = -1
    if index is not None:
        try:
            limit = int(index())
        except TypeError:  # an array of several numbers has the method and refuses
            limit = -1
    if not 0 <= limit <= U32_MAX:
        raise DispatchError(
            f"step_limit={value!r} is not a number of steps.",
            fix=f"pass a whole number from 0 to {U32_MAX}, or leave step_limit out for no limit.",
        )
    return limit
