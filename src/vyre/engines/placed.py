"""The launches of a plan as a row of addresses sees them: all but where the buffers lie is settled before.

Kernels are told where their buffers are, and nothing else of a call. So a plan for certain lengths is a list
of launches, each with the numbers of its buffers in one row: what the caller has, what is made for the call,
and behind that the parameters, which stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Protocol

from vyre.backends.claim import Claim
from vyre.engines.plan import SlotPart, Window
from vyre.ir.limits import U32_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vyre.backends.dispatch import Compiled
    from vyre.backends.protocol import ResidentBackend
    from vyre.engines.plan import Bound

    Run = Callable[[Sequence[int]], None]
    Pick = Callable[[Sequence[int]], Sequence[int]]


class Placed(Protocol):
    """A compiled step of a plan, as `vyre.engines.run` has it."""

    @property
    def compiled(self) -> Compiled: ...

    @property
    def bindings(self) -> Mapping[str, Bound]: ...

    @property
    def params(self) -> bytes | None: ...

    @property
    def grid(self) -> tuple[int, int, int]: ...


@dataclass(frozen=True, slots=True)
class PlacedSteps:
    """Launches that want nothing but addresses, in any thread."""

    launches: tuple[tuple[Run, Pick], ...]
    params: list[int]
    kept: tuple[Claim, ...]
    """The memory of the parameters."""

    def run(self, places: list[int]) -> None:
        """Launches every step on buffers at these addresses, in the order of those that it was made of."""
        row = places + self.params
        for launch, pick in self.launches:
            launch(pick(row))


def placed_steps(
    steps: Sequence[Placed], sizes: Mapping[str, int], backend: ResidentBackend
) -> PlacedSteps | None:
    """The launches of steps on buffers of so many bytes; None where one cannot go by addresses alone."""
    numbers = {name: k for k, name in enumerate(sizes)}
    launches: list[tuple[Run, Pick]] = []
    params: list[int] = []
    kept: list[Claim] = []
    for step in steps:
        row: list[int] = []
        lengths: list[int] = []
        for decl in step.compiled.program.buffers:
            if not decl.access.bound:
                continue
            what = step.bindings.get(decl.name)
            if what is None:
                assert step.params is not None
                memory = backend.borrow(memoryview(step.params))
                kept.append(Claim(memory))
                row.append(len(sizes) + len(params))
                params.append(memory.span[1])
                size = memory.nbytes
            else:
                name = what.buffer if isinstance(what, Window | SlotPart) else what
                row.append(numbers[name])
                part = isinstance(what, SlotPart)
                size = what.length * what.element.stride if part else sizes[name]
            length, rest = divmod(size, decl.element.stride)
            if rest or length > U32_MAX:
                return None  # which a dispatch refuses by name
            lengths.append(length)
        run = step.compiled.at(tuple(lengths), step.grid)
        if run is None:
            return None
        launches.append((run, _picking(row)))
    return PlacedSteps(tuple(launches), params, tuple(kept))


def _picking(numbers: Sequence[int]) -> Pick:
    pick: Any = itemgetter(*numbers)
    return pick if len(numbers) > 1 else lambda row: (pick(row),)
