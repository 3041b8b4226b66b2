"""Runs the subgroup instructions on every backend of this machine and holds them against the reference.

python -m lab.devices.subgroups [--backends cuda,wgpu,dawn,opencl] [--seeds 3]

Says how many instructions of each width the device has, and of these in how many trials every lane agrees.
Ends with 1 where one does not, or where a claimed instruction is refused.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vyre.backends import get
from vyre.conform.records.results import RunPlan
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED, Outcome
from vyre.conform.verify.stages.subgroups import STAGE, SURROUNDINGS
from vyre.errors import VyreError
from vyre.ops.intrinsics import intrinsic_ops

if TYPE_CHECKING:
    from vyre.backends import Backend

EACH = len(SURROUNDINGS)


@dataclass(slots=True)
class Tally:
    """What came of one instruction."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys((PASSED, FAILED, REFUSED), 0))
    first: Outcome | None = None

    def add(self, outcome: Outcome) -> None:
        self.counts[outcome.status] += 1
        if outcome.status == FAILED and self.first is None:
            self.first = outcome


def plan(seed: int) -> RunPlan:
    return RunPlan("check", seed, 0, (1, 1), 0, (), "", ("subgroups",), 0, False, 0, 2)


def check(backend: Backend, seeds: int) -> bool:
    """Prints a line for every width of the device and every instruction that is wrong."""
    info = backend.describe()
    print(f"{info.name}: {info.device}; {info.driver}; {info.toolchain}")
    started = time.perf_counter()
    good = True
    tallies: dict[str, Tally] = {}
    for number, op in enumerate(intrinsic_ops()):
        claimed = op.hardware in info.hardware
        tally = tallies.setdefault(op.id, Tally())
        for seed in range(seeds if claimed else 1):
            for outcome in STAGE.run(backend, plan(97 * seed), number * EACH, (number + 1) * EACH):
                tally.add(outcome)
        wrong = tally.counts[FAILED] or tally.counts[REFUSED if claimed else PASSED]
        good = good and not wrong
        if wrong:
            print(f"  {op.id}: {tally.counts}, {'claimed' if claimed else 'not claimed'}")
            if tally.first is not None:
                first = tally.first
                print(f"    {first.case}: {first.inputs} expected {first.expected}, got {first.actual[:400]}")
    for width in sorted({op.lanes for op in intrinsic_ops()}):
        mine = [tallies[op.id] for op in intrinsic_ops() if op.lanes == width]
        agreed = sum(t.counts[PASSED] for t in mine)
        refused = sum(not t.counts[PASSED] and not t.counts[FAILED] for t in mine)
        failed = sum(t.counts[FAILED] for t in mine)
        supported = len(mine) - refused
        print(f"  width {width:2}: {supported} supported, {refused} refused", end="; ")
        print(f"{agreed} trials agree, {failed} do not")
    print(f"  {time.perf_counter() - started:.1f} s")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backends", default="cuda,wgpu,dawn,opencl,cpu")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    good = True
    for name in arguments.backends.split(","):
        try:
            backend = get(name)
        except VyreError as error:
            print(f"{name}: not available: {error.message}")
            continue
        good = check(backend, arguments.seeds) and good
    print("all agree" if good else "NOT all agree")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
