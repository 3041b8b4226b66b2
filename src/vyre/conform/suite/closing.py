"""What is noted when all blocks of an op or a stage are finished: facts, and its failures made small.

Closing(bench, plan, faults, units, blocks).entry(group, records)      -> a line of the journal
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import FAILED, GroupEntry, GroupFacts
from vyre.conform.records.faults import EXPLAINED
from vyre.conform.suite import fold
from vyre.conform.suite.units import OPS, REGRESSIONS, STAGES, graph_of
from vyre.conform.verify import control
from vyre.conform.verify.bench import program_of
from vyre.conform.verify.cases import kind_of
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.named import INPUTS, MADE, bits_of, hexes, run_named
from vyre.conform.verify.operations import explain
from vyre.conform.verify.replayed import DEPENDS, replayed
from vyre.semantics.domain import CONCRETE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vyre.conform.records.blocks import Outcome
    from vyre.conform.records.faults import Faults
    from vyre.conform.records.results import Failure, RunPlan
    from vyre.conform.suite.fold import OpTally, Records
    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.bench import Bench


ONCE = "another value in the run, this one when run alone"


@dataclass(frozen=True, slots=True)
class Closing:
    """Asks the backend once more about what failed, so that the smallest input is known."""

    bench: Bench
    plan: RunPlan
    faults: Faults
    units: Sequence[Unit]
    blocks: Sequence[Block]

    def entry(self, group: str, records: Records) -> GroupEntry:
        number, unit = next((n, u) for n, u in enumerate(self.units) if u.group == group)
        if unit.kind is None:
            failed = [o for o in fold.outcomes(number, self.blocks, records) if o.status == FAILED]
            return GroupEntry(group, GroupFacts(), self.stage_failures(unit, failed))
        return self._op_entry(group, records)

    def _op_entry(self, group: str, records: Records) -> GroupEntry:
        found = fold.tally(group, self.units, self.blocks, records)
        facts = GroupFacts("", "") if found.refusal else self._facts(group)
        failures = [
            self._op_failure(group, kind, number, first, found)
            for number, (kind, first) in sorted(found.firsts.items())
        ]
        if found.made is not None:
            failures.append(self._made_failure(group, found))
        if found.stop is not None:
            failures.append(self._stop_failure(group, found))
        result = fold.op_result(group, self.units, found, facts)
        if self.plan.whole and result.status in ("passed", "failed") and found.stop is None:
            failures += [self.faults.coverage(group, missing) for missing in result.coverage.missing]
        return GroupEntry(group, facts, tuple(failures))

    def _facts(self, group: str) -> GroupFacts:
        spec = graph_of(group).spec
        try:
            lowering = self.bench.inspection(spec).lowering or "native"
            return GroupFacts(lowering, control.instruction(self.bench, spec))
        except Exception:  # a backend that dies when it is asked about itself has failed already
            return GroupFacts("unknown", control.NOT_EXPOSED)

    def _op_failure(self, group: str, kind: str, number: int, first: int, found: OpTally) -> Failure:
        graph = graph_of(group)
        check = graph.checks[number]
        said = explain(self.bench, kind_of(graph, kind, self.plan), check, first)
        prefix = group if check.name == PARITY else f"{group}/{check.name}"
        smallest = f"{prefix}/{INPUTS}/{','.join(f'0x{w:X}' for w in said.words)}"
        report = run_named(self.bench, smallest, self.plan, STAGES)
        note = f"{check.equation}; {said.note}".strip("; ") if check.equation is not None else said.note
        return self.faults.failure(
            stage=OPS,
            op=group,
            case=f"{prefix}/{kind}/{first}",
            smallest=smallest,
            kind=said.kind,
            inputs=bits_of(graph, check, said.words),
            expected=report.expected,
            actual=report.actual if report.failed else ONCE,
            found=bits_of(graph, check, said.found),
            count=found.count(number),
            note=note,
            program=report.program,
            source=report.source,
            failing=found.failing(number),
        )

    def _made_failure(self, group: str, found: OpTally) -> Failure:
        """A wrong input of the backend's own making: the generator is a program, and gave other words."""
        assert found.made is not None
        kind, made = found.made
        name = f"{group}/{MADE}/{kind}/{made.case}"
        report = run_named(self.bench, name, self.plan, STAGES)
        where = (f"word {made.position} of case {made.case}",)
        note = "the backend ran the generator of inputs; the op was tried on the host's" + (
            "" if report.failed else f"; it did not come back when it was run again: {DEPENDS}"
        )
        return self.faults.failure(
            stage=OPS,
            op=group,
            case=name,
            kind="inputs",
            inputs=where,
            expected=f"0x{made.wanted:X}",
            actual=f"0x{made.found:X}",
            found=where,
            count=made.mistakes,
            note=note,
            program=report.program,
            source=report.source,
        )

    def _stop_failure(self, group: str, found: OpTally) -> Failure:
        stop = found.stop
        assert stop is not None
        op = group if stop.op is None else stop.op  # a backend may die of one op while the next one runs
        graph = graph_of(op)
        words, size = stop.words, 1 if stop.cases is None else stop.cases
        prefix = op if stop.check in (None, PARITY) else f"{op}/{stop.check}"
        last = f"-{stop.case + size - 1}" if size > 1 else ""
        case = f"{prefix}/{found.stopped_in}/{stop.case}{last}"
        shown = tuple(f"0x{w:X}" for w in words[: graph.spec.words])
        operands = [w & m for w, m in zip(words, graph.spec.masks, strict=False)]
        expected = hexes([w for r in graph.spec.apply(CONCRETE, *operands) for w in r]) if words else ""
        one = f"{prefix}/{INPUTS}/{','.join(f'0x{w:X}' for w in words)}"
        return self.faults.failure(
            stage=OPS,
            op=group,
            case=case,
            smallest=one if words and size == 1 else case,
            kind=stop.kind,
            inputs=shown,
            expected=expected or "a result",
            actual=stop.message,
            found=shown,
            count=size,
            note=f"at {stop.at}",
            program=program_of(graph.spec).to_text(),
        )

    def stage_failures(
        self, unit: Unit, failed: Sequence[Outcome], *, explained: int = EXPLAINED
    ) -> tuple[Failure, ...]:
        """The failed cases of a stage, the first of them made small."""
        small = 0 if unit.name == REGRESSIONS else explained  # each of those is a replay already
        found = [self._again(unit, o) if k < small else o for k, o in enumerate(failed)]
        return tuple(self.faults.of_stage(unit.name, o) for o in found)

    def _again(self, unit: Unit, outcome: Outcome) -> Outcome:
        """A failing case made small, or with a note where it does not come back."""
        explain = getattr(unit.stage, "explain", None)
        if explain is not None:
            again = explain(self.bench.backend, self.plan, outcome.case)
            if again.status == FAILED:
                return again
        return replayed(outcome, lambda: run_named(self.bench, outcome.case, self.plan, STAGES).status)
