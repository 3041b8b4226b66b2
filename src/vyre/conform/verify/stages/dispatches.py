"""Dispatches as such: lengths, grids, loops, and one run after another.

What the ops cannot show, because they are run in large tidy arrays: results that depend on the length of a
buffer or on an input that is shorter, ids along the second and third axis, the 65,536th workgroup, results
of an earlier run or of another program of the same shape, memory that was not zeroed. Compositions vanish, so
the ops that they are made of are run in their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.backends.execute import run_bytes
from vyre.conform.registry import specs
from vyre.conform.spec.compositions import is_composed
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.op import ExpressionForm
from vyre.conform.spec.program import OUT, WORKGROUP, application
from vyre.conform.verify.layout import elements, pack
from vyre.conform.verify.sequences import SEQUENCES, Step
from vyre.conform.verify.stage import FAILED, PASSED, Outcome, attempt, exactly, random_u32
from vyre.semantics.arrays import NUMPY
from vyre.semantics.words import mask_of, word_count

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend, Executable
    from vyre.conform.records.results import RunPlan
    from vyre.conform.spec.op import OpSpec
    from vyre.ir.program import Program

LENGTHS = (1, 2, 63, 65, 130, 191, 1000)


@cache
def _subjects() -> tuple[OpSpec | str, ...]:
    """Ops, sequences by name, and float operations, which came last: a case keeps its number."""
    ops = [
        s
        for s in specs()
        if isinstance(s.form, ExpressionForm) and not is_composed(s.id) and s.category == "A"
    ]
    floats = [s for s in ops if is_float(s.id)]
    return (*(s for s in ops if s not in floats), *SEQUENCES, *floats)


@dataclass(frozen=True, slots=True)
class Dispatches:
    """Each op on odd lengths and inputs shorter than its results, and the sequences of steps."""

    name: str = "dispatches"
    group: int = 8

    def count(self, plan: RunPlan) -> int:
        return len(_subjects())

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def subject(self, number: int) -> str:
        """What case `number` is about."""
        found = _subjects()[number]
        if isinstance(found, str):
            return found
        return "float lengths" if is_float(found.id) else "lengths"

    def case(self, subject: str) -> str:
        """The name of the case of a sequence, or of an op's lengths."""
        names = [s if isinstance(s, str) else s.id for s in _subjects()]
        number = names.index(subject)
        return f"{self.name}/{self.subject(number)}/{number}"

    def _one(self, backend: Backend, plan: RunPlan, number: int) -> Outcome:
        found, subject = _subjects()[number], self.subject(number)
        name = f"{self.name}/{subject}/{number}"

        def ask() -> Outcome:
            if isinstance(found, str):
                steps, note = SEQUENCES[found](plan.seed, backend.describe().limits), ""
            else:
                steps, note = _lengths(found, plan.seed + number), found.id
            return _walk(backend, Outcome(name, subject, PASSED, note=note), steps)

        return attempt(name, subject, None, ask)


def _walk(backend: Backend, fine: Outcome, steps: list[Step]) -> Outcome:
    """All programs compiled first, each once; then the steps in order."""
    compiled: dict[Program, Executable] = {}
    for step in steps:
        if step.program not in compiled:
            compiled[step.program] = backend.compile(step.program)
    for number, step in enumerate(steps):
        found = run_bytes(compiled[step.program], step.program, step.buffers, step.workgroups)
        wrong = exactly(step.expected, width=step.width)(found)
        if wrong is not None:
            inputs, expected, actual = wrong
            place = (f"step {number + 1} of {len(steps)}", f"grid {step.workgroups}", *inputs)
            return Outcome(
                fine.case, fine.subject, FAILED, "value", place, expected, actual, fine.note,
                step.program.to_text(),
            )  # fmt: skip
    return fine


def _lengths(spec: OpSpec, seed: int) -> list[Step]:
    """Operand k has k elements fewer than the result; what is missing loads as 0."""
    kernel = application(spec)
    steps: list[Step] = []
    for count in LENGTHS:
        words: list[Any] = []
        buffers: dict[str, bytes] = {}
        for k, entry in enumerate(kernel.inputs):
            length = max(1, count - k - 1)
            memory = bytearray(length * entry.type.stride)
            lanes = [
                random_u32(seed + 16 * k + lane, count) & np.uint32(mask_of(entry.type))
                for lane in range(word_count(entry.type))
            ]
            pack(elements(memoryview(memory), entry.type, length), entry.type, [w[:length] for w in lanes])
            buffers[entry.buffer] = bytes(memory)
            for w in lanes:
                w[length:] = 0
            words += lanes
        results = spec.apply(NUMPY, *words)
        of = spec.signature.output
        memory = bytearray(count * of.stride)
        target = elements(memoryview(memory), of, count)
        pack(target, of, [np.broadcast_to(w, (count,)) for w in results[-1]])
        buffers[OUT] = b"\xa5" * len(memory)
        grid = (-(-count // WORKGROUP[0]), 1, 1)
        steps.append(Step(kernel.program, buffers, grid, {OUT: bytes(memory)}, of.stride))
    return steps


STAGE = Dispatches()
