"""What a run consists of: units of cases, cut into blocks, the blocks numbered through the whole run.

The list follows from the plan alone, so shards, `--skip` and resume all mean the same cases everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from vyre.conform.registry import lookup, spec
from vyre.conform.verify.cases import kinds
from vyre.conform.verify.golden import stage as golden
from vyre.conform.verify.graph import graph
from vyre.conform.verify.stages import (
    alternates,
    approximate,
    atomics,
    barrier,
    bounds,
    composition,
    convention,
    determinism,
    dispatches,
    engines,
    evidence,
    float_folding,
    folding,
    hardest,
    programs,
    races,
    shapes,
    subgroups,
    tensors,
)
from vyre.errors import VyreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vyre.conform.records.results import RunPlan
    from vyre.conform.verify.cases import Kind
    from vyre.conform.verify.graph import Graph
    from vyre.conform.verify.stage import Stage

BLOCK = 1 << 22
"""Cases of an op after which the journal is written."""

MAX_BLOCKS = 1 << 22
"""Blocks of a run, all shards together: beyond that, listing them alone takes gigabytes."""

STAGES: Mapping[str, Stage] = {
    stage.name: stage
    for stage in (
        golden.STAGE,
        determinism.STAGE,
        programs.WIRE,
        barrier.STAGE,
        atomics.STAGE,
        subgroups.STAGE,
        bounds.STAGE,
        races.STAGE,
        folding.STAGE,
        dispatches.STAGE,
        programs.PROGRAMS,
        programs.FLOATS,
        shapes.STAGE,
        convention.STAGE,
        engines.STAGE,
        composition.STAGE,
        approximate.STAGE,
        float_folding.STAGE,
        alternates.STAGE,
        hardest.STAGE,
        evidence.STAGE,
        tensors.TENSORS,
        tensors.NETWORKS,
    )
}
"""Every stage but the ops and the regressions, in the order in which they run."""

OPS = "ops"
REGRESSIONS = "regressions"
ALL_STAGES = (REGRESSIONS, "golden", OPS, *(name for name in STAGES if name != "golden"))


@dataclass(frozen=True, slots=True)
class Unit:
    """Cases of one kind of one op, or of one stage. Units of one `group` are judged together."""

    group: str
    name: str
    count: int
    block: int
    kind: Kind | None = None
    stage: Stage | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Cases `lo` to `hi - 1` of a unit."""

    unit: int
    number: int
    lo: int
    hi: int


@cache
def graph_of(op_id: str) -> Graph:
    return graph(spec(op_id), lookup)


def units(plan: RunPlan, regressions: Stage | None) -> list[Unit]:
    """Regressions first, then golden rows, the ops in the order of the registry, and the other stages."""
    found: list[Unit] = []
    for name in (s for s in ALL_STAGES if s in plan.stages):
        if name == OPS:
            for op in plan.ops:
                found += [
                    Unit(op, f"{op}/{k.name}", k.count, BLOCK, kind=k) for k in kinds(graph_of(op), plan)
                ]
            continue
        stage = regressions if name == REGRESSIONS else STAGES[name]
        count = stage.count(plan) if stage is not None else 0
        if stage is not None and count:
            found.append(Unit(name, name, count, stage.group, stage=stage))
    return found


def blocks(plan: RunPlan, found: Sequence[Unit]) -> list[Block]:
    """The blocks of this plan's shard, without the cases it skips.

    Stored failures belong to the first shard, which alone knows them, so they are not dealt out.
    """
    total = sum(-(-unit.count // unit.block) for unit in found)
    if total > MAX_BLOCKS:
        raise VyreError(
            f"this plan has {total:,} blocks of cases, and {MAX_BLOCKS:,} are the most.",
            fix="plan fewer cases with --cases, or fewer programs with --programs.",
        )
    chosen: list[Block] = []
    index, number = plan.shard
    seen = running = 0
    for u, unit in enumerate(found):
        for b, lo in enumerate(range(0, unit.count, unit.block)):
            hi = min(unit.count, lo + unit.block)
            stored = unit.name == REGRESSIONS
            left_out = 0 if stored else min(hi - lo, max(0, plan.skip - running))
            if (stored or seen % number == index - 1) and left_out < hi - lo:
                chosen.append(Block(u, b, lo + left_out, hi))
            seen += not stored
            running += 0 if stored else hi - lo
    return chosen
