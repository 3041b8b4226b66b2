"""A part of a certified run, chosen at random and run again, here; then as much with a seed of its own.

    report = rerun(certificate, backend, share=0.01, seed=7)

Every chosen block is run whole, on the same cases. What the certificate says passed must pass, what it says
failed must fail; another device may refuse what the certified one did: that is counted, not a mismatch.
The fresh seed makes cases that nobody could have prepared for: there, what passed must pass again. The report
says whether this is the device that was certified.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vyre.backends.float_state import default_state
from vyre.conform.certify.merge import units_of
from vyre.conform.process.locked import Locked
from vyre.conform.process.provenance import device_changed, differences, moved, provenance
from vyre.conform.suite.units import REGRESSIONS, blocks
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.operations import run_block
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.backends.protocol import Backend
    from vyre.conform.certify.certificate import CertificateContents, CertifiedOp
    from vyre.conform.records.results import BackendFacts, RunPlan
    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.graph import Check, Graph


_SEEDED = ("equivalence", "adversarial", "correlated", "random")
_UNSEEDED = ("golden",)
"""What depends on the seed, and what does not."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """What was run again, and where it differs from the certificate."""

    seed: int
    blocks: int
    of: int
    cases: int
    refused: int
    mismatches: tuple[str, ...]
    fresh_seed: int = 0
    fresh_blocks: int = 0
    fresh_cases: int = 0
    device: tuple[str, ...] = ()
    """What differs about the backend here from the one that was certified; nothing on the same device."""

    @property
    def ok(self) -> bool:
        return not self.mismatches


@default_state()
def rerun(
    certificate: CertificateContents,
    backend: Backend,
    *,
    share: float,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Rerun:
    """Runs a random `share` of the blocks again, one at least. Stored failures are not among them.

    `seed` chooses the blocks, and the fresh seed as well, so that the whole can be repeated.
    """
    if not 0 < share <= 1:
        raise VyreError(f"{share:.4%} of a run cannot be run again.", fix="pass something like 1% or 100%.")
    place = provenance(backend, certificate.backend.target)
    chooser = random.Random(seed)
    bench = Bench(Locked(backend))
    first = _Again(certificate, bench, certificate.plan)
    if not first.possible:
        raise VyreError("this certificate is of a run without cases.", fix="certify more.")
    chosen = chooser.sample(first.possible, max(1, round(share * len(first.possible))))
    plan = replace(certificate.plan, seed=_fresh(chooser, certificate.plan.seed))
    second = _Again(certificate, bench, plan, fresh=True)
    number = min(len(second.possible), max(1, round(share * len(second.possible))))
    others = chooser.sample(second.possible, number)
    work = [(run, b) for run, part in ((first, chosen), (second, others)) for b in sorted(part, key=_order)]
    for done, (run, block) in enumerate(work):
        run.run(block)
        if changed := moved(backend, place):
            raise device_changed(changed)
        progress(done + 1, len(work))
    return Rerun(
        seed, len(chosen), len(first.possible), first.cases, first.refused,
        (*first.mismatches, *second.mismatches), plan.seed, len(others), second.cases,
        tuple(_elsewhere(certificate.backend, place.backend, schema1=certificate.first_schema)),
    )  # fmt: skip


def _order(block: Block) -> tuple[int, int]:
    return block.unit, block.number


def _fresh(chooser: random.Random, taken: int) -> int:
    seed = taken
    while seed == taken:
        seed = chooser.getrandbits(64)
    return seed


def _elsewhere(then: BackendFacts, now: BackendFacts, *, schema1: bool) -> list[str]:
    """In which facts the backend here is another one than the certified; its name is not one of them."""
    if schema1:  # it did not record these
        then = replace(then, limits=now.limits, hardware=now.hardware)
    return differences(replace(then, target=now.target), now)


class _Again:
    """Blocks of the certified plan, or of the same plan with a `fresh` seed, run and compared."""

    def __init__(
        self, certificate: CertificateContents, bench: Bench, plan: RunPlan, *, fresh: bool = False
    ) -> None:
        self.certificate = certificate
        self.bench = bench
        self.plan = plan
        self.fresh = fresh
        self.units = units_of(plan)
        self.known = {op.id: op for op in certificate.ops}
        self.memory = bench.memory()
        self.failing = {f.case for f in certificate.failures}
        self.cases = self.refused = 0
        self.mismatches: list[str] = []
        self.possible = [b for b in blocks(plan, self.units) if self._comparable(self.units[b.unit])]

    def _comparable(self, unit: Unit) -> bool:
        """Whether the certificate says how a block of this unit must end."""
        if unit.kind is None:
            clean = not any(s.failed for s in self.certificate.stages if s.stage == unit.name)
            return unit.name != REGRESSIONS and (not self.fresh or (clean and unit.name not in _UNSEEDED))
        op = self.known.get(unit.group)
        if op is None or not self.fresh:
            return op is not None
        return op.status == "passed" and unit.kind.name in _SEEDED

    def run(self, block: Block) -> None:
        unit = self.units[block.unit]
        if unit.kind is None:
            self._stage(unit, block)
        else:
            self._op(unit, block)

    def _stage(self, unit: Unit, block: Block) -> None:
        """The certificate names every failing case of a stage, so outcomes are compared one by one."""
        assert unit.stage is not None
        subjects = {
            s.subject for stage in self.certificate.stages if stage.stage == unit.name for s in stage.subjects
        }
        for outcome in unit.stage.run(self.bench.backend, self.plan, block.lo, block.hi):
            if outcome.subject not in subjects:
                continue  # of the other kind of certificate
            failed = outcome.case in self.failing
            self.cases += outcome.status != REFUSED
            if outcome.status == REFUSED:
                self.refused += 1
            elif (outcome.status == FAILED) != failed:
                self._differs(outcome.case, FAILED if failed else PASSED, outcome.status)

    def _op(self, unit: Unit, block: Block) -> None:
        assert unit.kind is not None
        op = self.known[unit.group]
        record = run_block(self.bench, unit.kind, block.lo, block.hi, self.memory, narrow=lambda: False)
        if record.refusal:
            self.refused += block.hi - block.lo
            return
        name = f"{unit.name} cases {block.lo} to {block.hi - 1}"
        if op.status == "refused":
            self._differs(name, "refused", "not refused")
            return
        self.cases += record.cases
        ended = any(f.op == op.id and f.kind in ("crash", "hang", "error") for f in self.certificate.failures)
        if record.stop is not None and not ended:
            self._differs(name, "a result", record.stop.message)
        names = [check.name for check in _checks(unit.kind.graph)]
        failing = dict.fromkeys(names, 0)
        for number, count, _ in record.fails:
            failing[names[number]] += count
        for check, said in _failed(op, unit.kind.name).items():
            met = failing.get(check, 0)
            must = self._first_inside(op, check, unit, block)
            if met > said or (must and not met and not self.fresh):
                what = f"{said:,} failures in all" if said else "no failure"
                self._differs(f"{name}, {check}", what, f"{met:,}")

    def _first_inside(self, op: CertifiedOp, check: str, unit: Unit, block: Block) -> bool:
        """Whether the first failing case of a check, which the certificate names, is in this block."""
        prefix = op.id if check == PARITY else f"{op.id}/{check}"
        assert unit.kind is not None
        start = f"{prefix}/{unit.kind.name}/"
        numbers = [
            f.case.removeprefix(start)
            for f in self.certificate.failures
            if f.op == op.id and f.case.startswith(start) and f.kind in ("value", "law")
        ]
        return any(n.isdecimal() and block.lo <= int(n) < block.hi for n in numbers)

    def _differs(self, where: str, said: str, met: str) -> None:
        seed = f" with the fresh seed {self.plan.seed}" if self.fresh else ""
        self.mismatches.append(f"{where}{seed}: the certificate says {said}, here it is {met}")


def _checks(graph: Graph) -> tuple[Check, ...]:
    return graph.checks


def _failed(op: CertifiedOp, kind: str) -> dict[str, int]:
    """Failing cases of a kind by check, as the certificate has them."""
    found = {PARITY: sum(c.failed for c in op.parity if c.kind == kind)}
    for law in op.laws:
        found[law.law] = sum(c.failed for c in law.counts if c.kind == kind)
    return found
