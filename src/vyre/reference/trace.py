"""The statements that one invocation ran, each with the value it made, in the order in which they ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vyre.ir.types import DataType
    from vyre.reference.code import Place
    from vyre.reference.invocations import Invocation, InvocationRef

    Teller = Callable[[Invocation, Sequence[int]], None]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One statement that ran. `kind` is let, assign, store, if or loop; `bits` are of the value it made, was
    decided by or counted; `index` is the element of a store."""

    kind: str
    name: str
    place: str
    type: DataType
    bits: int
    index: int | None = None


class Tracer:
    """Collects the steps of one invocation, the first `limit` of them; `left_out` counts the others."""

    def __init__(self, wanted: InvocationRef, limit: int) -> None:
        self.steps: list[TraceStep] = []
        self.left_out = 0
        self._wanted = wanted
        self._limit = limit

    def teller(self, kind: str, name: str, place: Place, type_: DataType) -> Teller:
        """What an instruction calls with what a statement made: its value, and the index of a store."""

        def tell(invocation: Invocation, values: Sequence[int]) -> None:
            if invocation.ref != self._wanted:
                return
            if len(self.steps) >= self._limit:
                self.left_out += 1
                return
            index = values[1] if len(values) > 1 else None
            self.steps.append(TraceStep(kind, name, str(place), type_, values[0], index))

        return tell
