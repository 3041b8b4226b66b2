"""Single-place mutations of a program: all valid, all different, and noticed by the stages' own trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")

from lab.mutants import mutations, rewrite
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.suite.run import make_plan
from vyre.conform.verify.stage import run_compiled
from vyre.conform.verify.stages import races
from vyre.ir.buffers import BufferDecl
from vyre.ir.expr import Expr, InvocationId, LitU32, Var
from vyre.ir.node import If, Let, Store
from vyre.ir.program import Program
from vyre.ir.types import DataType
from vyre.validate import validate

if TYPE_CHECKING:
    from vyre.conform.verify.stage import Trial

PLAN = make_plan("mutant", ops=("primitive.math.add",), repeats=1)


def small() -> Program:
    data, out = BufferDecl.read("data", 0, DataType.U32), BufferDecl.read_write("out", 1, DataType.U32)
    i = Var("i")
    body = (Store("out", i, data[i] * LitU32(3) + LitU32(1)),)
    return Program((data, out), (64, 1, 1), (Let("i", InvocationId(0)), If(i < out.length, body)))


def test_mutations_are_valid_and_differ() -> None:
    found = list(mutations(small()))
    assert len({m.program for m in found}) == len(found) > 10
    assert small() not in {m.program for m in found}
    assert all(not validate(m.program) for m in found)
    assert {m.name for m in found} >= {"Mul becomes Add", "literal 3 plus 1", "entry[1]: guard dropped"}


def test_a_trial_notices_a_change_of_its_program() -> None:
    backend = CpuBackend(threads=1)
    trial = races.fresh_memory(0, 77, PLAN)
    found = list(mutations(trial.program))[::2]
    survivors = [m.name for m in found if _passes(backend, trial, m.program)]
    assert len(found) >= 8
    assert len(survivors) <= len(found) // 4, survivors


def _passes(backend: Any, trial: Trial, program: Program) -> bool:
    after = run_compiled(backend.compile(program), program, trial.buffers, trial.workgroups)
    return trial.judge(after) is None


def test_a_rewrite_reaches_every_depth_without_recursion() -> None:
    value: Expr = InvocationId(0)
    for k in range(5000):
        value = value + LitU32(k)
    out = BufferDecl.read_write("out", 0, DataType.U32)
    program = Program((out,), (1, 1, 1), (Store("out", LitU32(0), value),))
    changed = rewrite(program, expr=lambda x: LitU32(7) if isinstance(x, InvocationId) else x)
    assert changed != program
    assert rewrite(changed, expr=lambda x: x) is changed
