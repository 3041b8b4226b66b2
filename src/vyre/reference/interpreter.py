"""`run`: a program, bytes in, bytes out. What this says is what every backend must give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vyre.errors import InterpreterError, StepBudgetExceeded
from vyre.ir.buffers import BufferAccess
from vyre.ir.expr import Call
from vyre.ir.grid import require_grid
from vyre.ir.limits import MAX_WORKGROUP_INVOCATIONS
from vyre.ir.program import require_program
from vyre.ir.walk import expressions
from vyre.reference.actions import Budget
from vyre.reference.compile import compile_program
from vyre.reference.findings import Report
from vyre.reference.invocations import Ids, State, Workgroup
from vyre.reference.machine import Machine
from vyre.reference.meetings import exchange, meet
from vyre.reference.memory import (
    Buffer,
    HostBytes,
    check_own_memory,
    constant_buffers,
    host_buffers,
    private_bytes,
    zeroed,
)
from vyre.reference.observe import Observer
from vyre.reference.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from random import Random

    from vyre.compose.registry import Registry
    from vyre.ir.program import Program
    from vyre.reference.trace import Tracer

DEFAULT_STEP_BUDGET: Final = 50_000_000
"""Instructions, and elements of reductions, that all invocations of a run may take together."""

_REGISTERS_IN_FLIGHT = 1 << 22


@dataclass(frozen=True, slots=True)
class RunResult:
    """Every ReadWrite buffer after the run, the findings of the detectors, and the steps taken."""

    buffers: dict[str, bytes]
    report: Report
    steps: int


def run(
    program: Program,
    buffers: Mapping[str, HostBytes],
    workgroups: Ids,
    *,
    registry: Registry | None = None,
    schedule: Schedule | None = None,
    step_budget: int = DEFAULT_STEP_BUDGET,
    step_limit: int | None = None,
    detect: bool = False,
    check: bool = True,
    tracer: Tracer | None = None,
    extent: tuple[int, ...] | None = None,
) -> RunResult:
    """Runs every invocation of `workgroups` and gives back the ReadWrite buffers.

    `buffers` holds raw little-endian bytes; a missing ReadWrite buffer is zeros of its declared count
    (decision 15). `step_limit` is how many turns of its loops one invocation may begin; the next one raises
    `StepLimitExceeded`, and only the elements of reductions still count against `step_budget`. `detect`
    looks for races and other trouble and fills the report. `check=False` skips
    validation: what has no meaning then ends in an `InterpreterError`. A `tracer` is told what each statement
    made. Invocations beyond `extent` only fill up the last workgroups: what they access out of bounds is not
    reported.
    """
    require_program(program)
    calls = {expr.op_id for expr in expressions(program.entry) if isinstance(expr, Call)}
    if calls and registry is None:
        from vyre.compose.registry import default_registry

        registry = default_registry()
    if check:
        from vyre.validate import check as check_program

        # Inlined names carry the reserved prefix, and only an inlined program may have them.
        inlined = registry is None or all((op := registry.get(x)) and op.hardware for x in calls)
        check_program(program, registry=registry, allow_reserved=inlined)
    _check_shape(program, workgroups)
    _require_few_invocations(program, workgroups, step_budget)
    storage = host_buffers(program, buffers) | constant_buffers(program)
    check_own_memory(program)
    lengths = {d.name: storage[d.name].length if d.name in storage else d.count for d in program.buffers}
    chosen = schedule or Schedule.forward()
    observer = Observer(program, extent) if detect else None
    budget = Budget(step_budget)
    machine = Machine(
        compile_program(program, lengths, registry, tracer),
        program.workgroup_size,
        {i: d for i, d in enumerate(program.buffers) if d.access is BufferAccess.Private},
        budget=budget,
        step_limit=step_limit,
        observer=observer,
        split_at_access=chosen.interleave,
    )
    _execute(machine, program, storage, workgroups, chosen)
    return RunResult(
        {d.name: bytes(storage[d.name].data) for d in program.buffers if d.access is BufferAccess.ReadWrite},
        observer.report() if observer else Report(),
        sum(spent.limit - spent.left for spent in {budget, machine.budget}),
    )


def _check_shape(program: Program, workgroups: Ids) -> None:
    x, y, z = program.workgroup_size
    whole = all(type(n) is int for n in (x, y, z))
    if not whole or min(x, y, z) < 1 or x * y * z > MAX_WORKGROUP_INVOCATIONS:
        raise InterpreterError(
            f"a workgroup of {x} x {y} x {z} invocations cannot run.",
            fix=f"use sizes of 1 or more with at most {MAX_WORKGROUP_INVOCATIONS} invocations together.",
        )
    require_grid(workgroups, (x, y, z), "reference")


def _require_few_invocations(program: Program, workgroups: Ids, budget: int) -> None:
    x, y, z = workgroups
    width, height, depth = program.workgroup_size
    total = x * y * z * width * height * depth
    if total > budget:
        raise StepBudgetExceeded(
            f"{total} invocations take at least one step each, more than the step budget of {budget}.",
            fix="dispatch fewer workgroups, or pass a larger step_budget; "
            "a call of a kernel takes step_limit= for it.",
        )


def _execute(
    machine: Machine, program: Program, storage: dict[str, Buffer], workgroups: Ids, schedule: Schedule
) -> None:
    x, y, z = workgroups
    count = x * y * z
    per_group = machine.size[0] * machine.size[1] * machine.size[2]
    rng = schedule.generator()
    order = schedule.workgroups(count, rng)
    together = 1
    if schedule.interleave:
        registers = per_group * max(1, len(machine.code.registers) + private_bytes(program))
        together = max(1, min(schedule.workgroups_in_flight, _REGISTERS_IN_FLIGHT // registers))
    for start in range(0, count, together):
        groups = [
            Workgroup((i % x, i // x % y, i // (x * y)), machine.size, list(_memory(program, storage)))
            for i in order[start : start + together]
        ]
        _run_together(machine, groups, schedule, rng)


def _memory(program: Program, storage: dict[str, Buffer]) -> Iterator[Buffer]:
    for decl in program.buffers:
        if decl.access is BufferAccess.Private:
            yield Buffer(decl.element, bytearray())
        else:
            yield zeroed(decl) if decl.access.shared else storage[decl.name]


def _run_together(machine: Machine, groups: list[Workgroup], schedule: Schedule, rng: Random) -> None:
    """Rounds of turns until all invocations of these workgroups are over."""
    running = [invocation for group in groups for invocation in group.invocations]
    while running:
        for invocation in schedule.turns(running, rng):
            if invocation.state is State.Running:
                machine.turn(invocation, one_segment=schedule.interleave)
        for group in groups:
            exchange(group)
            meet(group, machine.observer)
        running = [i for group in groups for i in group.invocations if i.state is State.Running]
