"""OpenCL gives the reference's bytes: at the edges, on golden rows, on generated programs."""

from __future__ import annotations

import pytest

from lab.exactness import exactness_programs
from tests.backends.opencl.opencl_backend import opencl
from vyre.conform.diff.differential import INTEGER_PROGRAMS, compare
from vyre.conform.generate.programs import generate_program
from vyre.conform.oracle.golden import load_rows
from vyre.conform.verify.golden.outcome import Status
from vyre.conform.verify.golden.replay import EXECUTABLE_KINDS, jobs_of, replay_all

CASES = exactness_programs()


@pytest.mark.parametrize("name", CASES)
def test_the_edges_are_exact(name: str) -> None:
    assert compare(CASES[name], opencl()) is None


@pytest.mark.slow
def test_golden_rows_without_floats_pass() -> None:
    """PoCL takes a quarter of a second per program; rows with floats are the certificate's business."""
    rows = [row for row in load_rows() if row.kind in EXECUTABLE_KINDS]
    jobs = [job for job in jobs_of(rows) if not any(b.element.is_float for b in job.program.buffers)]
    outcomes = replay_all([row for job in jobs for row in job.rows], opencl())
    wrong = [o for o in outcomes if o.status is not Status.Passed]
    assert not wrong, f"{wrong[0].row.id}: {wrong[0].expected} / {wrong[0].actual}"
    assert len(outcomes) > 300


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 60, 10))
def test_generated_programs_give_the_reference_bytes(first: int) -> None:
    for seed in range(first, first + 10):
        assert compare(generate_program(seed, INTEGER_PROGRAMS), opencl()) is None
