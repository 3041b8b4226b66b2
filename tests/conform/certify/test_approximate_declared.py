"""No declaration takes an operation off the strict track: not of a backend, nor in a file made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("llvmlite")


from tests.conform.certify.small_runs import Right, certified, shards, small
from vyre.conform.certify.finding import WRONG
from vyre.conform.certify.merge import merge
from vyre.conform.certify.statement import write
from vyre.conform.certify.verify import verify
from vyre.errors import CertificateError, VyreError
from vyre.ir.expr import BinOp, Expr, LitU32
from vyre.ir.operators import BinaryOp

if TYPE_CHECKING:
    from pathlib import Path

    from vyre.backends.protocol import BackendInfo

__all__ = ["small"]

MUL_HI = "primitive.math.mul_hi"


class Declaring(Right):
    """Says that an op is approximate, and is wrong on one low half of its left operand in 2^20."""

    declared = MUL_HI

    def describe(self) -> BackendInfo:
        return replace(super().describe(), approximate=frozenset({self.declared}))

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, BinOp) and expr.op is BinaryOp.MulHi:
            low = BinOp(BinaryOp.BitAnd, expr.left, LitU32(0xFFFFF))
            return BinOp(BinaryOp.BitXor, expr, BinOp(BinaryOp.Eq, low, LitU32(0xBEEF7)))
        return expr


class DeclaringSine(Declaring):
    declared = "float.sin"


class DeclaringByName(Declaring):
    declared = "FSinApprox"


@pytest.mark.parametrize("backend", [Declaring, DeclaringSine])
def test_a_declared_op_ends_the_run_before_it_begins(backend: type[Declaring], tmp_path: Path) -> None:
    with pytest.raises(VyreError, match=f"declares {backend.declared} approximate") as error:
        certified(backend(), tmp_path, ops=(MUL_HI,))
    assert "UnsupportedByBackend" in error.value.fix


def test_what_is_approximate_by_name_may_be_declared(small: None, tmp_path: Path) -> None:
    made = certified(DeclaringByName(), tmp_path, ops=(MUL_HI,))
    assert made.backend.approximate == ("FSinApprox",)
    assert made.ops[0].track == "integer"


def test_a_file_that_declares_an_op_is_refused(small: None, tmp_path: Path) -> None:
    made = certified(Right(), tmp_path, ops=(MUL_HI,))
    assert verify(write(made)).ok
    forged = replace(made, backend=replace(made.backend, approximate=(MUL_HI,)))
    found = {f.check: f for f in verify(write(forged)).findings}
    assert found["levels"].status == WRONG
    assert f"declares {MUL_HI} approximate" in found["levels"].text
    left_out = replace(forged, ops=())
    assert not verify(write(left_out)).ok


def test_shards_that_declare_an_op_are_not_merged(small: None, tmp_path: Path) -> None:
    def declared(part: Any) -> Any:
        return replace(part, backend=replace(part.backend, approximate=(MUL_HI,)))

    parts = shards(Right(), tmp_path, 2, ops=(MUL_HI,))
    assert merge(parts).ops[0].status == "passed"
    with pytest.raises(CertificateError, match=f"declares {MUL_HI} approximate"):
        merge([declared(p) for p in parts])
