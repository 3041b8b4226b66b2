"""The ops of a track held against what a level asks of them: parity with the definitions, and their laws.

Operations(results, ops, promised, refused).parity(1_000_000)     reasons, none where all is well
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.records.evidence import EXHAUSTIVE, witnessed
from vyre.conform.spec.compositions import CASES, is_composed
from vyre.conform.spec.float_names import is_float
from vyre.conform.spec.track import may_be_refused
from vyre.conform.verify.control import NOT_SEEN
from vyre.errors import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vyre.conform.certify.promises import PromisedOp
    from vyre.conform.records.evidence import KindCount
    from vyre.conform.records.results import Failure, LawResult, OpResult, Results

_ENDED = ("crash", "hang", "error", "coverage")


@dataclass(frozen=True, slots=True)
class Operations:
    """The ops of one track; `refused` are all ops that the backend refuses, of any track."""

    results: Results
    ops: Sequence[OpResult]
    promised: Sequence[PromisedOp]
    refused: Collection[str]

    def parity(self, needed: int) -> list[str]:
        """Every op equals its definition on every planned case, `needed` uniform ones among them."""
        found: list[str] = []
        for op in self.ops:
            if op.status == "refused":
                lawful = may_be_refused(op.id, op.category, self.refused)
                found += [] if lawful else [f"{op.id} is refused: {op.refusal}"]
            elif op.status != "not run":
                found += self._parity_of(op, needed)
        return found

    def _parity_of(self, op: OpResult, needed: int) -> list[str]:
        failed = sum(c.failed for c in op.parity)
        found = [f"{op.id} differs from its definition in {counted(failed, 'case')}"] if failed else []
        ended = [f for f in self.results.failures if f.op == op.id and f.kind in _ENDED]
        short = self._short(op.parity)
        found += [f"{op.id} ran only {short} cases"] if short else []
        found += [f"{op.id}: {_ended(f)}" for f in ended]
        if op.status == "failed" and not failed and not short and not ended and not _law_failures(op):
            found.append(f"{op.id} failed")
        if not short and not ended:
            found += [f"{op.id} {why}" for why in self._few(op, op.parity, needed)]
        return found

    def _short(self, counts: Sequence[KindCount]) -> str:
        """Kinds that were not run to their end; of a part of a run that goes without saying."""
        missing = [f"{c.cases:,} of {c.planned:,} {c.kind}" for c in counts if not c.complete]
        return ", ".join(missing) if self.results.plan.whole else ""

    def laws(self, needed: int) -> list[str]:
        """Every declared law of every op was run and holds, on `needed` uniform cases or every input."""
        found: list[str] = []
        declared = {op.id: op.laws for op in self.promised}
        for op in self.ops:
            if op.status in ("refused", "not run"):
                continue
            ran = {law.law for law in op.laws}
            found += [f"{op.id}: {law} was not run" for law in declared.get(op.id, ()) if law not in ran]
            found += [f"{op.id}: {law.law} {why}" for law in op.laws for why in self._law(op, law, needed)]
            if op.instruction == NOT_SEEN:
                found.append(f"{op.id}: its instruction is not in the compiled kernel")
        return found

    def _law(self, op: OpResult, law: LawResult, needed: int) -> list[str]:
        found = [f"fails in {counted(law.failed, 'case')}"] if law.failed else []
        if not any(c.cases for c in law.counts):
            return [*found, "met no case"] if self.results.plan.whole else found
        short = self._short(law.counts)
        found += [f"ran only {short} cases"] if short else []
        return [*found, *self._few(op, law.counts, needed)]

    def _few(self, op: OpResult, counts: Sequence[KindCount], needed: int) -> list[str]:
        """Fewer uniform cases than needed, though the plan has enough and not every input was run."""
        plan = self.results.plan
        if not plan.whole:
            return []
        if not any(c.cases for c in counts):
            return ["met no case"]
        if is_float(op.id) and any(c.kind == "u16" for c in counts):
            return []  # all inputs of a 16-bit format
        sampled = any(c.kind == "random" for c in counts)
        missing = not sampled and any(c.kind not in EXHAUSTIVE for c in counts)
        planned = plan.float_cases if is_float(op.id) else plan.cases
        if is_composed(op.id):
            needed = min(needed, CASES)
        have = witnessed(tuple(counts))
        if planned >= needed and (missing or (sampled and have < needed)):
            return [f"has {have:,} uniform cases; {needed:,} are needed"]
        return []


def _ended(failure: Failure) -> str:
    if failure.kind == "coverage":
        return f"{', '.join(failure.inputs)} met no case"
    return f"{failure.kind} at {failure.case}"


def _law_failures(op: OpResult) -> bool:
    return any(law.failed for law in op.laws)


def were(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
