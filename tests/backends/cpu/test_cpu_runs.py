"""Golden rows, generated programs, and the controls that show that a difference is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.cpu.cpu_programs import U32, backend
from vyre.backends.cpu.backend import CpuBackend, CpuExecutable
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import GeneratedProgram, generate_program
from vyre.conform.oracle.golden import load_rows
from vyre.conform.verify.golden.outcome import Status
from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS, replay_all
from vyre.ir import BufferDecl, InvocationId, Program, Store

if TYPE_CHECKING:
    from vyre.lower.ways import Ways

GENERATED = 150


@pytest.mark.slow
def test_golden_rows() -> None:
    rows = [row for row in load_rows() if row.kind in EXECUTABLE_KINDS]
    outcomes = replay_all(rows, backend())
    failed = [o for o in outcomes if o.status is Status.Failed]
    assert not failed, f"{failed[0].row.id}: {failed[0].inputs}: {failed[0].actual} != {failed[0].expected}"
    assert sum(o.status is Status.Passed for o in outcomes) > 700
    assert [o.row.id for o in outcomes if o.status is Status.Refused] == []


@pytest.mark.slow
def test_generated_programs() -> None:
    for seed in range(GENERATED):
        mismatch = compare(generate_program(seed, INTEGER_PROGRAMS), backend())
        assert mismatch is None, str(mismatch)


def test_a_wrong_backend_is_seen() -> None:
    """The control of the runs above: a backend that computes something else is reported."""

    class Off(CpuBackend):
        def compile(self, program: Program, *, ways: Ways | None = None) -> CpuExecutable:
            wrong = Program(
                program.buffers, program.workgroup_size, [Store("out", InvocationId(0), InvocationId(0))]
            )
            return super().compile(wrong)

    out = BufferDecl.read_write("out", 0, U32, count=4)
    program = Program([out], (4,), [out.store(InvocationId(0), InvocationId(0) * 2)])
    generated = GeneratedProgram(0, program, {"out": bytes(16)}, (1, 1, 1))
    mismatch = compare(generated, Off(threads=1))
    assert mismatch is not None
    assert (mismatch.element, mismatch.expected, mismatch.actual) == (1, 2, 1)
