"""Wrong float arithmetic is found by the float checks, and lawful ways of computing the same are not."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("llvmlite")

from lab.mutants.float_ import catalogue
from lab.mutants.float_.fault import Two, mutant, name_at, op_id, two
from lab.mutants.float_.format import F32, FORMATS, Format, binary, unary
from lab.mutants.float_.rewritten import by_rule
from lab.mutants.hunt import fails, hunt, plan_for
from lab.mutants.judges import JUDGES
from vyre.backends.cpu.backend import CpuBackend
from vyre.conform.oracle.floats.operations import operations
from vyre.conform.registry import spec
from vyre.conform.verify.stages import float_folding
from vyre.ir.buffers import BufferDecl
from vyre.ir.environment import Types
from vyre.ir.expr import BinOp, Cast, Expr, FMulAdd
from vyre.ir.operators import BinaryOp
from vyre.ir.types import DataType

if TYPE_CHECKING:
    from lab.mutants.mutant import Mutant


@cache
def right() -> CpuBackend:
    return CpuBackend(threads=1, keep=4096)


@cache
def everything() -> tuple[Mutant, ...]:
    return tuple(catalogue.mutants())


PLAN = plan_for("primitive.math.add", 1 << 12, exhaustive=False, largest=1 << 16)


def test_there_are_enough_of_them() -> None:
    assert len(everything()) >= 600
    assert len({m.kind for m in everything()}) >= 50
    assert {m.layer for m in everything()} == {"program", "lowering", "runtime"}
    assert all(m.promised for m in everything())


def test_every_format_and_every_checker_has_some() -> None:
    heads = {m.witness.partition("/")[0] for m in everything()}
    assert heads >= {"golden", "engines", "float_folding", *JUDGES}
    ops = {m.op for m in everything() if m.op}
    assert ops >= {
        f"float.{f}{op}" for f in ("", "f16.", "bf16.") for op in ("add", "mul", "div", "sqrt", "fma")
    }
    assert ops >= {"cast.f32.f16", "cast.f32.bf16", "float.convert.f32.i32.nearest", "float.convert.u32.bf16"}


def test_names_of_operations_are_those_of_specs() -> None:
    assert all(spec(op_id(o.name)) for o in operations())


def test_what_an_expression_is_depends_on_its_operands() -> None:
    half, single = BufferDecl.read("half", 0, DataType.F16), BufferDecl.read("single", 1, DataType.F32)
    types = Types([half, single])
    a, b = half[0], single[0]
    assert name_at(binary("FAdd", a, a), types) == "FAdd F16"
    assert name_at(binary("FAdd", b, b), types) == "FAdd F32"
    assert name_at(FMulAdd(b, b, b), types) == "FMulAdd F32"
    assert name_at(Cast(DataType.F32, a), types) == "Cast F16 F32"
    assert name_at(a, types) is None


def _lawful() -> list[Mutant]:
    """Other ways to the same bits, as if they were faults."""
    half = FORMATS[1]

    def through(op: str, f: Format) -> Two:
        return lambda a, b: f.narrowed(binary(op, f.widened(a), f.widened(b)))

    one = F32.words("one", "one")
    return [
        mutant(two("no fault", "FSub F32", lambda a, b: binary("FAdd", a, unary("FNeg", b)), one)),
        mutant(two("no fault", "FMul F32", through("FMul", F32), one, note="by way of F64")),
        mutant(two("no fault", "FAdd F16", through("FAdd", half), half.words("one", "one"))),
        mutant(two("no fault", "FDiv BF16", through("FDiv", FORMATS[2]), FORMATS[2].words("one", "one"))),
        mutant(
            two("no fault", "FAdd BF16", lambda a, b: binary("FAdd", b, a), FORMATS[2].words("one", "one"))
        ),
    ]


@pytest.mark.parametrize("way", _lawful(), ids=lambda m: m.where)
def test_a_lawful_way_is_not_caught(way: Mutant) -> None:
    verdict = hunt(way, right())
    assert (verdict.witnessed, verdict.found) == (False, "")
    assert verdict.cases > 1 << 16


def test_a_lawful_rewrite_is_not_caught() -> None:
    def swapped(x: Expr, types: Types) -> Expr:
        given = isinstance(x, BinOp) and x.op in (BinaryOp.FAdd, BinaryOp.FMul)
        return BinOp(x.op, x.right, x.left) if given and isinstance(x, BinOp) else x

    for subject in ("sums of F32", "undone of F16"):
        case = float_folding.STAGE.case(subject)
        assert not fails(by_rule(swapped)(right()), case, PLAN)


@pytest.mark.parametrize("number", range(0, float_folding.STAGE.count(PLAN), 4))
def test_a_right_backend_sees_through_nothing(number: int) -> None:
    (outcome,) = float_folding.STAGE.run(right(), PLAN, number, number + 1)
    assert outcome.status == "passed", (outcome.inputs, outcome.expected, outcome.actual)


def test_a_wrong_rewrite_is_told_with_its_operands() -> None:
    wrong = next(m for m in everything() if m.name == "rewritten as over the reals: x - x is 0, F32")
    number = int(wrong.witness.rpartition("/")[2])
    (outcome,) = float_folding.STAGE.run(wrong.make(right()), PLAN, number, number + 1)
    assert (outcome.status, outcome.inputs[0]) == ("failed", "FSub(a, a)")
    assert (outcome.expected, outcome.actual) == ("0x7FC00000", "0x0")


@pytest.mark.parametrize("case", ["probe/FAdd F32", "canaries/float sums", "truth/sqrt/0x40000000"])
def test_a_right_backend_passes_the_judges(case: str) -> None:
    assert not fails(right(), case, PLAN)


@pytest.mark.parametrize("mutant", everything()[::80], ids=lambda m: m.name)
def test_a_sample_is_caught(mutant: Mutant) -> None:
    verdict = hunt(mutant, right())
    assert verdict.as_promised
