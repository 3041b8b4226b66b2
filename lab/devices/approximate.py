"""Checks the approximate track on backends: golden rows, the stage, and tanh on every input.

    python -m lab.devices.approximate cpu wgpu opencl      golden rows and the stage `approximate`
    python -m lab.devices.approximate cuda --tanh          all 2^32 inputs of FTanhApprox besides

Every input of tanh is compared with the formula on integers, which equals the truth on all of them
(`python -m lab.functions.sweep tanh`). Prints a line per check; the exit status is 1 when anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from lab.floats.jit import compiled
from vyre.backends import get
from vyre.conform.oracle.golden import load_rows
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.golden.outcome import Status
from vyre.conform.verify.golden.replay import replay_all
from vyre.conform.verify.stage import FAILED, PASSED, run_compiled
from vyre.conform.verify.stages.approximate import STAGE
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Approx, InvocationId
from vyre.ir.operators import ApproxOp
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.numeric.functions import function_op

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1 << 22


def golden(backend: Any) -> tuple[bool, str]:
    outcomes = replay_all([row for row in load_rows() if "tolerance" in row.fields], backend)
    passed = sum(o.status is Status.Passed for o in outcomes)
    wrong = [o for o in outcomes if o.status is Status.Failed]
    first = f"; first {wrong[0].row.id}: {wrong[0].actual}, not {wrong[0].expected}" if wrong else ""
    return passed == len(outcomes), f"golden rows: {passed} of {len(outcomes)} passed{first}"


def stage(backend: Any) -> tuple[bool, str]:
    plan = make_plan(backend.name)
    outcomes = STAGE.run(backend, plan, 0, STAGE.count(plan))
    passed = sum(o.status == PASSED for o in outcomes)
    wrong = [o for o in outcomes if o.status == FAILED]
    first = f"; first {wrong[0].case}: {wrong[0].actual}, not {wrong[0].expected}" if wrong else ""
    return passed == len(outcomes), f"stage: {passed} of {len(outcomes)} cases passed{first}"


def tanh(backend: Any) -> tuple[bool, str]:
    a, out = BufferDecl.read("a", 0, DataType.F32), BufferDecl.read_write("out", 1, DataType.F32)
    at = InvocationId(0)
    value = Approx(ApproxOp.FTanhApprox, a[at], 1)
    program = Program([a, out], (256, 1, 1), [out.store(at, value)])
    executable = backend.compile(program)
    op = function_op("soft.f32.tanh")
    assert op is not None
    truth = compiled(op)
    wrong = 0
    for bits in _blocks():
        buffers = {"a": bits.tobytes(), "out": bytes(4 * BLOCK)}
        found = run_compiled(executable, program, buffers, (BLOCK // 256, 1, 1))["out"]
        wrong += int(np.count_nonzero(np.frombuffer(found, np.uint32) != truth(bits)))
    way = getattr(executable, "lowering", "")
    return wrong == 0, f"tanh: {1 << 32} inputs, {wrong} differ ({way})"


def _blocks() -> Iterator[np.ndarray[Any, np.dtype[np.uint32]]]:
    for first in range(0, 1 << 32, BLOCK):
        yield np.arange(first, first + BLOCK, dtype=np.uint64).astype(np.uint32)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("backends", nargs="+")
    parser.add_argument("--tanh", action="store_true", help="all 2^32 inputs of FTanhApprox")
    options = parser.parse_args()
    good = True
    for name in options.backends:
        backend = get(name)
        for check in (golden, stage, *((tanh,) if options.tanh else ())):
            began = time.perf_counter()
            fine, said = check(backend)
            good &= fine
            print(f"{name}: {said}, {time.perf_counter() - began:.0f} s", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
