"""The stage of the approximate track: what is within the tolerance passes, everything else is caught."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.wrong import Right
from vyre.conform.oracle.floats.layout import LAYOUTS, Layout
from vyre.conform.spec.track import APPROXIMATE, subject_track
from vyre.conform.suite.plan import make_plan
from vyre.conform.verify.stage import FAILED, PASSED, REFUSED
from vyre.conform.verify.stages.approximate import STAGE, TOLERANCES
from vyre.errors import UnsupportedByBackend
from vyre.ir.expr import Approx, BinOp, Expr, FReduce, FReduceApprox, Literal, UnOp
from vyre.ir.operators import ApproxOp, BinaryOp, ReduceOp, ReduceOrder, UnaryOp
from vyre.ir.types import DataType
from vyre.ir.walk import expressions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from vyre.conform.verify.stage import Outcome
    from vyre.ir.program import Program

PLAN = make_plan("mine")
SUBJECTS = [STAGE.subject(k) for k in range(0, STAGE.count(PLAN), len(TOLERANCES))]
SIN, EXP, TANH = (f"approximate F{name}Approx F32" for name in ("Sin", "Exp", "Tanh"))
SUM, PRODUCT, LEAST = (f"approximate FReduceApprox {op} F32" for op in ("Add", "Mul", "Min"))
HALF_SUM = "approximate FReduceApprox Add F16"


def run(backend: Any, subject: str) -> list[Outcome]:
    first = SUBJECTS.index(subject) * len(TOLERANCES)
    return STAGE.run(backend, PLAN, first, first + len(TOLERANCES))


class Changing(Right):
    """Changes the bits of results, knowing the format and the tolerance of the program."""

    def after(self, program: Program, buffers: Mapping[str, memoryview]) -> None:
        decl = next(b for b in program.buffers if b.name == "out")
        tolerance = next(
            x.tolerance_ulps for x in expressions(program.entry) if isinstance(x, Approx | FReduceApprox)
        )
        bits = np.frombuffer(buffers["out"], np.uint32 if decl.element.stride == 4 else np.uint16)
        self.change(LAYOUTS[decl.element.value], bits, tolerance)

    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None: ...


class Away(Changing):
    """Every finite result is `tolerance + more` floats further from zero."""

    more = 0

    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None:
        size = bits.astype(np.int64) & of.magnitude
        room = size + tolerance + self.more <= of.infinity
        bits[room] += tolerance + self.more


class TooFar(Away):
    more = 1


class NanLost(Changing):
    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None:
        bits[(bits & of.magnitude) > of.infinity] = 0


class NanPayload(Changing):
    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None:
        bits[(bits & of.magnitude) > of.infinity] += 1


class InfinityLost(Changing):
    """The largest NaN in place of infinity: one float more, if NaNs were floats."""

    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None:
        bits[bits == of.infinity] += 1


class ZeroSignLost(Changing):
    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None:
        bits[bits == of.sign] = 0


class Flushing(Changing):
    def change(self, of: Layout, bits: NDArray[Any], tolerance: int) -> None:
        bits[(bits & of.magnitude) >> of.fraction == 0] &= of.sign


class StrictFold(Right):
    """Folds left to right in the format itself: overflows on the way, and loses what cancels."""

    order = ReduceOrder.Strict

    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, FReduceApprox):
            return FReduce(self.order, expr.op, expr.buffer, expr.start, expr.stop)
        return expr


class TreeFold(StrictFold):
    order = ReduceOrder.TreeBinary


class NaiveTanh(Right):
    def fault(self, expr: Expr) -> Expr:
        if not (isinstance(expr, Approx) and expr.op is ApproxOp.FTanhApprox):
            return expr
        one = Literal(DataType.F32, 0x3F800000)
        grown = UnOp(UnaryOp.FExp, BinOp(BinaryOp.FAdd, expr.value, expr.value))
        return BinOp(BinaryOp.FDiv, BinOp(BinaryOp.FSub, grown, one), BinOp(BinaryOp.FAdd, grown, one))


class WrongFunction(Right):
    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, Approx) and expr.op is ApproxOp.FSinApprox:
            return Approx(ApproxOp.FTanhApprox, expr.value, expr.tolerance_ulps)
        return expr


class WrongReduction(Right):
    def fault(self, expr: Expr) -> Expr:
        if isinstance(expr, FReduceApprox) and expr.op is ReduceOp.Min:
            return FReduceApprox(ReduceOp.Max, expr.buffer, expr.start, expr.stop, expr.tolerance_ulps)
        return expr


class Lenient(WrongFunction):
    """Right as long as the tolerance is small."""

    def fault(self, expr: Expr) -> Expr:
        wide = isinstance(expr, Approx) and expr.tolerance_ulps > 1000
        return super().fault(expr) if wide else expr


class WithoutAny(Right):
    def compile(self, program: Program) -> Any:
        raise UnsupportedByBackend("FSinApprox", self.name, why="it has none", fix="use FSin.")


def test_every_operation_has_a_case_for_every_tolerance() -> None:
    assert len(SUBJECTS) == (len(ApproxOp) + len(ReduceOp)) * len(LAYOUTS)
    assert STAGE.count(PLAN) == len(SUBJECTS) * len(TOLERANCES)
    assert {subject_track(s) for s in SUBJECTS} == {APPROXIMATE}


@pytest.mark.parametrize("subject", [SIN, TANH, SUM, PRODUCT, LEAST, HALF_SUM])
def test_the_right_one_passes(subject: str) -> None:
    assert [o.status for o in run(Right(), subject)] == [PASSED] * len(TOLERANCES)


@pytest.mark.parametrize("subject", [EXP, SUM])
def test_as_far_as_the_tolerance_is_allowed_and_one_float_more_is_not(subject: str) -> None:
    assert [o.status for o in run(Away(), subject)] == [PASSED] * len(TOLERANCES)
    outcomes = run(TooFar(), subject)
    assert [o.status for o in outcomes] == [FAILED] * len(TOLERANCES)
    for outcome, tolerance in zip(outcomes, TOLERANCES, strict=True):
        expected, said = outcome.expected.split(" within ")
        assert int(said) == tolerance
        assert int(outcome.actual, 16) - int(expected, 16) == tolerance + 1
        assert outcome.inputs


@pytest.mark.parametrize(
    ("wrong", "subject"),
    [
        (NanLost, SIN),
        (NanLost, SUM),
        (NanPayload, TANH),
        (NanPayload, PRODUCT),
        (InfinityLost, EXP),
        (InfinityLost, SUM),
        (ZeroSignLost, SIN),
        (ZeroSignLost, SUM),
        (ZeroSignLost, PRODUCT),
        (Flushing, EXP),
        (Flushing, PRODUCT),
        (StrictFold, SUM),
        (StrictFold, PRODUCT),
        (StrictFold, HALF_SUM),
        (TreeFold, SUM),
        (NaiveTanh, TANH),
        (WrongReduction, LEAST),
        (WrongFunction, SIN),
    ],
    ids=lambda x: x if isinstance(x, str) else x.__name__,
)
def test_a_wrong_backend_is_caught_whatever_the_tolerance(wrong: type[Right], subject: str) -> None:
    outcomes = run(wrong(), subject)
    # Of functions on mixed inputs, special ones are in the first part.
    assert outcomes[0].status == FAILED
    if "Reduce" in subject or wrong not in (ZeroSignLost, NanPayload, NanLost, InfinityLost):
        assert [o.status for o in outcomes] == [FAILED] * len(TOLERANCES)


def test_a_fault_that_comes_with_a_wide_tolerance_is_caught() -> None:
    assert [o.status for o in run(Lenient(), SIN)] == [PASSED, FAILED]


def test_a_refusal_is_a_refusal() -> None:
    assert {o.status for o in run(WithoutAny(), SIN)} == {REFUSED}


def test_a_case_can_be_named() -> None:
    number = SUBJECTS.index(SUM) * len(TOLERANCES) + 1
    assert run(Right(), SUM)[1].case == STAGE.case(SUM, 1) == f"approximate/{SUM}/{number}"
