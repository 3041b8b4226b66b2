"""Every alternate of an op is run on the backend, and one that an optimiser gets wrong is found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llvmlite")

from tests.conform.verify.runs import certify
from tests.wrong import Right
from vyre.conform.records import counts
from vyre.conform.registry import specs
from vyre.conform.spec.levels import TABLE
from vyre.conform.verify.stages.alternates import STAGE
from vyre.ir.expr import BinOp, Expr, LitU32, Select, UnOp
from vyre.ir.operators import BinaryOp, UnaryOp

if TYPE_CHECKING:
    from pathlib import Path


class WrongNegatedSum(Right):
    """Takes `a - -b` for `a + b`, but is one off where b has its highest bit alone."""

    name = "wrong-negated-sum"

    def fault(self, expr: Expr) -> Expr:
        if not (isinstance(expr, BinOp) and expr.op is BinaryOp.Sub):
            return expr
        right = expr.right
        if not (isinstance(right, UnOp) and right.op is UnaryOp.Negate):
            return expr
        wrong = Select(right.operand.eq(0x8000_0000), LitU32(1), LitU32(0))
        return BinOp(BinaryOp.Add, BinOp(BinaryOp.Add, expr.left, right.operand), wrong)


def test_every_alternate_of_the_registry_has_a_case() -> None:
    from vyre.conform.suite.plan import make_plan

    declared = sum(len(s.alternates) for s in specs())
    assert STAGE.count(make_plan("x")) == declared
    (least,) = [n.least for row in TABLE for n in row.stages if n.stage == "alternates"]
    assert least == declared, "the table of levels asks for all of them"


def test_a_right_backend_passes_them(tmp_path: Path) -> None:
    results = certify(Right(), tmp_path, stages=("alternates",), cases=1 << 12)
    assert results.ok
    assert counts.cases(results) == counts.Counts(19)


def test_a_wrong_expression_is_found_though_the_op_is_right(tmp_path: Path) -> None:
    found = certify(
        WrongNegatedSum(), tmp_path, ops=("primitive.math.add",), stages=("ops", "alternates"), cases=1 << 12
    )
    assert found.ops[0].status == "passed"
    (failure,) = found.failures
    assert failure.stage == "alternates"
    assert failure.case.startswith("alternates/primitive.math.add 1/")
    assert failure.inputs[1] == "0x80000000"
    assert failure.note == "primitive.math.add as a - -b"
