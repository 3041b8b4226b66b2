"""What must hold for every generated program, before it may judge a backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vyre.compose.inline import inline
from vyre.ir.expr import Call
from vyre.ir.program import Program
from vyre.ir.walk import expressions
from vyre.reference import run
from vyre.reference.schedule import Schedule, all_schedules
from vyre.validate import validate
from vyre.wire import meaning_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vyre.conform.generate.programs import GeneratedProgram


def problems(generated: GeneratedProgram, *, execute: bool = True) -> Iterator[str]:
    """Each broken promise in a sentence; nothing for a good program.

    Text and wire forms are lossless, the program validates before and after inlining, inlining
    leaves no call, and (with `execute`) the reference gives the same bytes under every schedule,
    before and after inlining, with no race.
    """
    program = generated.program
    if Program.from_text(program.to_text()) != program:
        yield "the text form loses something"
    copy = Program.from_wire(program.to_wire())
    if copy != program or copy.to_wire() != program.to_wire():
        yield "the wire form loses something"
    if meaning_digest(copy) != meaning_digest(program):
        yield "the meaning digest depends on more than the meaning"
    for diagnostic in validate(program):
        yield f"invalid: {diagnostic}"
    flat = inline(program)
    if any(isinstance(expr, Call) for expr in expressions(flat.entry)):
        yield "inlining leaves a call"
    for diagnostic in validate(flat, allow_reserved=True):
        yield f"invalid after inlining: {diagnostic}"
    if execute:
        yield from _execution_problems(generated, flat)


def _execution_problems(generated: GeneratedProgram, flat: Program) -> Iterator[str]:
    first = run(generated.program, generated.inputs, generated.workgroups, check=False, detect=True)
    for race in first.report.races:
        yield f"race: {race}"
    for barrier in first.report.divergent_barriers:
        yield f"divergent barrier: {barrier}"
    for schedule in all_schedules(generated.seed):
        if schedule == Schedule.forward():
            continue
        other = run(generated.program, generated.inputs, generated.workgroups, check=False, schedule=schedule)
        if other.buffers != first.buffers:
            yield f"the result depends on the order: {schedule}"
    inlined = run(flat, generated.inputs, generated.workgroups, check=False)
    if inlined.buffers != first.buffers:
        yield "inlining changes the result"
