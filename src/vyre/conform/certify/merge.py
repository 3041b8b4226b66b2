"""Shard certificates into the certificate of the whole run, byte for byte what one run would have given.

A shard's certificate carries the records of its blocks. They are added up exactly as a run adds up its own,
in the order of the blocks; a failure is the one of the shard that met it first. Shards that do not belong
together, are missing, or hold a block twice are refused.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from vyre.conform.certify.certificate import SCHEMA, certificates
from vyre.conform.certify.promises import changes, registry_now
from vyre.conform.certify.sound import belongs, misfolded, unsound
from vyre.conform.records.blocks import FAILED, GroupEntry, GroupFacts
from vyre.conform.records.documents import Field, FieldError, encode, reread
from vyre.conform.records.faults import EXPLAINED, Faults
from vyre.conform.spec.track import APPROXIMATE, not_approximate
from vyre.conform.suite import fold
from vyre.conform.suite.block_records import read_record
from vyre.conform.suite.units import REGRESSIONS, blocks, graph_of, units
from vyre.errors import CertificateError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.backends.protocol import Backend
    from vyre.conform.certify.certificate import CertificateContents
    from vyre.conform.records.blocks import OpBlock, StageBlock
    from vyre.conform.records.results import Failure, RunPlan, StageResult
    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.stage import Outcome, Stage

    Records = dict[tuple[int, int], StageBlock | OpBlock]


@dataclass(frozen=True, slots=True)
class _Stored:
    """The stored failures of the first shard, as far as a run's order needs them."""

    length: int
    name: str = REGRESSIONS
    group: int = 1

    def count(self, plan: RunPlan) -> int:
        return self.length

    def run(self, backend: Backend, plan: RunPlan, lo: int, hi: int) -> list[Outcome]:
        raise NotImplementedError("stored failures are replayed by the run that knows them")


def units_of(plan: RunPlan) -> list[Unit]:
    """The units of a plan, without a backend or a store at hand."""
    stored: Stage | None = _Stored(len(plan.regressions)) if plan.regressions else None
    return units(plan, stored)


def merge(shards: Sequence[CertificateContents]) -> CertificateContents:
    """The certificate of the whole run. Raises `CertificateError` for shards that do not make one."""
    ordered = _fitting(shards)
    first = ordered[0]
    plan = replace(first.plan, shard=(1, 1))
    found = units_of(plan)
    wanted = [b for b in blocks(plan, found) if belongs(found[b.unit], first)]
    records = _gathered(ordered, found, wanted)
    for shard in ordered:
        wrong = unsound(shard) or misfolded(shard, units_of(shard.plan))
        if wrong:
            label = f"shard {shard.plan.shard[0]}/{shard.plan.shard[1]}"
            raise CertificateError(f"{label} contradicts itself: {wrong}.", fix="certify this shard anew.")
    merger = _Merger(plan, first, found, wanted, records, [_Shard(s, found, wanted) for s in ordered])
    expected = [(e.pattern, e.reason) for e in first.expected]
    results = fold.results(
        plan, first.backend, found, wanted, records, merger.groups(), expected, first.conditions
    )
    soaked = tuple(soak for shard in ordered for soak in shard.soak or ())
    results = replace(
        results, stages=tuple(_without_others(s, first) for s in results.stages), soak=soaked or None
    )
    proofs = {(p.op, p.law): p for p in first.proofs}
    made = certificates(
        results,
        promised=first.registry,
        proofs=tuple(proofs.values()),
        baselines=first.baselines,
        slower=tuple(dict.fromkeys(name for shard in ordered for name in shard.slower)),
    )
    whole = next(c for c in made if c.kind == first.kind)
    return replace(whole, vyre=first.vyre, code=first.code)


def _fitting(shards: Sequence[CertificateContents]) -> list[CertificateContents]:
    """The shards in their order, if they are all of one run and all there."""
    if not shards:
        raise CertificateError("there is nothing to merge.", fix="name the certificates of all shards.")
    first = shards[0]
    number = first.plan.shard[1]
    for shard in shards:
        _current(shard)
    for other in shards[1:]:
        _same_run(first, other)
    if first.plan.shard == (1, 1):
        raise CertificateError(
            "this certificate is of a whole run already.", fix="use it as it is; there is nothing to merge."
        )
    indices = [s.plan.shard[0] for s in shards]
    twice = sorted({i for i in indices if indices.count(i) > 1})
    if twice:
        raise CertificateError(
            f"shard {twice[0]} of {number} is there twice.", fix="name the certificate of each shard once."
        )
    missing = sorted(set(range(1, number + 1)) - set(indices))
    if missing:
        listed = ", ".join(map(str, missing[:8])) + (" and more" if len(missing) > 8 else "")
        raise CertificateError(
            f"of {number} shards, {listed} {'is' if len(missing) == 1 else 'are'} missing.",
            fix=f"run `vyre certify` with --shard {missing[0]}/{number} and the same options.",
        )
    moved = not_approximate(first.backend.approximate)
    if moved:
        raise CertificateError(
            f"the backend of these shards declares {moved} approximate, which is not approximate by name.",
            fix="certify a backend that refuses what it cannot do exactly.",
        )
    changed = changes(first.registry, registry_now())
    if changed:
        raise CertificateError(
            f"the shards were made with another registry: {changed[0]}.",
            fix="merge them with the version of vyre that made them.",
        )
    return sorted(shards, key=lambda s: s.plan.shard[0])


