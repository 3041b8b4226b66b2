"""Compositions: every integer op of the library proved to mean what it says, and run on the backend.

A case about an op asks three things: that its inlined body is proved equal to its meaning for all inputs,
that the backend compiles that body, and that it agrees with the reference on edges and random inputs. A case
about a theorem asks that it is proved, that something keeps its hypotheses, and that it is refuted without
one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vyre.compose.inline import inline
from vyre.conform.spec.edges import EDGES
from vyre.conform.verify.composition.body import RESULT, call_program
from vyre.conform.verify.composition.proofs import Proof, provable_ops, prove_op
from vyre.conform.verify.composition.theorems import (
    THEOREMS,
    application_obligations,
    mutant_obligations,
    obligation,
)
from vyre.conform.verify.stage import (
    FAILED,
    PASSED,
    REFUSED,
    Outcome,
    Trial,
    exactly,
    random_u32,
    run_trial,
)
from vyre.reference import run
from vyre.semantics.proof_cache import ProofCache, default_folder
from vyre.semantics.solvers import Answer, solver_version

if TYPE_CHECKING:
    from vyre.conform.records.results import RunPlan
    from vyre.conform.verify.composition.theorems import Theorem
    from vyre.ir.op import Op

_RANDOM = 128
_SOLVERS = ("bitwuzla", "cvc5", "z3")


class Composition:
    """The stage; ops first, in the order of the library, then the theorems."""

    name = "composition"
    group = 8

    def __init__(self, cache: ProofCache | None = None) -> None:
        self._cache = cache

    def count(self, plan: RunPlan) -> int:
        return len(provable_ops()) + len(THEOREMS)

    def run(self, backend: Any, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(backend, plan, number) for number in range(lo, hi)]

    def _one(self, backend: Any, plan: RunPlan, number: int) -> Outcome:
        ops = provable_ops()
        subject = ops[number].id if number < len(ops) else f"theorem: {THEOREMS[number - len(ops)].name}"
        case = f"{self.name}/{subject}/{number}"
        if not any(solver_version(s) for s in _SOLVERS):
            why = "no solver is installed; `pip install vyre[conform]` installs one."
            return Outcome(case, subject, REFUSED, actual=why)
        proofs = self._cache or ProofCache(default_folder())
        if number >= len(ops):
            return _theorem(case, subject, THEOREMS[number - len(ops)], proofs)
        proof = prove_op(ops[number], proofs)
        if not proof.proved:
            return Outcome(case, subject, FAILED, "proof", _model(proof), "proved", _said(proof))
        return run_trial(backend, case, _trial(ops[number], subject, plan.seed + number))


def _said(proof: Proof) -> str:
    return f"{proof.failed}: {proof.answer} by {', '.join(proof.solvers)}"


def _model(proof: Proof) -> tuple[str, ...]:
    return tuple(f"{name}=0x{value:X}" for name, value in sorted((proof.model or {}).items()))


def _theorem(case: str, subject: str, theorem: Theorem, proofs: ProofCache) -> Outcome:
    kept, broken = mutant_obligations(theorem)
    questions = [
        ("the theorem", obligation(theorem), Answer.Unsat),
        *(("its application", text, Answer.Unsat) for text in application_obligations(theorem)),
        *(("what its mutant keeps", text, Answer.Unsat) for text in kept),
        (f"the mutant without `{theorem.without}`", broken, Answer.Sat),
    ]
    for name, text, wanted in questions:
        verdict = proofs.solve(text)
        if verdict.answer is not wanted:
            model = tuple(f"{k}=0x{v:X}" for k, v in sorted(verdict.model.items()))
            said = f"{name}: {verdict.answer.value} by {verdict.attempt.solver} {verdict.version}"
            return Outcome(case, subject, FAILED, "proof", model, wanted.value, said, theorem.statement)
    return Outcome(case, subject, PASSED)


def _trial(op: Op, subject: str, seed: int) -> Trial:
    program = inline(call_program(op))
    buffers, elements = _inputs(op, seed)
    groups = (-(-elements // program.workgroup_size[0]), 1, 1)
    expected = run(program, buffers, groups).buffers[RESULT]
    return Trial(subject, program, buffers, groups, exactly({RESULT: expected}))


def _inputs(op: Op, seed: int) -> tuple[dict[str, bytes], int]:
    """Edges of each operand against shifted edges of the others, then random words."""
    count = len(EDGES) + _RANDOM
    found: dict[str, bytes] = {}
    for k, param in enumerate(op.params):
        lanes = param.type.lanes
        edges = np.array([np.roll(EDGES, 7 * k + 3 * lane) for lane in range(lanes)], np.uint32).T
        rest = random_u32(seed + 1000 * k, _RANDOM * lanes).reshape(_RANDOM, lanes)
        found[param.name] = np.concatenate([edges, rest]).tobytes()
    return found | {RESULT: bytes(count * op.output.stride)}, count


STAGE = Composition()
