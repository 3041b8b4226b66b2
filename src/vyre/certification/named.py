"""One case of a certification alone, by its permanent name, on a backend held as in a run.

run_case("cpu", "primitive.math.div/inputs/0x5,0x0", plan)     what came of it, with bits and source
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vyre.certification.single import opened
from vyre.conform.suite.units import STAGES
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.named import run_named

if TYPE_CHECKING:
    from vyre.backends.protocol import Backend
    from vyre.certification.plan import CertifyPlan
    from vyre.conform.verify.named import CaseReport


def run_case(backend: Backend | str, name: str, plan: CertifyPlan) -> CaseReport:
    """Runs the case with the seed of the plan; a name may be of any op, and of any number of programs."""
    with opened(backend, plan) as (held, _):
        made = replace(plan, programs=1 << 32, ops=()).run_plan(held.name)
        return run_named(Bench(held), name, made, STAGES)
