"""Blocks of a plan, run on a backend that is here.

    runner = BlockRunner(bench, plan)
    runner.record(unit, block)

An op whose block ended badly is not tried any further: what comes after it is left out of the results, and
only the first such block is looked at closely.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from vyre.conform.records.blocks import OpBlock, StageBlock
from vyre.conform.verify.confirm import confirmed
from vyre.conform.verify.operations import run_block

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.records.results import RunPlan
    from vyre.conform.suite.units import Block, Unit
    from vyre.conform.verify.bench import Bench

    Place = tuple[int, int]
    """The number of a unit, and that of a block in it."""


class BlockRunner:
    """What runs blocks, for as many threads as ask."""

    def __init__(self, bench: Bench, plan: RunPlan) -> None:
        self.bench = bench
        self.plan = plan
        self._memory = threading.local()
        self._stopped: dict[str, Place] = {}
        self._lock = threading.Lock()

    def stopped(self, group: str) -> Place | None:
        """The first block of an op that ended badly, as far as is known here."""
        return self._stopped.get(group)

    def stop(self, group: str, place: Place) -> bool:
        """Notes that a block ended badly; False where an earlier block of its op did so before."""
        with self._lock:
            first = self._stopped[group] = min(place, self._stopped.get(group, place))
        return first == place

    def resume(self, stopped: Mapping[str, Place]) -> None:
        """Begins with what an earlier run has found."""
        self._stopped.update(stopped)

    def record(self, unit: Unit, block: Block) -> StageBlock | OpBlock:
        if unit.kind is None:
            assert unit.stage is not None
            self._memory.own = None  # the arrays of the ops, which are done
            found = unit.stage.run(self.bench.backend, self.plan, block.lo, block.hi)
            return StageBlock(tuple(confirmed(self.bench, unit.stage, self.plan, block.lo, found)))
        place = (block.unit, block.number)
        if self._stopped.get(unit.group, place) < place:
            return OpBlock(0)
        if getattr(self._memory, "own", None) is None:
            self._memory.own = self.bench.memory()
        return run_block(
            self.bench, unit.kind, block.lo, block.hi, self._memory.own,
            narrow=lambda: self.stop(unit.group, place),
        )  # fmt: skip
