"""OpenCL gives the reference's bytes: at the edges, on golden rows, on generated programs."""

from __future__ import annotations

import pytest
from opencl_backend import opencl

from vyre.conform.differential import INTEGER_PROGRAMS, compare
from vyre.conform.exactness import exactness_programs
from vyre.conform.generate.programs import generate_program
from vyre.conform.golden import Status, load_rows
from vyre.conform.golden.replay import EXECUTABLE_KINDS, replay_all
from vyre.ir.operators import FLOAT_BINARY_OPS, FLOAT_UNARY_OPS

CASES = exactness_programs()


@pytest.mark.parametrize("name", CASES)
def test_the_edges_are_exact(name: str) -> None:
    assert compare(CASES[name], opencl()) is None


@pytest.mark.slow
def test_golden_rows_pass_or_are_refused_for_their_floats() -> None:
    rows = [row for row in load_rows() if row.kind in EXECUTABLE_KINDS]
    outcomes = replay_all(rows, opencl())
    failed = [o for o in outcomes if o.status is Status.Failed]
    assert not failed, f"{failed[0].row.id}: {failed[0].expected} / {failed[0].actual}"
    passed = [o for o in outcomes if o.status is Status.Passed]
    assert len(passed) > 300
    floats = {op.value for op in FLOAT_BINARY_OPS | FLOAT_UNARY_OPS}
    floats |= {"FMulAdd", "Convert", "FReduce", "FReduceApprox", "Cast", "FSinApprox", "FCosApprox"}
    floats |= {"FExpApprox", "FLogApprox", "FTanhApprox"}
    refused = {o.actual.split()[0] for o in outcomes if o.status is Status.Refused}
    assert refused <= floats


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_generated_programs_give_the_reference_bytes(first: int) -> None:
    for seed in range(first, first + 10):
        assert compare(generate_program(seed, INTEGER_PROGRAMS), opencl()) is None
