"""A row becomes a case: a program, its memory and grid, and the bytes that must be there afterwards.

    case = build(row, seed)
    case.program, case.inputs, case.workgroups, case.expected

A word `s` flows through every part of the program into every buffer that is written, so that whatever a
backend does wrong on the way shows. The parts come in this order: classes (values that depend on the
invocation's class alone, so that long loops and payloads have a small oracle), then exchanges between
invocations, then memory. Each part adds its statements and says by NumPy or the reference what they do
(`vyre.conform.shapes.parts`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.conform.shapes.constraints import number
from vyre.conform.shapes.facts import variables_in_scope
from vyre.conform.shapes.parts.classes import class_parts
from vyre.conform.shapes.parts.exchange import exchange_parts
from vyre.conform.shapes.parts.memory import memory_parts
from vyre.conform.shapes.parts.state import State
from vyre.ir.program import Program

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.shapes.features import Level


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a dispatch needs, and every ReadWrite buffer as it must be after it."""

    program: Program
    inputs: Mapping[str, bytes]
    workgroups: tuple[int, int, int]
    expected: Mapping[str, bytes]
    entrance: str
    dispatch: str

    def by(self, entrance: str) -> Case:
        """The same case by another way in."""
        return replace(self, entrance=entrance)


def build(row: Mapping[str, Level], seed: int) -> Case:
    """The case of a row. The row must be complete and possible."""
    natural = variables_in_scope(_built(row, seed, 0, whole=False).program.entry)
    return _built(row, seed, max(0, number(row, "variables") - natural), whole=True)


def _built(row: Mapping[str, Level], seed: int, variables: int, *, whole: bool) -> Case:
    state = State(row, seed, variables, whole=whole)
    class_parts(state)
    exchange_parts(state)
    memory_parts(state)
    program = Program(state.buffers, state.layout.size, state.entry)
    return Case(
        program, state.inputs, state.layout.grid, state.results(), str(row["entrance"]), str(row["dispatch"])
    )
