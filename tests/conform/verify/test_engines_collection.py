"""The engines of the family `collection` hold what they promise, and a fault in any of it is caught."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.conform.verify.test_engines import PLAN
from tests.wrong.base import processor
from vyre.conform.registry.engine import ordering, places
from vyre.conform.spec.invariant import EngineInvariant as Inv
from vyre.conform.verify.stage import PASSED
from vyre.conform.verify.stages.engines import Engines
from vyre.conform.verify.stages.engines_called import Surveys
from vyre.conform.verify.stages.engines_checks import BASE, CHECKERS, SHAPES, EngineBench
from vyre.engines.memory import HostMemory
from vyre.engines.run import Runner

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vyre.conform.spec.engine import EngineSpec
    from vyre.engines.memory import Memory
    from vyre.engines.plan import Engine

SPECS = (*ordering.SPECS, *places.SPECS)
SURVEYS = Surveys(processor())


@pytest.mark.slow
@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.id)
def test_an_engine_holds_its_invariants_on_cpu(spec: EngineSpec) -> None:
    stage = Engines((spec,))
    found = stage.run(processor(), PLAN, 0, stage.count(PLAN))
    assert [(o.case, o.expected, o.actual) for o in found if o.status != PASSED] == []


class Faulty(Runner):
    """Runs an engine as it should be, and then spoils what one invariant is about."""

    def __init__(self, invariant: Inv) -> None:
        super().__init__(processor())
        self.invariant, self.runs = invariant, 0

    def run(
        self,
        engine: Engine,
        inputs: Mapping[str, Any],
        *,
        memory: Memory | None = None,
        out: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        assert isinstance(memory, HostMemory)
        outputs = super().run(engine, inputs, memory=memory, out=out)
        self.runs += 1
        bits = {name: array.view(f"<u{array.itemsize}") for name, array in outputs.items()}
        output = bits["output"]
        match self.invariant:
            case Inv.NoOutputLost | Inv.NoDuplicate:
                output[0] ^= output.dtype.type(0x0410_2040)
            case Inv.Ordered:
                first, last = np.unique(output, return_index=True)[1][[0, -1]]
                for array in bits.values():
                    if array.size == output.size:
                        array[[first, last]] = array[[last, first]]
            case Inv.Bounded:
                memory.take(next(iter(engine.inputs))).view(np.uint8)[0] ^= 1
            case Inv.Deterministic:
                output[0] ^= output.dtype.type(self.runs > 1)
            case Inv.WorkgroupInvariant:
                output[-1] ^= output.dtype.type(engine.shape.lanes != BASE.lanes)
            case _:
                raise AssertionError(self.invariant)
        return outputs


FAULTS = [
    (spec, invariant) for spec in SPECS for invariant in spec.invariants if invariant is not Inv.Termination
]


@pytest.mark.parametrize(("spec", "invariant"), FAULTS, ids=lambda v: getattr(v, "id", None) or v.name)
def test_a_planted_fault_is_caught(spec: EngineSpec, invariant: Inv) -> None:
    case = spec.case(PLAN.seed, 0, invariant)
    check = CHECKERS[invariant]
    assert check(EngineBench(case, Runner(processor()), 2, SHAPES[0], SURVEYS)) is None
    assert check(EngineBench(case, Faulty(invariant), 2, SHAPES[0], SURVEYS)) is not None


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.id)
def test_more_work_than_declared_is_no_termination(spec: EngineSpec) -> None:
    case = spec.case(PLAN.seed, 0, Inv.Termination)
    found = CHECKERS[Inv.Termination](
        EngineBench(replace(case, work=10), Runner(processor()), 2, SHAPES[0], SURVEYS)
    )
    assert found is not None
    assert found.expected == "at most 10"
