"""The same input gives the same bytes, run after run: every op, and generated programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.conform.registry import specs
from vyre.conform.spec.program import WORKGROUP, application
from vyre.conform.spec.words import mask_of, word_count
from vyre.conform.verify.cases import is_memory
from vyre.conform.verify.layout import elements, pack
from vyre.conform.verify.stage import Outcome, Trial, run_trial
from vyre.ir.buffers import BufferAccess

if TYPE_CHECKING:
    from vyre.conform.results import RunPlan
    from vyre.conform.spec.op import OpSpec

CASES = 1 << 16
PROGRAMS = 32


def _ops() -> list[OpSpec]:
    return [s for s in specs() if not is_memory(s)]


class Determinism:
    """Each op on 65,536 random inputs, and some programs, `plan.repeats` times and more."""

    name = "determinism"
    group = 4

    def count(self, plan: RunPlan) -> int:
        return len(_ops()) + PROGRAMS

    def case(self, op: str) -> str:
        """The name of the case of an op."""
        return f"{self.name}/{op}/{[s.id for s in _ops()].index(op)}"

    def run(self, backend: Any, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        ops = _ops()
        wanted = [n for n in range(lo, hi) if n >= len(ops) or ops[n].id in plan.ops]
        return [self._one(backend, plan, ops, number) for number in wanted]

    def _one(self, backend: Any, plan: RunPlan, ops: list[OpSpec], number: int) -> Outcome:
        of_op = number < len(ops)
        trial = _op_trial(ops[number], plan) if of_op else _program_trial(number - len(ops), plan)
        return run_trial(backend, f"determinism/{trial.subject}/{number}", trial)


def _op_trial(spec: OpSpec, plan: RunPlan) -> Trial:
    kernel = application(spec)
    rng = np.random.default_rng(plan.seed)
    buffers: dict[str, bytes] = {}
    for entry in kernel.inputs:
        words = [
            rng.integers(0, 1 << 32, CASES, dtype=np.uint32) & np.uint32(mask_of(entry.type))
            for _ in range(word_count(entry.type))
        ]
        memory = bytearray(CASES * entry.type.stride)
        pack(elements(memoryview(memory), entry.type, CASES), entry.type, words)
        buffers[entry.buffer] = bytes(memory)
    for decl in kernel.program.buffers:
        if decl.access is BufferAccess.ReadWrite and decl.name not in buffers:
            buffers[decl.name] = bytes(CASES * decl.element.stride)
    grid = (CASES // WORKGROUP[0], 1, 1)
    return Trial(spec.id, kernel.program, buffers, grid, lambda _: None, 2 * plan.repeats)


def _program_trial(number: int, plan: RunPlan) -> Trial:
    from vyre.compose.inline import inline
    from vyre.conform.differential import INTEGER_PROGRAMS
    from vyre.conform.generate.programs import generate_program

    made = generate_program(plan.seed + number, INTEGER_PROGRAMS)
    return Trial(
        "programs", inline(made.program), made.inputs, made.workgroups, lambda _: None, 2 * plan.repeats
    )


STAGE = Determinism()