def _current(shard: CertificateContents) -> None:
    if shard.schema != SCHEMA:
        raise CertificateError(
            f"shard {shard.plan.shard[0]}/{shard.plan.shard[1]} is of {shard.schema}, which does not say "
            f"{'where and how it was run' if shard.first_schema else 'which shapes it claims'}.",
            fix="merge it with the version of vyre that made it, or certify the shards anew.",
        )


def _same_run(first: CertificateContents, other: CertificateContents) -> None:
    a, b = (f"shard {s.plan.shard[0]}/{s.plan.shard[1]}" for s in (first, other))
    fix = "certify all shards with the same options, registry, backend, device and driver."

    def refused(what: str) -> CertificateError:
        return CertificateError(f"{a} and {b} are not of one run: {what}.", fix=fix)

    if first.kind != other.kind:
        raise refused(f"one is {first.kind}, the other {other.kind}")
    mine, theirs = (asdict(replace(s.plan, shard=(1, 1), regressions=())) for s in (first, other))
    if first.plan.shard[1] != other.plan.shard[1]:
        raise refused(f"one is of {first.plan.shard[1]} shards, the other of {other.plan.shard[1]}")
    if first.registry != other.registry:
        raise refused(f"their registries differ: {changes(first.registry, other.registry)[0]}")
    for name, value in mine.items():
        if theirs[name] != value:
            raise refused(f"their plans differ in {name} ({value} and {theirs[name]})")
    mine, theirs = asdict(first.backend), asdict(other.backend)
    for name, value in mine.items():
        if theirs[name] != value:
            raise refused(f"their backends differ in {name} ({value} and {theirs[name]})")
    mine, theirs = asdict(first.conditions), asdict(other.conditions)
    for name, value in mine.items():
        if theirs[name] != value:
            raise refused(f"they were held differently: {name} is {value} and {theirs[name]}")
    if [(e.pattern, e.reason) for e in first.expected] != [(e.pattern, e.reason) for e in other.expected]:
        raise refused("their files of expected failures differ")
    for name in ("baselines", "proofs"):
        if getattr(first, name) != getattr(other, name):
            raise refused(f"their {name} differ")
    if (first.vyre, first.code) != (other.vyre, other.code):
        raise refused("other versions of vyre made them")


def _without_others(stage: StageResult, certificate: CertificateContents) -> StageResult:
    """A stage that the other kind of certificate is about: there its cases are planned, and none here."""
    apart = stage.stage == APPROXIMATE and certificate.kind != APPROXIMATE
    return replace(stage, planned=0) if apart else stage


def _gathered(
    shards: Sequence[CertificateContents], found: Sequence[Unit], wanted: Sequence[Block]
) -> Records:
    """Every block's record; each exactly once."""
    names = {u.name: n for n, u in enumerate(found)}
    records: Records = {}
    for shard in shards:
        label = f"shard {shard.plan.shard[0]}/{shard.plan.shard[1]}"
        for block in shard.blocks:
            place = (names.get(block.unit, -1), block.number)
            if place in records:
                raise CertificateError(
                    f"{label} holds block {block.number} of {block.unit}, which another shard holds too.",
                    fix="certify the shards anew; these overlap.",
                )
            records[place] = block.record
    absent = [b for b in wanted if (b.unit, b.number) not in records]
    if absent:
        unit = found[absent[0].unit].name
        raise CertificateError(
            f"no shard holds block {absent[0].number} of {unit}.", fix="certify the shards anew."
        )
    beyond = set(records) - {(b.unit, b.number) for b in wanted}
    if beyond:
        raise CertificateError(
            "a shard holds a block that its plan does not have.",
            fix="merge shards with the version of vyre that made them.",
        )
    for (unit, number), record in records.items():
        try:
            read_record(Field(encode(record), "record"), found[unit])
        except FieldError as error:
            raise CertificateError(
                f"block {number} of {found[unit].name} is not what a run records: {error}.",
                fix="certify the shards anew.",
            ) from None
    return records


