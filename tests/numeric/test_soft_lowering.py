"""Every float node of the language has a soft op of the right shape, or a stated reason to have none."""

from __future__ import annotations

import pytest

from vyre.errors import OpError
from vyre.ir.expr import BinOp, Cast, Convert, Expr, FMulAdd, UnOp, Var
from vyre.ir.float_formats import STRICT_FORMATS
from vyre.ir.operators import (
    FLOAT_BINARY_OPS,
    FLOAT_UNARY_OPS,
    FUNCTION_BINARY_OPS,
    FUNCTION_UNARY_OPS,
    BinaryOp,
    RoundMode,
    UnaryOp,
)
from vyre.ir.types import DataType
from vyre.ir.typing import CAST_TABLE, CastRule, convert_type
from vyre.numeric.formula import Formula
from vyre.numeric.soft import lowering, soft_op_for, soft_ops
from vyre.reference import floats

OPS = {op.id: op for op in soft_ops()}
X = Var("x")
SOFT = tuple(STRICT_FORMATS)


def test_ids_are_unique() -> None:
    assert len(OPS) == len(soft_ops())


@pytest.mark.parametrize("of", SOFT)
def test_every_operator_has_an_op_of_its_arity(of: DataType) -> None:
    nodes: list[tuple[Expr, int]] = [(FMulAdd(X, X, X), 3)]
    nodes += [(BinOp(op, X, X), 2) for op in FLOAT_BINARY_OPS - FUNCTION_BINARY_OPS]
    nodes += [(UnOp(op, X), 1) for op in FLOAT_UNARY_OPS - FUNCTION_UNARY_OPS]
    for node, arity in nodes:
        name = lowering(node, (of,) * arity)
        assert name is not None, node
        assert len(OPS[name].params) == arity


@pytest.mark.parametrize("of", SOFT)
def test_functions_have_an_op_beside_the_basic_ones(of: DataType) -> None:
    assert lowering(UnOp(UnaryOp.FSin, X), (of,)) == f"soft.{of.value.lower()}.sin"
    assert lowering(BinOp(BinaryOp.FPow, X, X), (of, of)) == f"soft.{of.value.lower()}.pow"
    assert f"soft.{of.value.lower()}.sin" not in OPS


def test_integers_and_f64_have_none() -> None:
    assert lowering(BinOp(BinaryOp.Add, X, X), (DataType.U32, DataType.U32)) is None
    assert lowering(BinOp(BinaryOp.FAdd, X, X), (DataType.F64, DataType.F64)) is None
    assert soft_op_for(FMulAdd, DataType.F64) is None


@pytest.mark.parametrize("mode", RoundMode)
@pytest.mark.parametrize("integer", [DataType.U32, DataType.I32])
@pytest.mark.parametrize("of", SOFT)
def test_conversions(of: DataType, integer: DataType, mode: RoundMode) -> None:
    down = lowering(Convert(integer, mode, X), (of,))
    assert down == f"soft.{of.value.lower()}.to_{integer.value.lower()}_{mode.value.lower()}"
    assert down in OPS
    up = lowering(Convert(of, mode, X), (integer,))
    assert (up in OPS) == (convert_type(of, mode, integer) is not None)


def test_casts_that_change_bits_have_an_op_and_bitcasts_none() -> None:
    changing = {CastRule.Widen, CastRule.Round, CastRule.LowHalf}
    for (source, target), rule in CAST_TABLE.items():
        if DataType.F64 in (source, target):
            continue
        name = lowering(Cast(target, X), (source,))
        assert (name is not None) == (rule in changing), (source, target)
        assert name is None or name in OPS


@pytest.mark.parametrize("of", SOFT)
def test_the_layouts_are_those_of_the_reference(of: DataType) -> None:
    ours, theirs = STRICT_FORMATS[of], floats.FORMATS[of]
    assert (ours.width, ours.bias, ours.infinity, ours.nan, ours.one) == (
        theirs.width,
        theirs.bias,
        theirs.infinity,
        theirs.nan,
        theirs.one,
    )


def test_a_formula_refuses_a_name_twice() -> None:
    f = Formula("soft.test.twice", "a", doc="")
    f("step", f.params[0] + 1)
    with pytest.raises(OpError, match="defines 'step' twice"):
        f("step", f.params[0] + 2)
