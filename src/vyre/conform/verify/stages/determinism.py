"""The same input gives the same bytes, run after run: every op, and generated programs.

Compositions vanish, so the ops that they are made of are run in their place.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from vyre.conform.registry import specs
from vyre.conform.spec.compositions import is_composed
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.program import WORKGROUP, application
from vyre.conform.verify.cases import is_memory
from vyre.conform.verify.layout import elements, pack
from vyre.conform.verify.stage import Outcome, Trial, run_trial
from vyre.ir.buffers import BufferAccess
from vyre.semantics.words import mask_of, word_count

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.op import OpSpec

CASES = 1 << 16
PROGRAMS = 32


def _subjects() -> tuple[OpSpec | int, ...]:
    return _listed(PROGRAMS)


@cache
def _listed(programs: int) -> tuple[OpSpec | int, ...]:
    """Ops, programs by number, and float operations, which came last: a case keeps its number."""
    ops = [s for s in specs() if not is_memory(s) and not is_composed(s.id) and s.category == "A"]
    floats = [s for s in ops if is_float(s.id)]
    return (*(s for s in ops if s not in floats), *range(programs), *floats)


def _chosen(plan: RunPlan) -> list[int]:
    """The cases that a plan has: the ops it names, and the programs."""
    ops = set(plan.ops)
    return [n for n, s in enumerate(_subjects()) if isinstance(s, int) or s.id in ops]


class Determinism:
    """Each op on 65,536 random inputs, and some programs, `plan.repeats` times and more."""

    name = "determinism"
    group = 4

    def count(self, plan: RunPlan) -> int:
        return len(_chosen(plan))

    def case(self, op: str) -> str:
        """The name of the case of an op."""
        ids = [s if isinstance(s, int) else s.id for s in _subjects()]
        return f"{self.name}/{op}/{ids.index(op)}"

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, n, _subjects()[n]) for n in _chosen(plan)[lo:hi]]

    def _one(self, backend: Backend, plan: RunPlan, number: int, subject: OpSpec | int) -> Outcome:
        program = isinstance(subject, int)
        trial = _program_trial(subject, plan) if program else _op_trial(subject, plan)
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
    from vyre.conform.diff.differential import INTEGER_PROGRAMS
    from vyre.conform.generate.programs import generate_program

    made = generate_program(plan.seed + number, INTEGER_PROGRAMS)
    return Trial(
        "programs", inline(made.program), made.inputs, made.workgroups, lambda _: None, 2 * plan.repeats
    )


STAGE = Determinism()
