"""A row becomes a case: a program, its memory and grid, and the bytes that must be there afterwards.

    case = build(row, seed)
    case.program, case.workgroups, case.memories[0].inputs, case.memories[0].expected

A word `s` flows through every part of the program into every buffer that is written, so that whatever a
backend does wrong on the way shows. The parts come in this order: classes (values that depend on the
invocation's class alone, so that long loops and payloads have a small oracle), then exchanges between
invocations, then memory. Each part adds its statements and says by NumPy or the reference what they do
(`vyre.conform.shapes.parts`). A case of several runs has several memories (`vyre.conform.shapes.history`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from vyre.conform.shapes.constraints import number
from vyre.conform.shapes.facts import variables_in_scope
from vyre.conform.shapes.history import memories, order
from vyre.conform.shapes.parts.classes import class_parts
from vyre.conform.shapes.parts.exchange import exchange_parts
from vyre.conform.shapes.parts.memory import memory_parts
from vyre.conform.shapes.parts.state import State
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.shapes.features import Level


PLACES = "out"
"""The buffer in which every invocation has a place, workgroup by workgroup."""


class CaseMemory(NamedTuple):
    """Every bound buffer before a run, and every ReadWrite buffer as it must be after it."""

    inputs: Mapping[str, bytes]
    expected: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that the dispatches of a row need; each run takes the memory that `order` names."""

    program: Program
    memories: tuple[CaseMemory, ...]
    workgroups: tuple[int, int, int]
    entrance: str
    dispatch: str
    order: tuple[int, ...]

    @property
    def inputs(self) -> Mapping[str, bytes]:
        """Of the first memory."""
        return self.memories[0].inputs

    @property
    def expected(self) -> Mapping[str, bytes]:
        """Of the first memory."""
        return self.memories[0].expected

    def by(self, entrance: str) -> Case:
        """The same case by another way in."""
        return replace(self, entrance=entrance)


def build(row: Mapping[str, Level], seed: int) -> Case:
    """The case of a row. The row must be complete and possible."""
    natural = variables_in_scope(tuple(_built(row, seed, 0, whole=False).entry))
    variables = max(0, number(row, "variables") - natural)
    states = [_built(row, seed, variables, memory=memory) for memory in range(memories(row))]
    first = states[0]
    return Case(
        Program(first.buffers, first.layout.size, first.entry),
        tuple(CaseMemory(state.inputs, state.results()) for state in states),
        first.layout.grid,
        str(row["entrance"]),
        str(row["dispatch"]),
        order(row),
    )


def _built(
    row: Mapping[str, Level], seed: int, variables: int, *, memory: int = 0, whole: bool = True
) -> State:
    state = State(row, seed, variables, memory=memory, whole=whole)
    class_parts(state)
    exchange_parts(state)
    memory_parts(state)
    return state
