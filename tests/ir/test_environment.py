"""The one environment of `type_of`: names that mean another thing later, and copies that stand apart."""

from __future__ import annotations

import pytest

from vyre.ir.buffers import BufferDecl
from vyre.ir.environment import Types
from vyre.ir.expr import Atomic, LitU32, Load, Var
from vyre.ir.node import Block, Let, Loop
from vyre.ir.operators import AtomicOp
from vyre.ir.types import DataType

ZERO = LitU32(0)
BUFFERS = (
    BufferDecl.read("halves", 0, DataType.F16, count=1),
    BufferDecl.read_write("words", 1, DataType.U32, count=1),
)


def test_the_variables_of_a_program() -> None:
    entry = (Let("a", Load("halves", ZERO)), Loop("i", ZERO, ZERO, (Let("b", Var("a")),)))
    types = Types.of(entry, BUFFERS)
    assert dict(types.variables) == {"a": DataType.F16, "i": DataType.U32, "b": DataType.F16}
    assert types.type(Var("b")) is DataType.F16


def test_a_name_may_mean_another_thing_in_a_later_scope() -> None:
    types = Types(BUFFERS)
    doubled = Var("a") + Var("a")
    types.learn((Block((Let("a", ZERO), Let("b", doubled))),))
    assert types.type(doubled) is DataType.U32
    types.declare("a", DataType.F16)
    assert types.type(Var("a")) is DataType.F16
    with pytest.raises(AssertionError, match="not a valid program"):
        types.type(doubled)


def test_a_copy_stands_apart() -> None:
    types = Types.of((Let("a", ZERO),), BUFFERS)
    copy = types.copy()
    copy.declare("b", DataType.U32)
    copy.declare("a", DataType.F16)
    assert copy.type(Var("a")) is DataType.F16
    assert types.type(Var("a")) is DataType.U32
    assert dict(types.variables) == {"a": DataType.U32}


def test_effects_reach_up() -> None:
    types = Types(BUFFERS)
    atomic = Atomic(AtomicOp.Add, "words", ZERO, ZERO)
    assert types.has_atomic(atomic + ZERO)
    assert not types.has_atomic(Load("words", ZERO) + ZERO)
