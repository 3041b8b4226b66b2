"""A part of a certified run, chosen at random and run again, here.

    report = rerun(certificate, backend, share=0.01, seed=7)

Every chosen block is run whole, on the same cases. What the certificate says passed must pass, what it says
failed must fail; another device may refuse what the certified one did, which is counted and is no mismatch.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vyre.backends.float_state import default_state
from vyre.conform.certify.merge import units_of
from vyre.conform.locked import Locked
from vyre.conform.units import REGRESSIONS, blocks
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.graph import PARITY
from vyre.conform.verify.operations import run_block
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from vyre.conform.certify.certificate import Certificate, CertifiedOp
    from vyre.conform.units import Block, Unit
    from vyre.conform.verify.graph import Check, Graph


@dataclass(frozen=True, slots=True)
class Rerun:
    """What was run again, and where it differs from the certificate."""

    seed: int
    blocks: int
    of: int
    cases: int
    refused: int
    mismatches: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.mismatches


@default_state()
def rerun(
    certificate: Certificate,
    backend: Any,
    *,
    share: float,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Rerun:
    """Runs a random `share` of the blocks again, one at least. Stored failures are not among them."""
    if not 0 < share <= 1:
        raise VyreError(f"{share:.4%} of a run cannot be run again.", fix="pass something like 1% or 100%.")
    found = units_of(certificate.plan)
    known = {op.id: op for op in certificate.ops}
    possible = [
        b
        for b in blocks(certificate.plan, found)
        if found[b.unit].name != REGRESSIONS and (found[b.unit].kind is None or found[b.unit].group in known)
    ]
    if not possible:
        raise VyreError("this certificate is of a run without cases.", fix="certify more.")
    chosen = random.Random(seed).sample(possible, max(1, round(share * len(possible))))
    again = _Again(certificate, Bench(Locked(backend)), found, known)
    for done, block in enumerate(sorted(chosen, key=lambda b: (b.unit, b.number))):
        again.run(block)
        progress(done + 1, len(chosen))
    return Rerun(seed, len(chosen), len(possible), again.cases, again.refused, tuple(again.mismatches))


class _Again:
    def __init__(
        self, certificate: Certificate, bench: Bench, units: list[Unit], known: dict[str, CertifiedOp]
    ) -> None:
        self.certificate = certificate
        self.bench = bench
        self.units = units
        self.known = known
        self.memory = bench.memory()
        self.failing = {f.case for f in certificate.failures}
        self.cases = self.refused = 0
        self.mismatches: list[str] = []

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
        for outcome in unit.stage.run(self.bench.backend, self.certificate.plan, block.lo, block.hi):
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
        if record.get("refusal"):
            self.refused += block.hi - block.lo
            return
        name = f"{unit.name} cases {block.lo} to {block.hi - 1}"
        if op.status == "refused":
            self._differs(name, "refused", "not refused")
            return
        self.cases += record["cases"]
        ended = any(f.op == op.id and f.kind in ("crash", "hang", "error") for f in self.certificate.failures)
        if record["stop"] is not None and not ended:
            self._differs(name, "a result", record["stop"]["message"])
        names = [check.name for check in _checks(unit.kind.graph)]
        failing = dict.fromkeys(names, 0)
        for number, count, _ in record["fails"]:
            failing[names[number]] += count
        for check, said in _failed(op, unit.kind.name).items():
            met = failing.get(check, 0)
            must = self._first_inside(op, check, unit, block)
            if met > said or (must and not met):
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
        self.mismatches.append(f"{where}: the certificate says {said}, here it is {met}")


def _checks(graph: Graph) -> tuple[Check, ...]:
    return graph.checks


def _failed(op: CertifiedOp, kind: str) -> dict[str, int]:
    """Failing cases of a kind by check, as the certificate has them."""
    found = {PARITY: sum(c.failed for c in op.parity if c.kind == kind)}
    for law in op.laws:
        found[law.law] = sum(c.failed for c in law.counts if c.kind == kind)
    return found
