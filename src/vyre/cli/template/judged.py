"""The tables of the emitter are complete, a program runs, and the golden rows agree."""

from __future__ import annotations

import numpy as np
import pytest

import vyre
from vyre.cli.template.backend import MineBackend
from vyre.cli.template.emitter import BINARY, CASTS, EXPRESSIONS, STATEMENTS, UNARY, WRITTEN_OUT
from vyre.conform.oracle.golden.rows import load_rows
from vyre.conform.verify.golden.stage import run_rows
from vyre.ir.expr import EXPR_KINDS
from vyre.ir.node import NODE_KINDS
from vyre.ir.operators import FLOAT_BINARY_OPS, FLOAT_UNARY_OPS
from vyre.ir.typing import CastRule

PROGRAM = """
vyre 1
workgroup 4 1 1
buffer x: readonly F32 @0
buffer out: readwrite F32 @1
buffer sums: workgroup F32[4]
entry {
  let i = local.x
  sums[i] = x[invocation.x]
  barrier
  let total = f32(0.0)
  for k in 0..4 {
    total := fadd(total, sums[k])
  }
  out[invocation.x] = total
}
"""


def test_every_node_of_the_language_has_a_row() -> None:
    assert {*EXPRESSIONS} | WRITTEN_OUT == {*EXPR_KINDS}
    assert {*STATEMENTS} == {*NODE_KINDS}


def test_every_operator_and_cast_has_a_row() -> None:
    assert {*BINARY} | FLOAT_BINARY_OPS == {*vyre.BinaryOp}
    assert {*UNARY} | FLOAT_UNARY_OPS == {*vyre.UnaryOp}
    assert {*CASTS} | {CastRule.Widen, CastRule.Round} == {*CastRule}


def test_a_program_runs() -> None:
    program = vyre.Program.from_text(PROGRAM)
    x = np.arange(8, dtype=np.float32)
    arrays = {"x": x, "out": np.zeros(8, np.float32)}
    out = vyre.dispatch(program, arrays, backend=MineBackend(), workgroups=2)["out"]
    assert out.tolist() == [6.0] * 4 + [22.0] * 4


@pytest.mark.parametrize("family", ["primitive", "float", "cast"])
def test_golden_rows_agree(family: str) -> None:
    rows = tuple(row for row in load_rows() if row.id.startswith(family))
    outcomes = run_rows(MineBackend(), rows)
    assert {o.status for o in outcomes} <= {"passed", "refused"}
    assert any(o.status == "passed" for o in outcomes)