class _Shard:
    """A shard's own view of its blocks, from which its failures can be told apart."""

    def __init__(
        self, certificate: CertificateContents, found: Sequence[Unit], wanted: Sequence[Block]
    ) -> None:
        names = {u.name: n for n, u in enumerate(found)}
        self.certificate = certificate
        self.records: Records = {(names[b.unit], b.number): b.record for b in certificate.blocks}
        self.blocks = [b for b in wanted if (b.unit, b.number) in self.records]
        self.ops = {op.id: op for op in certificate.ops}

    @property
    def label(self) -> str:
        return "shard {}/{}".format(*self.certificate.plan.shard)

    def failures(self, group: str) -> list[Failure]:
        return [f for f in self.certificate.failures if group in (f.op, f.stage)]


@dataclass(frozen=True, slots=True)
class _Merger:
    """What a run notes when a group is finished, made from what the shards noted."""

    plan: RunPlan
    first: CertificateContents
    units: Sequence[Unit]
    blocks: Sequence[Block]
    records: Records
    shards: Sequence[_Shard]

    def groups(self) -> Mapping[str, GroupEntry]:
        made: dict[str, GroupEntry] = {}
        for number, unit in enumerate(self.units):
            if unit.group not in made and belongs(unit, self.first):
                failures = self._of_op(unit.group) if unit.kind else self._of_stage(number, unit)
                facts = self._facts(unit.group) if unit.kind else GroupFacts()
                made[unit.group] = reread(GroupEntry(unit.group, facts, tuple(failures)))
        return made

    def _facts(self, group: str) -> GroupFacts:
        """How an op was lowered, on which all shards that ran it must agree."""
        absent = [s.label for s in self.shards if group not in s.ops]
        if absent:
            raise CertificateError(f"{absent[0]} says nothing of {group}.", fix="certify this shard anew.")
        ran = [s.ops[group] for s in self.shards if s.ops[group].status != "not run"]
        said = {(op.lowering, op.instruction) for op in ran}
        refused = {op.refusal for op in ran}
        if len(said) > 1 or len(refused) > 1:
            shown = sorted(refused - {""}) or sorted(f"{a}, {b}" for a, b in said)
            raise CertificateError(
                f"the shards do not agree on how {group} was lowered: {'; '.join(shown)}.",
                fix="certify all shards on the same device with the same driver.",
            )
        lowering, instruction = next(iter(said), ("", ""))
        return GroupFacts(lowering, instruction)

    def _of_op(self, group: str) -> list[Failure]:
        """The failure of each check from the shard that met it first; the counts are those of all."""
        whole = fold.tally(group, self.units, self.blocks, self.records)
        met: dict[tuple[int, str, int], Failure] = {}
        wrong: dict[tuple[str, int], Failure] = {}
        stops: dict[tuple[str, int], Failure] = {}
        for shard in self.shards:
            own = fold.tally(group, self.units, shard.blocks, shard.records)
            listed = shard.failures(group)
            if len(listed) < own.faults:
                raise CertificateError(
                    f"{shard.label} counts more failures of {group} than it lists.",
                    fix="certify this shard anew.",
                )
            told = iter(listed)
            for check, (kind, number) in sorted(own.firsts.items()):
                met[check, kind, number] = next(told)
            if own.made is not None:
                wrong[own.made[0], own.made[1].case] = next(told)
            if own.stop is not None:
                stops[own.stopped_in, own.stop.case] = next(told)
        found = [
            replace(met[check, kind, number], count=whole.count(check), failing=whole.failing(check))
            for check, (kind, number) in sorted(whole.firsts.items())
        ]
        if whole.made is not None:
            kind, made = whole.made
            found.append(replace(wrong[kind, made.case], count=made.mistakes))
        if whole.stop is not None:
            return [*found, stops[whole.stopped_in, whole.stop.case]]
        result = fold.op_result(group, self.units, whole, GroupFacts())
        if self.plan.whole and result.status in ("passed", "failed"):
            faults = Faults(self.plan, self.first.backend.target)
            found += [faults.coverage(group, missing) for missing in result.coverage.missing]
        assert graph_of(group).spec.id == group
        return found

    def _of_stage(self, number: int, unit: Unit) -> list[Failure]:
        """Failed cases in their order; the first few as the shards made them small."""
        faults = Faults(self.plan, self.first.backend.target)
        failed = [o for o in fold.outcomes(number, self.blocks, self.records) if o.status == FAILED]
        small = {f.case: f for s in self.shards for f in s.failures(unit.group)}
        return [
            small[o.case] if k < EXPLAINED and o.case in small else faults.of_stage(unit.name, o)
            for k, o in enumerate(failed)
        ]
