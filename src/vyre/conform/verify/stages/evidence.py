"""Whether every correctly rounded function is still the one that was run on all of its inputs.

A case is one definition: a function on integers in one format, or of F32 in doubles. It asks nothing of the
backend. A run of this size cannot try 2^32 inputs of each function, so it leans on a run that did; a
definition that has changed since then is unverified, and the float track gets no level with it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from vyre.conform.spec.float_names import name_of
from vyre.conform.verify.stage import FAILED, PASSED, Outcome
from vyre.ir.types import DataType
from vyre.numeric import evidence

if TYPE_CHECKING:
    from vyre.conform.records.results import RunPlan

UNVERIFIED = "unverified"
WAYS = {"soft": "on integers", "double": "in doubles"}


class FunctionEvidence:
    """The stage. A case is named `evidence/float.sin in doubles/NUMBER`."""

    name = "evidence"
    group = 64

    def count(self, plan: RunPlan) -> int:
        return len(_definitions())

    def run(self, backend: Any, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        return [self._one(number) for number in range(lo, hi)]

    def _one(self, number: int) -> Outcome:
        op_id = _definitions()[number]
        subject = subject_of(op_id)
        case = f"{self.name}/{subject}/{number}"
        why = evidence.state(op_id)
        if not why:
            return Outcome(case, subject, PASSED)
        known = evidence.load().get(op_id)
        wanted = (
            f"the definition of digest {known['digest'][:16]}, run {known['date']}" if known else "a record"
        )
        found = f"{UNVERIFIED}: {why} (digest {evidence.digest(op_id)[:16]})"
        note = f"{op_id}; restore the definition, or try every input again: `python -m lab.functions.prove`"
        return Outcome(case, subject, FAILED, UNVERIFIED, (), wanted, found, note)


def subject_of(op_id: str) -> str:
    """`float.f16.sin on integers` for `soft.f16.sin`."""
    way, kind, name = op_id.split(".")
    return f"{name_of(name, DataType(kind.upper()))} {WAYS[way]}"


@cache
def _definitions() -> tuple[str, ...]:
    return tuple(evidence.definitions())


STAGE = FunctionEvidence()
