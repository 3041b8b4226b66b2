"""Looks for a mutant as a run of the suite would, and stops at the first case that fails.

    verdict = hunt(mutant, backend)

The blocks are those of `conform/suite/units.py`, run by what the suite runs them with; only the journal and
the
search for the smallest input are left out. A mutant whose witness is a case of a stage, or a question of one
of `judges.py`, is found by that.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lab.mutants.judges import JUDGES
from lab.mutants.mutant import EVERY, Fate
from vyre.conform.process.locked import Locked
from vyre.conform.registry import spec
from vyre.conform.suite.plan import chosen_ops, make_plan
from vyre.conform.suite.units import STAGES, blocks, units
from vyre.conform.verify.bench import Bench
from vyre.conform.verify.named import run_named
from vyre.conform.verify.operations import run_block
from vyre.conform.verify.stages import engines

if TYPE_CHECKING:
    from lab.mutants.mutant import Mutant
    from vyre.backends.protocol import Backend
    from vyre.conform.records.results import RunPlan

_ORDER = ("u8", "equivalence", "boundary", "adversarial", "correlated", "u16", "random", "all", "u8x3")
"""Cheapest kinds first: which kind finds a fault first does not matter, whether one does decides."""

_ANY = "primitive.math.add"


@cache
def plan_for(op: str, cases: int, exhaustive: bool, largest: int) -> RunPlan:
    """The plan of a run of one op; `cases` and the rest as `make_plan` has them."""
    plan = make_plan(
        "mutant", ops=(_ANY,), stages=("ops",), cases=cases, exhaustive=exhaustive, largest=largest, repeats=3
    )
    return replace(plan, ops=(spec(op).id,))


def hunt(mutant: Mutant, backend: Backend, *, largest: int = 1 << 16) -> Fate:
    """What becomes of a mutant of this backend; `largest` bounds the exhaustive kinds of an op."""
    started = time.perf_counter()
    plan = plan_for(mutant.op or _ANY, mutant.cases, mutant.exhaustive, largest)
    witnessed = fails(mutant.make(backend), mutant.witness, plan)
    if mutant.op:
        found, cases = _in_ops(mutant.make(backend), plan)
    else:
        found, cases = (mutant.witness if witnessed else ""), 1
    return Fate(mutant, witnessed, found, cases, time.perf_counter() - started)


def fails(backend: Backend, case: str, plan: RunPlan) -> bool:
    """Whether the case of this name fails on a backend."""
    head, _, rest = case.partition("/")
    if head in JUDGES:
        return JUDGES[head](backend, rest)
    if head in STAGES:  # whose cases are numbered through all ops
        plan = replace(plan, ops=chosen_ops(()))
    name, _, number = case.rpartition("/")
    if number == EVERY:
        stage, subject = engines.STAGE, rest.removesuffix(f"/{EVERY}").replace(".", "/")
        numbers = (n for n in range(stage.count(plan)) if stage.subject(n) == subject)
        return any(fails(backend, f"{name}/{n}", plan) for n in numbers)
    return run_named(Bench(Locked(backend)), case, plan, STAGES).failed


def _in_ops(backend: Backend, plan: RunPlan) -> tuple[str, int]:
    """The first failing case of a run of the plan's ops, and how many cases were run."""
    bench = Bench(Locked(backend))
    memory = bench.memory()
    found = units(plan, None)
    chosen = sorted(blocks(plan, found), key=lambda b: (_ORDER.index(_kind(found, b)), b.number))
    total = 0
    for block in chosen:
        kind = found[block.unit].kind
        assert kind is not None
        record = run_block(bench, kind, block.lo, block.hi, memory, narrow=lambda: False)
        total += block.hi - block.lo
        if record.stop is not None:
            return f"{found[block.unit].name}/{record.stop.case}", total
        if record.fails:
            number, _, first = record.fails[0]
            law = kind.graph.checks[number].name
            op, _, name = found[block.unit].name.rpartition("/")
            return f"{op if law == 'parity' else f'{op}/{law}'}/{name}/{first}", total
    return "", total


def _kind(found: list[Any], block: Any) -> str:
    kind = found[block.unit].kind
    return kind.name if kind is not None else ""
